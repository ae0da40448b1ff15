"""What is certain of F₋ᵢ(xᵢ), the decision of sample i by the machine that never saw it, without retraining.

Sample i gets cost 0 and all else stays. Three theorems, each made safe for a solution that is only nearly optimal:

* **outside**: if y_i F*_i > 1 under every optimal bias, then α*_i = 0 and neither w* nor b* moves.
* **slack grows**: adding the two optimality inequalities gives ξ₋ᵢ(xᵢ) ≥ ξ_i, so that y_i F₋ᵢ(xᵢ) ≤ y_i F*_i where ξ*_i > 0: a
  training error is a leave-one-out error.
* **ball**: keep (w, b) and take β_i away. Without a free bias β'_i = 0; with one, β_i is spread over the samples on the margin,
  μ their mean, so that Σβ' = 0. The gap of this pair for the smaller problem,

      G_i = gap − r_i + Δ_i + ½α_i² d_i²,     d_i² = k_ii   or   ‖φ_i − μ‖²,

  puts w₋ᵢ into a ball about the middle of w and w(β') with radius² = G_i − ¼α_i² d_i².

Numbers that are computed come with bounds of their errors, and each inequality takes the worse end. The stored w is not quite
w(β), nor Σβ quite 0 where it must be: both count in ‖w − w(β')‖, and what Σβ leaves is spread together with β_i.

The ξα estimates say error, recall and precision from one fitted model; they prove nothing:

    d = #{i : 2α_i R² + ξ_i ≥ 1}      error ≈ d/n      recall ≈ 1 − d₊/n₊      precision ≈ (n₊ − d₊)/(n₊ − d₊ + d₋)

R² is the largest k(x, x). The lemma behind them says that all other samples are classified correctly. At the exact optimum of a
machine without a free bias, and with a positive semi-definite kernel, that is a theorem (α_i k_ii + ξ_i < 1 suffices), and the
error is at most d/n. With a free bias it takes 2R² for a bound of max ‖φ_i − φ_j‖², which needs k ≥ 0, and a bias that is unique:
where either fails the exact error can be larger. A fit also stops at a gap. So these are estimates, and are printed as such.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

import numpy as np

from maxmargin.analysis.leave_one_out.full import Full, kernel_sums
from maxmargin.core import Hinge, products
from maxmargin.core.bias import weighted_quantiles
from maxmargin.rounding import UNIT, gamma, length_above, raised, sum_above
from maxmargin.typing import Flags, Floats, Indices


def up(values: Any) -> Any:
    """Non-negative numbers, raised by more than a dozen roundings can take away."""
    return values * (1.0 + 32.0 * UNIT)


class Bounds(NamedTuple):
    """lower ≤ F₋ᵢ(xᵢ) ≤ upper for each sample, and a bracket that holds every optimal bias of the machine without it."""

    lower: Floats
    upper: Floats
    brackets: Floats


def without_retraining(full: Full) -> Bounds:
    """The tightest interval that the theorems give for each sample; infinite where they say nothing."""
    problem = full.problem
    lower, upper = np.full(problem.n, -np.inf), np.full(problem.n, np.inf)
    # P₋ᵢ(w₋ᵢ) ≤ P(w, b) bounds ‖w₋ᵢ‖, that every score, and every best bias is the kink y − f of some sample.
    farthest = raised(1.0 + np.sqrt(2.0 * max(full.primal, 0.0)) * float(full.lengths.max()), 8)
    brackets = np.tile([-farthest, farthest], (problem.n, 1))
    if not problem.bias.is_free:
        brackets[:] = 0.0
    if isinstance(problem.loss, Hinge) and not problem.is_hard and np.isfinite(full.radius):
        _by_the_ball(full, lower, upper, brackets)
    _where_slack_grows(full, lower, upper)
    _outside(full, lower, upper)
    _one_class_left(full, lower, upper)
    return Bounds(lower, upper, brackets)


def is_outside(full: Full) -> Flags:
    """Whose y F* is certainly above 1, whatever optimal bias is taken: they are no support vectors."""
    above, beneath = full.between(full.low_bias.lower, full.high_bias.upper)
    return np.where(full.problem.y > 0, above > 1.0, beneath < -1.0)


def _outside(full: Full, lower: Floats, upper: Floats) -> None:
    stays = is_outside(full) | (full.problem.cost == 0)
    lower[stays], upper[stays] = (end[stays] for end in full.ends)
    if not full.problem.bias.is_free:
        lower[full.null] = upper[full.null] = 0.0


def _where_slack_grows(full: Full, lower: Floats, upper: Floats) -> None:
    """ξ₋ᵢ ≥ ξ_i holds for every pair of optimal biases, so the one that is known best may be taken."""
    positive = full.problem.y > 0
    lowest, highest = full.between(full.low_bias.upper, full.high_bias.lower)
    falls, rises = positive & (highest < 1.0), ~positive & (lowest > -1.0)
    upper[falls] = np.minimum(upper[falls], highest[falls])
    lower[rises] = np.maximum(lower[rises], lowest[rises])


def _one_class_left(full: Full, lower: Floats, upper: Floats) -> None:
    """Without its only sample a class cannot be learnt: the other one is predicted, however far."""
    problem = full.problem
    for sign in (-1.0, 1.0):
        lone = np.flatnonzero((problem.y == sign) & (problem.cost > 0))
        if len(lone) == 1:
            lower[lone] = upper[lone] = -sign * np.inf


class Moved(NamedTuple):
    """What taking β_i away, and giving it to others, does: the first is a value, the others are bounds.

    shift, shift_error : ⟨φ_i − μ, φ_i⟩; distance : ‖φ_i − μ‖; extra : what Σr gains.
    """

    shift: Floats
    shift_error: Floats
    distance: Floats
    extra: Floats


def _by_the_ball(full: Full, lower: Floats, upper: Floats, brackets: Floats) -> None:
    problem, beta, lengths = full.problem, full.beta, full.lengths
    moved = _spread_over_the_margin(full) if problem.bias.is_free else _taken_away(full)
    left_over = up(full.total * float(lengths.max()))  # of |Σβ|, in w
    total = sum_above(full.residuals)
    rest = np.maximum(total - full.residuals + moved.extra, 0.0) + 8.0 * UNIT * (total + np.abs(moved.extra))
    # β_i = 0 moves nothing, and then Σβ is made 0 at the price that the certificate has counted
    rest = np.where(beta == 0.0, raised(full.gap), rest)
    apart = up(full.apart + full.alpha * moved.distance + left_over)
    radius = up(np.sqrt(up(rest + 0.25 * apart**2)))
    known = np.flatnonzero(np.isfinite(radius) & (problem.cost > 0))
    centre = full.f - 0.5 * beta * moved.shift
    off = full.error + 0.5 * (full.apart + left_over) * lengths + 0.5 * full.alpha * moved.shift_error
    off += 4.0 * UNIT * (np.abs(full.f) + np.abs(beta * moved.shift))
    if problem.bias.is_free and len(known):
        brackets[known] = _brackets(full, up(radius + 0.5 * apart)[known], known)
    centre, off, ends = centre[known], off[known], brackets[known]
    reach = up(radius[known] * lengths[known] + off)
    slip = 8.0 * UNIT * (np.abs(centre) + reach + np.abs(ends).max(axis=1))
    lower[known], upper[known] = centre - reach + ends[:, 0] - slip, centre + reach + ends[:, 1] + slip


def _square_error(full: Full) -> Floats:
    """A bound of |k_jj as computed − k_jj|: the lengths are its root from above."""
    if full.problem.kernel.constant_length is not None and not full.problem.bias.scale:
        return np.zeros(full.problem.n)
    return np.asarray(up(np.maximum(full.lengths**2 - full.squares, 0.0) + 8.0 * UNIT * full.lengths**2))


def _taken_away(full: Full) -> Moved:
    return Moved(full.squares, _square_error(full), full.lengths, np.zeros(full.problem.n))


def _spread_over_the_margin(full: Full) -> Moved:
    """β_i − Σβ is spread over the other free samples in proportion to their room, so that Σβ' = 0.

    With v = Σ_j room_j φ_j over all free samples, W the sum of their room and L = W − room_i that of the others,
    φ_i − μ = (W/L)φ_i − v/L.
    """
    problem, beta, alpha, n = full.problem, full.beta, full.alpha, full.problem.n
    rest = (problem.cost - alpha) * (1.0 - 4.0 * UNIT)
    is_free = (alpha > 0) & (rest > 0)
    towards, square_error = problem.y * full.slack, _square_error(full)
    out = Moved(*np.zeros((4, n)))
    for sign in (-1.0, 1.0):
        given = np.flatnonzero(np.sign(beta) == sign)  # the samples whose share must go to others
        room = np.where(is_free, np.where(problem.y == sign, rest, alpha), 0.0)
        whole = sum_above(room)
        mean, mine, own, size = _mean_of(full, room), room[given], full.squares[given], alpha[given] + full.total
        left, slip = whole - mine, 2.0 * gamma(n + 8) * whole
        enough = (alpha[given] > full.total) & (left - slip >= up(size)) & (left >= 2.0 * slip)
        left = np.where(enough, left, 1.0)
        ratio, inner, inner_error = whole / left, mean.scores[given] / left, up(mean.errors[given] / left)
        # W and L err by s = slip / left ≤ ½ at most, relatively: 16s ≥ ((1 + s)/(1 − s))² − 1; and the rounding of what follows
        loose = 16.0 * slip / left + 64.0 * UNIT
        error = ratio * square_error[given] + inner_error + loose * (ratio * own + np.abs(inner))
        error = up(error * (1.0 + loose))
        square, square_slip = mean.norm2 / left**2, mean.norm2_error / left**2
        distance2 = np.maximum(ratio**2 * own - 2.0 * ratio * inner + square, 0.0)
        distance2 += 2.0 * ratio * error + square_slip + 2.0 * loose * (np.abs(square) + square_slip)
        # the residuals of those who get it: linear in α, r_j(α') = r_j(α) − (α' − α)m_j
        pull, mine_pull = float(room @ towards), mine * towards[given]
        slack = float(room @ (full.slack_error + gamma(n + 8) * np.abs(towards)))
        gain = -beta[given] * (pull - mine_pull) / left
        most = (np.abs(pull) + np.abs(mine_pull)) / left
        out.shift[given], out.shift_error[given] = ratio * own - inner, error
        out.distance[given] = np.where(enough, up(np.sqrt(up(distance2))), np.inf)
        out.extra[given] = gain + up(full.total * most + size * (slack / left * (1.0 + loose) + loose * most))
    return out


class Mean(NamedTuple):
    """Of v = Σ room_j φ_j: ⟨v, φ_j⟩ and ‖v‖², each with a bound of its error."""

    scores: Floats
    errors: Floats
    norm2: float
    norm2_error: float


def _mean_of(full: Full, room: Floats) -> Mean:
    problem, used = full.problem, np.flatnonzero(room)
    if not problem.is_linear:
        scores, errors = kernel_sums(problem, room)
        error = sum_above(room[used] * (errors[used] + gamma(len(used) + 4) * np.abs(scores[used])))
        return Mean(scores, errors, float(room @ scores), error)
    v = problem.combine(room)
    off, size = float(gamma(len(used) + 2)) * sum_above(room * problem.lengths), length_above(v)
    errors = products.product_errors(problem.entries, problem.lengths, size) + up(off * problem.lengths)
    error = raised(2.0 * size * off + off**2 + 2.0 * gamma(len(v) + 4) * size**2, 8)
    return Mean(problem.decision(v), errors, float(v @ v), error)


def _brackets(full: Full, radii: Floats, known: Indices) -> Floats:
    """Where the biases of each smaller problem lie if its scores are within radius · length of f: weighted quantiles.

    Taking sample i away moves the weight at which the quantile stands by c_i at most. The radii are rounded up to
    about log₂ n different ones.
    """
    problem, slope = full.problem, full.slope
    on = problem.present
    kinks, weights = (problem.y - full.f)[on], slope.weights[on]
    error = full.error[on] + 4.0 * UNIT * (1.0 + np.abs(full.f[on]))
    total = float(weights[problem.y[on] > 0].sum())
    out = np.empty((len(known), 2))
    order = np.argsort(radii)
    for part in np.array_split(order, len(order).bit_length()):
        widest = up(float(radii[part].max()) * full.lengths[on] + error)
        most = float(slope.weights[known[part]].max()) + slope.most
        slip = 4.0 * UNIT * (np.abs(kinks) + widest)
        out[part, 0] = weighted_quantiles(kinks - widest - slip, weights, total - most)[0]
        out[part, 1] = weighted_quantiles(kinks + widest + slip, weights, total + most)[0]
    return out


class Verdict(Enum):
    """What one model says of a left-out sample; each value is its sentence."""

    CORRECT = "The lemma says that it would be classified correctly."
    WRONG = "It is a training error; of an exact optimum, that is a leave-one-out error."
    OPEN = "It may go either way; the estimate counts it as an error."

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, eq=False)
class XiAlpha:
    """Estimates of the leave-one-out error, recall and precision from one model.

    Attributes
    ----------
    error, recall, precision : float
        Estimates, pessimistic as a rule; recall and precision are those of the positive class. All are weighted by the
        samples' weights. They are bounds of the exact values at the exact optimum of a machine without a free bias.
    alpha, xi, number : arrays (n,)
        The dual variable, the slack, and 2α_iR² + ξ_i, which is compared with 1.
    radius2 : float
        R².
    verdicts : array of Verdict (n,)
        By the number: below 1 correct, a slack above 1 wrong, otherwise open.
    """

    error: float
    recall: float
    precision: float
    alpha: Floats
    xi: Floats
    number: Floats
    radius2: float
    verdicts: Any

    def __str__(self) -> str:
        return f"ξα estimates: error ≈ {self.error:.2%}, recall ≈ {self.recall:.2%}, precision ≈ {self.precision:.2%}"


def xi_alpha(full: Full, weights: Floats, alpha: Floats, xi: Floats) -> XiAlpha:
    """The estimates of one binary problem whose samples have these weights, α and ξ; one of which they are NaN is open. O(n)."""
    on, y = full.problem.cost > 0, full.problem.y
    radius2, mass = float(full.squares[on].max()), np.where(on, weights, 0.0)
    number = 2.0 * alpha * radius2 + xi
    may_fail = ~(number < 1.0)
    positive = y > 0
    n_plus, d_plus = float(mass[positive].sum()), float(mass[positive & may_fail].sum())
    d_minus = float(mass[~positive & may_fail].sum())
    kept = n_plus - d_plus
    verdicts = np.full(len(y), Verdict.CORRECT, dtype=object)
    verdicts[may_fail] = Verdict.OPEN
    verdicts[xi > 1.0] = Verdict.WRONG
    error, precision = (d_plus + d_minus) / float(mass.sum()), kept / (kept + d_minus) if kept + d_minus > 0 else 0.0
    return XiAlpha(error, kept / n_plus, precision, alpha, xi, number, radius2, verdicts)
