"""The two losses made of one corner: zero up to it, of slope 1 beyond.

    hinge [m]₊        perceptron [m − 1]₊        m = 1 − z

Their conjugate is linear on the box 0 ≤ α ≤ c.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.core.losses.base import Loss, floats
from maxmargin.rounding import UNIT
from maxmargin.typing import Floats


class _Corner(Loss):
    """A loss [m − corner]₊: zero up to a corner, then of slope 1. The box of its dual is [0, c]."""

    convex: ClassVar[bool] = True
    lipschitz: ClassVar[float] = 1.0
    has_dual: ClassVar[bool] = True
    _corner: ClassVar[float]

    def value(self, z: ArrayLike) -> Floats:
        """max(0, 1 − z − corner)."""
        return np.maximum(0.0, (1.0 - self._corner) - floats(z))

    def subgradient(self, z: ArrayLike) -> Floats:
        """−1 where the loss is positive, else 0; at the corner, where all of [−1, 0] would do, 0."""
        return np.where(floats(z) < 1.0 - self._corner, -1.0, 0.0)

    def residual(self, m: ArrayLike, alpha: ArrayLike, cost: ArrayLike) -> Floats:
        """(c − α)·[v]₊ + α·[−v]₊ with v = m − corner; for c = ∞ it is +∞ where v > 0."""
        v, alpha, cost = floats(m) - self._corner, floats(alpha), floats(cost)
        room = cost - alpha
        # where v ≤ 0 the first factor may be infinite: leave it out, as 0·∞ is no number
        upper_side = np.where(v > 0.0, room, 0.0) * np.maximum(v, 0.0)
        total = upper_side + alpha * np.maximum(-v, 0.0)
        return np.where((alpha < 0.0) | (room < 0.0), np.inf, total)

    def residual_above(self, m: Floats, error: Floats, alpha: Floats, cost: Floats) -> Floats:
        """(c − α)·[v + e]₊ + α·[e − v]₊: nothing is added where |v| > e and α is at the right end of its box."""
        v = m - self._corner
        e = error + UNIT * np.abs(v) if self._corner else error
        total: Floats = (cost - alpha) * np.maximum(v + e, 0.0) + alpha * np.maximum(e - v, 0.0)
        return total * (1.0 + 8.0 * UNIT)

    def dual_penalty(self, alpha: ArrayLike, cost: ArrayLike) -> Floats:
        """corner·α: nothing for the hinge, α for the perceptron loss."""
        return self._corner * (floats(alpha) + np.zeros_like(floats(cost)))

    def dual_diagonal(self, cost: ArrayLike) -> Floats:
        """0: the penalty is linear."""
        return np.zeros_like(floats(cost))

    def upper(self, cost: ArrayLike) -> Floats:
        """The cost c itself."""
        return floats(cost).copy()

    def kkt_violation(self, m: ArrayLike, alpha: ArrayLike, cost: ArrayLike) -> Floats:
        """max(min([v]₊, 1 − α/c), min([−v]₊, α/c)) with v = m − corner; what sticks out of the box counts too."""
        v, alpha, cost = np.broadcast_arrays(floats(m) - self._corner, floats(alpha), floats(cost))
        share = _share(alpha, cost)
        below, above = np.maximum(v, 0.0), np.maximum(-v, 0.0)
        soft = np.maximum(np.minimum(below, 1.0 - share), np.minimum(above, share))
        soft = np.maximum(soft, np.maximum(-share, share - 1.0))
        hard = np.maximum(below, np.minimum(above, share))
        return np.where(cost == 0.0, 0.0, np.where(np.isinf(cost), hard, soft))


@dataclass(frozen=True)
class Hinge(_Corner):
    """The hinge loss [1 − z]₊ = [m]₊: convex, 1-Lipschitz in z, never below the 0–1 loss.

    Dual: Σα − ½‖Σα_j y_j φ_j‖² with 0 ≤ α ≤ c. Residual (c − α)·[m]₊ + α·[−m]₊.

    Examples
    --------
    >>> from maxmargin.core.losses import Hinge
    >>> Hinge().value([-1.0, 0.0, 1.0, 2.0])
    array([2., 1., 0., 0.])
    >>> Hinge().residual(m=[0.5, -0.5], alpha=[2.0, 2.0], cost=10.0)
    array([4., 1.])
    """

    name: ClassVar[str] = "hinge"
    at_least_zero_one: ClassVar[bool] = True
    has_quadratic_dual: ClassVar[bool] = True
    _corner: ClassVar[float] = 0.0


@dataclass(frozen=True)
class PerceptronLoss(_Corner):
    """The loss that the perceptron descends, [−z]₊ = [m − 1]₊: a hinge that asks for no margin.

    At z = 0 it is 0 where the 0–1 loss is 1, and w = 0 minimises it. Its dual penalty is α, which cancels the Σα of
    the dual.

    Examples
    --------
    >>> from maxmargin.core.losses import PerceptronLoss
    >>> PerceptronLoss().value([-1.0, 0.0, 0.5])
    array([1., 0., 0.])
    """

    name: ClassVar[str] = "perceptron"
    at_least_zero_one: ClassVar[bool] = False
    _corner: ClassVar[float] = 1.0


def _share(alpha: Floats, cost: Floats) -> Floats:
    """α/c; of the largest α where c = ∞; 0 where c = 0."""
    hard = np.isinf(cost)
    largest = float(np.max(alpha, where=hard, initial=0.0))
    scale = np.where(hard, largest, cost)
    return np.divide(alpha, scale, out=np.zeros_like(scale), where=scale > 0.0)
