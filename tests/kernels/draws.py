"""What Hypothesis draws for kernels: rows in every form that a kernel takes."""

import numpy as np
import scipy.sparse as sp
from hypothesis import given as hypothesis_given
from hypothesis import settings
from hypothesis import strategies as st

FORMS = ("C", "F", "strided", "read-only", "csr_array", "csr_matrix", "csr int64", "csr duplicates", "csr read-only")
DENSE = FORMS[:4]


def given(*strategies):
    """Hypothesis' own, with fewer examples: kernels are many and the suite is to stay short."""
    return lambda test: settings(max_examples=30, deadline=None)(hypothesis_given(*strategies)(test))


def in_form(values, form):
    """The same numbers, stored another way."""
    if form == "F":
        return np.asfortranarray(values)
    if form == "strided":
        wide = np.full((2 * values.shape[0], 3 * values.shape[1]), np.nan, dtype=values.dtype)
        wide[::2, ::3] = values
        return wide[::2, ::3]
    if form == "read-only":
        values = values.copy()
        values.flags.writeable = False
    if form == "csr_matrix":
        return sp.csr_matrix(values)
    if form.startswith("csr"):
        rows = sp.csr_array(values)
        if form == "csr int64":
            rows.indices, rows.indptr = rows.indices.astype(np.int64), rows.indptr.astype(np.int64)
        if form == "csr duplicates" and rows.nnz:
            # each entry is stored as two halves, which sum exactly
            parts = np.repeat(rows.data / 2, 2), np.repeat(rows.indices, 2), 2 * rows.indptr
            rows = sp.csr_array(parts, shape=rows.shape)
        if form == "csr read-only":
            for part in (rows.data, rows.indices, rows.indptr):
                part.flags.writeable = False
        return rows
    return values


def dense(X):
    """The numbers as a float64 array, for the twins."""
    return np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)


@st.composite
def values(draw, n, d, scale=None):
    """An (n, d) array with zeros, repeated rows and numbers around a scale."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < draw(st.sampled_from([0.1, 0.5, 1.0])))
    X *= draw(st.sampled_from([1e-6, 1e-3, 1.0, 1e3, 1e6])) if scale is None else scale
    if n > 1 and draw(st.booleans()):
        X[-1] = X[0]
    return X


@st.composite
def pairs(draw, scale=None, forms=FORMS):
    """Two matrices X, Z with the same features, each in a form and a precision of its own."""
    d = draw(st.integers(1, 12))
    result = []
    for _ in range(2):
        X = draw(values(draw(st.integers(1, 9)), d, scale)).astype(draw(st.sampled_from([np.float32, np.float64])))
        result.append(in_form(X, draw(st.sampled_from(forms))))
    return tuple(result)
