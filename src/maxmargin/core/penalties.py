"""What a weight vector costs: Ω(w), its conjugate, and how far a pair (w, u) is from matching.

    Ω(w) + Ω*(u) − ⟨w, u⟩ ≥ 0        (Fenchel–Young), with equality exactly when u ∈ ∂Ω(w)

In the certificate u = w(β) = Σβ_j x_j, and the left side is the share of the duality gap that the penalty is to blame
for. It is written as a sum of non-negative terms, because by subtraction it would lose its digits near the optimum.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from maxmargin.errors import InvalidInputError
from maxmargin.typing import Floats


class Penalty(ABC):
    """A convex penalty Ω on the weights; vectors in float64 come in, floats go out.

    Each method takes one pass over the vector: O(d).

    Attributes
    ----------
    name : str
        How the estimators call it.
    strongly_convex : bool
        Whether Ω(w) − ½‖w‖² is convex: then the minimiser is unique and a gap bounds the distance to it.
    """

    name: ClassVar[str]
    strongly_convex: ClassVar[bool]

    @abstractmethod
    def value(self, w: Floats) -> float:
        """Ω(w)."""

    @abstractmethod
    def subgradient(self, w: Floats) -> Floats:
        """One element of ∂Ω(w)."""

    @abstractmethod
    def conjugate(self, u: Floats) -> float:
        """Ω*(u) = sup_w ⟨w, u⟩ − Ω(w); +∞ outside its domain."""

    @abstractmethod
    def residual(self, w: Floats, u: Floats) -> float:
        """Ω(w) + Ω*(u) − ⟨w, u⟩ ≥ 0 without cancellation; +∞ where u is outside the conjugate's domain."""

    @abstractmethod
    def shrink(self, u: Floats) -> float:
        """Largest factor t ≤ 1 such that t·u, as rounded, lies in the domain of the conjugate."""


@dataclass(frozen=True)
class L2(Penalty):
    """Half the squared Euclidean norm, ½‖w‖²: the penalty of the margin 1/‖w‖.

    Its conjugate is ½‖u‖², finite everywhere, and the residual is ½‖w − u‖².

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.core.penalties import L2
    >>> w, u = np.array([3.0, 4.0]), np.array([3.0, 2.0])
    >>> L2().value(w), L2().residual(w, u), L2().shrink(u)
    (12.5, 2.0, 1.0)
    """

    name: ClassVar[str] = "l2"
    strongly_convex: ClassVar[bool] = True

    def value(self, w: Floats) -> float:
        """½‖w‖²."""
        w = np.asarray(w, dtype=np.float64)
        return 0.5 * float(w @ w)

    def subgradient(self, w: Floats) -> Floats:
        """The gradient, w itself (a copy)."""
        return np.array(w, dtype=np.float64)

    def conjugate(self, u: Floats) -> float:
        """½‖u‖²: the penalty is its own conjugate."""
        return self.value(u)

    def residual(self, w: Floats, u: Floats) -> float:
        """½‖w − u‖²."""
        return self.value(np.asarray(w, dtype=np.float64) - u)

    def shrink(self, u: Floats) -> float:
        """1: every u is in the domain."""
        return 1.0


@dataclass(frozen=True)
class L1(Penalty):
    """The sum of absolute values, ‖w‖₁ = Σ|w_k|: sparse weights.

    Its conjugate is 0 on the cube ‖u‖_∞ ≤ 1 and +∞ outside; on the cube the residual is Σ|w_k|(1 − sign(w_k) u_k).

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.core.penalties import L1
    >>> w, u = np.array([3.0, -4.0, 0.0]), np.array([1.0, -0.5, 0.25])
    >>> L1().value(w), L1().residual(w, u)
    (7.0, 2.0)
    >>> L1().shrink(np.array([4.0, -2.0]))
    0.25
    """

    name: ClassVar[str] = "l1"
    strongly_convex: ClassVar[bool] = False

    def value(self, w: Floats) -> float:
        """Σ|w_k|."""
        return float(np.sum(np.abs(np.asarray(w, dtype=np.float64))))

    def subgradient(self, w: Floats) -> Floats:
        """sign(w_k), and 0 where w_k = 0."""
        return np.sign(np.asarray(w, dtype=np.float64))

    def conjugate(self, u: Floats) -> float:
        """0 if ‖u‖_∞ ≤ 1, +∞ otherwise."""
        largest = _largest(u)
        # a NaN is in no set, and stays visible
        return 0.0 if largest <= 1.0 else np.inf if largest > 1.0 else largest

    def residual(self, w: Floats, u: Floats) -> float:
        """Σ|w_k|(1 − sign(w_k) u_k), every term ≥ 0; +∞ if ‖u‖_∞ > 1."""
        outside = self.conjugate(u)
        if outside != 0.0:
            return outside
        w = np.asarray(w, dtype=np.float64)
        return float(np.sum(np.abs(w) * (1.0 - np.sign(w) * u)))

    def shrink(self, u: Floats) -> float:
        """min(1, 1/‖u‖_∞), rounded down where t·u would stick out of the cube."""
        largest = _largest(u)
        if not largest > 1.0:
            return 1.0
        t = 1.0 / largest
        # t·‖u‖_∞ rounds to at most 1 by itself unless t is subnormal
        return t if t * largest <= 1.0 else float(np.nextafter(t, 0.0))


def _largest(u: Floats) -> float:
    """‖u‖_∞, which is 0 for the empty vector."""
    return float(np.max(np.abs(np.asarray(u, dtype=np.float64)), initial=0.0))


_BY_NAME: dict[str, Penalty] = {penalty.name: penalty for penalty in (L2(), L1())}


def penalty_from_name(name: str | Penalty) -> Penalty:
    """Turn ``"l2"`` or ``"l1"`` into the penalty; a penalty passes through.

    Examples
    --------
    >>> from maxmargin.core.penalties import penalty_from_name
    >>> penalty_from_name("l1")
    L1()
    """
    if isinstance(name, Penalty):
        return name
    if isinstance(name, str) and name in _BY_NAME:
        return _BY_NAME[name]
    raise InvalidInputError(f"Unknown penalty {name!r}. Use one of {', '.join(map(repr, _BY_NAME))}.")
