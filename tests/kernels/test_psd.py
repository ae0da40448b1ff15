import numpy as np
import pytest

from maxmargin.errors import MemoryBudgetError
from maxmargin.kernels import Linear, Precomputed
from tests.kernels import draws


@draws.given(draws.values(7, 7, scale=1.0))
def test_the_smallest_eigenvalue_and_its_vector_are_those_of_the_symmetric_part(A):
    check = Precomputed().is_positive_semidefinite(A)
    symmetric = (A + A.T) / 2
    assert check.eigenvalue == pytest.approx(np.linalg.eigvalsh(symmetric)[0], abs=1e-12)
    assert np.linalg.norm(check.vector) == pytest.approx(1.0)
    assert check.vector @ A @ check.vector == pytest.approx(check.eigenvalue, abs=1e-12)
    assert check.asymmetry == np.abs(A - A.T).max()
    assert bool(check) is check.holds


@draws.given(draws.values(9, 3))
def test_gram_matrices_of_low_rank_pass_in_spite_of_rounding(X):
    assert Linear().is_positive_semidefinite(X)


def test_an_asymmetry_between_tiles_is_found():
    K = np.eye(1100)
    K[3, 1050] = 0.25
    check = Precomputed().is_positive_semidefinite(K)
    assert not check
    assert check.asymmetry == 0.25
    assert str(check).startswith("Not symmetric")


def test_it_reads_as_a_sentence():
    assert str(Linear().is_positive_semidefinite(np.eye(2))).startswith("Positive semi-definite: the smallest eigenvalue is 1")
    assert str(Precomputed().is_positive_semidefinite(-np.eye(2))).startswith("Not positive semi-definite")


def test_the_input_is_left_alone():
    K = np.array([[2.0, 1.0], [0.0, 2.0]])
    kept = K.copy()
    Precomputed().is_positive_semidefinite(K)
    np.testing.assert_array_equal(K, kept)


def test_a_matrix_of_more_than_two_gibibytes_is_refused_before_it_is_formed():
    with pytest.raises(MemoryBudgetError, match="random sample"):
        Linear().is_positive_semidefinite(np.zeros((16_385, 1)))


def test_no_rows_are_positive_semidefinite():
    assert Linear().is_positive_semidefinite(np.empty((0, 2)))
