"""Products with the data matrix in float64, without ever copying float32 data as a whole.

    scores:   f = X w        combine:   w = Xᵀ β

Dense float64 data that BLAS can read goes through in one piece; anything else (float32, strided, a choice of rows) goes
through in blocks of at most 32 MB, converted one at a time.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.kernels.inner import squared_norms
from maxmargin.typing import Floats, Indices, Matrix

BLOCK_BYTES = 16 * 2**20
"""Of one float64 block; its product's reader and the next block may be alive at the same time."""

WORTH_CHOOSING = 0.2
"""Rows are copied out of the matrix only where fewer than this share of them are wanted: copying costs as much as using."""


def scores(X: Matrix, w: Floats, rows: Indices | None = None) -> Floats:
    """⟨w, x_j⟩ for each (chosen) row, in float64; a column for each of several w, which are then columns as well."""
    n = X.shape[0] if rows is None else len(rows)
    f = np.empty((n, *w.shape[1:]))
    for at, block in float64_blocks(X, rows):
        f[at] = block @ w
    return f


def combine(X: Matrix, beta: Floats, rows: Indices | None = None) -> Floats:
    """Σ_j β_j x_j over the (chosen) rows, in float64; rows with β_j = 0 are not read."""
    used = np.flatnonzero(beta)
    if len(used) < WORTH_CHOOSING * len(beta):
        rows = used if rows is None else rows[used]
        beta = beta[used]
    w = np.zeros(X.shape[1])
    for at, block in float64_blocks(X, rows):
        w += block.T @ beta[at]
    return w


def squares(X: Matrix) -> Floats:
    """‖x_j‖² for each row, in float64."""
    if sp.issparse(X):
        return np.asarray(squared_norms(X, np.dtype(np.float64)), dtype=np.float64)
    out = np.empty(X.shape[0])
    for at, block in float64_blocks(X):
        out[at] = np.einsum("ij,ij->i", block, block)
    return out


def float64_blocks(X: Matrix, rows: Indices | None = None) -> Iterator[tuple[slice, Matrix]]:
    """The (chosen) rows as float64 blocks of bounded size, each with the slice of positions it covers."""
    n = X.shape[0] if rows is None else len(rows)
    if rows is None and X.dtype == np.float64 and (sp.issparse(X) or X.flags.c_contiguous or X.flags.f_contiguous):
        yield slice(0, n), X
        return
    per_row = 8 * X.shape[1] if not sp.issparse(X) else 16 * (X.nnz // max(X.shape[0], 1) + 1)
    step = max(1, BLOCK_BYTES // max(per_row, 1))
    for start in range(0, n, step):
        at = slice(start, min(start + step, n))
        block = X[at] if rows is None else X[rows[at]]
        yield at, block.astype(np.float64, copy=False)


def dense_rows(X: Matrix, rows: Indices | slice = slice(None)) -> Floats:
    """Some rows as a dense float64 array: for a handful of samples."""
    chosen: Any = X[rows]
    return np.asarray(chosen.toarray() if sp.issparse(chosen) else chosen, dtype=np.float64)
