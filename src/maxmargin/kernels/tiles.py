"""Matrices in, tiles of rows, blocks out.

The one place that knows how large a tile is. Sizes depend on the data alone: same inputs, same bits.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.errors import InvalidInputError
from maxmargin.typing import Block, Indices, Matrix

FLOAT32 = np.dtype(np.float32)
FLOAT64 = np.dtype(np.float64)
OBJECT = np.dtype([("sample", object)])
"""Of a column whose cells are whole samples, such as texts. Rows of such a dtype, of one field, are for functions of a user."""

EPS32 = float(np.finfo(np.float32).eps)

TILE_ROWS, TILE_COLUMNS = 512, 1024
"""Values of one tile at most. 2 MB of float32 stay in the cache of one core from their product to their sum, and are enough for
BLAS to run at full speed (benchmark kernel)."""

TILE_BYTES = 2**23
"""Bytes that one side of a tile may take while it is converted: two sides and their values in float64 stay below 32 MB."""


def is_sparse(X: Any) -> bool:
    """Whether X is a sparse matrix or array of SciPy."""
    return bool(sp.issparse(X))


def as_matrix(X: Any, name: str = "X") -> Matrix:
    """Return X as a dense two-dimensional array or as CSR, without copying what is one already."""
    if is_sparse(X):
        if X.format != "csr" or X.ndim != 2:
            raise InvalidInputError(
                f"{name} is a {X.ndim}-dimensional sparse {X.format} array; kernels read CSR rows. "
                f"Convert it once with {name}.tocsr()."
            )
    else:
        X = np.asarray(X)
        if X.ndim != 2:
            raise InvalidInputError(
                f"{name} has {X.ndim} dimensions, wanted 2: one row a sample. "
                f"For one sample pass {name}.reshape(1, -1), for one feature {name}.reshape(-1, 1)."
            )
    if X.dtype.kind not in "fiub" and not X.dtype.names:
        raise InvalidInputError(
            f"{name} has dtype {X.dtype}, wanted real numbers. Encode the columns as numbers: {name}.astype(float)."
        )
    return X


def values_of(rows: Any) -> Any:
    """What a user sees of rows: of those that are no numbers an array of samples, or a table of texts or objects.

    Examples
    --------
    >>> values_of(np.array([[("a",)], [("b a",)]], dtype=OBJECT))
    array(['a', 'b a'], dtype=object)
    """
    if not rows.dtype.names:
        return rows
    return rows["sample"][:, 0] if rows.dtype == OBJECT else rows["value"]


def row_width(X: Matrix) -> int:
    """How many float64 values the copy of one row may take, indices of sparse rows included."""
    if is_sparse(X):
        return 2 * int(np.diff(X.indptr).max(initial=0))
    return int(X.shape[1])


def rows_that_fit(width: int, most: int) -> int:
    """The number of rows in a tile: `most`, or fewer when the rows are wide; at least one."""
    return max(1, min(most, TILE_BYTES // (8 * max(width, 1))))


def some_rows(X: Matrix) -> Matrix:
    """At most as many rows as a tile has, evenly spaced: they tell where the data are."""
    return X[:: -(-X.shape[0] // TILE_ROWS) or 1]


def cut(X: Matrix, start: int, stop: int) -> Matrix:
    """Rows start to stop, as they are: a view of dense rows, a small copy of sparse ones."""
    if start == 0 and stop >= X.shape[0]:
        return X
    return X[start:stop]


def dense(X: Matrix, dtype: Any = None) -> Block:
    """The rows as a C-contiguous array, of this dtype where one is given: no copy where none is needed."""
    return np.ascontiguousarray(X.toarray() if is_sparse(X) else X, dtype=dtype)


def cast(X: Matrix, dtype: np.dtype[Any]) -> Matrix:
    """The tile X in the dtype of the arithmetic, C-contiguous if dense: no copy where none is needed."""
    if is_sparse(X):
        return X.astype(dtype, copy=False)
    return dense(X, dtype)


def check_dtype(dtype: Any) -> np.dtype[Any]:
    """Return float32 or float64, whichever dtype spells."""
    for known in (FLOAT32, FLOAT64):
        if known == dtype:
            return known
    raise InvalidInputError(f"dtype={dtype!r} is no arithmetic for kernels. Use numpy.float32 or numpy.float64.")


def check_out(out: Block | None, shape: tuple[int, int], dtype: np.dtype[Any]) -> Block:
    """Return a writable array of this shape and dtype: out, or a new one."""
    if out is None:
        return np.empty(shape, dtype=dtype)
    if not isinstance(out, np.ndarray) or out.shape != shape or out.dtype != dtype or not out.flags.writeable:
        raise InvalidInputError(
            f"out must be a writable ndarray of shape {shape} and dtype {dtype}, got {type(out).__name__} of shape "
            f"{np.shape(out)} and dtype {getattr(out, 'dtype', None)}. Leave it away, or allocate it so."
        )
    return out


def take(X: Matrix, rows: Any) -> Matrix:
    """Rows by number or slice; None is all of them, without a copy."""
    if rows is None:
        return X
    return X[rows if isinstance(rows, slice) else as_indices(rows)]


def as_indices(rows: Any) -> Indices:
    """Row numbers, or a mask, as a one-dimensional array; an empty list is no rows."""
    found = np.atleast_1d(np.asarray(rows))
    if found.dtype == np.bool_:
        return np.flatnonzero(found)
    return found if found.size else found.astype(np.intp)


def squared_norms(X: Matrix, dtype: np.dtype[Any]) -> Block:
    """Return ‖x_i‖² for all rows, tile by tile, in O(nnz)."""
    if is_sparse(X):
        from maxmargin._loops.linear.csr import squares_csr

        X, sums = distinct(X), np.empty(X.shape[0])
        squares_csr(X.indptr.astype(np.int64, copy=False), X.data, sums)
        return sums.astype(dtype, copy=False)
    out = np.empty(X.shape[0], dtype=dtype)
    step = rows_that_fit(row_width(X), TILE_COLUMNS)
    for start in range(0, out.size, step):
        tile = cast(cut(X, start, start + step), dtype)
        np.einsum("ij,ij->i", tile, tile, out=out[start : start + step])
    return out


def distinct(X: Matrix) -> Matrix:
    """CSR rows in which no column is stored twice: X itself where that is so, else a summed copy."""
    if X.has_canonical_format:
        return X
    X = X.copy()
    X.sum_duplicates()
    return X


def require_finite(values: Block, what: str) -> None:
    """Raise InvalidInputError where a computed value is infinite or not a number."""
    # a finite sum has finite terms, and is three times as fast to look at
    if not np.isfinite(values.sum()) and not np.isfinite(values).all():
        raise InvalidInputError(
            f"{what} is not finite in {values.dtype}: the data hold NaN or infinity, or values too large for it. "
            "Replace missing values, scale the data (e.g. to mean 0 and variance 1), or choose smaller parameters."
        )
