import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin.errors import InvalidInputError
from maxmargin.kernels import Linear
from maxmargin.kernels.inner import inner_products
from maxmargin.kernels.tiles import distinct, require_finite, squared_norms
from tests.kernels import draws


@pytest.mark.parametrize("d", [40, 6000])
@pytest.mark.parametrize("density", [0.002, 0.05, 0.6])
def test_every_way_to_multiply_sparse_rows_gives_the_same(d, density):
    rng = np.random.default_rng(1)
    X, Z = (sp.csr_array(np.where(rng.random((n, d)) < density, rng.standard_normal((n, d)), 0.0)) for n in (70, 220))
    wanted = X.toarray() @ Z.toarray().T
    for left in (X, X.toarray()):
        for right in (Z, Z.toarray()):
            np.testing.assert_allclose(Linear().block(left, right), wanted, atol=1e-12)


@draws.given(draws.pairs(scale=1.0))
def test_a_tile_inside_a_larger_array_is_filled_and_nothing_else(pair):
    X, Z = pair
    whole = np.full((X.shape[0] + 2, Z.shape[0] + 2), np.nan)
    inner_products(X, Z, whole[1:-1, 1:-1])
    np.testing.assert_allclose(whole[1:-1, 1:-1], draws.dense(X) @ draws.dense(Z).T, atol=1e-12)
    assert np.isnan(whole).sum() == whole.size - X.shape[0] * Z.shape[0]


def test_squared_norms_of_many_tiles():
    X = np.random.default_rng(0).standard_normal((5000, 3)) * (np.arange(5000)[:, None] % 3 > 0)
    for rows in (X, sp.csr_array(X)):
        np.testing.assert_allclose(squared_norms(rows, np.dtype(float)), (X**2).sum(axis=1), rtol=1e-12)


def test_columns_stored_twice_are_summed_in_a_copy():
    X = draws.in_form(np.eye(3), "csr duplicates")
    assert distinct(X).nnz == 3
    assert X.nnz == 6


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_value_that_is_not_finite_is_named(value):
    require_finite(np.ones(3), "This")
    with pytest.raises(InvalidInputError, match="This is not finite in float64"):
        require_finite(np.array([1.0, value]), "This")
