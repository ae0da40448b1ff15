import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import strategies as st
from sklearn.metrics.pairwise import rbf_kernel

from maxmargin.errors import InvalidInputError
from maxmargin.kernels import RBF
from maxmargin.kernels.rbf import MAX_FLOAT32_ERROR
from tests.kernels import draws, twins


def radius(X, Z, centred):
    """max ‖x − μ‖² of both."""
    X, Z = draws.dense(X), draws.dense(Z)
    shift = Z.mean(axis=0) if centred else 0.0
    return max(np.square(rows - shift).sum(axis=1).max() for rows in (X, Z))


def bound(K, gamma, size, d):
    if K.dtype == np.float64:
        return 4 * (d + 4) * 2.3e-16 * (1 + gamma * size)
    return 4 * (d + 4) * (MAX_FLOAT32_ERROR + 1.2e-7)


@draws.given(draws.pairs(), st.sampled_from([0.0, 0.01, 1.0, 50.0]), st.sampled_from([None, np.float32, np.float64]))
def test_a_block_equals_the_differences_squared_and_summed(pair, gamma, dtype):
    X, Z = pair
    # gamma in units of the data, so that values are neither all 0 nor all 1
    gamma /= max(radius(X, Z, False), 1e-300) if gamma else 1.0
    K = RBF(gamma).block(X, Z, dtype=dtype)
    assert np.abs(K - twins.rbf(X, Z, gamma)).max() <= bound(K, gamma, radius(X, Z, False), X.shape[1])
    assert K.min() >= 0
    assert K.max() <= 1


@draws.given(
    draws.pairs(scale=1.0, forms=draws.DENSE),
    st.sampled_from([1e3, 1e6, 1e9]),
    st.sampled_from([0.05, 1.0]),
    st.sampled_from([np.float32, np.float64]),
)
def test_an_offset_of_dense_data_costs_no_precision(pair, offset, gamma, dtype):
    X, Z = (np.asarray(rows, dtype=np.float64) + offset for rows in pair)
    K = RBF(gamma).block(X, Z, dtype=dtype)
    assert np.abs(K - twins.rbf(X, Z, gamma)).max() <= bound(K, gamma, radius(X, Z, True), X.shape[1])


@draws.given(draws.pairs(), st.sampled_from([0.0, 0.01, 1.0, 50.0]), st.booleans())
def test_values_by_differences_are_those_of_the_formula(pair, gamma, is_far):
    X, Z = pair
    X, Z = (X + 1e6, Z + 1e6) if is_far and not sp.issparse(X) and X.dtype == Z.dtype == np.float64 else (X, Z)
    gamma /= max(radius(X, Z, True), 1e-300) if gamma else 1.0
    found = np.empty((X.shape[0], Z.shape[0]))
    RBF(gamma).fill_differences(X, Z, found)
    assert np.abs(found - twins.rbf(X, Z, gamma)).max() <= 1e-13 * (1 + gamma * radius(X, Z, True))


def test_a_difference_that_is_no_number_is_an_error():
    with pytest.raises(InvalidInputError, match="not finite"):
        RBF(1.0).fill_differences(np.array([[np.nan]]), np.ones((1, 1)), np.empty((1, 1)))


def test_an_offset_of_float32_data_costs_no_precision():
    rng = np.random.default_rng(0)
    X = (1e4 + rng.standard_normal((40, 6))).astype(np.float32)
    K = RBF(0.3).block(X, X)
    assert K.dtype == np.float32
    assert np.abs(K - twins.rbf(X, X, 0.3)).max() < 1e-5


@pytest.mark.parametrize("form", ["C", "csr_array"])
@pytest.mark.parametrize("gamma", [1.0, 1e2, 1e4])
def test_float32_results_hold_their_digits_for_any_gamma(gamma, form):
    # clusters far from the mean, and close pairs in them: the norms form in float32 would lose every digit
    rng = np.random.default_rng(1)
    centre = rng.standard_normal((5, 4)) * 3
    X = (np.repeat(centre, 8, axis=0) + rng.standard_normal((40, 4)) / np.sqrt(gamma) / 2).astype(np.float32)
    K = RBF(gamma).block(draws.in_form(X, form), draws.in_form(X, form))
    assert K.dtype == np.float32
    assert np.abs(K - twins.rbf(X, X, gamma)).max() < 5 * MAX_FLOAT32_ERROR


@pytest.mark.parametrize("form", ["C", "csr_array"])
def test_tiny_float32_data_whose_squares_underflow_are_computed_in_float64(form):
    X = (np.random.default_rng(3).standard_normal((6, 2)) * 1e-30).astype(np.float32)
    X = draws.in_form(X, form)
    kernel = RBF("scale").resolve(X)
    K = kernel.block(X, X)
    assert K.dtype == np.float32
    np.testing.assert_allclose(K, twins.rbf(X, X, kernel.gamma), rtol=1e-6)


def test_many_tiles_equal_scikit_learn():
    rng = np.random.default_rng(2)
    X, Z = rng.standard_normal((1030, 5)), rng.standard_normal((4100, 5))
    np.testing.assert_allclose(RBF(0.3).block(X, Z), rbf_kernel(X, Z, gamma=0.3), atol=1e-13)


def test_far_rows_underflow_to_zero_without_a_warning():
    with np.errstate(all="raise"):
        np.testing.assert_array_equal(RBF(1e3).block(np.zeros((1, 1)), np.full((1, 1), 1e3)), 0.0)


@draws.given(draws.pairs())
def test_the_diagonal_is_one(pair):
    np.testing.assert_array_equal(RBF(2.0).diag(pair[0]), 1.0)


@draws.given(draws.values(10, 3), st.sampled_from(["scale", "auto"]))
def test_it_is_positive_semidefinite(X, gamma):
    kernel = RBF(gamma)
    assert kernel.psd is True
    assert kernel.resolve(X).is_positive_semidefinite(X)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e200])
@pytest.mark.parametrize("form", ["C", "csr_array"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_without_a_finite_norm_are_refused(value, form, dtype):
    X = np.array([[1.0, 0.0], [value, 1.0]])
    with pytest.raises(InvalidInputError, match="not finite"):
        RBF(1.0).block(draws.in_form(X, form), np.eye(2), dtype=dtype)


def test_an_unresolved_gamma_says_how_to_resolve_it():
    with pytest.raises(InvalidInputError, match=r"resolve\(X_train\)"):
        RBF().block(np.eye(2), np.eye(2))
