"""The sigmoid function of the inner product, which is not a kernel in the strict sense."""

from dataclasses import dataclass

import numpy as np

from maxmargin.kernels.inner import OfInnerProduct, power_error
from maxmargin.kernels.parameters import WithGamma, check_number
from maxmargin.kernels.tiles import require_finite
from maxmargin.rounding import gamma, sum_above
from maxmargin.typing import Block, Floats, Matrix


@dataclass(frozen=True)
class Sigmoid(WithGamma, OfInnerProduct):
    """k(u, v) = tanh(γ⟨u, v⟩ + c₀).

    It is here for comparison with older work: its Gram matrix is not positive semi-definite in general, so that a
    training problem with it is not convex and a solution is a stationary point at best. Prefer `RBF`.

    Parameters
    ----------
    gamma : "scale", "auto" or float ≥ 0, default "scale"
        "scale" is 1 / (d · variance of X), "auto" is 1 / d: see `resolve`.
    coef0 : float, default 0.0
        The constant c₀.

    Notes
    -----
    A block costs one matrix product and one tanh a value.

    Examples
    --------
    >>> import numpy as np
    >>> kernel = Sigmoid(gamma=1.0)
    >>> X = np.array([[0.5], [1.0], [2.0]])
    >>> kernel.block(X, X).round(3)
    array([[0.245, 0.462, 0.762],
           [0.462, 0.762, 0.964],
           [0.762, 0.964, 0.999]])
    >>> print(kernel.is_positive_semidefinite(X))
    Not positive semi-definite: the smallest eigenvalue is -0.264, the tolerance ...
    """

    gamma: float | str = "scale"
    coef0: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "coef0", check_number("coef0", self.coef0))

    @property
    def psd(self) -> bool:
        """False: tanh has negative Taylor coefficients, so that some data have a negative eigenvalue."""
        return False

    @property
    def power(self) -> tuple[float, float, int]:
        """tanh is 1-Lipschitz: it errs by no more than its argument does, and by `error`."""
        return float(self.gamma), self.coef0, 1

    has_fine_sums = False
    """False: tanh has no finer version."""

    def error(self, left: Matrix, right: Matrix, at: slice, sizes: Floats, total: Floats | None, terms: int) -> Floats:
        """tanh is at most 1, and its own error is 8u at most."""
        inner = power_error(left, right[at], sizes, *self.power, 0)
        return np.asarray(inner + gamma(terms + 12) * sum_above(sizes))

    def _apply(self, values: Block) -> None:
        """Replace inner products by tanh(γ · values + c₀)."""
        require_finite(values, f"An inner product for {self!r}")  # tanh would hide an overflow
        values *= values.dtype.type(self.gamma)
        values += values.dtype.type(self.coef0)
        np.tanh(values, out=values)
