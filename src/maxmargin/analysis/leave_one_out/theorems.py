"""What is certain of F₋ᵢ(xᵢ), the decision of sample i by the machine that never saw it, without retraining.

Sample i gets cost 0 and all else stays. Three theorems, each made safe for a solution that is only nearly optimal:

* **outside**: if y_i F*_i > 1 under every optimal bias, then α*_i = 0 and neither w* nor b* moves.
* **slack grows**: adding the two optimality inequalities gives ξ₋ᵢ(xᵢ) ≥ ξ_i, so that y_i F₋ᵢ(xᵢ) ≤ y_i F*_i where ξ*_i > 0: a
  training error is a leave-one-out error.
* **ball**: keep (w, b) and take β_i away. Without a free bias β'_i = 0; with one, β_i is spread over the samples on the margin,
  μ their mean, so that Σβ' = 0. The gap of this pair for the smaller problem,

      G_i = gap − r_i + Δ_i + ½α_i² d_i²,     d_i² = k_ii   or   ‖φ_i − μ‖²,

  puts w₋ᵢ into a ball about the middle of w and w(β') with radius² = G_i − ¼α_i² d_i².
"""

from dataclasses import dataclass

import numpy as np

from maxmargin.analysis.leave_one_out.full import Full, rounding
from maxmargin.core import Hinge
from maxmargin.core.bias import weighted_quantile
from maxmargin.typing import Floats, Indices

LEVELS = 12
"""The biases' brackets are found for so many radii, each rounded up to the next."""


@dataclass(frozen=True, eq=False)
class Bounds:
    """lower ≤ F₋ᵢ(xᵢ) ≤ upper for each sample, and a bracket that holds every optimal bias of the machine without it."""

    lower: Floats
    upper: Floats
    brackets: Floats


def without_retraining(full: Full) -> Bounds:
    """The tightest interval that the theorems give for each sample; infinite where they say nothing."""
    problem = full.problem
    lower, upper = np.full(problem.n, -np.inf), np.full(problem.n, np.inf)
    lengths = np.sqrt(full.squares)
    # P₋ᵢ(w₋ᵢ) ≤ P(w, b) bounds ‖w₋ᵢ‖, that every score, and every best bias is the kink y − f of some sample.
    farthest = 1.0 + np.sqrt(2.0 * _primal(full)) * float(lengths.max())
    brackets = np.tile([-farthest, farthest], (problem.n, 1))
    if not problem.bias.is_free:
        brackets[:] = 0.0
    if isinstance(problem.loss, Hinge) and not problem.is_hard and problem.kernel.psd is not False:
        _by_the_ball(full, lengths, lower, upper, brackets)
    _where_slack_grows(full, lower, upper)
    _outside(full, lower, upper)
    _one_class_left(full, lower, upper)
    return Bounds(lower, upper, brackets)


def is_outside(full: Full) -> np.ndarray:
    """Whose y F* is certainly above 1, whatever optimal bias is taken: they are no support vectors."""
    above = full.f - full.reach + full.low_bias.lower
    below = full.f + full.reach + full.high_bias.upper
    return np.where(full.problem.y > 0, above > 1.0, below < -1.0)


def _outside(full: Full, lower: Floats, upper: Floats) -> None:
    stays = is_outside(full) | (full.problem.cost == 0)
    lower[stays], upper[stays] = full.lower[stays], full.upper[stays]
    if not full.problem.bias.is_free:
        lower[full.squares == 0] = upper[full.squares == 0] = 0.0  # φ(x) = 0: every machine says 0


def _where_slack_grows(full: Full, lower: Floats, upper: Floats) -> None:
    """ξ₋ᵢ ≥ ξ_i holds for every pair of optimal biases, so the one that is known best may be taken."""
    positive = full.problem.y > 0
    highest = full.f + full.reach + full.high_bias.lower
    lowest = full.f - full.reach + full.low_bias.upper
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


