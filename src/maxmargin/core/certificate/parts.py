"""What samples add to a certificate. Parts add up: one machine has one, many machines have one each.

Each number is a bound, for slacks m_j that are known within an error: the residual R_j is convex in m_j, and the loss grows with
it.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.losses import Hinge, Loss
from maxmargin.rounding import UNIT, gamma, raised
from maxmargin.typing import Floats, Indices

TINY = float(np.finfo(np.float64).tiny)
"""More than a product can lose where it underflows."""

BLOCK_SAMPLES = 8192
"""Samples that are judged at a time: 64 kB an array."""

WORTH_TAKING = 1e-3
"""A sample may give up α only if its own is at least this share of its class's largest: far more than rounding can ask for."""

Lengths = Callable[[Indices], Floats]
"""Upper bounds of ‖φ(x_j)‖ for some samples."""

OUTSIDE, ON, INSIDE, ABSENT = range(4)
"""The groups: α = 0, 0 < α < c, α = c; and a sample without cost, which has no α."""


class Groups(NamedTuple):
    """How many samples lie outside the margin (α = 0), on it (0 < α < c), and inside or wrong (α = c; squared hinge: α > 0)."""

    outside: int
    on: int
    inside: int


def group_of_each(loss: Loss, cost: Floats, alpha: Floats) -> Indices:
    """The group of each sample by its α: `OUTSIDE` the margin, `ON` it, `INSIDE` it or wrong, or `ABSENT`."""
    group = np.full(len(cost), ABSENT, dtype=np.intp)
    on = slice(None) if (cost > 0).all() else np.flatnonzero(cost > 0)
    upper = loss.upper(cost[on])
    inside = np.isfinite(upper) & (alpha[on] >= upper * (1 - 1e-12))
    if np.isinf(upper).all() and not np.isinf(cost).any():
        inside = alpha[on] > 0  # squared hinge: a positive α is a positive slack
    group[on] = np.where(alpha[on] <= 0, OUTSIDE, np.where(inside, INSIDE, ON))
    return group


def count_groups(loss: Loss, cost: Floats, alpha: Floats) -> Groups:
    """Count the samples outside, on and inside the margin by their α."""
    count = np.bincount(group_of_each(loss, cost, alpha), minlength=4)
    return Groups(int(count[OUTSIDE]), int(count[ON]), int(count[INSIDE]))


class Samples(NamedTuple):
    """What samples are judged by: slacks with a bound of their errors, α in its box, costs > 0, labels, targets (None: 1)."""

    slack: Floats
    error: Floats
    alpha: Floats
    cost: Floats
    y: Floats
    target: Floats | None = None

    def some(self, at: Any) -> "Samples":
        """A part of them."""
        slack, error, alpha, cost, y, target = self
        return Samples(slack[at], error[at], alpha[at], cost[at], y[at], None if target is None else target[at])


class Scale(NamedTuple):
    """Bounds of 1/min_j y_jF_j, the factor of (w, b) for a hard margin; 1 for a soft one, +∞ where a sample may be wrong."""

    least: float = 1.0
    most: float = 1.0

    @classmethod
    def of(cls, slack: Floats, error: Floats) -> "Scale":
        """The factor that makes the closest sample's margin 1."""
        z = 1.0 - slack
        reach = error + 2.0 * UNIT * np.abs(z)
        low, high = float((z - reach).min()), float((z + reach).min())
        return cls((1.0 - 8.0 * UNIT) / high, (1.0 + 8.0 * UNIT) / low) if low > 0 else cls(math.inf, math.inf)


class Spare(NamedTuple):
    """A sample that can give up some α: moving s of it costs |s|(slack + length · ‖w − w(β)‖) + ½s²(length² + diagonal).

    `target` is |r|, what D loses for each unit of α.
    """

    alpha: float
    slack: float
    length: float
    diagonal: float
    target: float = 1.0


NO_SPARE = Spare(0.0, math.inf, math.inf, math.inf)
"""For a class without any α, or a bias that is not free."""


