import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin.errors import InvalidInputError
from maxmargin.kernels import interactions
from tests.kernels import draws


@draws.given(draws.pairs())
def test_each_row_holds_all_products_of_two_features(pair):
    X = pair[0]
    found = interactions(X)
    wanted = np.array([np.outer(x, x).ravel() for x in draws.dense(X)])
    np.testing.assert_allclose(draws.dense(found), wanted, rtol=1e-5)
    assert found.dtype == X.dtype
    assert type(found) is type(X)


def test_empty_sparse_rows_stay_empty():
    X = sp.csr_array(np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 0.0]]))
    assert interactions(X).nnz == 1
    assert interactions(sp.csr_array((3, 2))).shape == (3, 4)


def test_the_number_of_columns_may_exceed_32_bits():
    X = sp.csr_array(([2.0, 3.0], ([0, 0], [1, 99_999])), shape=(1, 100_000))
    found = interactions(X)
    assert found.shape == (1, 10**10)
    assert found[0, 99_999 * 100_000 + 1] == 6.0


@pytest.mark.parametrize("form", ["C", "csr_array"])
def test_products_that_overflow_are_an_error(form):
    with pytest.raises(InvalidInputError, match="scale the data"):
        interactions(draws.in_form(np.full((1, 2), 1e200), form))
