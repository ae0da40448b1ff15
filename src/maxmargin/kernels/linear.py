"""The linear kernel: the inner product."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from maxmargin.kernels.base import Kernel
from maxmargin.kernels.inner import fine_power_sums, inner_products, power_error, squared_norms
from maxmargin.typing import Block, Floats, Matrix


@dataclass(frozen=True)
class Linear(Kernel):
    """k(u, v) = ⟨u, v⟩.

    Use it when features already say enough: text, many features, or when the weights of the features are to be read.

    Notes
    -----
    Positive semi-definite. A block costs one matrix product.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> Linear().block(X, X)
    array([[ 5., 11.],
           [11., 25.]])
    """

    @property
    def psd(self) -> bool:
        """True: a Gram matrix is positive semi-definite."""
        return True

    @property
    def sees_values_only(self) -> bool:
        """True: the inner product does not care."""
        return True

    def _fill(self, X: Matrix, Z: Matrix, out: Block, shared: Any) -> None:
        inner_products(X, Z, out)

    @property
    def has_fine_sums(self) -> bool:
        """True: inner products and powers can be had in twice the precision."""
        return True

    def fine_sums(self, X: Matrix, Z: Matrix, weights: Floats) -> tuple[Floats, Floats]:
        """See `fine_power_sums`."""
        return fine_power_sums(X, Z, weights, 1.0, 0.0, 1)

    def error_weights(self, right: Matrix, sizes: Floats) -> None:
        """None: the lengths of the rows tell the error."""
        return

    def error(self, left: Matrix, right: Matrix, at: slice, sizes: Floats, total: Floats | None, terms: int) -> Floats:
        """See `power_error`."""
        return power_error(left, self.part(right, at), sizes, 1.0, 0.0, 1, terms)

    def _diag(self, X: Matrix, dtype: np.dtype[Any]) -> Block:
        return squared_norms(X, dtype)
