"""What the two vectors add to a certificate: Ω(w) + Ω*(w(β)) − ⟨w, w(β)⟩ ≥ 0, bounded from above.

For L2 that is ½‖w − w(β)‖². w is what is stored; w(β) = Σβ_jφ(x_j) is summed anew, with a bound of its error.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from maxmargin.core import products
from maxmargin.core.candidate import Candidate
from maxmargin.core.certificate.parts import Lengths, Part, Scale
from maxmargin.core.certificate.scores import FINEST, GAP_SHARE, Scores
from maxmargin.core.certificate.scores import scores as scores_of
from maxmargin.core.problem import Bias, Problem
from maxmargin.rounding import SMALLEST, UNIT, exact_sum, gamma, length_above, raised, sum_above
from maxmargin.typing import Floats, Indices, Matrix


class Pair(NamedTuple):
    """Ω(w) from above and below, Ω*(w(β)) from above, Ω + Ω* − ⟨w, w(β)⟩ from above and as computed.

    `distance` is ‖w − w(β)‖ from above, for L2. `norm` and `norm_below` bound the ‖w‖ that a margin is divided by: of the
    stored w, without the weight of a penalised bias.
    """

    value: float
    value_below: float
    conjugate: float
    apart: float
    plain: float
    norm: float
    norm_below: float
    distance: float = math.nan
    is_psd: bool = True


def lengths_of(problem: Problem) -> Lengths:
    """Upper bounds of ‖φ(x_j)‖, for the samples that are asked for."""
    if problem.is_linear:
        return lambda j: problem.lengths[j]
    return lambda j: lengths_from(problem.diag(j))


def lengths_from(squares: Floats) -> Floats:
    """Upper bounds of ‖φ(x)‖ from k(x, x) as computed: it rounds by far less than 1e-9, relatively, unless it underflows."""
    return np.asarray(np.sqrt(np.maximum(squares, 0.0) + 1e-290) * (1.0 + 1e-9))


def weigh(w: Floats, made: Floats, made_error: float, w_error: float = 0.0, rest: Floats | None = None) -> Pair:
    """Of weights w and w(β) = made + rest as computed; each errs by at most so much in the Euclidean norm."""
    difference = w - made
    rounded, tail = 2.0 * UNIT * length_above(difference), 0.0
    if rest is not None:
        difference, tail = difference - rest, length_above(rest)
        rounded += 2.0 * UNIT * length_above(difference)
    distance = raised(length_above(difference) + rounded + made_error + w_error)
    norm, norm_below = length_above(w), _length_below(w)
    return Pair(
        value=raised(0.5 * (norm + w_error) * (norm + w_error), 4),
        value_below=0.5 * _squared(max(norm_below - w_error, 0.0)) * (1.0 - 8.0 * UNIT),
        conjugate=raised(0.5 * _squared(length_above(made) + tail + made_error), 4),
        apart=raised(0.5 * distance * distance),
        plain=0.5 * float(difference @ difference),
        norm=norm,
        norm_below=norm_below,
        distance=distance,
    )


def _length_below(vector: Floats) -> float:
    square = float(vector @ vector) - 2.0 * len(vector) * SMALLEST
    return float(math.sqrt(max(square, 0.0)) * (1.0 - gamma(len(vector) + 8)))


def _squared(value: float) -> float:
    return value * value  # ** would raise an error where it overflows


@dataclass(frozen=True)
class Made:
    """Σ_j β_jx_j over some samples: high + low as it was summed, of how many terms, and Σ|β_j|‖x_j‖ from above.

    They are added with `+`: a sum of sums is a sum in another order, and the bounds hold in any.
    """

    high: Floats
    low: Floats | None
    used: int
    bulk: float

    @classmethod
    def of(cls, X: Matrix, beta: Floats, lengths: Floats, rows: Indices | None = None, *, is_twice: bool = False) -> "Made":
        """In float64, or in twice the working precision."""
        at = np.flatnonzero(beta)
        used, bulk = len(at), sum_above(np.abs(beta[at]) * lengths[at])
        if is_twice:
            return cls(*products.combine_twice(X, beta, rows), used, bulk)
        return cls(products.combine(X, beta, rows), None, used, bulk)

    def __add__(self, other: "Made") -> "Made":
        used, bulk = self.used + other.used, raised(self.bulk + other.bulk)
        if self.low is None or other.low is None:
            return Made(self.high + other.high, None, used, bulk)
        high = self.high + other.high
        own = high - self.high
        lost = (self.high - (high - own)) + (other.high - own)  # Knuth's two-sum: nothing is lost
        return Made(high, (self.low + other.low) + lost, used, bulk)

    @property
    def error(self) -> float:
        """A bound of the error, in the Euclidean norm."""
        share = float(gamma(self.used + 2))
        lost = 8.0 * self.used * math.sqrt(len(self.high)) * SMALLEST  # where products, or their errors, underflow
        return float(raised((share if self.low is None else 4.0 * share * share) * self.bulk + lost, 4))


def of_weights(problem: Problem, candidate: Candidate, beta: Floats, scale: Scale | None, part: Part, tol: float) -> Pair:
    """Of a linear problem with L2; w(β) in twice the working precision where its rounding would cost too much of the gap."""
    made = Made.of(problem.X, beta, problem.lengths, problem.rows)
    pair = of_sums(problem.bias, candidate.w, candidate.b, part, made, _factor(scale))
    if is_too_rough(pair, part, tol):
        made = Made.of(problem.X, beta, problem.lengths, problem.rows, is_twice=True)
        pair = of_sums(problem.bias, candidate.w, candidate.b, part, made, _factor(scale))
    return pair


def is_too_rough(pair: Pair, part: Part, tol: float) -> bool:
    """Whether the rounding of w(β) costs more of the gap than it may."""
    return not pair.apart - pair.plain <= GAP_SHARE * max(tol, FINEST) * (pair.value + part.loss)


def of_sums(bias: Bias, w: Floats, b: float, part: Part, made: Made, factor: float = 1.0) -> Pair:
    """Of the stored (w, b), multiplied by the factor of a hard margin, and of what the samples make."""
    scaled = w if factor == 1.0 else w * factor
    constant = constant_of(bias, b * factor, part.total, part.total_error)
    own_error = raised(constant.own_error + (0.0 if factor == 1.0 else 2.0 * UNIT * length_above(scaled)))
    made_error = raised(made.error + constant.made_error)
    rest = None if made.low is None else np.append(made.low, 0.0)
    pair = weigh(np.append(scaled, constant.own), np.append(made.high, constant.made), made_error, own_error, rest)
    return pair._replace(norm=length_above(w), norm_below=_length_below(w))


def _factor(scale: Scale | None) -> float:
    """What (w, b) is multiplied by: the hard margin's factor, if there is one."""
    return 1.0 if scale is None or math.isinf(scale.most) else scale.most


