"""Two smooth losses that this library evaluates and does not train machines with: its neighbours in the literature.

logistic ln(1 + e^−z)        squared (1 − z)²
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.core.losses.base import Loss, floats
from maxmargin.typing import Floats


@dataclass(frozen=True)
class Logistic(Loss):
    """The logistic loss ln(1 + e^−z): convex, 1-Lipschitz, ¼-smooth; logistic regression minimises its sum.

    At z = 0 it is ln 2, below the 0–1 loss; divided by ln 2 it never is.

    Examples
    --------
    >>> from maxmargin.losses import Logistic
    >>> Logistic().value([-1000.0, 0.0, 1000.0]).round(4).tolist()
    [1000.0, 0.6931, 0.0]
    """

    name: ClassVar[str] = "logistic"
    convex: ClassVar[bool] = True
    lipschitz: ClassVar[float] = 1.0
    smoothness: ClassVar[float] = 0.25
    at_least_zero_one: ClassVar[bool] = False

    def value(self, z: ArrayLike) -> Floats:
        """ln(1 + e^−z), without overflow."""
        z = floats(z)
        return np.maximum(-z, 0.0) + np.log1p(np.exp(-np.abs(z)))

    def subgradient(self, z: ArrayLike) -> Floats:
        """−1/(1 + e^z): the derivative."""
        z = floats(z)
        tail = np.exp(-np.abs(z))
        return -np.where(z >= 0.0, tail, 1.0) / (1.0 + tail)


@dataclass(frozen=True)
class Squared(Loss):
    """The squared loss (1 − z)² = (y − F)²: convex, 2-smooth; ridge regression on labels ±1 minimises its sum.

    It punishes a sample that lies far on its right side, z > 1, as one that lies on the wrong one.

    Examples
    --------
    >>> from maxmargin.losses import Squared
    >>> Squared().value([-1.0, 1.0, 3.0]).tolist()
    [4.0, 0.0, 4.0]
    """

    name: ClassVar[str] = "squared"
    convex: ClassVar[bool] = True
    lipschitz: ClassVar[float] = np.inf
    smoothness: ClassVar[float] = 2.0
    at_least_zero_one: ClassVar[bool] = True

    def value(self, z: ArrayLike) -> Floats:
        """(1 − z)²."""
        return np.asarray(np.square(1.0 - floats(z)))

    def subgradient(self, z: ArrayLike) -> Floats:
        """−2(1 − z): the derivative."""
        return np.asarray(-2.0 * (1.0 - floats(z)))