@dataclass(frozen=True)
class Part:
    """The sums over some samples; parts are added with `+`.

    Attributes
    ----------
    count : int
        Samples.
    residual, plain : float
        Σ R_j from above, and as the formulas gave it.
    loss, loss_below, gain : float
        Σ c_j ℓ from above and from below; Σ (r_j α_j − c_j ℓ*(α_j)) from below.
    high, low, low_error : float
        Σβ = high + low, where low errs by at most `low_error`. Two numbers are kept, as the Σβ of a part may be large even where
        that of all parts is 0.
    spare : pair of Spare
        A sample of the positive and one of the negative class to take from.
    closest : float
        min y_jF_j, from below.
    violation, groups
        As in `Certificate`.
    """

    count: int
    residual: float
    plain: float
    loss: float
    loss_below: float
    gain: float
    high: float
    low: float
    low_error: float
    spare: tuple[Spare, Spare]
    closest: float
    violation: float
    groups: Groups

    @classmethod
    def of(cls, loss: Loss, samples: Samples, scale: Scale | None = None, lengths: Lengths | None = None) -> "Part":
        """Judge some samples. `scale` makes it a hard margin; `lengths` are needed where the bias is free."""
        n = len(samples.slack)
        spare = (NO_SPARE, NO_SPARE) if lengths is None else _spare(loss, samples, lengths)
        if n and scale is None and isinstance(loss, Hinge):
            part = cls._of_sums(hinge_sums(samples), n, spare)
            if samples.target is None:
                return part
            with np.errstate(invalid="ignore", over="ignore"):
                closest = float((samples.target - samples.slack - samples.error).min())
            return replace(part, gain=_gain_below(samples, 0.0), closest=_lowered(closest))
        from maxmargin._loops.compensated import sum_twice

        sums, violation, closest = np.zeros(6), 0.0, math.inf
        step = BLOCK_SAMPLES if scale is None else max(n, 1)  # a hard margin measures each α by the largest
        for start in range(0, n, step):
            some = samples.some(slice(start, start + step))
            with np.errstate(invalid="ignore", over="ignore"):
                sums += _soft_sums(loss, some) if scale is None else _hard_sums(some, scale)
                target = 1.0 if some.target is None else some.target
                closest = float(np.minimum(closest, (target - some.slack - some.error).min()))
                m = some.slack if scale is None else np.minimum(1.0 - (1.0 - some.slack) * scale.most, 0.0)
                violation = float(np.maximum(violation, loss.kkt_violation(m, some.alpha, some.cost).max()))
        residual, plain, losses, below, size, penalty = sums.tolist()
        lost = n * TINY if _may_underflow(samples) else 0.0
        has_penalty = bool(samples.alpha.any() and loss.dual_diagonal(samples.cost).any())
        high, low = sum_twice(samples.alpha * samples.y)
        return cls(
            count=n,
            residual=raised(residual, n) + lost,
            plain=plain,
            loss=raised(losses, n) + lost,
            loss_below=below * (1.0 - gamma(n + 4)),
            gain=_gain_below(samples, size) - raised(penalty, n) - (n * TINY if has_penalty else 0.0),
            high=high,
            low=low,
            low_error=_error_of_twice(low, size, n),
            spare=spare,
            closest=_lowered(closest) if n else math.inf,
            violation=violation if scale is None or math.isfinite(scale.most) else math.inf,
            groups=count_groups(loss, samples.cost, samples.alpha),
        )

    @classmethod
    def _of_sums(cls, sums: Floats, n: int, spare: tuple[Spare, Spare]) -> "Part":
        """From the `hinge_sums` of one problem."""
        from maxmargin._loops import hinge_sums as at
        from maxmargin._loops.certificate import bounds_of_sums

        residual, loss, loss_below, gain, low_error, closest = bounds_of_sums(sums, n)
        groups = Groups(*(int(sums[k]) for k in (at.OUTSIDE, at.ON, at.INSIDE)))
        plain, high, low, violation = (float(sums[k]) for k in (at.PLAIN, at.HIGH, at.LOW, at.VIOLATION))
        return cls(n, residual, plain, loss, loss_below, gain, high, low, low_error, spare, closest, violation, groups)

    def __add__(self, other: "Part") -> "Part":
        up, down = 1.0 + 4.0 * UNIT, 1.0 - 4.0 * UNIT
        gain, high = self.gain + other.gain, self.high + other.high
        of_other = high - self.high
        lost = (self.high - (high - of_other)) + (other.high - of_other)  # Knuth's two-sum: high + lost is exact
        low = self.low + other.low + lost
        size = abs(self.low) + abs(other.low) + abs(lost)
        positive, negative = (max(pair, key=_preference) for pair in zip(self.spare, other.spare, strict=True))
        return Part(
            self.count + other.count,
            (self.residual + other.residual) * up,
            self.plain + other.plain,
            (self.loss + other.loss) * up,
            (self.loss_below + other.loss_below) * down,
            gain - 4.0 * UNIT * abs(gain),
            high,
            low,
            raised(self.low_error + other.low_error + 2.0 * UNIT * size),
            (positive, negative),
            float(np.minimum(self.closest, other.closest)),
            float(np.maximum(self.violation, other.violation)),
            Groups(*(a + b for a, b in zip(self.groups, other.groups, strict=True))),
        )

    @property
    def total(self) -> float:
        """Σβ."""
        return self.high + self.low

    @property
    def total_error(self) -> float:
        """A bound of its error."""
        return float(raised(self.low_error + UNIT * abs(self.total)))

    def beyond(self, total: float) -> tuple[float, Spare]:
        """(|Σβ − total| from above, the sample whose α is reduced to restore the sum)."""
        from maxmargin._loops.certificate import beyond

        apart, is_more = beyond(self.high, self.low, self.low_error, total)
        return apart, self.spare[0 if is_more else 1]