class Constant(NamedTuple):
    """The weights of a penalised bias's constant feature s in w and in w(β), b/s and sΣβ, with bounds of their errors."""

    own: float = 0.0
    made: float = 0.0
    own_error: float = 0.0
    made_error: float = 0.0


def constant_of(bias: Bias, b: float, total: float, total_error: float) -> Constant:
    """Zeros where the bias is not penalised."""
    if bias.kind != "penalized":
        return Constant()
    own, made = b / bias.scale, bias.scale * total
    return Constant(own, made, 4.0 * UNIT * abs(own), raised(2.0 * UNIT * abs(made) + bias.scale * total_error))


def of_coefficients(
    problem: Problem, candidate: Candidate, beta: Floats, scores: Scores, scale: Scale | None, part: Part
) -> Pair:
    """Of a kernel problem: inner products by the scores, ‖w‖² = Σ w_j f_j."""
    factor, w = _factor(scale), candidate.w
    own, own_error = inner(w, scores.values, scores.error)
    its, its_error = own, own_error
    apart = Square(0.0, 0.0)
    is_same = np.array_equal(w, beta)
    if not is_same or factor != 1.0:
        made = scores if is_same else scores_of(problem, Candidate(beta, 0.0, beta))
        if not is_same:
            its, its_error = inner(beta, made.values, made.error)
        apart = _apart(problem, factor, w, scores, beta, made)
    constant = constant_of(problem.bias, candidate.b * factor, part.total, part.total_error)
    off = abs(constant.own - constant.made)
    slip = raised(constant.own_error + constant.made_error + 2.0 * UNIT * off)
    distance = raised(math.sqrt(max(apart.value, 0.0) + apart.error + _squared(off + slip)), 4)
    return Pair(
        value=0.5 * _up(factor * factor * (own + own_error)) + raised(0.5 * _squared(abs(constant.own) + constant.own_error), 4),
        value_below=0.5 * _down(factor * factor * (own - own_error)) + 0.5 * constant.own * constant.own * (1.0 - 16.0 * UNIT),
        conjugate=0.5 * _up(its + its_error) + raised(0.5 * _squared(abs(constant.made) + constant.made_error), 4),
        apart=raised(0.5 * distance * distance),
        plain=0.5 * (max(apart.value, 0.0) + off * off),
        norm=raised(math.sqrt(max(own + own_error, 0.0))),
        norm_below=math.sqrt(max(own - own_error, 0.0)) * (1.0 - 4.0 * UNIT),
        distance=distance,
        is_psd=its + its_error >= 0.0,
    )


