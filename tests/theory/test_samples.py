"""What goes into the algorithms of the package."""

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin import theory
from maxmargin.errors import InvalidInputError
from maxmargin.theory.samples import rows_and_signs


def test_sparse_rows_and_lists_become_dense_floats():
    for X in ([[1, 0]], sp.csr_array([[1, 0]]), np.array([[1, 0]], dtype=np.float32)):
        rows, y = rows_and_signs(X, [-1])
        assert rows.tolist() == [[1.0, 0.0]]
        assert rows.dtype == y.dtype == np.float64


@pytest.mark.parametrize(("X", "y"), [([[1.0]], [0]), ([[1.0]], [1, 1]), ([1.0], [1]), ([[np.nan]], [1]), (np.empty((0, 1)), [])])
def test_other_samples_are_refused_by_all(X, y):
    for function in (theory.descend, theory.perceptron_erm, theory.hard_soft_agreement):
        with pytest.raises(InvalidInputError, match="wanted"):
            function(X, y)
