"""NuSVC and NuSVR: ν in the place of C or ε."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import svm
from sklearn.datasets import load_iris
from sklearn.utils.estimator_checks import check_estimator

from maxmargin import SVC, SVR, HardMarginSVC, InvalidInputError, NuSVC, NuSVR, Regularization, certify
from maxmargin.kernels import RBF
from tests.strategies import examples, generators


def labelled(n=150, seed=0, noise=0.5):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    return X, np.where(X[:, 0] + X[:, 1] ** 2 + noise * rng.standard_normal(n) > 0.7, "yes", "no")


def numbers(n=150, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    return X, np.sin(2.0 * X[:, 0]) + 0.2 * rng.standard_normal(n)


def refusals(results):
    """The checks that failed, each with our refusal that made it fail; None where something else did."""
    found = {}
    for result in results:
        error = result["exception"] if result["status"] == "failed" else None
        while error is not None and not isinstance(error, InvalidInputError):
            error = error.__cause__ or error.__context__
        if result["status"] == "failed":
            found[result["check_name"]] = None if error is None else str(error)
    return found


def test_scikit_learns_checks_of_regression_pass_without_an_expected_failure():
    results = check_estimator(NuSVR(), on_fail=None, on_skip=None)
    assert refusals(results) == {}
    assert sum(result["status"] == "passed" for result in results) > 40


def test_scikit_learns_checks_of_classification_fail_by_impossible_shares_only():
    usual = refusals(check_estimator(NuSVC(), on_fail=None, on_skip=None))
    smaller = refusals(check_estimator(NuSVC(nu=0.3), on_fail=None, on_skip=None))
    weights = {f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")}
    assert set(usual) == weights | {"check_class_weight_classifiers"}
    assert all("is infeasible" in words for words in usual.values())
    assert set(smaller) <= {"check_estimator_sparse_tag", "check_class_weight_classifiers"}
    assert all("is infeasible" in words or "leaves no margin" in words for words in smaller.values())


@pytest.mark.parametrize("nu", [0.1, 0.3, 0.5])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_classification_is_that_of_scikit_learn(nu, kernel):
    X, y = labelled(noise=0.0 if kernel == "rbf" else 0.5)
    if kernel == "linear":
        X = X + 4.0 * (y == "yes")[:, None]
    ours, theirs = (kind(nu=nu, kernel=kernel, gamma=0.5, tol=1e-9).fit(X, y) for kind in (NuSVC, svm.NuSVC))
    np.testing.assert_allclose(
        ours.decision_function(X), theirs.decision_function(X), atol=1e-3 * abs(theirs.intercept_[0]) + 1e-2
    )
    for name in ("dual_coef_", "support_", "support_vectors_", "intercept_", "n_support_", "classes_", "class_weight_"):
        own, other = getattr(ours, name), getattr(theirs, name)
        assert (own.dtype, own.ndim) == (other.dtype, other.ndim), name


@pytest.mark.parametrize("nu", [0.1, 0.5, 1.0])
def test_regression_is_that_of_scikit_learn(nu):
    X, t = numbers()
    ours, theirs = (kind(nu=nu, C=3.0, gamma=0.5, tol=1e-9).fit(X, t) for kind in (NuSVR, svm.NuSVR))
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-4)
    for name in ("dual_coef_", "support_", "support_vectors_", "intercept_", "n_support_"):
        own, other = getattr(ours, name), getattr(theirs, name)
        assert (own.dtype, own.ndim) == (other.dtype, other.ndim), name


def test_divided_by_rho_the_solution_is_that_of_svc():
    X, y = labelled()
    model = NuSVC(nu=0.4, gamma=0.5, tol=1e-10).fit(X, y)
    other = SVC(C=1.0 / model.rho_, gamma=0.5, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), other.decision_function(X), atol=1e-4)


def test_nu_to_zero_is_the_hard_margin():
    """scikit-learn's issue 17135. Where ½νn ≤ 1 no α can reach its bound, and the margin is hard already."""
    X, y = labelled(60, noise=0.0)
    hard = HardMarginSVC(kernel="rbf", gamma=2.0, tol=1e-9).fit(X, y)
    model = NuSVC(nu=0.02, gamma=2.0, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), hard.decision_function(X), atol=1e-4)


