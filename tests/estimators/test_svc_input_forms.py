"""The same numbers in another container, order or precision give the same model."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from maxmargin import HardMarginSVC, certify, separability
from maxmargin.kernels import RBF, Custom, Linear, Precomputed

RNG = np.random.default_rng(0)
Y = np.arange(40) % 2
X = np.round(RNG.standard_normal((40, 6)), 2) * (RNG.random((40, 6)) < 0.6)
X[:, 0] = np.where(Y == 1, 2.0, -2.0) + 0.5 * X[:, 0].clip(-1, 1)
NEW = np.round(RNG.standard_normal((15, 6)), 2)
PARAMETERS = {"linear": {}, "rbf": {"kernel": "rbf", "gamma": 0.3}}


def int64_csr(values):
    rows = sp.csr_array(values)
    rows.indices, rows.indptr = rows.indices.astype(np.int64), rows.indptr.astype(np.int64)
    return rows


def read_only(values):
    values = values.copy()
    values.flags.writeable = False
    return values


def strided(values):
    wide = np.full((2 * values.shape[0], 3 * values.shape[1]), np.nan, dtype=values.dtype)
    wide[::2, ::3] = values
    return wide[::2, ::3]


def read_only_csr(values):
    rows = sp.csr_array(values)
    for part in (rows.data, rows.indices, rows.indptr):
        part.flags.writeable = False
    return rows


FORMS = {
    "list": lambda values: values.tolist(),
    "fortran": np.asfortranarray,
    "strided": strided,
    "reversed view": lambda values: values[::-1].copy()[::-1],
    "read-only": read_only,
    "object": lambda values: values.astype(object),
    "float32": lambda values: values.astype(np.float32),
    "csr_array": sp.csr_array,
    "csr_matrix": sp.csr_matrix,
    "csc_array": sp.csc_array,
    "coo_array": sp.coo_array,
    "csr int64": int64_csr,
    "csr read-only": read_only_csr,
    "csr float32": lambda values: sp.csr_array(values.astype(np.float32)),
    "pandas": lambda values: pd.DataFrame(values, columns=list("abcdef")),
    "polars": lambda values: pl.DataFrame(values, schema=list("abcdef")),
}


@pytest.mark.parametrize("kernel", PARAMETERS)
@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_the_data_gives_the_same_model(form, kernel):
    plain = HardMarginSVC(**PARAMETERS[kernel]).fit(X, Y)
    model = HardMarginSVC(**PARAMETERS[kernel]).fit(FORMS[form](X), Y)
    rtol = 1e-4 if "float32" in form else 1e-8  # two decimals are rounded in float32
    np.testing.assert_array_equal(model.support_, plain.support_)
    assert model.certificate_.margin == pytest.approx(plain.certificate_.margin, rel=rtol)
    np.testing.assert_allclose(model.decision_function(FORMS[form](NEW)), plain.decision_function(NEW), rtol=rtol, atol=rtol)
    np.testing.assert_array_equal(model.predict(FORMS[form](X)), Y)
    assert model.coef_.dtype == np.float64 if kernel == "linear" else True
    assert model.dual_coef_.dtype == model.intercept_.dtype == model.decision_function(FORMS[form](NEW)).dtype == float


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_the_data_gives_the_same_certificate_and_verdict(form):
    data = FORMS[form](X)
    model = HardMarginSVC().fit(data, Y)
    assert certify(model, data, Y) == model.certificate_
    assert separability(data, Y).is_separable is True
    assert separability(data, np.roll(Y, 1) ^ (np.arange(40) < 20)).is_separable is False


def test_float32_numbers_that_are_exact_give_the_float64_model():
    eighths = np.round(8 * X) / 8
    double, single = HardMarginSVC().fit(eighths, Y), HardMarginSVC().fit(eighths.astype(np.float32), Y)
    np.testing.assert_allclose(single.coef_, double.coef_, rtol=1e-10, atol=1e-14)
    assert single.support_vectors_.dtype == np.float32
    assert single.certificate_.relative_gap <= 1e-10


def test_integers_and_booleans_are_numbers():
    flags = X > 0
    flags[:, 0] = Y == 1
    plain = HardMarginSVC().fit(flags.astype(float), Y)
    for kind in (bool, np.int8, np.int64, np.uint16):
        np.testing.assert_array_equal(HardMarginSVC().fit(flags.astype(kind), Y).coef_, plain.coef_)


@pytest.mark.parametrize("frame", ["pandas", "polars"])
def test_names_of_the_columns_are_kept_and_checked(frame):
    data = FORMS[frame](X)
    model = HardMarginSVC().fit(data, Y)
    assert list(model.feature_names_in_) == list("abcdef")
    np.testing.assert_array_equal(model.predict(data), Y)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(data[["b", "a", "c", "d", "e", "f"]])


def test_series_are_labels_and_weights_whatever_their_index():
    index = np.random.default_rng(1).permutation(40)
    frame, labels = pd.DataFrame(X, index=index), pd.Series(np.array(["no", "yes"])[Y], index=index)
    weights = pd.Series(np.ones(40), index=index[::-1])
    model = HardMarginSVC().fit(frame, labels, sample_weight=weights)
    np.testing.assert_allclose(model.coef_, HardMarginSVC().fit(X, Y).coef_, rtol=1e-9)
    np.testing.assert_array_equal(model.predict(frame), labels.to_numpy())
    polars = HardMarginSVC().fit(pl.DataFrame(X), pl.Series(Y), sample_weight=pl.Series(np.ones(40)))
    np.testing.assert_allclose(polars.coef_, model.coef_, rtol=1e-9)


def test_categories_are_labels():
    labels = pd.Series(np.array(["low", "high"])[Y], dtype="category")
    model = HardMarginSVC().fit(X, labels)
    np.testing.assert_array_equal(model.predict(X), labels.astype(str).to_numpy())


def test_the_training_data_are_not_changed():
    for form in ("fortran", "csr_array", "csc_array", "pandas"):
        data = FORMS[form](X)
        before = data.copy()
        HardMarginSVC().fit(data, Y)
        unequal = data != before
        assert (unequal.nnz if sp.issparse(unequal) else np.asarray(unequal).sum()) == 0


# ------------------------------------------------------------------------------------------------------------ kernels


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_a_precomputed_kernel_is_the_kernel_itself(form):
    direct = HardMarginSVC(kernel="rbf", gamma=0.3).fit(X, Y)
    K = RBF(gamma=0.3).block(X, X, dtype=np.float64)
    K_new = RBF(gamma=0.3).block(NEW, X, dtype=np.float64)
    model = HardMarginSVC(kernel="precomputed").fit(form(K), Y)
    np.testing.assert_array_equal(model.support_, direct.support_)
    np.testing.assert_allclose(model.dual_coef_, direct.dual_coef_, rtol=1e-7)
    np.testing.assert_allclose(model.decision_function(form(K_new)), direct.decision_function(NEW), rtol=1e-8)
    assert model.n_features_in_ == len(X)
    assert model.support_vectors_.shape == (0, 0)
    assert certify(model, form(K), Y) == model.certificate_
    assert model.certificate_.assumed_psd
    same = HardMarginSVC(kernel=Precomputed()).fit(form(K), Y)
    np.testing.assert_array_equal(same.dual_coef_, model.dual_coef_)


def test_a_precomputed_linear_kernel_finds_the_linear_street():
    direct = HardMarginSVC().fit(X, Y)
    model = HardMarginSVC(kernel="precomputed").fit(X @ X.T, Y)
    np.testing.assert_allclose(model.decision_function(NEW @ X.T), direct.decision_function(NEW), rtol=1e-6, atol=1e-6)
    assert model.certificate_.margin == pytest.approx(direct.certificate_.margin, rel=1e-7)


def test_a_function_may_be_the_kernel():
    direct = HardMarginSVC(kernel="poly", degree=2, gamma=1.0, coef0=1.0).fit(X, Y)
    model = HardMarginSVC(kernel=lambda U, V: (U @ V.T + 1.0) ** 2).fit(X, Y)
    np.testing.assert_array_equal(model.support_, direct.support_)
    np.testing.assert_allclose(model.decision_function(NEW), direct.decision_function(NEW), rtol=1e-7, atol=1e-8)
    pairs = HardMarginSVC(kernel=Custom(lambda u, v: (u @ v + 1.0) ** 2, pairwise=True)).fit(X, Y)
    np.testing.assert_allclose(pairs.decision_function(NEW), direct.decision_function(NEW), rtol=1e-7, atol=1e-8)


def test_a_kernel_object_brings_its_own_parameters():
    by_name = HardMarginSVC(kernel="rbf", gamma=0.3).fit(X, Y)
    by_object = HardMarginSVC(kernel=RBF(gamma=0.3), gamma=99.0).fit(X, Y)
    np.testing.assert_array_equal(by_object.dual_coef_, by_name.dual_coef_)
    np.testing.assert_array_equal(HardMarginSVC(kernel=Linear()).fit(X, Y).coef_, HardMarginSVC().fit(X, Y).coef_)


def test_predictions_do_not_depend_on_how_many_are_asked_for_at_once(monkeypatch):
    model = HardMarginSVC(kernel="rbf", gamma=0.3).fit(X, Y)
    whole = model.decision_function(NEW)
    monkeypatch.setattr("maxmargin.kernel_matrix.expansion.TILE_ROWS", 4)
    np.testing.assert_allclose(model.decision_function(NEW), whole, rtol=1e-12)
    np.testing.assert_allclose([model.decision_function(NEW[[j]])[0] for j in range(len(NEW))], whole, rtol=1e-12)
