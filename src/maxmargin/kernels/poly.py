"""The polynomial kernel."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from maxmargin.kernels.base import Kernel
from maxmargin.kernels.inner import fine_power_sums, inner_products, power_error, require_finite, squared_norms
from maxmargin.kernels.parameters import check_degree, check_gamma, check_number, resolve_gamma
from maxmargin.typing import Block, Floats, Matrix


@dataclass(frozen=True)
class Polynomial(Kernel):
    """k(u, v) = (γ⟨u, v⟩ + c₀)^degree.

    Use it when products of up to `degree` features matter. With γ = 1 and c₀ = 1 it is the textbook's (1 + ⟨u, v⟩)^d;
    with c₀ = 0 it is homogeneous.

    Parameters
    ----------
    degree : int, default 3
        A whole number ≥ 0; 0 is the constant 1.
    gamma : "scale", "auto" or float ≥ 0, default "scale"
        "scale" is 1 / (d · variance of X), "auto" is 1 / d: see `resolve`.
    coef0 : float, default 0.0
        The constant c₀. Negative values make a function that is not positive semi-definite in general.

    Notes
    -----
    A block costs one matrix product and about log₂(degree) passes over the result. Values beyond the range of the dtype
    are an error, never infinity: scale the data.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> Polynomial(degree=2, gamma=1.0, coef0=1.0).block(X, X)
    array([[ 36., 144.],
           [144., 676.]])
    """

    degree: int = 3
    gamma: float | str = "scale"
    coef0: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "degree", check_degree(self.degree))
        object.__setattr__(self, "gamma", check_gamma(self.gamma))
        object.__setattr__(self, "coef0", check_number("coef0", self.coef0))

    @property
    def psd(self) -> bool:
        """True where the expansion in powers of ⟨u, v⟩ has no negative coefficient (Schoenberg 1942)."""
        if self.coef0 >= 0 or self.degree == 0:
            return True
        return self.gamma == 0.0 and self.degree % 2 == 0

    @property
    def is_resolved(self) -> bool:
        """Whether gamma is a number."""
        return not isinstance(self.gamma, str)

    def resolve(self, X: Matrix, sample_weight: Any = None) -> "Polynomial":
        """Return the same kernel with gamma as a number: see `RBF.resolve`."""
        return replace(self, gamma=resolve_gamma(self.gamma, X, sample_weight))

    @property
    def sees_values_only(self) -> bool:
        """True: the inner product does not care."""
        return True

    def _fill(self, X: Matrix, Z: Matrix, out: Block, shared: Any) -> None:
        inner_products(X, Z, out)
        self._power(out)

    def _diag(self, X: Matrix, dtype: np.dtype[Any]) -> Block:
        values = squared_norms(X, dtype)
        self._power(values)
        return values

    @property
    def has_fine_sums(self) -> bool:
        """True: inner products and powers can be had in twice the precision."""
        return True

    def fine_sums(self, X: Matrix, Z: Matrix, weights: Floats) -> tuple[Floats, Floats]:
        """See `fine_power_sums`."""
        return fine_power_sums(X, Z, weights, float(self.gamma), self.coef0, self.degree)

    def error_weights(self, right: Matrix, sizes: Floats) -> None:
        """None: the lengths of the rows tell the error."""
        return

    def error(self, left: Matrix, right: Matrix, at: slice, sizes: Floats, total: Floats | None, terms: int) -> Floats:
        """See `power_error`."""
        return power_error(left, self.part(right, at), sizes, float(self.gamma), self.coef0, self.degree, terms)

    def _relative_error(self, X: Matrix) -> float:
        return float(np.finfo(np.float64).eps) * (1 + self.degree)

    def _power(self, values: Block) -> None:
        """Replace inner products by (γ · values + c₀)^degree, by repeated squaring."""
        require_finite(values, f"An inner product for {self!r}")
        values *= values.dtype.type(self.gamma)
        values += values.dtype.type(self.coef0)
        if self.degree in (1, 2, 3):
            base = values.copy() if self.degree == 3 else values
            for _ in range(self.degree - 1):
                values *= base
            return
        square = values.copy()
        values[...] = 1.0
        power = self.degree
        while power:
            if power % 2:
                values *= square
            power //= 2
            if power:
                square *= square
