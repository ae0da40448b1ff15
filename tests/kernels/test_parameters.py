import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import strategies as st
from sklearn.svm import SVC

from maxmargin.errors import InvalidInputError
from maxmargin.kernels import (
    RBF,
    Custom,
    FeatureMap,
    Linear,
    Polynomial,
    Precomputed,
    Sigmoid,
    interactions,
)
from tests.kernels import draws


def scale(X, sample_weight=None):
    return RBF("scale").resolve(X, sample_weight).gamma


@draws.given(draws.pairs())
def test_scale_is_one_over_features_times_variance(pair):
    X = pair[0]
    variance = draws.dense(X).var()
    wanted = 1 / (X.shape[1] * variance) if variance > 0 else 1.0
    assert scale(X) == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("form", [form for form in draws.FORMS if form != "csr int64"])  # which SVC refuses
def test_scale_is_scikit_learns(form):
    rng = np.random.default_rng(0)
    X = draws.in_form(rng.standard_normal((30, 4)) * (rng.random((30, 4)) < 0.5), form)
    model = SVC(gamma="scale").fit(X, np.arange(30) % 2)
    assert scale(X) == pytest.approx(model._gamma, rel=1e-9)


@draws.given(draws.values(6, 3), st.lists(st.integers(0, 4), min_size=6, max_size=6), st.sampled_from(draws.FORMS))
def test_weight_k_is_k_copies(X, weight, form):
    if sum(weight) == 0:
        weight[0] = 1
    copies = draws.in_form(np.repeat(X, weight, axis=0), form)
    assert scale(draws.in_form(X, form), weight) == pytest.approx(scale(copies), rel=1e-9)


def test_a_common_factor_of_the_weights_does_not_matter():
    X = np.random.default_rng(1).standard_normal((5, 2))
    for factor in (1e-300, 3.0, 1e300):
        assert scale(X, np.full(5, factor)) == pytest.approx(scale(X), rel=1e-12)


def test_a_row_of_weight_zero_may_hold_anything():
    X = np.array([[1.0, 2.0], [np.nan, np.inf], [3.0, 4.0]])
    assert scale(X, [1, 0, 1]) == scale(X[[0, 2]])


@pytest.mark.parametrize("form", draws.FORMS)
@pytest.mark.parametrize("value", [0.0, 0.1, 1e6 + 0.1])
def test_constant_data_give_one(value, form):
    assert scale(draws.in_form(np.full((37, 3), value), form)) == 1.0


def test_an_offset_does_not_spoil_the_variance():
    X = np.random.default_rng(2).standard_normal((50, 4))
    assert scale(X + 1e8) == pytest.approx(scale((X + 1e8) - 1e8), rel=1e-7)


def test_many_tiles_make_one_variance():
    X = np.random.default_rng(3).standard_normal((5000, 3))
    assert scale(X) == pytest.approx(1 / (3 * X.var()), rel=1e-12)
    assert scale(sp.csr_array(X)) == pytest.approx(1 / (3 * X.var()), rel=1e-12)


def test_auto_is_one_over_features_and_a_number_stays():
    X = np.ones((3, 8))
    for kernel in (RBF, Polynomial, Sigmoid):
        assert kernel(gamma="auto").resolve(X) == kernel(gamma=0.125)
        assert kernel(gamma=3).resolve(X) == kernel(gamma=3.0)


def test_kernels_without_gamma_resolve_to_themselves():
    for kernel in (Linear(), Precomputed(), Custom(np.dot), FeatureMap(interactions)):
        assert kernel.resolve(np.eye(2)) is kernel
        assert kernel.is_resolved


@pytest.mark.parametrize("kernel", [RBF, Polynomial, Sigmoid])
@pytest.mark.parametrize("gamma", [-1.0, np.nan, np.inf, None, "big", True, 1j, [1.0]])
def test_a_gamma_that_is_no_number_from_zero_up_is_refused(kernel, gamma):
    with pytest.raises(InvalidInputError, match="gamma="):
        kernel(gamma=gamma)


def test_gamma_zero_is_allowed():
    np.testing.assert_array_equal(RBF(0).block(np.eye(2), np.eye(2)), 1.0)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1.0], "shape"),
        ([1.0, -1.0, 1.0], "≥ 0"),
        ([0.0, 0.0, 0.0], "one weight > 0"),
        ([1.0, np.nan, 1.0], "finite"),
    ],
)
def test_bad_weights_are_refused(weight, message):
    with pytest.raises(InvalidInputError, match=message):
        scale(np.eye(3), weight)


def test_data_without_rows_or_with_a_variance_that_overflows_are_refused():
    with pytest.raises(InvalidInputError, match="needs data"):
        scale(np.empty((0, 3)))
    with pytest.raises(InvalidInputError, match="scale the data"):
        scale(np.array([[1e200, -1e200]]))
    with pytest.raises(InvalidInputError, match="NaN"):
        scale(np.array([[np.nan, 1.0]]))
