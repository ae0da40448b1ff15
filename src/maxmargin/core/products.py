"""Products with the data matrix in float64, without ever copying float32 data as a whole.

    scores:   f = X w        combine:   w = Xᵀ β

Dense float64 data that BLAS can read goes through in one piece; anything else (float32, strided, a choice of rows) goes
through in blocks of at most 8 MB, converted one at a time.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.kernels.tiles import rows_that_fit, squared_norms
from maxmargin.rounding import SMALLEST, UNIT, gamma, length_above
from maxmargin.typing import Floats, Indices, Matrix

WORTH_CHOOSING = 0.2
"""Rows are copied out of the matrix only where fewer than this share of them are wanted: copying costs as much as using."""


def scores(X: Matrix, w: Floats, rows: Indices | None = None) -> Floats:
    """⟨w, x_j⟩ for each (chosen) row, in float64; a column for each of several w, which are then columns as well."""
    n = X.shape[0] if rows is None else len(rows)
    if rows is not None and n > X.shape[0]:  # a regression's, each twice
        return np.asarray(scores(X, w)[rows])
    f = np.empty((n, *w.shape[1:]))
    for at, block in float64_blocks(X, rows):
        f[at] = block @ w
    return f


def combine(X: Matrix, beta: Floats, rows: Indices | None = None) -> Floats:
    """Σ_j β_j x_j over the (chosen) rows, in float64; a column for each of several β, which are then columns as well.

    Rows with β_j = 0 are not read. Where rows are named twice, as a regression's are, their β are added first: one rounding more
    for a row with two, which bounds for as many terms as there are β allow for.
    """
    if rows is not None and len(rows) > X.shape[0] and beta.ndim == 1:
        return combine(X, np.asarray(np.bincount(rows, beta, X.shape[0]), dtype=np.float64))
    used = np.flatnonzero(beta if beta.ndim == 1 else beta.any(axis=1))
    if len(used) < WORTH_CHOOSING * len(beta):
        rows = used if rows is None else rows[used]
        beta = beta[used]
    w = np.zeros((X.shape[1], *beta.shape[1:]))
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


def lengths_above(X: Matrix, squared: Floats | None = None) -> Floats:
    """An upper bound of ‖x_j‖ for each row; `squared` are its squares where they are known."""
    terms = entries(X)
    if sp.issparse(X) and not X.has_canonical_format:  # entries of one column may cancel, but each of them rounds
        X = sp.csr_array((np.abs(X.data), X.indices.copy(), X.indptr.copy()), shape=X.shape)  # abs(X) would change X
        X.sum_duplicates()
        squared = None
    squared, terms = squares(X) if squared is None else squared, float(np.max(terms, initial=0.0))
    return np.asarray(np.sqrt(squared * (1.0 + gamma(terms + 4)) + (2.0 * terms + 2.0) * SMALLEST) * (1.0 + 4.0 * UNIT))


def entries(X: Matrix) -> Any:
    """The number of products in ⟨w, x_j⟩: of the stored entries of each sparse row, or d."""
    return np.diff(X.indptr).astype(np.float64) if sp.issparse(X) else float(X.shape[1])


def slacks(X: Matrix, rows: Indices, w: Floats, b: float, y: Floats, target: Floats) -> Floats:
    """r_k − y_k(⟨w, x_k⟩ + b) for the chosen rows, in twice the working precision; NaN where that overflows."""
    from maxmargin._loops.compensated import slacks_csr, slacks_dense

    out = np.empty(len(rows))
    rows = rows.astype(np.int64, copy=False)
    if sp.issparse(X):
        slacks_csr(X.indptr, X.indices, X.data, rows, np.ascontiguousarray(w), float(b), y, target, out)
    else:
        step = rows_that_fit(X.shape[1], len(rows))
        for start in range(0, len(rows), step):  # only these are copied, in the one layout of the loop
            at = slice(start, start + step)
            some = np.ascontiguousarray(X[rows[at]])
            slacks_dense(some, np.arange(len(some)), np.ascontiguousarray(w), float(b), y[at], target[at], out[at])
    return out


def combine_twice(X: Matrix, beta: Floats, rows: Indices | None = None) -> tuple[Floats, Floats]:
    """(high, low): Σ_j β_j x_j = high + low up to γ²Σ|β_j x_j|, in twice the working precision."""
    from maxmargin._loops.compensated import combine_csr, combine_dense

    used = np.flatnonzero(beta)
    high, low = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    chosen = (used if rows is None else rows[used]).astype(np.int64, copy=False)
    if sp.issparse(X):
        combine_csr(X.indptr, X.indices, X.data, chosen, beta[used], high, low)
    else:
        step = rows_that_fit(X.shape[1], len(chosen))
        for start in range(0, len(chosen), step):
            at = slice(start, start + step)
            some = np.ascontiguousarray(X[chosen[at]])
            combine_dense(some, np.arange(len(some)), beta[used[at]], high, low)
    return high, low


def score_errors(X: Matrix, w: Floats, lengths: Floats | None = None) -> Floats:
    """A bound of |computed ⟨w, x_j⟩ − exact| for each row, of `scores`."""
    return product_errors(entries(X), lengths_above(X) if lengths is None else lengths, length_above(w))


def product_errors(terms: Any, lengths: Floats, size: float) -> Floats:
    """The same from the number of products, ‖x_j‖ and ‖w‖."""
    if size == 0.0:
        return np.zeros(len(lengths))
    error = gamma(terms + 2) * (lengths * size) + (2.0 * terms + 2.0) * SMALLEST
    return np.asarray(error * (1.0 + 8.0 * UNIT))


def float64_blocks(X: Matrix, rows: Indices | None = None) -> Iterator[tuple[slice, Matrix]]:
    """The (chosen) rows as float64 blocks of bounded size, each with the slice of positions it covers."""
    n = X.shape[0] if rows is None else len(rows)
    if rows is None and X.dtype == np.float64 and (sp.issparse(X) or X.flags.c_contiguous or X.flags.f_contiguous):
        yield slice(0, n), X
        return
    per_row = 8 * X.shape[1] if not sp.issparse(X) else 16 * (X.nnz // max(X.shape[0], 1) + 1)
    step = rows_that_fit(per_row // 8, n)
    for start in range(0, n, step):
        at = slice(start, min(start + step, n))
        block = X[at] if rows is None else X[rows[at]]
        yield at, block.astype(np.float64, copy=False)


def dense_rows(X: Matrix, rows: Indices | slice = slice(None)) -> Floats:
    """Some rows as a dense float64 array: for a handful of samples."""
    chosen: Any = X[rows]
    return np.asarray(chosen.toarray() if sp.issparse(chosen) else chosen, dtype=np.float64)
