"""All classes in one problem: LinearSVC(multi_class="crammer_singer")."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import svm
from sklearn.datasets import load_digits, load_iris
from sklearn.utils.estimator_checks import check_estimator

from maxmargin import (
    ConvergenceWarning,
    InvalidInputError,
    LinearSVC,
    NotSupportedError,
    certify,
    leave_one_out,
    load,
    report,
    save,
    xi_alpha,
)
from maxmargin.core.joint import JointProblem

X, Y = load_iris(return_X_y=True)
X = X - X.mean(axis=0)
NAMES = np.array(["setosa", "versicolor", "virginica"])[Y]


def joint(**parameters):
    return LinearSVC(multi_class="crammer_singer", **parameters)


def test_scikit_learns_checks_pass_without_an_expected_failure():
    results = check_estimator(joint(), on_fail=None, on_skip=None)
    assert [result["check_name"] for result in results if result["status"] == "failed"] == []


@pytest.mark.parametrize("bias", [{"fit_intercept": False}, {"intercept_scaling": 1.0}])
@pytest.mark.parametrize("C", [0.1, 1.0])
def test_the_objective_and_the_attributes_are_those_of_scikit_learn(bias, C):
    ours = joint(C=C, tol=1e-9, **bias).fit(X, NAMES)
    theirs = svm.LinearSVC(multi_class="crammer_singer", C=C, tol=1e-9, max_iter=200_000, **bias).fit(X, NAMES)
    problem = ours._problems(X, Y, np.ones(len(Y)))[0]
    assert isinstance(problem, JointProblem)
    b = np.broadcast_to(theirs.intercept_, 3)
    assert ours.certificate_.dual <= problem.primal(theirs.coef_, b)
    assert problem.primal(theirs.coef_, b) == pytest.approx(ours.certificate_.primal, rel=1e-6)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)
    assert (ours.coef_.shape, np.shape(ours.classes_)) == (theirs.coef_.shape, np.shape(theirs.classes_))
    assert (ours.predict(X) == theirs.predict(X)).all()


@pytest.mark.parametrize("bias", [{}, {"fit_intercept": False}, {"intercept_scaling": 1.0}])
def test_two_classes_are_one_binary_problem_in_scikit_learns_shape(bias):
    two = Y < 2
    ours = joint(tol=1e-9, **bias).fit(X[two], Y[two])
    double = LinearSVC(C=2.0, tol=1e-9, **bias).fit(X[two], Y[two])
    np.testing.assert_allclose(ours.coef_, double.coef_, atol=1e-4)
    assert ours.coef_.shape == (1, 4)
    assert certify(ours, X[two], Y[two]).is_certified
    if bias:
        theirs = svm.LinearSVC(multi_class="crammer_singer", tol=1e-9, max_iter=200_000, **bias).fit(X[two], Y[two])
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)


def test_a_fit_has_one_certificate_of_its_stored_numbers():
    for bias in ({}, {"fit_intercept": False}, {"intercept_scaling": 0.5}):
        model = joint(**bias).fit(X, NAMES)
        assert model.certificate_.is_certified
        assert certify(model, X, NAMES) == model.certificate_
        assert model.dual_coef_.shape == (3, len(model.support_))
        np.testing.assert_allclose(model.dual_coef_.sum(axis=0), 0.0, atol=1e-12)
        np.testing.assert_allclose(model.dual_coef_ @ X[model.support_], model.coef_, atol=1e-2)


def test_certain_labels_are_those_of_the_optimum_and_a_smaller_tol_makes_more():
    shares = []
    exact = joint(fit_intercept=False, tol=1e-10).fit(X, Y).predict(X)
    for tol in (1e-2, 1e-4, 1e-8):
        labels, is_certain = joint(fit_intercept=False, tol=tol).fit(X, Y).certified_predictions(X)
        assert (labels == exact)[is_certain].all()
        shares.append(is_certain.mean())
    assert shares[0] <= shares[1] <= shares[2]
    assert shares[2] > 0.9
    assert not joint().fit(X, Y).certified_predictions(X)[1].any()  # free biases: none is claimed


def test_class_weights_are_factors_of_the_costs():
    weighted = joint(class_weight={0: 2.0, 1: 1.0, 2: 0.5}, tol=1e-9, fit_intercept=False).fit(X, Y)
    other = joint(tol=1e-9, fit_intercept=False).fit(X, Y, sample_weight=np.array([2.0, 1.0, 0.5])[Y])
    np.testing.assert_allclose(weighted.coef_, other.coef_, atol=1e-4)
    assert joint(class_weight="balanced").fit(X, Y).certificate_.is_certified


def test_all_forms_of_input_are_taken():
    reference = joint(tol=1e-9).fit(X, Y).coef_
    for form in (sp.csr_array(X), sp.csc_matrix(X), X.tolist(), X.astype(np.float32)):
        np.testing.assert_allclose(joint(tol=1e-9).fit(form, Y).coef_, reference, atol=1e-3)


def test_a_model_file_keeps_it(tmp_path):
    model = joint().fit(X, NAMES)
    save(model, tmp_path / "model")
    loaded = load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    assert certify(loaded, X, NAMES) == model.certificate_


def test_a_warm_start_goes_on_and_budgets_end_with_the_best_so_far():
    digits, t = load_digits(return_X_y=True)
    digits = digits / 16.0
    model = joint(warm_start=True).fit(digits, t)
    assert model.fit(digits, t).n_iter_ <= 2
    for budget in ({"max_iter": 3}, {"max_seconds": 1e-6}):
        with pytest.warns(ConvergenceWarning, match="gap"):
            short = joint(**budget).fit(digits, t)
        assert 1e-3 < short.certificate_.relative_gap <= 1.0 + 1e-9
        assert short.coef_.shape == (10, 64)


@pytest.mark.parametrize(
    ("parameters", "kind", "words"),
    [
        ({"loss": "squared_hinge"}, NotSupportedError, "loss must be 'hinge'"),
        ({"penalty": "l1"}, NotSupportedError, "penalty must be 'l2'"),
        ({"loss": "ramp"}, NotSupportedError, "loss must be 'hinge'"),
        ({"solver": "dual_cd"}, InvalidInputError, "a solver of their own"),
        ({"C": np.inf}, InvalidInputError, "hard margin"),
    ],
)
def test_what_it_is_not_is_refused_in_words(parameters, kind, words):
    with pytest.raises(kind, match=words):
        joint(**parameters).fit(X, Y)


def test_what_needs_binary_problems_refuses_it_in_words(tmp_path):
    model = joint().fit(X, Y)
    for ask in (leave_one_out, xi_alpha, lambda *those: report(*those, path=tmp_path / "page.html")):
        with pytest.raises(NotSupportedError, match=r"needs binary problems.*Use multi_class='ovr'"):
            ask(model, X, Y)
    two = Y < 2
    assert leave_one_out(joint().fit(X[two], Y[two]), X[two], Y[two]).error == 0.0