def _by_the_ball(full: Full, lengths: Floats, lower: Floats, upper: Floats, brackets: Floats) -> None:
    problem, beta = full.problem, full.beta
    alpha = np.abs(beta)
    if problem.bias.is_free:
        shift, distance2, extra = _spread_over_the_margin(full)
    else:
        shift, distance2, extra = full.squares, full.squares, np.zeros(problem.n)
    # G_i − ¼α_i²d_i²; the rest of the residuals is non-negative but for rounding
    radius = np.sqrt(np.maximum(full.gap - full.residuals + extra, 0.0) + 0.25 * alpha**2 * distance2)
    known = np.flatnonzero(np.isfinite(radius) & (problem.cost > 0))
    centre = (full.f - 0.5 * beta * shift)[known]
    reach = radius[known] * lengths[known] + rounding(full.f[known])
    if problem.bias.is_free and len(known):
        farthest = radius[known] + 0.5 * alpha[known] * np.sqrt(distance2[known])
        brackets[known] = _brackets(full, lengths, farthest, known)
    lower[known] = centre - reach + brackets[known, 0]
    upper[known] = centre + reach + brackets[known, 1]


def _spread_over_the_margin(full: Full) -> tuple[Floats, Floats, Floats]:
    """k_ii − ⟨μ, φ_i⟩, ‖φ_i − μ‖² and what the residuals gain when β_i is spread over the free samples in proportion to room."""
    problem, beta, n = full.problem, full.beta, full.problem.n
    alpha, rest = np.abs(beta), problem.cost - np.abs(beta)
    is_free = (alpha > 0) & (rest > 0)
    slack = problem.y - (full.f + full.b)
    shift, distance2, extra = np.zeros(n), np.full(n, np.inf), np.zeros(n)
    for sign in (-1.0, 1.0):
        given = np.flatnonzero(np.sign(beta) == sign)  # the samples whose share must go to others
        room = np.where(is_free, np.where(problem.y == sign, rest, alpha), 0.0)
        mean = problem.combine(room)
        scores = problem.decision(mean)
        norm2 = problem.norm2(mean, scores)
        left = room.sum() - room[given]
        own, own_scores = full.squares[given], scores[given] - room[given] * full.squares[given]
        enough = left >= alpha[given]
        safe = np.where(enough, left, 1.0)
        inner = own_scores / safe
        rest2 = (norm2 - 2.0 * room[given] * scores[given] + room[given] ** 2 * own) / safe**2
        gain = -beta[given] * ((room @ slack) - room[given] * slack[given]) / safe
        shift[given] = own - inner
        distance2[given] = np.where(enough, np.maximum(own - 2.0 * inner + rest2, 0.0), np.inf)
        extra[given] = gain
    rests = beta == 0
    distance2[rests] = 0.0
    return shift, distance2, extra


def _brackets(full: Full, lengths: Floats, radii: Floats, known: Indices) -> Floats:
    """Where the biases of each smaller problem lie if its scores are within radius · length of f: weighted quantiles.

    Taking sample i away moves the weight at which the quantile stands by c_i at most. The radii are rounded up to a few.
    """
    problem = full.problem
    on = problem.present
    kinks, cost = (problem.y - full.f)[on], problem.cost[on]
    total, flat = float(cost[problem.y[on] > 0].sum()), 1e-12 * float(cost.sum())
    out = np.empty((len(known), 2))
    order = np.argsort(radii)
    for part in np.array_split(order, min(LEVELS, len(order))):
        widest = float(radii[part].max()) * lengths[on]
        most = float(problem.cost[known[part]].max()) + flat
        out[part, 0] = weighted_quantile(kinks - widest, cost, total - most)
        out[part, 1] = weighted_quantile(kinks + widest, cost, total + most)
    return out


def _primal(full: Full) -> float:
    problem = full.problem
    on = problem.present
    loss = 0.0 if problem.is_hard else float(problem.cost[on] @ problem.loss.value((problem.y * (full.f + full.b))[on]))
    return 0.5 * max(problem.norm2(full.w, full.f), 0.0) + loss
