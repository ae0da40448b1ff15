"""The kernel of an explicit feature map, and one such map."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from maxmargin.errors import InvalidInputError
from maxmargin.kernels.base import Kernel
from maxmargin.kernels.inner import fine_power_sums, inner_products, power_error
from maxmargin.kernels.tiles import (
    FLOAT64,
    TILE_ROWS,
    as_matrix,
    cast,
    cut,
    is_sparse,
    require_finite,
    row_width,
    rows_that_fit,
    squared_norms,
)
from maxmargin.typing import Block, Floats, Matrix


@dataclass(frozen=True)
class FeatureMap(Kernel):
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

    def _width(self, X: Matrix) -> int:
        return max(row_width(X), row_width(self._map(cut(X, 0, 1), FLOAT64))) if X.shape[0] else row_width(X)

    def _fill(self, X: Matrix, Z: Matrix, out: Block, shift: Block | None) -> None:
        left, right = self._map(X, out.dtype), self._map(Z, out.dtype)
        if left.shape[1] != right.shape[1]:
            raise InvalidInputError(
                f"The feature map gave {left.shape[1]} features for some rows and {right.shape[1]} for others. "
                "Its number of features must not depend on the rows."
            )
        inner_products(left, right, out)

    has_fine_sums = True
    """True: inner products can be had in twice the precision."""

    def fine_sums(self, X: Matrix, Z: Matrix, weights: Floats) -> tuple[Floats, Floats]:
        """See `fine_power_sums`."""
        return fine_power_sums(self._map(X, FLOAT64), self._map(Z, FLOAT64), weights, 1.0, 0.0, 1)

    def error_weights(self, right: Matrix, sizes: Floats) -> None:
        """None: the lengths of the mapped rows tell the error."""
        return

    def error(self, left: Matrix, right: Matrix, at: slice, sizes: Floats, total: Floats | None, terms: int) -> Floats:
        """Φ(x) is exact by definition, and its inner products round: see `power_error`."""
        mapped, others = self._map(left, FLOAT64), self._map(right[at], FLOAT64)
        return power_error(mapped, others, sizes, 1.0, 0.0, 1, terms)

    def _diag(self, X: Matrix, dtype: np.dtype[Any]) -> Block:
        values = np.empty(X.shape[0], dtype=dtype)
        step = rows_that_fit(self._width(X), TILE_ROWS)
        for start in range(0, values.size, step):
            values[start : start + step] = squared_norms(self._map(cut(X, start, start + step), dtype), dtype)
        return values

    def _map(self, X: Matrix, dtype: np.dtype[Any]) -> Matrix:
        """Φ of the rows, checked."""
        features = self.function(cast(X, dtype))
        features = features.tocsr() if is_sparse(features) else np.asarray(features)
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
        counts = np.diff(X.indptr).astype(np.int64)
        of_row = np.repeat(np.arange(n), counts)
        # entry e of a row with c entries meets all c of them: pairs (left, right) row after row
        left = np.repeat(np.arange(X.indptr[-1]), counts[of_row])
        first_pair = np.concatenate([[0], np.cumsum(counts[of_row])])[:-1]
        right = np.arange(left.size) - first_pair[left] + X.indptr[:-1].astype(np.int64)[of_row[left]]
        data = X.data[left] * X.data[right]
    require_finite(data, "A product of two features")
    columns = X.indices[left].astype(np.int64) * d + X.indices[right]
    indptr = np.concatenate([[0], np.cumsum(counts**2)])
    return type(X)((data, columns, indptr), shape=(n, d * d))
