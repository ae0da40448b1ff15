import numpy as np
import pytest
from hypothesis import strategies as st
from sklearn.metrics.pairwise import sigmoid_kernel

from maxmargin.errors import InvalidInputError
from maxmargin.kernels import Sigmoid
from tests.kernels import draws, twins


@draws.given(draws.pairs(scale=1.0), st.sampled_from([0.0, 0.1, 2.0]), st.sampled_from([-1.0, 0.0, 1.0]))
def test_a_block_equals_the_formula(pair, gamma, coef0):
    X, Z = pair
    K = Sigmoid(gamma, coef0).block(X, Z)
    size = 1 + gamma * np.outer(twins.norms(X), twins.norms(Z)) + abs(coef0)
    assert np.all(np.abs(K - twins.sigmoid(X, Z, gamma, coef0)) <= 4 * (X.shape[1] + 4) * twins.epsilon(K) * size)


def test_many_tiles_equal_scikit_learn():
    rng = np.random.default_rng(0)
    X, Z = rng.standard_normal((600, 5)), rng.standard_normal((2100, 5))
    np.testing.assert_allclose(Sigmoid(0.2, 0.1).block(X, Z), sigmoid_kernel(X, Z, 0.2, 0.1), atol=1e-13)
    np.testing.assert_allclose(Sigmoid(0.2, 0.1).diag(X), sigmoid_kernel(X, X, 0.2, 0.1).diagonal(), atol=1e-13)


def test_a_counterexample_has_a_negative_quadratic_form():
    X = np.array([[0.5], [1.0], [2.0]])
    kernel = Sigmoid(gamma=1.0)
    check = kernel.is_positive_semidefinite(X)
    K = twins.sigmoid(X, X, 1.0, 0.0)
    assert kernel.psd is False
    assert not check
    assert check.vector @ K @ check.vector < -check.tolerance
    assert check.vector @ K @ check.vector == pytest.approx(check.eigenvalue)


def test_an_inner_product_that_overflows_is_not_hidden_by_tanh():
    X = np.array([[1e200]])
    with pytest.raises(InvalidInputError, match="scale the data"):
        Sigmoid(1.0).block(X, X)
