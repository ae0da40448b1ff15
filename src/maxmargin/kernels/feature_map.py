"""The kernel of an explicit feature map, and one such map."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from maxmargin.errors import InvalidInputError
from maxmargin.kernel_matrix.tiles import FLOAT64, TILE_X, cast, cut, is_sparse, row_width, rows_that_fit
from maxmargin.kernels.base import Kernel
from maxmargin.kernels.inner import fine_power_sums, inner_products, power_error, squared_norms
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

    def _fill(self, X: Matrix, Z: Matrix, out: Block, shared: Any) -> None:
        left, right = self._map(X, out.dtype), self._map(Z, out.dtype)
        if left.shape[1] != right.shape[1]:
            raise InvalidInputError(
                f"The feature map gave {left.shape[1]} features for some rows and {right.shape[1]} for others. "
                "Its number of features must not depend on the rows."
            )
        inner_products(left, right, out)

    @property
    def has_fine_sums(self) -> bool:
        """True: inner products can be had in twice the precision."""
        return True

    def fine_sums(self, X: Matrix, Z: Matrix, weights: Floats) -> tuple[Floats, Floats]:
        """See `fine_power_sums`."""
        return fine_power_sums(self._map(X, FLOAT64), self._map(Z, FLOAT64), weights, 1.0, 0.0, 1)

    def error_weights(self, right: Matrix, sizes: Floats) -> None:
        """None: the lengths of the mapped rows tell the error."""
        return

    def error(self, left: Matrix, right: Matrix, at: slice, sizes: Floats, total: Floats | None, terms: int) -> Floats:
        """Φ(x) is exact by definition, and its inner products round: see `power_error`."""
        mapped, others = self._map(left, FLOAT64), self._map(self.part(right, at), FLOAT64)
        return power_error(mapped, others, sizes, 1.0, 0.0, 1, terms)

    def _diag(self, X: Matrix, dtype: np.dtype[Any]) -> Block:
        values = np.empty(X.shape[0], dtype=dtype)
        step = rows_that_fit(self._width(X), TILE_X)
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
