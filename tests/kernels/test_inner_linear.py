import numpy as np
import pytest
from hypothesis import strategies as st
from sklearn.metrics.pairwise import linear_kernel

from maxmargin.errors import InvalidInputError
from maxmargin.kernels import Linear
from tests.kernels import draws, twins


@draws.given(draws.pairs(), st.sampled_from([None, np.float32, np.float64]))
def test_a_block_equals_the_sums_of_products(pair, dtype):
    X, Z = pair
    K = Linear().block(X, Z, dtype=dtype)
    bound = 4 * (X.shape[1] + 2) * twins.epsilon(K) * np.outer(twins.norms(X), twins.norms(Z))
    assert np.all(np.abs(K - twins.linear(X, Z)) <= bound)


@draws.given(draws.pairs())
def test_the_diagonal_is_the_squared_norms(pair):
    X, _ = pair
    np.testing.assert_allclose(Linear().diag(X), twins.norms(X) ** 2, rtol=1e-12)


def test_large_blocks_over_many_tiles_equal_scikit_learn():
    rng = np.random.default_rng(0)
    X, Z = rng.standard_normal((1030, 7)), rng.standard_normal((4100, 7))
    np.testing.assert_allclose(Linear().block(X, Z), linear_kernel(X, Z), atol=1e-12)


def test_wide_rows_are_taken_in_smaller_tiles():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((9, 300_000)).astype(np.float32)
    wanted = X.astype(np.float64) @ X.astype(np.float64).T
    np.testing.assert_allclose(Linear().block(X, X, dtype=np.float64), wanted, rtol=1e-9, atol=1e-8)


def test_a_sum_that_overflows_is_an_error_and_says_to_scale():
    X = np.array([[1e200, 1e200]])
    with pytest.raises(InvalidInputError, match="scale the data"):
        Linear().block(X, X)
    with pytest.raises(InvalidInputError, match="scale the data"):
        Linear().diag(X)
