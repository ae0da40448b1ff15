import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin.errors import InvalidInputError
from maxmargin.kernels import Linear, Precomputed
from tests.kernels import draws

RNG = np.random.default_rng(0)
X = RNG.standard_normal((7, 3))
K = X @ X.T
X_NEW = RNG.standard_normal((4, 3))
K_NEW = X_NEW @ X.T


@pytest.mark.parametrize("form", draws.FORMS)
def test_blocks_are_picked_from_the_matrix(form):
    rows = np.array([5, 0, 5])
    kernel = Precomputed()
    K_new = draws.in_form(K_NEW, form)
    np.testing.assert_array_equal(kernel.block(K_new, kernel.reference(K, rows)), draws.dense(K_new)[:, rows])
    np.testing.assert_array_equal(kernel.between(draws.in_form(K, form), [1, 2], rows), draws.dense(K)[[1, 2]][:, rows])


def test_it_agrees_with_the_kernel_that_was_precomputed():
    rows = np.array([1, 6])
    direct = Linear().block(X_NEW, Linear().reference(X, rows))
    np.testing.assert_allclose(Precomputed().block(K_NEW, Precomputed().reference(K, rows)), direct)
    np.testing.assert_allclose(Precomputed().diag(K), Linear().diag(X))


def test_the_reference_is_row_numbers():
    numbers = Precomputed().reference(K, np.array([3, 1]))
    assert numbers.dtype == np.intp
    np.testing.assert_array_equal(numbers, [[3], [1]])
    np.testing.assert_array_equal(Precomputed().reference(K)[:, 0], np.arange(7))


def test_float32_stays_float32_by_default():
    small = K.astype(np.float32)
    assert Precomputed().between(small).dtype == np.float32
    assert Precomputed().between(small, dtype=np.float64).dtype == np.float64


def test_a_matrix_that_is_not_square_is_refused_at_training():
    with pytest.raises(InvalidInputError, match="square"):
        Precomputed().check_input(K_NEW)
    with pytest.raises(InvalidInputError, match="square"):
        Precomputed().diag(K_NEW)
    Precomputed().check_input(K)


@pytest.mark.parametrize("Z", [X, np.array([[0.0]]), np.array([[0, 1]]), sp.csr_array([[0.0]])])
def test_rows_in_the_place_of_row_numbers_are_refused(Z):
    with pytest.raises(InvalidInputError, match="reference"):
        Precomputed().block(K, Z)


def test_too_few_columns_are_refused():
    with pytest.raises(InvalidInputError, match="one column for each training sample"):
        Precomputed().block(K[:, :3], Precomputed().reference(K, [6]))


def test_positive_semidefiniteness_is_found_out():
    assert Precomputed().psd is None
    assert Precomputed().is_positive_semidefinite(K)
    assert not Precomputed().is_positive_semidefinite(K - 2 * np.eye(7))
    assert not Precomputed().is_positive_semidefinite(np.triu(K))


def test_a_matrix_rounded_to_float32_is_still_positive_semidefinite():
    assert Precomputed().is_positive_semidefinite(K.astype(np.float32))
