"""The bias: how it takes part, and the best one for given scores, the argmin over b of Σ_j c_j ℓ(y_j (f_j + b)), an interval.

hinge          piecewise linear: the interval where the slope changes sign           two selections
squared hinge  piecewise quadratic: the root of the piecewise linear slope           one sort
any convex one where the slope, which does not fall, changes sign                    some 50 passes
hard margin    the b between the two classes that makes both margins equal           two extremes
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from maxmargin.core.losses import Hinge, Loss, SquaredHinge
from maxmargin.errors import InvalidInputError, NotSupportedError
from maxmargin.typing import Floats

if TYPE_CHECKING:
    from maxmargin.core.problem import Problem

FLAT = 1e-12
"""Share of Σc that the slope in b may be and still count as zero: it is a sum, and 0.1 + 0.1 + 0.1 − 0.3 is not 0."""


@dataclass(frozen=True)
class Bias:
    """How the intercept b takes part: ``free``, ``none``, or ``penalized`` as the weight of a constant feature.

    Examples
    --------
    >>> Bias.free(), Bias.none(), Bias.penalized(2.0)
    (Bias('free'), Bias('none'), Bias('penalized', 2.0))
    """

    kind: str
    scale: float = 0.0

    @classmethod
    def free(cls) -> "Bias":
        """Unpenalised: the dual gets the constraint Σβ = τ (0 in classification)."""
        return cls("free")

    @classmethod
    def none(cls) -> "Bias":
        """Homogeneous: b = 0."""
        return cls("none")

    @classmethod
    def penalized(cls, scale: float = 1.0) -> "Bias":
        """The weight of a constant feature `scale`, penalised like any other: K becomes K + scale²."""
        try:
            number = float(scale)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not 0 < number < math.inf:
            raise InvalidInputError(f"The scale of a penalized bias must be a positive number, got {scale!r}.")
        return cls("penalized", number)

    @property
    def is_free(self) -> bool:
        """Whether b is unpenalised."""
        return self.kind == "free"

    def __repr__(self) -> str:
        return f"Bias({self.kind!r}, {self.scale!r})" if self.kind == "penalized" else f"Bias({self.kind!r})"


class Interval(NamedTuple):
    """Every b in [lower, upper] is as good as any other."""

    lower: float
    upper: float

    @property
    def middle(self) -> float:
        """The one we take."""
        return self.lower + 0.5 * (self.upper - self.lower)


def best_bias(problem: "Problem", beta: Floats, f: Floats) -> Interval:
    """The interval of best biases for scores f; `beta` matters only where the bias is penalised.

    Examples
    --------
    >>> from maxmargin.core import Problem
    >>> X = np.array([[1.0], [-1.0], [-8.0]])
    >>> y = np.array([1.0, -1.0, -1.0])
    >>> problem = Problem(X, y, cost=np.full(3, 0.1))
    >>> low, high = best_bias(problem, y, np.array([0.2, -0.2, -1.6]))
    >>> round(low, 12), round(high, 12)
    (-0.8, 0.6)
    """
    if problem.bias.kind == "none":
        return Interval(0.0, 0.0)
    if problem.bias.kind == "penalized":
        b = problem.bias.scale**2 * float(beta.sum())
        return Interval(b, b)
    on = problem.present
    f, y, cost, t = f[on], problem.y[on], problem.cost[on], problem.t[on]
    if problem.is_hard:
        b = -0.5 * (float(f[y > 0].min()) + float(f[y < 0].max()))
        return Interval(b, b)
    return best_interval(problem.loss, f, y, cost, t, problem.total)


def best_interval(loss: Loss, f: Floats, y: Floats, cost: Floats, t: Floats, total: float) -> Interval:
    """Where total · b + Σ c_j ℓ(1 − y_j(t_j − f_j − b)) is smallest, for a convex loss and finite costs."""
    if isinstance(loss, Hinge):
        return hinge_interval(f, y, cost, t, total)
    if isinstance(loss, SquaredHinge):
        b = squared_hinge_root(f, y, cost, t, total)
        return Interval(b, b)
    if not loss.convex:
        raise NotSupportedError(f"The best bias is found for convex losses, got {loss!r}.")
    return convex_interval(loss, f, y, cost, t, total)


def best_biases(problem: "Problem", beta: Floats, f: Floats) -> Any:
    """The middle of `best_bias`, or an array of those of each group."""
    if problem.groups is None:
        return best_bias(problem, beta, f).middle
    assert problem.totals is not None
    found = []
    for g, total in enumerate(problem.totals.tolist()):
        at = np.flatnonzero((problem.groups == g) & (problem.cost > 0))
        found.append(best_interval(problem.loss, f[at], problem.y[at], problem.cost[at], problem.t[at], total).middle)
    return np.array(found)


def hinge_interval(f: Floats, y: Floats, cost: Floats, t: Floats | None = None, total: float = 0.0) -> Interval:
    """Where total · b + Σ c_j max(0, y_j(t_j − f_j − b)) is smallest; t = y by default."""
    # Passing a kink from the left raises the slope by its cost: a positive switches off, a negative switches on. It starts at
    # minus the positives' cost, so it is zero where the costs of the kinks passed add up to the positives' cost minus the total.
    kinks, flat = (y if t is None else t) - f, FLAT * float(cost.sum())
    balance = float(cost[y > 0].sum()) - total
    return Interval(*weighted_quantiles(kinks, cost, balance - flat, balance + flat))


def weighted_quantiles(values: Floats, weights: Floats, *totals: float) -> list[float]:
    """For each total the smallest value such that those up to it weigh at least that much; the largest if all weigh less.

    By halving, compiled: O(n), where a sort would cost more than the pass over the data that made the values.
    """
    from maxmargin._loops.quantiles import reached_at

    values, weights = np.array(values, dtype=np.float64), np.array(weights, dtype=np.float64)  # they are reordered
    reached = (reached_at(values, weights, len(values), 0.0, float(total))[0] for total in totals)
    return [value if value < np.inf else float(values.max()) for value in reached]


def squared_hinge_root(f: Floats, y: Floats, cost: Floats, t: Floats | None = None, total: float = 0.0) -> float:
    """Where total · b + Σ c_j max(0, y_j(t_j − f_j − b))² is smallest: the slope is piecewise linear and non-decreasing."""
    kinks = (y if t is None else t) - f
    order = np.argsort(kinks, kind="stable")
    k, c, positive = kinks[order], cost[order], (y > 0)[order]
    # Between kinks i−1 and i: positives from i on and negatives before i are active; each pulls b towards its kink.
    active = np.concatenate(([0.0], np.cumsum(np.where(positive, 0.0, c)))) + np.concatenate(
        (np.cumsum(np.where(positive, c, 0.0)[::-1])[::-1], [0.0])
    )
    pull = np.concatenate(([0.0], np.cumsum(np.where(positive, 0.0, c * k)))) + np.concatenate(
        (np.cumsum(np.where(positive, c * k, 0.0)[::-1])[::-1], [0.0])
    )
    pull = pull - 0.5 * total
    lower, upper = np.concatenate(([-np.inf], k)), np.concatenate((k, [np.inf]))
    with np.errstate(invalid="ignore", divide="ignore"):
        roots = np.clip(np.where(active > 0, pull / active, 0.5 * (lower + upper)), lower, upper)
        slopes = np.abs(active * roots - pull)
    flat = np.flatnonzero((active == 0) & (total == 0.0))  # a piece without any loss: its middle
    return float(roots[flat[0]] if len(flat) else roots[np.nanargmin(slopes)])


def convex_interval(loss: Loss, f: Floats, y: Floats, cost: Floats, t: Floats, total: float) -> Interval:
    """The same for any convex loss: from where the slope becomes zero to where it becomes positive; both classes are needed."""
    from scipy.optimize import brentq

    kinks, flat = t - f, FLAT * float(cost.sum())
    low, high = float(kinks.min()) - 1.0, float(kinks.max()) + 1.0
    width, unit = high - low, np.finfo(np.float64).eps

    def slope(b: float, level: float = 0.0) -> float:
        return total + float((cost * y) @ loss.subgradient(1.0 - y * (kinks - b))) - level

    while np.isfinite(low) and slope(low) >= -flat:
        low, width = low - width, 2.0 * width
    while np.isfinite(high) and slope(high) <= flat:
        high, width = high + width, 2.0 * width
    if not np.isfinite(high - low):  # no least value, or all of it flat on one side
        return Interval(float(kinks.min()), float(kinks.max()))
    xtol = max(unit * max(abs(low), abs(high)), np.finfo(np.float64).tiny)
    ends = (brentq(slope, low, high, (level,), xtol, 4.0 * unit, disp=False) for level in (-flat, flat))
    return Interval(*map(float, ends))
