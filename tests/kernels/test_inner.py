import operator
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin import SVC
from maxmargin.errors import InvalidInputError
from maxmargin.kernels import Linear
from maxmargin.kernels.inner import inner_products, power_error
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


@pytest.mark.parametrize(("scale", "degree"), [(2.0**166, 7), (2.0**400, 3), (2.0**70, 20), (2.0**-160, 7)])
def test_the_error_bound_of_a_polynomial_is_that_of_any_other_unit(scale, degree):
    # (γ‖z‖)^degree leaves float64 where γ‖x‖‖z‖ is about 1: the bound was 1e-306
    rng = np.random.default_rng(5)
    X, sizes = rng.normal(size=(20, 5)), rng.random(20)
    usual = power_error(X, X, sizes, 0.2, 0.0, degree, 20)
    found = power_error(X * scale, X * scale, sizes, 0.2 / scale**2, 0.0, degree, 20)
    assert np.all(found >= usual * (1.0 - 1e-9))
    assert np.all(found <= usual * (1.0 + 1e-6))


def test_a_polynomial_of_large_data_is_certified_in_exact_arithmetic():
    rng = np.random.default_rng(5)
    unit = rng.normal(size=(30, 5))
    y = (unit[:, 0] * unit[:, 1] > 0).astype(int)
    X, gamma = unit * 2.0**166, 0.2 / 2.0**332
    model = SVC(kernel="poly", degree=7, gamma=gamma, C=1.0).fit(X, y)
    rows = [[Fraction(float(value)) for value in row] for row in X]
    beta, b = [Fraction(float(value)) for value in model.dual_coef_[0]], Fraction(float(model.intercept_[0]))
    support = list(zip(beta, (rows[j] for j in model.support_), strict=True))
    f = [sum(w * (Fraction(gamma) * sum(map(operator.mul, x, z))) ** 7 for w, z in support) for x in rows]
    square = sum(w * f[j] for w, j in zip(beta, model.support_, strict=True))
    losses = sum(max(Fraction(0), 1 - (2 * int(label) - 1) * (value + b)) for label, value in zip(y, f, strict=True))
    assert square / 2 + losses <= Fraction(model.certificate_.primal)