def _may_underflow(samples: Samples) -> bool:
    """Whether any product of the sums may be too small for float64, instead of being 0."""
    m, e = samples.slack, samples.error * (1.0 + 8.0 * UNIT)
    return bool(((m + e > 0) | ((samples.alpha > 0) & (e - m > 0))).any())


def hinge_sums(samples: Samples) -> Floats:
    """The sums of `_loops.hinge_sums`."""
    from maxmargin._loops.hinge_sums import N_SUMS, hinge_sums

    out = np.empty((1, N_SUMS))
    hinge_sums(*samples[:5], np.zeros(1, dtype=np.intp), out)
    return out.ravel()


def _lowered(closest: float) -> float:
    return closest - 4.0 * UNIT * (1.0 + abs(closest))


def _error_of_twice(low: float, size: float, n: int) -> float:
    """A bound of the error of Σβ where n numbers were summed in twice the working precision; size = Σα."""
    share = gamma(n)
    return float(raised(2.0 * share * share * size + UNIT * abs(low)))


def _gain_below(samples: Samples, size: float) -> float:
    """Σ r_jα_j from below; size = Σα."""
    n, target = len(samples.alpha), samples.target
    if target is None:
        return float(size * (1.0 - gamma(n + 4)))
    terms = target * samples.alpha
    return float(terms.sum() - raised(gamma(n + 4) * float(np.abs(terms).sum()), n) - n * TINY)


def _preference(spare: Spare) -> tuple[bool, float]:
    return spare.alpha > 0, -spare.slack


def _spare(loss: Loss, samples: Samples, lengths: Lengths) -> tuple[Spare, Spare]:
    """Of each class the sample nearest to the margin among those with a good part of the largest α."""
    found = []
    for sign in (1.0, -1.0):
        of_class, best = np.flatnonzero((samples.y == sign) & (samples.alpha > 0)), NO_SPARE
        if len(of_class):
            alpha = samples.alpha[of_class]
            slack = np.abs(samples.slack[of_class]) + samples.error[of_class]
            k = int(np.argmin(np.where(alpha >= WORTH_TAKING * alpha.max(), slack, np.inf)))
            at = of_class[[k]]
            diagonal = float(loss.dual_diagonal(samples.cost[at])[0])
            target = 1.0 if samples.target is None else abs(float(samples.target[at[0]]))
            best = Spare(float(alpha[k]), raised(float(slack[k])), float(lengths(at)[0]), raised(diagonal), target)
        found.append(best)
    return found[0], found[1]


def _soft_sums(loss: Loss, some: Samples) -> Floats:
    """Σ of the residual's bound, the residual, the loss from above and below, α and the dual penalty."""
    m, alpha, cost = some.slack, some.alpha, some.cost
    reach = some.error * (1.0 + 4.0 * UNIT)
    wide = reach + 4.0 * UNIT * (1.0 + np.abs(m) + reach)  # 1 − m rounds too
    return np.array(
        [
            loss.residual_above(m, reach, alpha, cost).sum(),
            loss.residual(m, alpha, cost).sum(),
            cost @ loss.value(1.0 - m - wide) * (1.0 + 8.0 * UNIT),
            cost @ loss.value(1.0 - m + wide) * (1.0 - 8.0 * UNIT),
            alpha.sum(),
            loss.dual_penalty(alpha, cost).sum() * (1.0 + 8.0 * UNIT),
        ]
    )


def _hard_sums(some: Samples, scale: Scale) -> Floats:
    """The same for the hard margin: no loss, and α[z·scale − 1]₊ for what lies beyond the margin."""
    if math.isinf(scale.most):
        return np.array([math.inf, math.inf, math.inf, math.inf, float(some.alpha.sum()), 0.0])
    z = (1.0 - some.slack) * scale.most
    slip = (some.error + 4.0 * UNIT) * scale.most + 8.0 * UNIT * (1.0 + np.abs(z))
    above, plain = np.maximum(z - 1.0 + slip, 0.0), np.maximum(z - 1.0, 0.0)
    return np.array([(some.alpha * above).sum(), (some.alpha * plain).sum(), 0.0, 0.0, some.alpha.sum(), 0.0])
