"""LinearSVR: scikit-learn's, with a proof."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn import svm
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from maxmargin import SVR, ConvergenceWarning, InvalidInputError, LinearSVR, Regularization, certify
from tests.estimators.family.test_svr import noisy
from tests.strategies import examples, generators

LOSSES = ("epsilon_insensitive", "squared_epsilon_insensitive")


def objective(model, X, t, scaling=0.0):
    """P of a model of either library."""
    b = float(np.ravel(model.intercept_)[0])
    excess = np.maximum(np.abs(t - X @ np.ravel(model.coef_) - b) - model.epsilon, 0.0)
    losses = excess if model.loss == "epsilon_insensitive" else excess**2
    return 0.5 * float(np.ravel(model.coef_) @ np.ravel(model.coef_) + (scaling and (b / scaling) ** 2)) + model.C * losses.sum()


@pytest.mark.parametrize("model", [LinearSVR(), LinearSVR(loss="squared_epsilon_insensitive"), LinearSVR(intercept_scaling=1.0)])
def test_scikit_learns_checks_pass_without_an_expected_failure(model):
    results = check_estimator(model, on_fail=None, on_skip=None)
    assert [result["check_name"] for result in results if result["status"] == "failed"] == []
    assert sum(result["status"] == "passed" for result in results) > 40


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("epsilon", [0.0, 0.2])
@pytest.mark.parametrize("bias", [{"fit_intercept": False}, {"intercept_scaling": 2.0}])
def test_the_objective_is_that_of_scikit_learn(loss, epsilon, bias):
    X, t = noisy()
    ours = LinearSVR(loss=loss, epsilon=epsilon, C=2.0, tol=1e-9, **bias).fit(X, t)
    theirs = svm.LinearSVR(loss=loss, epsilon=epsilon, C=2.0, tol=1e-9, max_iter=200_000, **bias).fit(X, t)
    scaling = bias.get("intercept_scaling", 0.0)
    best, other = objective(ours, X, t, scaling), objective(theirs, X, t, scaling)
    assert best <= ours.certificate_.primal
    assert other >= ours.certificate_.dual
    assert best == pytest.approx(other, rel=1e-4)
    assert (ours.coef_.shape, ours.intercept_.shape) == (theirs.coef_.shape, np.atleast_1d(theirs.intercept_).shape)


def test_least_absolute_deviations_approach_the_linear_program():
    """With a huge C only Σ|t − F| counts, whose optimum HiGHS knows."""
    X, t = noisy(60)
    n, d = X.shape
    from scipy.optimize import linprog

    A = np.hstack([X, np.ones((n, 1))])
    rows = np.vstack([np.hstack([A, -np.eye(n)]), np.hstack([-A, -np.eye(n)])])
    free = [(None, None)] * (d + 1) + [(0, None)] * n
    best = linprog(np.r_[np.zeros(d + 1), np.ones(n)], rows, np.r_[t, -t], bounds=free, method="highs").fun
    model = LinearSVR(C=1e5, tol=1e-7).fit(X, t)
    assert np.abs(t - model.predict(X)).sum() == pytest.approx(best, rel=1e-3)


def test_it_is_the_machine_with_the_linear_kernel():
    X, t = noisy()
    for loss in LOSSES:
        linear = LinearSVR(loss=loss, epsilon=0.1, tol=1e-10).fit(X, t)
        kernel = SVR(kernel="linear", loss=loss, epsilon=0.1, tol=1e-10).fit(X, t)
        np.testing.assert_allclose(linear.predict(X), kernel.predict(X), atol=1e-5)
        np.testing.assert_allclose(linear.dual_coef_ @ X[linear.support_], [linear.coef_], atol=1e-6)


@examples(25)
@given(
    generators(),
    st.sampled_from([1e-8, 1e-3, 1.0, 1e8]),
    st.sampled_from([0.0, 1.0, 1e3]),
    st.sampled_from([0.0, 0.1]),
    st.sampled_from(LOSSES),
)
def test_targets_of_any_size_and_offset_end_well(rng, scale, offset, epsilon, loss):
    X = rng.standard_normal((30, 3))
    t = scale * (X[:, 0] + 0.2 * rng.standard_normal(30) + offset)
    C = scale if loss == "epsilon_insensitive" else 1.0
    model = LinearSVR(C=C, epsilon=epsilon * scale, loss=loss).fit(X, t)
    assert model.certificate_.is_certified
    assert model.certificate_ == certify(model, X, t)
    low, high = model.certified_predictions(X)
    exact = LinearSVR(C=C, epsilon=epsilon * scale, loss=loss, tol=1e-9).fit(X, t).predict(X)
    assert (low <= exact + 1e-5 * scale * (1 + offset)).all()
    assert (exact - 1e-5 * scale * (1 + offset) <= high).all()


@pytest.mark.parametrize("value", [0.0, 3.0, -1e8, 1e-8])
@pytest.mark.parametrize("epsilon", [0.0, 0.1])
@pytest.mark.parametrize("loss", LOSSES)
def test_constant_targets_are_predicted(value, epsilon, loss):
    X, _ = noisy(50)
    model = LinearSVR(epsilon=epsilon, loss=loss).fit(X, np.full(50, value))
    assert model.certificate_.is_certified
    assert np.abs(model.predict(X) - value).max() <= epsilon + 1e-8 * abs(value)


def test_a_tube_that_holds_all_targets_needs_no_weights():
    X, t = noisy()
    model = LinearSVR(epsilon=100.0).fit(X, t)
    assert not model.coef_.any()
    assert (len(model.support_), model.certificate_.primal) == (0, 0.0)
    assert model.certificate_.is_certified


def test_all_forms_of_input_are_taken():
    X, t = noisy(80)
    reference = LinearSVR(tol=1e-8).fit(X, t).predict(X)
    for form in (X.astype(np.float32), sp.csr_array(X), sp.csc_matrix(X), X.tolist()):
        np.testing.assert_allclose(LinearSVR(tol=1e-8).fit(form, t.tolist()).predict(form), reference, atol=1e-4)
    sparse = LinearSVR().fit(X, t)
    before = sparse.predict(X)
    np.testing.assert_array_equal(sparse.sparsify().predict(X), before)
    assert certify(sparse, X, t).is_certified


def test_weights_are_copies_and_zero_is_absent():
    X, t = noisy(60)
    weights = np.random.default_rng(1).integers(0, 3, 60).astype(float)
    rows = np.repeat(np.arange(60), weights.astype(int))
    for loss in LOSSES:
        one = LinearSVR(loss=loss, tol=1e-10).fit(X, t, sample_weight=weights)
        other = LinearSVR(loss=loss, tol=1e-10).fit(X[rows], t[rows])
        np.testing.assert_allclose(one.predict(X), other.predict(X), atol=1e-5)


def test_a_warm_start_may_have_other_targets():
    X, t = noisy(400)
    model = LinearSVR(warm_start=True, C=10.0).fit(X, t)
    model.set_params(epsilon=0.2).fit(X, t + 0.01 * X[:, 2])
    cold = clone(model).fit(X, t + 0.01 * X[:, 2])
    assert model.certificate_.is_certified
    assert model.certificate_.dual <= cold.certificate_.primal


@pytest.mark.parametrize("solver", ["dual_cd", "proximal_newton", "interior_point", "smo"])
def test_every_solver_proves_the_same_optimum(solver):
    X, t = noisy(120)
    reference = LinearSVR(epsilon=0.1, tol=1e-8).fit(X, t).certificate_
    found = LinearSVR(epsilon=0.1, tol=1e-6, solver=solver).fit(X, t).certificate_
    assert found.is_certified
    assert found.dual <= reference.primal
    assert reference.dual <= found.primal


def test_budgets_end_a_fit_with_an_honest_status():
    X, t = noisy(3000, 30)
    with pytest.warns(ConvergenceWarning, match="gap"):
        model = LinearSVR(max_iter=1, tol=1e-9).fit(X, t)
    assert not model.certificate_.is_certified
    assert np.isfinite(model.predict(X)).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LinearSVR(max_seconds=20.0).fit(X, t)


def test_it_works_in_pipelines_and_searches():
    X, t = noisy(100)
    search = GridSearchCV(make_pipeline(StandardScaler(), LinearSVR()), {"linearsvr__C": [0.1, 10.0]}, cv=3).fit(1e3 * X, t)
    assert search.best_score_ > 0.3
    assert certify(search, 1e3 * X, t).is_certified
    assert LinearSVR(C=Regularization.mean(100.0)).fit(X, t).score(X, t) > 0.3


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"epsilon": -0.1}, "epsilon must be a finite number ≥ 0"),
        ({"loss": "hinge"}, "loss must be one of"),
        ({"C": np.inf}, "hard margin"),
        ({"C": -1.0}, "C"),
        ({"dual": "no"}, "dual"),
        ({"intercept_scaling": -1.0}, "positive"),
        ({"fit_intercept": False, "intercept_scaling": 1.0}, "no intercept"),
    ],
)
def test_wrong_parameters_are_refused_in_words(parameters, words):
    X, t = noisy(20)
    with pytest.raises(InvalidInputError, match=words):
        LinearSVR(**parameters).fit(X, t)
