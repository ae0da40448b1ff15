"""The fingerprint of training data: whether these are the rows that a model was trained on, and in their order.

A row's number is Σ_j μ(x_j)·κ_j mod 2⁶⁴: μ mixes the bits of a value as float64, κ_j is an odd number of column j. A zero adds
nothing, so dense rows, CSR rows, rows with stored zeros and rows with columns in any order have the same number, and so have
float32 values and the same values in float64. Sums over rows with and without a factor for their place tell the same rows in
another order from other rows. A change of one value is always noticed (each step is one to one), other changes but for a chance
far below one in a million; it is no protection against somebody who looks for other data with the same fingerprint.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from maxmargin.core.certificate.certify import QUESTION
from maxmargin.typing import Floats, Indices, Matrix

Words = np.ndarray[Any, np.dtype[np.uint64]]

CALL_VALUES = 1 << 21
"""Values of one compiled call: about 2 ms."""
COPIED_VALUES = 1 << 14
"""Values that are copied at a time where they are not float64 as they lie: 128 kB, which the second-level cache holds."""

OTHER_ORDER = "These are the training rows in another order."
MIXED = "These are the training rows in another order, and their labels or weights did not move with them."
OTHER_LABELS = "These are the training rows, but labels differ from those of the fit."
OTHER_WEIGHTS = "These are the training rows, but sample weights differ from those of the fit."
OTHER_BOTH = "These are the training rows, but labels and sample weights differ from those of the fit."
OTHER_VALUES = "These are not the rows that the model was trained on: their values differ."


class Fingerprint(NamedTuple):
    """Five numbers of 64 bits that stand for training data.

    Attributes
    ----------
    rows, labels, weights : int
        The rows, the numbers of their labels, their weights, each in their order.
    rows_in_any_order, samples_in_any_order : int
        The rows; the rows with their labels and weights.

    Examples
    --------
    >>> X, labels, weights = np.array([[0.0, 1.0], [2.0, 0.0]]), np.array([0, 1]), np.ones(2)
    >>> kept = Fingerprint.of(X, labels, weights)
    >>> kept == Fingerprint.of(sp.csr_array(X), labels, weights)
    True
    >>> Fingerprint.of(X[::-1], labels[::-1], weights).told_from(kept)
    'These are the training rows in another order.'
    """

    rows: int
    labels: int
    weights: int
    rows_in_any_order: int
    samples_in_any_order: int

    @classmethod
    def of(cls, X: Matrix, labels: Indices, weights: Floats) -> "Fingerprint":
        """Of validated data. Cost: one pass, about a nanosecond a value; memory: 8 bytes a row, and a column of dense
        data.
        """
        from maxmargin._loops.fingerprint import fold

        rows, out = np.zeros(X.shape[0], dtype=np.uint64), np.zeros(5, dtype=np.uint64)
        with np.errstate(over="ignore"):  # of loops that run uncompiled
            (_add_sparse if sp.issparse(X) else _add_dense)(X, rows)
            fold(rows, labels.astype(np.int64, copy=False), np.ascontiguousarray(weights).view(np.uint64), out)
        return cls(*out.tolist())

    def told_from(self, kept: "Fingerprint | None") -> str | None:
        """How these data differ from those of the fit, in one sentence; None where they do not."""
        if kept is None:
            return QUESTION
        if self == kept:
            return None
        if self.rows == kept.rows:
            if self.labels != kept.labels:
                return OTHER_LABELS if self.weights == kept.weights else OTHER_BOTH
            return OTHER_WEIGHTS
        if self.samples_in_any_order == kept.samples_in_any_order:
            return OTHER_ORDER
        return MIXED if self.rows_in_any_order == kept.rows_in_any_order else OTHER_VALUES


def _add_dense(X: Any, out: Words) -> None:
    """Add the number of each row."""
    from maxmargin._loops.fingerprint import add_columns, add_rows, fill_keys

    n, d = X.shape
    keys = np.empty(d, dtype=np.uint64)
    fill_keys(keys)
    is_by_columns = X.flags.f_contiguous and not X.flags.c_contiguous
    at_a_time = CALL_VALUES if X.dtype == np.float64 and X.flags.forc else COPIED_VALUES
    if is_by_columns:
        width = max(1, at_a_time // n)
        for left in range(0, d, width):
            add_columns(_bits(X[:, left : left + width].T), keys[left : left + width], out)
    else:
        height = max(1, at_a_time // d)
        for top in range(0, n, height):
            add_rows(_bits(X[top : top + height]), keys, out[top : top + height])


def _add_sparse(X: Any, out: Words) -> None:
    """Add the number of each row."""
    from maxmargin._loops.fingerprint import add_rows_csr

    if not X.has_canonical_format:  # a column may be stored twice in a row, and means the sum
        for top, block in _without_duplicates(X):
            _add_sparse(block, out[top : top + block.shape[0]])
        return
    at_a_time = CALL_VALUES if X.dtype == np.float64 else COPIED_VALUES
    top = 0
    while top < X.shape[0]:
        bottom = max(int(np.searchsorted(X.indptr, X.indptr[top] + at_a_time, side="right")) - 1, top + 1)
        values = slice(X.indptr[top], X.indptr[bottom])
        add_rows_csr(_bits(X.data[values]), X.indices[values], X.indptr[top : bottom + 1], out[top:bottom])
        top = bottom


def _without_duplicates(X: Any) -> Iterator[tuple[int, Any]]:
    """Copies of some rows at a time, with each column once, and where they begin."""
    height = max(1, COPIED_VALUES * X.shape[0] // max(X.nnz, 1))
    for top in range(0, X.shape[0], height):
        block = X[top : top + height].copy()
        block.sum_duplicates()
        yield top, block


def _bits(values: Any) -> Words:
    """The bits of each value as float64."""
    return np.ascontiguousarray(values, dtype=np.float64).view(np.uint64)
