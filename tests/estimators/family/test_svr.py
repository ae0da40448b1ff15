"""SVR: scikit-learn's, with a proof."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn import svm
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from maxmargin import SVR, ConvergenceWarning, InvalidInputError, Regularization, certify
from tests.strategies import examples, generators


def noisy(n=200, d=4, seed=0, noise=0.2):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.sin(2.0 * X[:, 0]) + X[:, 1] + noise * rng.standard_normal(n)


@pytest.mark.parametrize("model", [SVR(), SVR(kernel="linear", epsilon=0.0), SVR(loss="squared_epsilon_insensitive")], ids=str)
def test_scikit_learns_checks_pass_without_an_expected_failure(model):
    results = check_estimator(model, on_fail=None, on_skip=None)
    assert [result["check_name"] for result in results if result["status"] == "failed"] == []
    assert sum(result["status"] == "passed" for result in results) > 40


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.5])
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_model_and_attributes_are_those_of_scikit_learn(kernel, epsilon, C):
    X, t = noisy()
    ours = SVR(kernel=kernel, epsilon=epsilon, C=C, tol=1e-8).fit(X, t)
    theirs = svm.SVR(kernel=kernel, epsilon=epsilon, C=C, tol=1e-8).fit(X, t)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=2e-3 * np.ptp(t))
    for name in (
        "dual_coef_",
        "support_",
        "support_vectors_",
        "intercept_",
        "n_support_",
        "n_iter_",
        "fit_status_",
        "shape_fit_",
    ):
        own, other = getattr(ours, name), getattr(theirs, name)
        assert np.asarray(own).dtype == np.asarray(other).dtype or name == "n_iter_"
        assert np.ndim(own) == np.ndim(other)
    full = np.zeros((2, len(t)))
    full[0, ours.support_], full[1, theirs.support_] = ours.dual_coef_[0], theirs.dual_coef_[0]
    K = {"linear": lambda: X @ X.T}.get(kernel)
    if K is not None:
        np.testing.assert_allclose(K() @ full[0], K() @ full[1], atol=2e-3 * np.ptp(t))
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)


@examples(25)
@given(generators(), st.sampled_from([1e-8, 1e-3, 1.0, 1e8]), st.sampled_from([0.0, 1.0, 1e3]), st.sampled_from([0.0, 0.1]))
def test_targets_of_any_size_and_offset_end_well(rng, scale, offset, epsilon):
    X = rng.standard_normal((30, 3))
    t = scale * (np.sin(X[:, 0]) + 0.2 * rng.standard_normal(30) + offset)
    model = SVR(C=scale, epsilon=epsilon * scale).fit(X, t)
    assert model.certificate_.is_certified
    assert model.certificate_ == certify(model, X, t)
    low, high = model.certified_predictions(X)
    exact = SVR(C=scale, epsilon=epsilon * scale, tol=1e-10).fit(X, t).predict(X)
    assert (low <= exact + 1e-6 * scale).all()
    assert (exact - 1e-6 * scale <= high).all()


def test_a_tube_that_holds_all_targets_needs_no_weights():
    X, t = noisy()
    model = SVR(epsilon=100.0).fit(X, t)
    assert (len(model.support_), model.certificate_.primal) == (0, 0.0)
    assert model.certificate_.is_certified
    np.testing.assert_array_equal(model.predict(X), np.full(len(t), model.intercept_[0]))
    assert np.abs(t - model.predict(X)).max() <= 100.0


@pytest.mark.parametrize("value", [0.0, 3.0, -1e8, 1e-8])
@pytest.mark.parametrize("epsilon", [0.0, 0.1])
def test_constant_targets_are_predicted(value, epsilon):
    X, _ = noisy(50)
    model = SVR(epsilon=epsilon).fit(X, np.full(50, value))
    assert model.certificate_.is_certified
    assert np.abs(model.predict(X) - value).max() <= epsilon + 1e-9 * abs(value)


def test_intervals_hold_the_optimum_and_shrink_with_tol():
    X, t = noisy(150)
    exact, widths = SVR(C=3.0, tol=1e-10).fit(X, t).predict(X), []
    for tol in (1e-2, 1e-4, 1e-8):
        low, high = SVR(C=3.0, tol=tol).fit(X, t).certified_predictions(X)
        assert ((low <= exact) & (exact <= high)).all()
        widths.append(float((high - low).mean()))
    assert widths[0] > 5 * widths[1] > 25 * widths[2]
    low, high = SVR(kernel=lambda A, B: A @ B.T).fit(X, t).certified_predictions(X[:2])
    assert np.isinf([low, high]).all()


def test_weights_are_copies_and_zero_is_absent():
    X, t = noisy(60)
    weights = np.random.default_rng(1).integers(0, 3, 60).astype(float)
    rows = np.repeat(np.arange(60), weights.astype(int))
    settings = {"gamma": 0.3, "tol": 1e-10}
    one, other = SVR(**settings).fit(X, t, sample_weight=weights), SVR(**settings).fit(X[rows], t[rows])
    np.testing.assert_allclose(one.predict(X), other.predict(X), atol=1e-6)
    with pytest.raises(ValueError, match="at least one non-zero"):
        SVR().fit(X, t, sample_weight=np.zeros(60))
    with pytest.raises(InvalidInputError, match="Negative values in sample_weight"):
        SVR().fit(X, t, sample_weight=np.where(np.arange(60) == 3, -1.0, 1.0))


def test_a_warm_start_may_have_other_targets():
    X, t = noisy(400)
    model = SVR(warm_start=True, C=10.0).fit(X, t)
    model.set_params(epsilon=0.2).fit(X, t + 0.01 * X[:, 2])
    cold = clone(model).fit(X, t + 0.01 * X[:, 2])
    assert model.certificate_.is_certified
    assert model.certificate_.dual <= cold.certificate_.primal
    assert cold.certificate_.dual <= model.certificate_.primal


def test_all_forms_of_input_are_taken():
    X, t = noisy(80)
    reference = SVR(gamma=0.2, tol=1e-8).fit(X, t).predict(X)
    for form in (X.astype(np.float32), sp.csr_array(X), sp.csc_matrix(X), X.tolist()):
        np.testing.assert_allclose(SVR(gamma=0.2, tol=1e-8).fit(form, t.tolist()).predict(form), reference, atol=1e-3)
    K = np.exp(-0.2 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    np.testing.assert_allclose(SVR(kernel="precomputed", tol=1e-8).fit(K, t).predict(K), reference, atol=1e-4)
    assert isinstance(SVR(kernel="linear").fit(sp.csr_matrix(X), t).coef_, sp.csr_matrix)


def test_it_works_in_pipelines_and_searches():
    X, t = noisy(100)
    search = GridSearchCV(make_pipeline(StandardScaler(), SVR()), {"svr__C": [0.1, 10.0], "svr__epsilon": [0.0, 0.1]}, cv=3)
    search.fit(1e3 * X, t)
    assert search.best_score_ > 0.5
    assert certify(search, 1e3 * X, t).is_certified
    assert cross_val_score(SVR(C=Regularization.mean(100.0)), X, t).mean() > 0.5


def test_547_unscaled_rows_of_22_features_end_within_their_budget_with_an_honest_status():
    """scikit-learn's issue 11079: SVR on such data ran for hours; with an RBF kernel nothing is similar, with others all is."""
    rng = np.random.default_rng(0)
    X = rng.lognormal(0.0, 3.0, (547, 22)) * 10.0 ** rng.integers(-2, 5, 22)
    t = X @ rng.standard_normal(22) / 1e4 + rng.standard_normal(547)
    for kernel in ("rbf", "linear", "poly"):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = SVR(kernel=kernel, C=100.0, max_seconds=2.0).fit(X, t)
        assert model.trace_[-1].seconds < 10.0
        is_warned = any(issubclass(warning.category, ConvergenceWarning) for warning in caught)
        assert is_warned == (not model.certificate_.is_certified)
        assert model.certificate_.relative_gap <= 1.0 + 1e-9
        assert np.isfinite(model.predict(X)).all()


def test_the_certificate_is_that_of_the_stored_numbers():
    X, t = noisy(300)
    for settings in ({}, {"solver": "interior_point"}, {"epsilon": 0.0}, {"kernel": "linear"}, {"fit_intercept": False}):
        model = SVR(**settings).fit(X, t)
        assert certify(model, X, t) == model.certificate_
    told = certify(model, X, t + 1.0).data
    assert told.startswith("These are the training rows, but labels differ")


def test_other_training_data_are_noticed():
    X, t = noisy(50)
    model = SVR().fit(X, t)
    with pytest.raises(InvalidInputError, match=r"of shape \(50, 4\); got \(49, 4\)"):
        certify(model, X[1:], t[1:])
