import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin.errors import InvalidInputError
from maxmargin.kernels import Custom
from tests.kernels import draws, twins


def product(X, Z):
    return X @ Z.T


def intersection(u, v):
    assert u.ndim == v.ndim == 1
    return np.minimum(u, v).sum()


@draws.given(draws.pairs(scale=1.0))
def test_a_function_of_matrices_is_called_with_the_rows(pair):
    X, Z = pair
    kernel = Custom(product)
    np.testing.assert_allclose(kernel.block(X, Z), twins.linear(X, Z), atol=1e-4)
    np.testing.assert_allclose(kernel.diag(X), twins.norms(X) ** 2, atol=1e-12)


@draws.given(draws.pairs(scale=1.0))
def test_a_function_of_pairs_is_called_with_dense_rows(pair):
    X, Z = pair
    kernel = Custom(intersection, pairwise=True)
    np.testing.assert_allclose(kernel.block(X, Z), twins.gram(intersection, X, Z), atol=1e-4)
    np.testing.assert_allclose(kernel.diag(X), draws.dense(X).sum(axis=1), atol=1e-12)


def test_many_tiles_make_one_block():
    X = np.random.default_rng(0).standard_normal((600, 2))
    np.testing.assert_allclose(Custom(product).block(X, np.tile(X, (4, 1))), np.tile(X @ X.T, (1, 4)), atol=1e-12)


def test_float32_rows_arrive_in_the_arithmetic_that_was_asked_for():
    seen = []

    def spy(X, Z):
        seen.extend([X.dtype, Z.dtype])
        return X @ Z.T

    Custom(spy).block(np.eye(2, dtype=np.float32), np.eye(2, dtype=np.float32), dtype=np.float64)
    assert set(seen) == {np.dtype(np.float64)}


def test_a_sparse_result_is_made_dense():
    X = sp.csr_array(np.eye(3))
    np.testing.assert_array_equal(Custom(product).block(X, X), np.eye(3))


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda X, Z: X @ Z.T * 1j, "real numbers"),
        (lambda X, Z: "text", "real numbers"),
        (lambda X, Z: None, "real numbers"),
        (lambda X, Z: [[1.0], [1.0, 2.0]], "real numbers"),
        (lambda X, Z: 1.0, r"shape \(\) .*of shape \(2, 3\)"),
        (lambda X, Z: Z @ X.T, r"shape \(3, 2\) .*of shape \(2, 3\)"),
        (lambda X, Z: np.full((2, 3), np.nan), "not finite"),
    ],
)
def test_a_wrong_result_is_refused(function, message):
    with pytest.raises(InvalidInputError, match=message):
        Custom(function).block(np.eye(2, 3), np.eye(3))


def test_a_pairwise_function_that_returns_a_row_is_refused():
    with pytest.raises(InvalidInputError, match="shape"):
        Custom(lambda u, v: u * v, pairwise=True).block(np.eye(2), np.eye(2))


def test_what_cannot_be_called_is_refused():
    with pytest.raises(InvalidInputError, match="cannot be called"):
        Custom("rbf")
    with pytest.raises(InvalidInputError, match="pairwise"):
        Custom(product, pairwise="yes")


def test_nothing_is_claimed_of_it():
    assert Custom(product).psd is None
    assert Custom(product).is_positive_semidefinite(np.eye(3))
    assert not Custom(lambda X, Z: -X @ Z.T).is_positive_semidefinite(np.eye(3))


def test_equality_is_that_of_the_function():
    assert Custom(product) == Custom(product) != Custom(product, pairwise=True)
    assert pickle.loads(pickle.dumps(Custom(product))) == Custom(product)
