"""Bounds of the best bias where the scores are only known to lie within bounds, its own rounding included.

Both ends of the interval of best biases are non-increasing in every score: its ends at scores from above are bounds from below,
and the other way round. For the hinge the ends are weighted quantiles of the kinks y − f, at the weight T of the positives:

    b⁻ = the first kink where the weights passed are ≥ T − τ,      b⁺ = the first where they are > T + τ,      τ = FLAT · Σc

The weights passed are sums, and round. Costs that are whole multiples of the smallest one are counted instead, exactly.
"""

from typing import NamedTuple

import numpy as np

from maxmargin.core.bias import FLAT, Interval, best_interval, weighted_quantiles
from maxmargin.core.losses import Hinge, Loss
from maxmargin.core.problem import Problem
from maxmargin.errors import NotSupportedError
from maxmargin.rounding import UNIT, gamma, sum_above
from maxmargin.typing import Floats

WIDENINGS = 200
"""How often a bound that could not be verified is moved away, twice as far each time: beyond every float64."""


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
    if not problem.is_classification:
        raise NotSupportedError("Bounds of the bias are for classification.")
    f, y, cost = f[on], problem.y[on], problem.cost[on]
    if not np.isfinite(f).all():
        return Interval(sign * np.inf, sign * np.inf)
    if problem.is_hard:
        first, last = float(f[y > 0].min()), float(f[y < 0].max())
        b = -0.5 * (first + last) + sign * 4.0 * UNIT * (abs(first) + abs(last))
        return Interval(b, b)
    if isinstance(problem.loss, Hinge):
        slope = slope_of(cost)
        kinks, total = np.nextafter(y - f, sign * np.inf), float(slope.weights[y > 0].sum())
        before, after = (slope.most, slope.least) if sign < 0 else (slope.least, slope.most)
        return Interval(*weighted_quantiles(kinks, slope.weights, total - before, total + after))
    b = _verified(problem.loss, f, y, cost, sign)
    return Interval(b, b)


def _verified(loss: Loss, f: Floats, y: Floats, cost: Floats, sign: float) -> float:
    """An end of the interval, moved until the slope there surely has the sign of the side that it bounds."""
    end = best_interval(loss, f, y, cost, y, 0.0)[0 if sign < 0 else 1]
    away = 4.0 * UNIT * (1.0 + abs(end))
    for _ in range(WIDENINGS):
        b = end + sign * away
        z = y * (f + b)
        error = 4.0 * UNIT * (1.0 + np.abs(f) + abs(b))
        high, low = -loss.subgradient(z - error), -loss.subgradient(z + error)
        # the slope is −Σ y c |ℓ'(z)|: at its least for −1, at its largest for +1
        falls, rises = (low, high) if sign < 0 else (high, low)
        down, up = float(cost @ np.where(y > 0, falls, 0.0)), float(cost @ np.where(y < 0, rises, 0.0))
        slip = gamma(len(f) + 8) * (down + up)
        if sign * (up - down) > slip:
            return b
        away *= 2.0
    return sign * np.inf
