import numpy as np
import pytest
from hypothesis import strategies as st
from sklearn.metrics.pairwise import polynomial_kernel

from maxmargin.errors import InvalidInputError
from maxmargin.kernels import Polynomial
from tests.kernels import draws, twins


@draws.given(draws.pairs(scale=1.0), st.integers(0, 9), st.sampled_from([0.0, 0.1, 1.0]), st.sampled_from([-1.0, 0.0, 1.0]))
def test_a_block_equals_the_formula(pair, degree, gamma, coef0):
    X, Z = pair
    K = Polynomial(degree, gamma, coef0).block(X, Z)
    size = (gamma * np.outer(twins.norms(X), twins.norms(Z)) + abs(coef0)) ** degree
    bound = 4 * (X.shape[1] + 4) * (degree + 1) * twins.epsilon(K) * size
    assert np.all(np.abs(K - twins.polynomial(X, Z, degree, gamma, coef0)) <= bound)


def test_many_tiles_equal_scikit_learn():
    rng = np.random.default_rng(0)
    X, Z = rng.standard_normal((600, 5)), rng.standard_normal((2100, 5))
    kernel = Polynomial(degree=3, gamma=0.5, coef0=1.0)
    np.testing.assert_allclose(kernel.block(X, Z), polynomial_kernel(X, Z, 3, 0.5, 1.0), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(kernel.diag(X), polynomial_kernel(X, X, 3, 0.5, 1.0).diagonal(), rtol=1e-12)


@pytest.mark.parametrize("degree", [-1, 2.5, 3.0, True, None, "3", np.nan])
def test_a_degree_that_is_no_whole_number_is_refused(degree):
    with pytest.raises(InvalidInputError, match=r"degree=.* whole number"):
        Polynomial(degree=degree)


@pytest.mark.parametrize("coef0", [np.nan, np.inf, "1", None, True])
def test_a_coef0_that_is_no_number_is_refused(coef0):
    with pytest.raises(InvalidInputError, match=r"coef0=.* finite real number"):
        Polynomial(coef0=coef0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_huge_values_are_an_error_and_not_infinity(dtype):
    X = np.full((2, 3), 1e15, dtype=dtype)
    with pytest.raises(InvalidInputError, match="scale the data"):
        Polynomial(degree=20, gamma=1.0).block(X, X)
    with pytest.raises(InvalidInputError, match="scale the data"):
        Polynomial(degree=20, gamma=1.0).diag(X)


def test_a_negative_constant_is_not_positive_semidefinite_and_an_example_shows_it():
    X = np.array([[0.1], [1.0], [-1.0]])
    kernel = Polynomial(degree=2, gamma=1.0, coef0=-1.0)
    assert kernel.psd is False
    assert not kernel.is_positive_semidefinite(X)


@draws.given(
    draws.values(8, 3, scale=1.0),
    st.integers(0, 4),
    st.sampled_from([0.0, 1.0]),
    st.sampled_from([-2.0, -0.5, 0.0, 2.0]),
)
def test_where_psd_is_claimed_no_eigenvalue_is_negative(X, degree, gamma, coef0):
    kernel = Polynomial(degree, gamma, coef0)
    if kernel.psd:
        assert kernel.is_positive_semidefinite(X)
