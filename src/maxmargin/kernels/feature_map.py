"""The kernel of an explicit feature map, and one such map."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from maxmargin.errors import InvalidInputError
from maxmargin.kernels.inner import OfInnerProduct
from maxmargin.kernels.tiles import FLOAT64, as_matrix, cast, cut, distinct, is_sparse, require_finite, row_width
from maxmargin.typing import Matrix


@dataclass(frozen=True)
class FeatureMap(OfInnerProduct):
    """k(u, v) = ⟨Φ(u), Φ(v)⟩ for a map Φ of yours.

    Parameters
    ----------
    function : callable
        Maps an (n, d) matrix to an (n, D) dense array or CSR matrix, row by row: Φ(x) may depend on x only. It is
        called tile by tile, and a first time with one row, which tells D and so how many rows make a tile.

    Notes
    -----
    Positive semi-definite whatever Φ is. A block costs the map of its rows, about once every 512 rows of the other
    side, and one matrix product in D dimensions. If Φ is small enough to be kept, map the data once and use `Linear`.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.kernels import FeatureMap
    >>> from maxmargin.kernels import Polynomial, interactions
    >>> X = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> FeatureMap(interactions).block(X, X)
    array([[ 25., 121.],
           [121., 625.]])
    >>> Polynomial(degree=2, gamma=1.0).block(X, X)
    array([[ 25., 121.],
           [121., 625.]])
    """

    function: Callable[[Any], Any]

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InvalidInputError(
                f"function={self.function!r} cannot be called. Pass a function that maps (n, d) to (n, D) matrices."
            )

    @property
    def psd(self) -> bool:
        """True: a Gram matrix is positive semi-definite."""
        return True

    sees_values_only = False
    """False: Φ is given the rows as they came; it is exact by definition, and only its inner products round."""

    def _width(self, X: Matrix) -> int:
        return max(row_width(X), row_width(self._map(cut(X, 0, 1), FLOAT64))) if X.shape[0] else row_width(X)

    def _map(self, X: Matrix, dtype: np.dtype[Any]) -> Matrix:
        """Φ of the rows, checked."""
        features = self.function(cast(X, dtype))
        features = distinct(features.tocsr()) if is_sparse(features) else np.asarray(features)
        if features.ndim != 2 or features.shape[0] != X.shape[0] or features.dtype.kind not in "fiub":
            raise InvalidInputError(
                f"The feature map returned shape {features.shape} and dtype {features.dtype} for {X.shape[0]} rows; "
                f"wanted ({X.shape[0]}, D) real numbers. Return one row of features for each row."
            )
        return features


def interactions(X: Matrix) -> Matrix:
    """Map each row x to all products Φ(x) = (x_i x_j), i, j = 1..d, so that ⟨Φ(u), Φ(v)⟩ = ⟨u, v⟩².

    Parameters
    ----------
    X : dense or CSR of shape (n, d)

    Returns
    -------
    dense or CSR, as X, of shape (n, d²)
        Column i·d + j holds x_i x_j.

    Notes
    -----
    O(n d²) numbers; for CSR the sum of the squares of the row counts. ``Polynomial(degree=2, gamma=1)`` is the same
    kernel in O(d) a pair.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.kernels import interactions
    >>> interactions(np.array([[2.0, 3.0]]))
    array([[4., 6., 6., 9.]])
    """
    X = as_matrix(X)
    n, d = X.shape
    with np.errstate(over="ignore", invalid="ignore"):
        if not is_sparse(X):
            products = (X[:, :, np.newaxis] * X[:, np.newaxis, :]).reshape(n, d * d)
            require_finite(products, "A product of two features")
            return products
        rows = [(X.indices[a:b].astype(np.int64), X.data[a:b]) for a, b in pairwise(X.indptr)]
        data = np.concatenate([X.data[:0], *(np.outer(values, values).ravel() for _, values in rows)])
    require_finite(data, "A product of two features")
    columns = np.concatenate([np.empty(0, np.int64), *(np.add.outer(d * at, at).ravel() for at, _ in rows)])
    indptr = np.concatenate([[0], np.cumsum(np.diff(X.indptr).astype(np.int64) ** 2)])
    return type(X)((data, columns, indptr), shape=(n, d * d))
