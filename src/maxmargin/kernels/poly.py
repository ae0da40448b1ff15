"""The polynomial kernel."""

from dataclasses import dataclass

import numpy as np

from maxmargin.kernels.inner import OfInnerProduct
from maxmargin.kernels.parameters import WithGamma, check_degree, check_number
from maxmargin.kernels.tiles import require_finite
from maxmargin.typing import Block, Matrix


@dataclass(frozen=True)
class Polynomial(WithGamma, OfInnerProduct):
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
        super().__post_init__()
        object.__setattr__(self, "degree", check_degree(self.degree))
        object.__setattr__(self, "coef0", check_number("coef0", self.coef0))

    @property
    def psd(self) -> bool:
        """True where the expansion in powers of ⟨u, v⟩ has no negative coefficient (Schoenberg 1942)."""
        if self.coef0 >= 0 or self.degree == 0:
            return True
        return self.gamma == 0.0 and self.degree % 2 == 0

    @property
    def power(self) -> tuple[float, float, int]:
        """The formula itself."""
        return float(self.gamma), self.coef0, self.degree

    def _relative_error(self, X: Matrix) -> float:
        return float(np.finfo(np.float64).eps) * (1 + self.degree)

    def _apply(self, values: Block) -> None:
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
