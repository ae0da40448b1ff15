"""The sigmoid function of the inner product, which is not a kernel in the strict sense."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from maxmargin.kernels.base import Kernel
from maxmargin.kernels.inner import inner_products, power_error, require_finite, squared_norms
from maxmargin.kernels.parameters import check_gamma, check_number, resolve_gamma
from maxmargin.rounding import gamma, sum_above
from maxmargin.typing import Block, Floats, Matrix


@dataclass(frozen=True)
class Sigmoid(Kernel):
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
        object.__setattr__(self, "gamma", check_gamma(self.gamma))
        object.__setattr__(self, "coef0", check_number("coef0", self.coef0))

    @property
    def psd(self) -> bool:
        """False: tanh has negative Taylor coefficients, so that some data have a negative eigenvalue."""
        return False

    @property
    def is_resolved(self) -> bool:
        """Whether gamma is a number."""
        return not isinstance(self.gamma, str)

    def resolve(self, X: Matrix, sample_weight: Any = None) -> "Sigmoid":
        """Return the same kernel with gamma as a number: see `RBF.resolve`."""
        return replace(self, gamma=resolve_gamma(self.gamma, X, sample_weight))

    @property
    def sees_values_only(self) -> bool:
        """True: the inner product does not care."""
        return True

    def _fill(self, X: Matrix, Z: Matrix, out: Block, shared: Any) -> None:
        inner_products(X, Z, out)
        self._squash(out)

    def _diag(self, X: Matrix, dtype: np.dtype[Any]) -> Block:
        values = squared_norms(X, dtype)
        self._squash(values)
        return values

    def error_weights(self, right: Matrix, sizes: Floats) -> None:
        """None: the lengths of the rows tell the error."""
        return

    def error(self, left: Matrix, right: Matrix, at: slice, sizes: Floats, total: Floats | None, terms: int) -> Floats:
        """tanh is 1-Lipschitz and at most 1; its own error is 8u at most."""
        inner = power_error(left, self.part(right, at), sizes, float(self.gamma), self.coef0, 1, 0)
        return np.asarray(inner + gamma(terms + 12) * sum_above(sizes))

    def _squash(self, values: Block) -> None:
        """Replace inner products by tanh(γ · values + c₀)."""
        require_finite(values, f"An inner product for {self!r}")  # tanh would hide an overflow
        values *= values.dtype.type(self.gamma)
        values += values.dtype.type(self.coef0)
        np.tanh(values, out=values)
