"""A kernel given as a Python function."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from maxmargin.errors import InvalidInputError
from maxmargin.kernels.base import Kernel
from maxmargin.kernels.tiles import cast, cut, is_sparse, row_width, values_of
from maxmargin.typing import Block, Matrix


@dataclass(frozen=True)
class Custom(Kernel):
    """k(u, v) by a function of yours.

    Parameters
    ----------
    function : callable
        ``function(X, Z)`` returns the (n_x, n_z) matrix of values, as in scikit-learn. It is called tile by tile, with
        at most 512 × 1024 rows, so that a value may depend on its two rows only. Sparse rows arrive as CSR. Estimators also
        take lists of samples of any kind and 2-D arrays of texts or objects: the function is given arrays of them.
    pairwise : bool, default False
        If true, ``function(u, v)`` is called for each pair of rows with two one-dimensional arrays (sparse rows are
        made dense) and returns a number. Slow: one Python call a value.

    Notes
    -----
    The result is checked: shape, real numbers, finite. Whether it is positive semi-definite cannot be known beforehand
    (``psd`` is None): ask `is_positive_semidefinite`. Pickles if the function does; equal if the functions are the same
    object.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.kernels import Custom
    >>> X = np.array([[1.0, 2.0], [3.0, 0.0]])
    >>> Custom(lambda u, v: np.minimum(u, v).sum(), pairwise=True).block(X, X)
    array([[3., 1.],
           [1., 3.]])
    >>> Custom(lambda X, Z: X @ Z.T).block(X, X)
    array([[5., 3.],
           [3., 9.]])
    """

    function: Callable[..., Any]
    pairwise: bool = False

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InvalidInputError(
                f"function={self.function!r} cannot be called. Pass a function of two matrices, or of two rows with "
                "pairwise=True."
            )
        if not isinstance(self.pairwise, bool):
            raise InvalidInputError(f"pairwise={self.pairwise!r} is neither True nor False. Pass one of them.")

    @property
    def psd(self) -> None:
        """None: it depends on the function."""
        return

    def _width(self, X: Matrix) -> int:
        return int(X.shape[1]) if self.pairwise else row_width(X)

    def _fill(self, X: Matrix, Z: Matrix, out: Block, shift: Block | None) -> None:
        X, Z = (values_of(rows if rows.dtype.names else cast(rows, out.dtype)) for rows in (X, Z))
        if self.pairwise:
            X, Z = (rows.toarray() if is_sparse(rows) else rows for rows in (X, Z))
            for i, u in enumerate(X):
                out[i] = _real([self.function(u, v) for v in Z], out[i].shape)
        else:
            out[...] = _real(self.function(X, Z), out.shape)

    def _diag(self, X: Matrix, dtype: np.dtype[Any]) -> Block:
        values = np.empty(X.shape[0], dtype=dtype)
        step = 1 if self.pairwise else max(1, math.isqrt(X.shape[0]))  # few calls, and no n × n matrix
        for start in range(0, values.size, step):
            rows = cut(X, start, start + step)
            square = np.empty((rows.shape[0], rows.shape[0]), dtype=dtype)
            self._fill(rows, rows, square, None)
            values[start : start + step] = square.diagonal()
        return values


def _real(values: Any, shape: tuple[int, ...]) -> Any:
    """What the function returned, if it is real numbers of this shape."""
    if is_sparse(values):
        values = values.toarray()
    try:
        found = np.asarray(values)
        found = found.astype(np.float64) if found.dtype == object else found
    except (TypeError, ValueError):  # rows of different lengths, or no numbers
        found = np.empty(0, dtype=object)
    if found.dtype.kind not in "fiub" or found.shape != shape:
        raise InvalidInputError(
            f"The kernel function returned shape {found.shape} of dtype {found.dtype}, wanted real numbers of shape {shape}. "
            "Return one value for each pair of rows; if it takes two single rows use Custom(function, pairwise=True)."
        )
    return found