class Square(NamedTuple):
    """A squared length, and a bound of its error."""

    value: float
    error: float


def _apart(problem: Problem, factor: float, w: Floats, scores: Scores, beta: Floats, made: Scores) -> Square:
    """‖factor · w − w(β)‖²: v = factor · w − β is rounded, by |δ_j| ≤ 4u|v_j's terms|, and ‖Σ δ_jφ_j‖ ≤ Σ|δ_j|‖φ_j‖."""
    v, g = factor * w - beta, factor * scores.values - made.values
    terms = factor * np.abs(scores.values) + np.abs(made.values)
    value, error = inner(v, g, factor * scores.error + made.error + 4.0 * UNIT * terms)
    used = np.flatnonzero((w != 0) | (beta != 0))
    sizes = factor * np.abs(w[used]) + np.abs(beta[used])
    slip = 4.0 * UNIT * sum_above(sizes * lengths_of(problem)(used))
    return Square(value, raised(error + 2.0 * slip * math.sqrt(max(value, 0.0) + error) + slip * slip, 4))


def inner(v: Floats, f: Floats, error: Floats) -> tuple[float, float]:
    """(Σ v_j f_j, a bound of its error where each f_j errs by error_j)."""
    used = np.flatnonzero(v)
    v, f, error = v[used], f[used], error[used]
    lost = 4.0 * len(v) * SMALLEST  # where products underflow
    return float(v @ f), sum_above(np.abs(v) * (error + gamma(len(v) + 4) * np.abs(f))) + lost


def _up(value: float) -> float:
    return value + 16.0 * UNIT * abs(value)


def _down(value: float) -> float:
    return value - 16.0 * UNIT * abs(value)


def into_the_cube(problem: Problem, candidate: Candidate, beta: Floats, scale: Scale | None, tol: float) -> tuple[Floats, Pair]:
    """(tβ, its pair) for L1: t ≤ 1 such that no coordinate of w(tβ) is beyond ±1, whatever rounding did.

    tβ is rounded, and judged as it is rounded. Moving Σβ to zero may add |Σβ|·‖x‖ to a coordinate, and is allowed for.
    """
    factor = _factor(scale)
    w, longest = candidate.w * factor, float(problem.lengths.max())
    sums = Made.of(problem.X, beta, problem.lengths, problem.rows)
    made, error, bulk = sums.high, sums.error, sums.bulk
    value = float(np.abs(w).sum())
    if not error * (1.0 + value) <= GAP_SHARE * max(tol, FINEST) * value:
        sums = Made.of(problem.X, beta, problem.lengths, problem.rows, is_twice=True)
        assert sums.low is not None
        made, error = (sums.high + sums.low, raised(sums.error + 2.0 * UNIT * float(np.abs(sums.high).max(initial=0))))
    total = exact_sum(beta)
    size = sum_above(np.abs(beta))
    left = 2.0 * abs(total) + 16.0 * gamma(len(beta)) ** 2 * size  # Σβ is summed in twice the working precision
    moved = left * longest if problem.bias.is_free else 0.0
    constant = constant_of(problem.bias, candidate.b * factor, total, 2.0 * UNIT * abs(total) + 2.0 * UNIT * size)
    error = raised(error + moved + constant.made_error)
    if problem.bias.kind == "penalized":
        w, made = np.append(w, constant.own), np.append(made, constant.made)
    largest = float(np.abs(made).max(initial=0.0)) + error
    if largest > 1.0 - 8.0 * UNIT:  # t < 1: tβ rounds, as do its sums
        error = raised(error + 2.0 * UNIT * bulk + (4.0 * UNIT * size * longest if problem.bias.is_free else 0.0))
        largest = float(np.abs(made).max(initial=0.0)) + error
    t = min(1.0, (1.0 - 8.0 * UNIT) / largest) if 0.0 < largest < math.inf else float(largest == 0.0)
    terms = np.abs(w) * (1.0 - t * np.sign(w) * made)
    value = raised(float(np.abs(w).sum()) * (1.0 + 4.0 * UNIT), len(w))
    plain = float(terms.sum())
    slip = raised((t * error + 8.0 * UNIT) * value)
    apart = raised(float(np.maximum(terms, 0.0).sum()) + slip, len(w))
    norm = length_above(candidate.w)
    below = float(np.abs(w).sum()) * (1.0 - gamma(len(w) + 8))
    return t * beta, Pair(value, below, 0.0, apart, max(plain, 0.0), norm, _length_below(candidate.w))
