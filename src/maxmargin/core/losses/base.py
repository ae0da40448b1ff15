"""What every loss can do; and `floats`, which converts to float64."""

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from maxmargin.errors import NotSupportedError
from maxmargin.rounding import UNIT
from maxmargin.typing import Floats


class Loss(ABC):
    """A loss of z = y·F. Every method is vectorised, works in float64 and costs O(n).

    The dual methods (from :meth:`conjugate` on) exist where ``has_dual`` is true and are refused elsewhere. They take
    arrays that broadcast: ``m`` = 1 − z, ``alpha`` in [0, upper], ``cost`` ≥ 0.

    Attributes
    ----------
    name : str
        How the estimators call it.
    convex, has_dual : bool
        Convex in z (and so in w); has the dual methods.
    has_quadratic_dual : bool
        Whether the conjugate is ½ · ``dual_diagonal`` · α² on the box of α: the dual is then the hinge's with another box
        and another diagonal, and every solver of that quadratic program can train it.
    lipschitz : float
        Smallest L with |ℓ(z) − ℓ(z')| ≤ L·|z − z'|, so that w ↦ ℓ(y⟨w, x⟩) is L·‖x‖-Lipschitz; +∞ if there is none.
    smoothness : float
        Smallest β with |ℓ'(z) − ℓ'(z')| ≤ β·|z − z'|, so that w ↦ ℓ(y⟨w, x⟩) is β·‖x‖²-smooth; +∞ if there is none, as at a
        corner.
    at_least_zero_one : bool
        Whether ℓ(z) is never below the 0–1 loss, so that a small ℓ proves a small error.
    """

    name: ClassVar[str]
    convex: ClassVar[bool]
    lipschitz: ClassVar[float]
    smoothness: ClassVar[float] = np.inf
    at_least_zero_one: ClassVar[bool]
    has_dual: ClassVar[bool] = False
    has_quadratic_dual: ClassVar[bool] = False

    @abstractmethod
    def value(self, z: ArrayLike) -> Floats:
        """ℓ(z)."""

    @abstractmethod
    def subgradient(self, z: ArrayLike) -> Floats:
        """One element of ∂ℓ(z), with respect to z; of a loss that is not convex, its derivative where it has one."""

    def conjugate(self, alpha: ArrayLike, cost: ArrayLike) -> Floats:
        """(c·ℓ)*(α) = sup_m α·m − c·ℓ: :meth:`dual_penalty` inside the box of α, +∞ outside."""
        alpha, cost = floats(alpha), floats(cost)
        inside = (alpha >= 0.0) & (alpha <= self.upper(cost))
        return np.where(inside, self.dual_penalty(np.where(inside, alpha, 0.0), cost), np.inf)

    def residual(self, m: ArrayLike, alpha: ArrayLike, cost: ArrayLike) -> Floats:
        """The Fenchel–Young residual c·ℓ + (c·ℓ)*(α) − α·m ≥ 0; +∞ where α is outside its box."""
        raise self._no_dual()

    def residual_above(self, m: Floats, error: Floats, alpha: Floats, cost: Floats) -> Floats:
        """An upper bound of the residual at every m' with |m' − m| ≤ error, its own rounding included; for finite costs.

        The residual is convex in m, so that it is largest at an end. This bound holds where `residual` is a sum of terms ≥ 0 of
        which each errs by at most 8 units of rounding, or as much as if m did by 4 of its own.
        """
        e = error * (1.0 + 8.0 * UNIT) + 8.0 * UNIT * np.abs(m)
        most = np.maximum(self.residual(m - e, alpha, cost), self.residual(m + e, alpha, cost))
        return np.asarray(most * (1.0 + 16.0 * UNIT))

    def dual_penalty(self, alpha: ArrayLike, cost: ArrayLike) -> Floats:
        """What is subtracted from Σα in the dual, for α in its box."""
        raise self._no_dual()

    def dual_diagonal(self, cost: ArrayLike) -> Floats:
        """What is added to the diagonal of K in the dual: the second derivative of :meth:`dual_penalty`."""
        raise self._no_dual()

    def upper(self, cost: ArrayLike) -> Floats:
        """Upper end of the box 0 ≤ α ≤ upper."""
        raise self._no_dual()

    def kkt_violation(self, m: ArrayLike, alpha: ArrayLike, cost: ArrayLike) -> Floats:
        """How far each sample is from complementary slackness; ~0 at an optimum up to rounding.

        Where the cost is +∞ the box has no upper end to measure by, and α is taken relative to the largest one; the
        certificate of a hard margin rescales w and judges by its own gap.
        """
        raise self._no_dual()

    def _no_dual(self) -> NotSupportedError:
        """The refusal that every dual method shares."""
        if self.convex:
            return NotSupportedError(f"The loss {self.name!r} is evaluated and not trained here. Use 'hinge' or 'squared_hinge'.")
        return NotSupportedError(
            f"The loss {self.name!r} is not convex and has no dual. Use 'hinge' or 'squared_hinge', or solve the "
            "convex steps of the ramp, which are hinge problems."
        )


def floats(values: ArrayLike) -> Floats:
    """The values in float64; no copy if they are."""
    return np.asarray(values, dtype=np.float64)
