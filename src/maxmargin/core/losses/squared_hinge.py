"""The squared hinge, whose dual is the hinge's without an upper bound and with 1/(2c) on the diagonal of K.

    [m]₊²        m = 1 − z        conjugate α²/(4c) on α ≥ 0

The dual is strictly concave in α, so that α is unique.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.core.losses.base import Loss, floats
from maxmargin.core.losses.corner import Hinge
from maxmargin.rounding import UNIT
from maxmargin.typing import Floats


@dataclass(frozen=True)
class SquaredHinge(Loss):
    """The squared hinge [1 − z]₊² = [m]₊²: convex, differentiable, never below the 0–1 loss.

    Dual: Σα − Σα²/(4c) − ½‖Σα_j y_j φ_j‖² with 0 ≤ α. It grows without bound in slope, so it is not Lipschitz.

    Examples
    --------
    >>> from maxmargin.core.losses import SquaredHinge
    >>> SquaredHinge().value([-1.0, 0.5, 2.0])
    array([4.  , 0.25, 0.  ])
    >>> SquaredHinge().residual(m=[0.5, -0.5], alpha=[2.0, 2.0], cost=1.0)
    array([0.25, 2.  ])
    """

    name: ClassVar[str] = "squared_hinge"
    convex: ClassVar[bool] = True
    lipschitz: ClassVar[float] = np.inf
    smoothness: ClassVar[float] = 2.0
    at_least_zero_one: ClassVar[bool] = True
    has_dual: ClassVar[bool] = True
    has_quadratic_dual: ClassVar[bool] = True

    def value(self, z: ArrayLike) -> Floats:
        """max(0, 1 − z)²."""
        return np.square(np.maximum(0.0, 1.0 - floats(z)))

    def subgradient(self, z: ArrayLike) -> Floats:
        """−2·max(0, 1 − z), the derivative."""
        return -2.0 * np.maximum(0.0, 1.0 - floats(z))

    def residual(self, m: ArrayLike, alpha: ArrayLike, cost: ArrayLike) -> Floats:
        """c(m − α/(2c))² where m ≥ 0, −αm + α²/(4c) where m < 0; for c = ∞ as the hinge."""
        m, alpha, cost = np.broadcast_arrays(floats(m), floats(alpha), floats(cost))
        soft_cost = np.where(np.isinf(cost), 0.0, cost)
        inside = soft_cost * np.square(m - alpha * self.dual_diagonal(cost))
        outside = alpha * np.maximum(-m, 0.0) + self.dual_penalty(alpha, cost)
        total = np.where(m >= 0.0, inside, outside)
        total = np.where(np.isinf(cost), np.where(m > 0.0, np.inf, outside), total)
        return np.where((alpha < 0.0) | (alpha > self.upper(cost)), np.inf, total)

    def residual_above(self, m: Floats, error: Floats, alpha: Floats, cost: Floats) -> Floats:
        """c·max(|[m + e]₊ − α/2c|, |[m − e]₊ − α/2c|)² + α·[e − m]₊."""
        best = alpha * self.dual_diagonal(cost)
        high, low = np.maximum(m + error, 0.0), np.maximum(m - error, 0.0)
        apart = np.maximum(np.abs(high - best), np.abs(low - best)) + 4.0 * UNIT * (high + best)
        total: Floats = cost * np.square(apart) + alpha * np.maximum(error - m, 0.0)
        return total * (1.0 + 8.0 * UNIT)

    def dual_penalty(self, alpha: ArrayLike, cost: ArrayLike) -> Floats:
        """α²/(4c), and 0 for the hard margin."""
        return 0.5 * floats(alpha) * (floats(alpha) * self.dual_diagonal(cost))

    def dual_diagonal(self, cost: ArrayLike) -> Floats:
        """1/(2c); 0 for the hard margin, and for an absent sample, whose α is 0."""
        cost = floats(cost)
        return np.divide(0.5, cost, out=np.zeros_like(cost), where=cost > 0.0)

    def upper(self, cost: ArrayLike) -> Floats:
        """+∞, and 0 for an absent sample."""
        return np.where(floats(cost) > 0.0, np.inf, 0.0)

    def kkt_violation(self, m: ArrayLike, alpha: ArrayLike, cost: ArrayLike) -> Floats:
        """|[m]₊ − α/(2c)|: at the optimum α = 2c·ξ; for c = ∞ as the hinge."""
        m, alpha, cost = np.broadcast_arrays(floats(m), floats(alpha), floats(cost))
        soft = np.abs(np.maximum(m, 0.0) - alpha * self.dual_diagonal(cost))
        return np.where(np.isinf(cost), Hinge().kkt_violation(m, alpha, cost), np.where(cost == 0.0, 0.0, soft))
