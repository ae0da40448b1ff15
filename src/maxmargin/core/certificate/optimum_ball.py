"""Where the exact optimum lies, given a certified model: a ball for w*, an interval for b*, and so an interval for F*(x).

With gap = P(w, b) − D(β), strong convexity gives

    w* ∈ ball(½(w + w(β)), r),      r² = gap − ¼‖w − w(β)‖²,      and so  w* ∈ ball(w, r + ½‖w − w(β)‖)

With r_j = radius·√k_jj every score f*_j lies in f_j ± r_j. The best bias is non-increasing in every score, so

    b* ∈ [b⁻(f + r), b⁺(f − r)]

the lower end of the argmin at one extreme and the upper end at the other. Hence
F*(x) ∈ f(x) ± radius·√k(x, x) + [b⁻, b⁺].

For the hinge the ends of the argmin are weighted quantiles of the kinks y − f, at the weight T of the positives:

    b⁻ = the first kink where the weights passed are ≥ T − τ,      b⁺ = the first where they are > T + τ,      τ = FLAT · Σc

The weights passed are sums, and round. Costs that are whole multiples of the smallest one are counted instead, exactly.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from maxmargin.core.bias import FLAT, Interval, best_interval, weighted_quantiles
from maxmargin.core.candidate import Candidate
from maxmargin.core.certificate.certify import Certificate
from maxmargin.core.certificate.pairs import lengths_of
from maxmargin.core.certificate.scores import Scores
from maxmargin.core.certificate.scores import scores as scores_of
from maxmargin.core.joint import JointProblem
from maxmargin.core.losses import Hinge, Loss
from maxmargin.core.problem import Problem
from maxmargin.core.solution import Solution
from maxmargin.errors import NotSupportedError
from maxmargin.rounding import UNIT, gamma, sum_above
from maxmargin.typing import Floats, Indices


class OptimumBall(NamedTuple):
    """w* lies within `radius` of the candidate's w, b* in [b_lower, b_upper].

    `constant` is the feature that a penalised bias belongs to: it counts in the length of x.
    """

    radius: float
    b_lower: float
    b_upper: float
    constant: float = 0.0

    def interval(self, f: Floats, error: Floats, lengths: Floats) -> tuple[Floats, Floats]:
        """The ends of F*(x), from f = ⟨w, φ(x)⟩, a bound of its error, and an upper bound of ‖φ(x)‖."""
        reach = self.radius * np.hypot(lengths, self.constant) * (1.0 + 8.0 * UNIT) + error
        low, high = f + self.b_lower - reach, f + self.b_upper + reach
        slip = 8.0 * UNIT * (np.abs(f) + reach + max(abs(self.b_lower), abs(self.b_upper)))
        return low - slip, high + slip


def has_ball(problem: Problem, certificate: Certificate) -> bool:
    """Whether the gap bounds a distance: a convex problem with finite costs, and a finite gap."""
    is_convex = problem.groups is None and problem.loss.convex and certificate.convex and not certificate.assumed_psd
    return is_convex and problem.penalty.strongly_convex and not problem.is_hard and math.isfinite(certificate.gap)


def optimum_ball(problem: Problem, candidate: Candidate, certificate: Certificate, scores: Scores | None = None) -> OptimumBall:
    """The ball of a certified candidate; L2 only.

    Cost: two passes over the data where the bias is free, one where the candidate's scores are known, else nothing.
    """
    if not problem.penalty.strongly_convex:
        raise NotSupportedError(f"{problem.penalty!r} is not strongly convex, so a gap bounds no distance.")
    radius = certificate.radius
    if problem.bias.kind == "none":
        return OptimumBall(radius, 0.0, 0.0)
    if problem.bias.kind == "penalized":
        return OptimumBall(radius, candidate.b, candidate.b, problem.bias.scale)
    scores = scores_of(problem, candidate) if scores is None else scores
    f, lengths = scores.values, lengths_of(problem)(np.arange(problem.n))
    reaches = (radius * lengths + scores.error + 4.0 * UNIT * np.abs(f)) * (1.0 + 8.0 * UNIT)
    return OptimumBall(radius, bias_at_least(problem, f + reaches).lower, bias_at_most(problem, f - reaches).upper)


def optimum_balls(problems: Sequence[Problem | JointProblem], solutions: Sequence[Solution]) -> list[OptimumBall]:
    """The balls of the binary problems of one fit; none where one of them has none."""
    balls = []
    for problem, solution in zip(problems, solutions, strict=True):
        if isinstance(problem, JointProblem) or solution.certificate is None or not has_ball(problem, solution.certificate):
            return []
        balls.append(optimum_ball(problem, solution, solution.certificate, solution.scores))
    return balls


def balls_of_each(
    radii: Floats,
    f: Floats,
    error: Floats,
    lengths: Floats,
    rows: Indices,
    y: Floats,
    cost: Floats,
    starts: Indices,
    is_free: bool,
) -> list[OptimumBall]:
    """Those of classification problems with the hinge, whose samples stand one after the other, from `starts` on.

    Without a penalised bias. lengths[rows] are bounds of ‖φ(x)‖; f errs by at most `error`.
    """
    from maxmargin._loops.quantiles import bias_bounds

    ends = np.zeros((2, len(radii)))
    if is_free:
        if cost.min() == cost.max():
            weights, slack = np.ones(len(cost)), np.full(len(radii), 0.5)
        else:
            slopes = [slope_of(own) for own in np.split(cost, starts[1:-1])]
            weights, slack = np.concatenate([slope.weights for slope in slopes]), np.array([slope.most for slope in slopes])
        bias_bounds(f, error, lengths, rows, y, weights, slack, radii, starts, ends)
    return [OptimumBall(*ball) for ball in zip(radii.tolist(), *ends.tolist(), strict=True)]


class Slope(NamedTuple):
    """The slope in b as it is summed: by these weights; at most `least` is surely flat, more than `most` surely not."""

    weights: Floats
    least: float
    most: float


def slope_of(cost: Floats) -> Slope:
    """For these costs, also where any one of them is left out."""
    on = cost[cost > 0]
    unit = float(on.min())
    with np.errstate(over="ignore"):
        counts = cost / unit
        total = float(counts.sum())
    if total <= 0.5 / FLAT and not np.fmod(cost, unit).any():
        return Slope(counts, 0.5, 0.5)
    total = sum_above(on)
    error = 4.0 * gamma(len(on) + 128) * total
    return Slope(cost, FLAT * max(total - float(on.max()), 0.0) - error, FLAT * total + error)


def bias_at_least(problem: Problem, f: Floats) -> Interval:
    """Lower bounds of both ends for all scores ≤ f; for a bias that is free."""
    return _bounds(problem, f, -1.0)


def bias_at_most(problem: Problem, f: Floats) -> Interval:
    """Upper bounds of both ends for all scores ≥ f; for a bias that is free."""
    return _bounds(problem, f, 1.0)


def _bounds(problem: Problem, f: Floats, sign: float) -> Interval:
    on = problem.counted
    if problem.groups is not None:
        raise NotSupportedError("Bounds of the bias are for one bias, not for those of groups.")
    f, y, cost, t = f[on], problem.y[on], problem.cost[on], problem.t[on]
    if not np.isfinite(f).all():
        return Interval(sign * np.inf, sign * np.inf)
    if problem.is_hard:
        first, last = float(f[y > 0].min()), float(f[y < 0].max())
        b = -0.5 * (first + last) + sign * 4.0 * UNIT * (abs(first) + abs(last))
        return Interval(b, b)
    if isinstance(problem.loss, Hinge):
        slope = slope_of(cost) if problem.total == 0.0 else _summed(cost, problem.total)
        kinks, total = np.nextafter(t - f, sign * np.inf), float(slope.weights[y > 0].sum()) - problem.total
        before, after = (slope.most, slope.least) if sign < 0 else (slope.least, slope.most)
        return Interval(*weighted_quantiles(kinks, slope.weights, total - before, total + after))
    b = _verified(problem.loss, f, y, cost, t, problem.total, sign)
    return Interval(b, b)


def _summed(cost: Floats, total: float) -> Slope:
    """For a total that is no multiple of a cost: sums that round."""
    size = sum_above(cost) + total
    error = 4.0 * gamma(len(cost) + 128) * size
    return Slope(cost, 0.0, FLAT * size + error)


def _verified(loss: Loss, f: Floats, y: Floats, cost: Floats, t: Floats, total: float, sign: float) -> float:
    """An end of the interval, moved until the slope there surely has the sign of the side that it bounds."""
    end, size = best_interval(loss, f, y, cost, t, total)[0 if sign < 0 else 1], np.abs(t)
    away = 4.0 * UNIT * (float(size.max()) + abs(end)) or 4.0 * UNIT
    with np.errstate(over="ignore", invalid="ignore"):
        while math.isfinite(b := end + sign * away):
            z = 1.0 - y * (t - f - b)
            error = 4.0 * UNIT * (1.0 + size + np.abs(f) + abs(b))
            high, low = -loss.subgradient(z - error), -loss.subgradient(z + error)
            # the slope is −Σ y c |ℓ'(z)|: at its least for −1, at its largest for +1
            falls, rises = (low, high) if sign < 0 else (high, low)
            down, up = float(cost @ np.where(y > 0, falls, 0.0)), float(cost @ np.where(y < 0, rises, 0.0)) + total
            slip = gamma(len(f) + 8) * (down + up)
            if sign * (up - down) > slip:
                break
            away *= 2.0
    return b