def test_epsilon_is_found_and_gives_the_same_model():
    X, t = numbers()
    model = NuSVR(nu=0.3, C=3.0, gamma=0.5, tol=1e-10).fit(X, t)
    other = SVR(epsilon=model.epsilon_, C=3.0, gamma=0.5, tol=1e-10).fit(X, t)
    np.testing.assert_allclose(model.predict(X), other.predict(X), atol=1e-4)


@examples(30)
@given(generators(), st.sampled_from([0.1, 0.3, 0.6]))
def test_nu_bounds_what_is_outside_and_the_support_vectors(rng, nu):
    X = rng.standard_normal((40, 2))
    t, y = rng.standard_normal(40), np.arange(40) % 2
    model = NuSVR(nu=nu, gamma=0.5, C=5.0, tol=1e-9).fit(X, t)
    assert np.mean(np.abs(t - model.predict(X)) > model.epsilon_ + 1e-6) <= nu + 1e-9
    assert len(model.support_) >= nu * 40 - 1e-6
    classifier = NuSVC(nu=nu, gamma=5.0, tol=1e-9).fit(X, y)
    inside = (2 * y - 1) * classifier.decision_function(X) < 1.0 - 1e-5
    assert np.mean(inside) <= nu + 1e-9
    assert len(classifier.support_) >= nu * 40 - 1e-6


def test_an_infeasible_nu_is_refused_before_any_kernel_value_is_computed():
    """scikit-learn's issue 33478."""
    X, y = labelled(100)
    y[:] = "no"
    y[:10] = "yes"
    with (
        mock.patch.object(RBF, "join", side_effect=AssertionError),
        mock.patch.object(RBF, "block", side_effect=AssertionError),
        pytest.raises(
            InvalidInputError, match=r"class 'yes' has too little weight beside 'no'. The largest possible nu is 0\.2;"
        ),
    ):
        NuSVC(nu=0.21).fit(X, y)
    assert NuSVC(nu=0.2).fit(X, y).certificate_.is_certified
    assert NuSVC(nu=1.0, class_weight="balanced").fit(X, y).certificate_.is_certified


def test_class_weights_count():
    """scikit-learn's issue 30332."""
    X, y = labelled()
    plain, weighed = (NuSVC(nu=0.3, gamma=0.5, class_weight=w).fit(X, y) for w in (None, {"yes": 2.0}))
    as_weights = NuSVC(nu=0.3, gamma=0.5).fit(X, y, sample_weight=np.where(y == "yes", 2.0, 1.0))
    np.testing.assert_allclose(weighed.decision_function(X), as_weights.decision_function(X), atol=1e-6)
    assert np.abs(weighed.decision_function(X) - plain.decision_function(X)).max() > 0.05


def test_a_nu_that_leaves_no_margin_is_told():
    X = np.repeat(np.arange(4.0), 10)[:, None]
    y = np.tile([0, 1], 20)
    with pytest.raises(InvalidInputError, match="leaves no margin between 1 and 0: ρ = 0"):
        NuSVC(nu=0.5).fit(X, y)


def test_the_certificate_is_that_of_the_stored_numbers():
    X, y = load_iris(return_X_y=True)
    for settings in ({}, {"kernel": "linear"}, {"nu": 0.9}, {"solver": "interior_point"}):
        model = NuSVC(**settings).fit(X, y)
        assert model.certificate_.is_certified
        assert certify(model, X, y) == model.certificate_
    X, t = numbers()
    for settings in ({}, {"kernel": "linear"}, {"nu": 1.0}, {"solver": "interior_point"}):
        model = NuSVR(**settings).fit(X, t)
        assert model.certificate_.is_certified
        assert certify(model, X, t) == model.certificate_


def test_weights_of_regression_are_copies():
    X, t = numbers(60)
    weights = np.random.default_rng(1).integers(0, 3, 60).astype(float)
    rows = np.repeat(np.arange(60), weights.astype(int))
    settings = {"gamma": 0.3, "tol": 1e-10, "C": Regularization.sum(2.0)}
    one, other = NuSVR(**settings).fit(X, t, sample_weight=weights), NuSVR(**settings).fit(X[rows], t[rows])
    np.testing.assert_allclose(one.predict(X), other.predict(X), atol=1e-5)


@pytest.mark.parametrize("model", [NuSVC(probability=True), NuSVC(nu=0.0), NuSVR(nu=1.5)], ids=str)
def test_wrong_parameters_are_refused(model):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=r"probability=True|nu must be a share"):
        model.fit(X, y)
