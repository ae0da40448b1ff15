"""Two samples that contradict each other: the shortest proof that no hyperplane separates the classes.

    z_i = −z_j,    z_j = y_j (x_j, 1) with a free bias,   z_j = y_j x_j through the origin

With a free bias these are equal samples with opposite labels. Through the origin they are also samples x and −x with the same
label, and the origin itself (i = j). Rows get numbers in one pass over the data, and rows with equal numbers are then compared
exactly: different rows with one number cost time, never a wrong answer.
"""

from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from maxmargin.analysis.witness import NotSeparable
from maxmargin.core import Problem
from maxmargin.kernels.tiles import cut, distinct, row_width, rows_that_fit
from maxmargin.typing import Indices, Matrix

Words: TypeAlias = NDArray[np.uint64]


def contradiction(problem: Problem) -> NotSeparable | None:
    """The witness that two samples of a linear problem make, or one at the origin; None where there are no such samples.

    Cost: O(non-zeros) for the numbers and O(n log n) to compare them.
    """
    on, everyone = problem.present, problem.rows is None and len(problem.present) == problem.n
    rows, is_positive = None if everyone else problem.row(on), problem.y[on] > 0
    same = row_numbers(problem.X, rows)
    if problem.bias.kind == "none":
        opposite = row_numbers(problem.X, rows, negated=True)
        own, wanted = np.where(is_positive, same, opposite), np.where(is_positive, opposite, same)
    else:
        own, wanted = same + is_positive.astype(np.uint64), same + (~is_positive).astype(np.uint64)
    order = np.argsort(own, kind="stable")
    found = np.minimum(np.searchsorted(own[order], wanted), len(on) - 1)
    for j in np.flatnonzero(own[order[found]] == wanted):
        witness = _witness(problem, int(on[order[found[j]]]), int(on[j]))
        if witness.check():
            return witness
    return None


def _witness(problem: Problem, i: int, j: int) -> NotSeparable:
    """The equal weights of samples i and j, which may be the same one."""
    pair = {i, j}
    weight = Fraction(1) if problem.bias.kind != "none" else Fraction(1, len(pair))
    weights = np.zeros(problem.n)
    weights[list(pair)] = float(weight)
    return NotSeparable(weights, 0.0, problem, dict.fromkeys(sorted(pair), weight))


def row_numbers(X: Matrix, rows: Indices | None = None, *, negated: bool = False) -> Words:
    """A number of 64 bits for each of some rows, or of all: Σ_j μ(x_j)·κ_j mod 2⁶⁴; of −x where `negated`.

    μ mixes the bits of a value as float64, κ_j is an odd number of column j. A zero adds nothing, so dense rows, CSR rows, rows
    with stored zeros and rows with columns in any order have the same number, and so have float32 values and the same values
    in float64. Cost: one pass, about a nanosecond a value; memory: 8 bytes a row, and blocks of rows.
    """
    from maxmargin._loops.fingerprint import add_columns, add_rows, add_rows_csr, fill_keys

    X = distinct(X) if sp.issparse(X) else X
    n, d = X.shape[0] if rows is None else len(rows), X.shape[1]
    out, keys = np.zeros(n, dtype=np.uint64), np.empty(d, dtype=np.uint64)
    with np.errstate(over="ignore"):  # of loops that run uncompiled
        if not sp.issparse(X):
            fill_keys(keys)
        if not sp.issparse(X) and rows is None and X.flags.f_contiguous and not X.flags.c_contiguous:
            width = rows_that_fit(n, d)
            for left in range(0, d, width):
                add_columns(_bits(X[:, left : left + width].T, negated), keys[left : left + width], out)
            return out
        is_whole = sp.issparse(X) and rows is None
        height = rows_that_fit(2 * X.nnz // max(n, 1) if is_whole else row_width(X), n)
        for top in range(0, n, height):
            sums = out[top : top + height]
            if is_whole:  # slices of the arrays, where slices of the matrix would be copies
                starts = X.indptr[top : top + height + 1]
                values = slice(starts[0], starts[-1])
                add_rows_csr(_bits(X.data[values], negated), X.indices[values], starts, sums)
                continue
            block = cut(X, top, top + height) if rows is None else X[rows[top : top + height]]
            if sp.issparse(block):
                add_rows_csr(_bits(block.data, negated), block.indices, block.indptr, sums)
            else:
                add_rows(_bits(block, negated), keys, sums)
    return out


def _bits(values: Any, negated: bool) -> Words:
    """The bits of each value, or of its negative, as float64."""
    return np.ascontiguousarray(-values if negated else values, dtype=np.float64).view(np.uint64)
