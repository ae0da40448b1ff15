"""Two samples that contradict each other: the shortest proof that no hyperplane separates the classes.

    z_i = −z_j,    z_j = y_j (x_j, 1) with a bias,   z_j = y_j x_j through the origin

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
from maxmargin.kernels.tiles import distinct, row_width, rows_that_fit
from maxmargin.typing import Indices, Matrix

Words: TypeAlias = NDArray[np.uint64]


def contradiction(problem: Problem) -> NotSeparable | None:
    """The witness made of two samples that contradict each other, or of one at the origin; None where there are no such samples.

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
    from maxmargin._loops.fingerprint import add_rows, add_rows_csr, fill_keys

    if rows is not None:
        height = rows_that_fit(row_width(X), len(rows))
        parts = [rows[top : top + height] for top in range(0, len(rows), height)]
        return np.concatenate([np.zeros(0, np.uint64), *(row_numbers(X[part], negated=negated) for part in parts)])
    X = distinct(X) if sp.issparse(X) else X
    n, d = X.shape
    out, keys = np.zeros(n, dtype=np.uint64), np.empty(0 if sp.issparse(X) else d, dtype=np.uint64)
    height = rows_that_fit(2 * X.size // max(n, 1), n)
    with np.errstate(over="ignore"):  # uncompiled loops would warn
        fill_keys(keys)
        for top in range(0, n, height):
            sums = out[top : top + height]
            if sp.issparse(X):  # slices of the arrays, where slices of the matrix would be copies
                starts = X.indptr[top : top + height + 1]
                values = slice(starts[0], starts[-1])
                add_rows_csr(_bits(X.data[values], negated), X.indices[values], starts, sums)
            else:
                add_rows(_bits(X[top : top + height], negated), keys, sums)
    return out


def _bits(values: Any, negated: bool) -> Words:
    """The bits of each value, or of its negative, as float64."""
    return np.ascontiguousarray(-values if negated else values, dtype=np.float64).view(np.uint64)
