"""The linear kernel: the inner product."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from maxmargin.kernels.base import Kernel
from maxmargin.kernels.inner import inner_products, squared_norms
from maxmargin.typing import Block, Matrix


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

    def _diag(self, X: Matrix, dtype: np.dtype[Any]) -> Block:
        return squared_norms(X, dtype)
