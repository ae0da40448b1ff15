"""The two losses that stay below 1 and are therefore not convex.

    0–1: 1 if z ≤ 0, else 0        ramp: min(1, [1 − z]₊)

Neither has a dual.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.core.losses.base import Loss, floats
from maxmargin.typing import Floats


@dataclass(frozen=True)
class ZeroOne(Loss):
    """The 0–1 loss: 1 if z ≤ 0, else 0. A tie z = 0 counts as an error.

    Its derivative is 0 almost everywhere, and 0 is what ``subgradient`` returns also at the jump.

    Examples
    --------
    >>> from maxmargin.core.losses import ZeroOne
    >>> ZeroOne().value([-2.0, 0.0, 0.1])
    array([1., 1., 0.])
    """

    name: ClassVar[str] = "zero_one"
    convex: ClassVar[bool] = False
    lipschitz: ClassVar[float] = np.inf
    at_least_zero_one: ClassVar[bool] = True

    def value(self, z: ArrayLike) -> Floats:
        """1 where z ≤ 0, else 0; NaN stays NaN."""
        z = floats(z)
        return np.where(z > 0.0, 0.0, np.where(z <= 0.0, 1.0, np.nan))

    def subgradient(self, z: ArrayLike) -> Floats:
        """Zero everywhere."""
        return np.zeros_like(floats(z))


@dataclass(frozen=True)
class Ramp(Loss):
    """The hinge cut off at 1: min(1, [1 − z]₊) = [1 − z]₊ − [−z]₊.

    It lies between the 0–1 loss and the hinge. A difference of two convex functions and not convex itself: the
    concave–convex procedure keeps the first (:class:`Hinge`) and linearises the second.

    Examples
    --------
    >>> from maxmargin.core.losses import Ramp
    >>> Ramp().value([-2.0, 0.5, 3.0])
    array([1. , 0.5, 0. ])
    >>> hinge, excess = Ramp().split([-2.0, 0.5, 3.0])
    >>> hinge - excess
    array([1. , 0.5, 0. ])
    """

    name: ClassVar[str] = "ramp"
    convex: ClassVar[bool] = False
    lipschitz: ClassVar[float] = 1.0
    at_least_zero_one: ClassVar[bool] = True

    def value(self, z: ArrayLike) -> Floats:
        """min(1, max(0, 1 − z))."""
        return np.clip(1.0 - floats(z), 0.0, 1.0)

    def subgradient(self, z: ArrayLike) -> Floats:
        """−1 where 0 ≤ z < 1, else 0: the derivative, and at both corners the one from the right."""
        z = floats(z)
        return np.where((z >= 0.0) & (z < 1.0), -1.0, 0.0)

    def split(self, z: ArrayLike) -> tuple[Floats, Floats]:
        """The two convex functions whose difference is the ramp: the hinge [1 − z]₊ and the excess [−z]₊."""
        z = floats(z)
        return np.maximum(0.0, 1.0 - z), np.maximum(0.0, -z)
