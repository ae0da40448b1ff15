"""RBF values by differences of rows."""

import math

import numpy as np
import scipy.sparse as sp

from maxmargin._loops.rbf.differences import rbf_values_csr


def test_differences_of_sparse_float32_rows_are_taken_in_float64():
    """1 − 3e-8 is 1 in float32, where the bound of the certificate counts on float64."""
    X, Z = (sp.csr_array(np.array([[value]], dtype=np.float32)) for value in (1.0, 3e-8))
    out = np.empty((1, 1))
    rbf_values_csr(X.indptr, X.indices, X.data, Z.indptr, Z.indices, Z.data, 1.0, out)
    assert math.isclose(out[0, 0], math.exp(-((1.0 - float(np.float32(3e-8))) ** 2)), rel_tol=1e-14)
