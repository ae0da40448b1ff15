import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin.errors import InvalidInputError
from maxmargin.kernels import FeatureMap, Polynomial, interactions
from tests.kernels import draws, twins


def with_squares(X):
    X = X.toarray() if sp.issparse(X) else X
    return np.hstack([X, X**2])


@draws.given(draws.pairs(scale=1.0))
def test_a_block_is_the_inner_products_of_the_features(pair):
    X, Z = pair
    K = FeatureMap(with_squares).block(X, Z)
    wanted = twins.linear(with_squares(draws.dense(X)), with_squares(draws.dense(Z)))
    np.testing.assert_allclose(K, wanted, rtol=1e-4, atol=1e-3 if K.dtype == np.float32 else 1e-10)


@draws.given(draws.pairs(scale=1.0))
def test_interactions_are_the_polynomial_kernel_of_degree_two(pair):
    X, Z = pair
    explicit, implicit = FeatureMap(interactions), Polynomial(degree=2, gamma=1.0)
    np.testing.assert_allclose(
        explicit.block(X, Z, dtype=np.float64), implicit.block(X, Z, dtype=np.float64), rtol=1e-9, atol=1e-9
    )
    np.testing.assert_allclose(explicit.diag(X), implicit.diag(X), rtol=1e-9)


def test_wide_features_are_worked_on_in_small_tiles():
    largest = 0

    def wide(X):
        nonlocal largest
        features = np.repeat(X, 5000, axis=1)
        largest = max(largest, features.nbytes)
        return features

    X = np.random.default_rng(0).standard_normal((600, 4))
    np.testing.assert_allclose(FeatureMap(wide).block(X, X), 5000 * X @ X.T, atol=1e-8)
    np.testing.assert_allclose(FeatureMap(wide).diag(X), 5000 * np.square(X).sum(axis=1))
    assert largest <= 8 << 20


@draws.given(draws.values(8, 3, scale=1.0))
def test_it_is_positive_semidefinite_whatever_the_map(X):
    kernel = FeatureMap(np.sin)
    assert kernel.psd is True
    assert kernel.is_positive_semidefinite(X)


@pytest.mark.parametrize(
    "function", [lambda X: X[:1], lambda X: X[:, 0], lambda X: X.astype(str), lambda X: X + 1j, lambda X: 1.0]
)
def test_a_map_that_does_not_give_one_row_of_numbers_for_each_row_is_refused(function):
    with pytest.raises(InvalidInputError, match="feature map returned"):
        FeatureMap(function).block(np.eye(3), np.eye(3))


def test_a_map_whose_width_depends_on_the_rows_is_refused():
    with pytest.raises(InvalidInputError, match="same number of features"):
        FeatureMap(lambda X: np.ones((len(X), len(X)))).block(np.eye(2, 3), np.eye(3))


def test_what_cannot_be_called_is_refused():
    with pytest.raises(InvalidInputError, match="cannot be called"):
        FeatureMap(np.eye(2))


def test_features_that_are_stored_twice_are_one_number():
    def thrice(X):
        values, n = np.hstack([X, np.full_like(X, 1e8), np.full_like(X, -1e8)]), X.shape[1]
        return sp.csr_array(
            (values.ravel(), np.tile(np.arange(n), 3 * len(X)), np.arange(0, values.size + 1, 3 * n)), shape=X.shape
        )

    X = np.random.default_rng(0).normal(size=(6, 4))
    summed = thrice(X).toarray()
    np.testing.assert_allclose(FeatureMap(thrice).block(X, X), summed @ summed.T, rtol=1e-12)
