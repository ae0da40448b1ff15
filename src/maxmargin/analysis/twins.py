"""Two samples that contradict each other: the shortest proof that no hyperplane separates the classes.

    z_i = −z_j,    z_j = y_j (x_j, 1) with a free bias,   z_j = y_j x_j through the origin

With a free bias these are equal samples with opposite labels. Through the origin they are also samples x and −x with the same
label, and the origin itself (i = j). Rows are hashed in one pass over the data, and rows of equal hash are then compared exactly:
a collision of hashes costs time, never a wrong answer.
"""

from fractions import Fraction
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from maxmargin.analysis.witness import NotSeparable
from maxmargin.core.problem import Problem
from maxmargin.core.products import BLOCK_BYTES
from maxmargin.typing import Indices, Matrix

Hashes: TypeAlias = NDArray[np.uint64]

FIRST_FACTOR, SECOND_FACTOR = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
"""Odd factors of the finalizer of SplitMix64 (Steele, Lea & Flood, 2014)."""


def contradiction(problem: Problem) -> NotSeparable | None:
    """The witness that two samples of a linear problem make, or one at the origin; None where there are no such samples.

    Cost: O(non-zeros) for the hashes and O(n log n) to compare them.
    """
    on = problem.present
    X, is_positive = _canonical(problem.X), problem.y[on] > 0
    is_free = problem.bias.kind != "none"
    hashes = _hashes(X, problem.row(on), is_free)
    hashes = np.where(is_positive, hashes, _negative(hashes))
    order = np.argsort(hashes, kind="stable")
    found = np.minimum(np.searchsorted(hashes[order], _negative(hashes)), len(on) - 1)
    for j in np.flatnonzero(hashes[order[found]] == _negative(hashes)):
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


def _canonical(X: Matrix) -> Matrix:
    """CSR in which no entry comes in several parts; dense data as they are."""
    if sp.issparse(X) and not X.has_canonical_format:
        X = sp.csr_array(X, copy=True)
        X.sum_duplicates()
    return X


def _hashes(X: Matrix, rows: Indices, with_constant: bool) -> Hashes:
    """h(x_j) = Σ_k key_k · mixed(x_jk) modulo 2⁶⁴ for each row, in any order of its entries; h(−x) = −h(x)."""
    keys = np.random.default_rng(0).integers(0, 2**64, size=X.shape[1] + 1, dtype=np.uint64) | np.uint64(1)
    out = np.empty(len(rows), dtype=np.uint64)
    width = X.shape[1] if not sp.issparse(X) else X.nnz // max(X.shape[0], 1) + 1
    step = max(1, BLOCK_BYTES // (8 * max(width, 1)))
    is_whole = len(rows) == X.shape[0]
    for start in range(0, len(rows), step):
        at = slice(start, min(start + step, len(rows)))
        block = X[at] if is_whole else X[rows[at]]
        if sp.issparse(block):
            terms = np.append(np.uint64(0), np.cumsum(keys[block.indices] * _mixed(block.data), dtype=np.uint64))
            out[at] = terms[block.indptr[1:]] - terms[block.indptr[:-1]]
        else:
            out[at] = _mixed(block) @ keys[:-1]
    return out + keys[-1] * _mixed(np.ones(1)) if with_constant else out


def _mixed(values: Matrix) -> Hashes:
    """The bits of |x|, spread over all 64, with the sign of x; 0 for a zero of either sign."""
    bits = np.abs(values).astype(np.float64, order="C", copy=False).view(np.uint64)
    bits = (bits ^ (bits >> np.uint64(30))) * FIRST_FACTOR
    bits = (bits ^ (bits >> np.uint64(27))) * SECOND_FACTOR
    bits = bits ^ (bits >> np.uint64(31))
    return np.where(values < 0, _negative(bits), bits)


def _negative(hashes: Hashes) -> Hashes:
    """−h modulo 2⁶⁴."""
    return ~hashes + np.uint64(1)
