"""LinearSVC: against scikit-learn, against theory, and within scikit-learn."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.svm
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from maxmargin import ConvergenceWarning, InvalidInputError, LinearSVC, Regularization, Status, certify
from tests.strategies import examples

CANCER = load_breast_cancer()
X, Y = StandardScaler().fit_transform(CANCER.data), CANCER.target
SOLVERS = ("auto", "dual_cd", "proximal_newton", "interior_point")


def blobs(seed, n=60, d=3, shift=0.7):
    rng = np.random.default_rng(seed)
    y = rng.choice([-1, 1], size=n)
    y[:2] = -1, 1
    return rng.standard_normal((n, d)) + shift * y[:, None], y


def test_scikit_learns_checks_pass_without_an_expected_failure():
    check_estimator(LinearSVC(), on_skip=None)


@pytest.mark.parametrize("parameters", [{"loss": "squared_hinge"}, {"intercept_scaling": 1.0}, {"solver": "dual_cd"}])
def test_the_checks_pass_with_other_parameters_too(parameters):
    check_estimator(LinearSVC(**parameters), on_skip=None)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_a_free_bias_gives_the_hyperplane_of_svc_with_a_linear_kernel(solver, C):
    model = LinearSVC(C=C, tol=1e-9, solver=solver).fit(X, Y)
    peer = sklearn.svm.SVC(kernel="linear", C=C, tol=1e-8).fit(X, Y)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-4 * np.abs(peer.coef_).max())
    np.testing.assert_allclose(model.intercept_, peer.intercept_, atol=1e-3)
    assert model.certificate_.relative_gap <= 1e-9


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("bias", [{"fit_intercept": False}, {"intercept_scaling": 2.0}])
def test_a_penalised_or_absent_bias_gives_liblinears_optimum(solver, loss, bias):
    x, y = blobs(1)
    model = LinearSVC(loss=loss, C=0.5, tol=1e-9, solver=solver, **bias).fit(x, y)
    peer = sklearn.svm.LinearSVC(loss=loss, C=0.5, tol=1e-10, max_iter=1_000_000, dual=True, random_state=0, **bias).fit(x, y)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-4)
    np.testing.assert_allclose(np.ravel(model.intercept_), np.ravel(peer.intercept_), atol=1e-4)


def test_more_classes_are_taken_one_against_the_rest_each_with_its_certificate():
    data = load_wine()
    x = StandardScaler().fit_transform(data.data)
    model = LinearSVC(C=0.3, tol=1e-8).fit(x, data.target_names[data.target])
    assert model.coef_.shape == (3, 13)
    assert model.intercept_.shape == (3,)
    assert model.dual_coef_.shape == (3, len(model.support_))
    assert len(model.certificate_) == 3
    assert model.certificate_.worst.relative_gap == max(c.relative_gap for c in model.certificate_) <= 1e-8
    for k, name in enumerate(model.classes_):
        alone = LinearSVC(C=0.3, tol=1e-8).fit(x, data.target_names[data.target] == name)
        np.testing.assert_allclose(model.coef_[k], alone.coef_[0], atol=1e-6)
    assert model.score(x, data.target_names[data.target]) > 0.98


@pytest.mark.parametrize("solver", ["dual_cd", "proximal_newton"])
def test_the_bits_do_not_depend_on_the_threads(solver):
    rng = np.random.default_rng(0)
    x = sp.random(4000, 60, density=0.9, format="csr", random_state=0)
    y = np.where(x @ rng.standard_normal(60) + 0.3 * rng.standard_normal(4000) > 0, 1, 0)
    one, two = (LinearSVC(tol=1e-2, solver=solver, n_jobs=jobs).fit(x, y) for jobs in (1, 2))
    np.testing.assert_array_equal(one.coef_, two.coef_)
    np.testing.assert_array_equal(one.dual_coef_, two.dual_coef_)


@examples(25)
@given(st.integers(0, 10_000), st.sampled_from(["hinge", "squared_hinge"]), st.booleans(), st.booleans())
def test_a_weight_of_k_is_k_copies_and_zero_is_absent(seed, loss, fit_intercept, balanced):
    x, y = blobs(seed, n=20)
    weights = np.random.default_rng(seed).integers(0, 3, size=20)
    weights[:2] = 1
    settings = {
        "loss": loss,
        "fit_intercept": fit_intercept,
        "tol": 1e-9,
        "class_weight": "balanced" if balanced else None,
    }
    settings["C"] = Regularization.pegasos(0.1)
    weighted = LinearSVC(**settings).fit(x, y, sample_weight=weights)
    copied = LinearSVC(**settings).fit(np.repeat(x, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted.coef_, copied.coef_, atol=1e-6)
    assert weighted.certificate_.primal == pytest.approx(copied.certificate_.primal, rel=1e-8)


def test_class_weights_are_factors_of_the_cost():
    x, y = blobs(3)
    by_class = LinearSVC(class_weight={-1: 3.0, 1: 0.5}, tol=1e-9).fit(x, y)
    by_sample = LinearSVC(tol=1e-9).fit(x, y, sample_weight=np.where(y < 0, 3.0, 0.5))
    np.testing.assert_allclose(by_class.coef_, by_sample.coef_, atol=1e-7)
    np.testing.assert_allclose(by_class.class_weight_, [3.0, 0.5])


@examples(30)
@given(
    st.integers(0, 10_000),
    st.sampled_from([1e-1, 1e-2, 1e-3]),
    st.sampled_from([{}, {"fit_intercept": False}, {"intercept_scaling": 1.5}]),
)
def test_a_certified_prediction_never_changes_at_the_exact_optimum(seed, tol, bias):
    rng = np.random.default_rng(seed)
    x, y = blobs(seed, n=400, d=4, shift=0.4)
    wide = np.hstack([x, rng.standard_normal((400, 130))])  # too large to be finished to the last digit whatever tol
    rough = LinearSVC(C=0.05, tol=tol, solver="dual_cd", **bias).fit(wide, y)
    exact = LinearSVC(C=0.05, tol=1e-10, solver="proximal_newton", **bias).fit(wide, y)
    probe = rng.standard_normal((200, 134))
    labels, is_certain = rough.certified_predictions(probe)
    np.testing.assert_array_equal(labels, rough.predict(probe))
    np.testing.assert_array_equal(labels[is_certain], exact.predict(probe)[is_certain])
    assert exact.certified_predictions(probe)[1].mean() > 0.99


def test_certified_predictions_of_several_classes_hold():
    data = load_iris()
    model = LinearSVC(tol=1e-9).fit(data.data, data.target)
    labels, is_certain = model.certified_predictions(data.data)
    np.testing.assert_array_equal(labels, model.predict(data.data))
    assert is_certain.mean() > 0.95


def test_a_spent_budget_gives_the_best_model_so_far_and_says_so():
    model = LinearSVC(solver="dual_cd", max_iter=1, tol=1e-9)
    rng = np.random.default_rng(0)
    x = rng.standard_normal((600, 100))
    y = rng.integers(0, 2, 600)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model.fit(x, y)
    assert model.status_ is Status.ITERATION_BUDGET
    assert certify(model, x, y) == model.certificate_
    assert 1e-9 < model.certificate_.relative_gap < 1


def test_a_warm_start_takes_up_where_the_last_fit_ended():
    rng = np.random.default_rng(1)
    x = rng.standard_normal((800, 100))
    y = np.where(x[:, 0] + rng.standard_normal(800) > 0, 1, 0)
    model = LinearSVC(solver="dual_cd", warm_start=True, tol=1e-4).fit(x, y)
    first = model.n_iter_
    assert model.fit(x, y).n_iter_ <= max(first // 3, 1)


def test_float32_and_sparse_data_give_the_same_model():
    single = X.astype(np.float32)
    models = [
        LinearSVC(tol=1e-8).fit(data, Y)
        for data in (single, single.astype(np.float64), sp.csr_array(single), sp.csc_matrix(single))
    ]
    for model in models[1:]:
        np.testing.assert_allclose(model.coef_, models[0].coef_, atol=1e-5)


def test_it_works_in_a_pipeline_on_text_with_a_grid_and_calibration():
    good, bad = (
        ["a fine day", "fine weather and sun", "what a sunny fine day"],
        ["rain again", "cold rain and wind", "a cold wet day"],
    )
    texts, labels = (good + bad) * 6, (["good"] * 3 + ["bad"] * 3) * 6
    pipeline = make_pipeline(TfidfVectorizer(), LinearSVC())
    search = GridSearchCV(pipeline, {"linearsvc__C": [0.1, 1.0, Regularization.mean(10.0)]}, cv=3).fit(texts, labels)
    assert search.score(texts, labels) == 1.0
    calibrated = CalibratedClassifierCV(clone(pipeline), cv=3).fit(texts, labels)
    assert calibrated.predict(["sun and fine weather"])[0] == "good"


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"penalty": "l3"}, "penalty must be one of"),
        ({"loss": "log"}, "loss must be one of"),
        ({"C": -1.0}, "C"),
        ({"C": "1"}, "C"),
        ({"C": np.inf}, "Use HardMarginSVC"),
        ({"C": Regularization.pegasos(0.0)}, "Use HardMarginSVC"),
        ({"intercept_scaling": 0.0}, "scale of a penalized bias"),
        ({"intercept_scaling": 1.0, "fit_intercept": False}, "needs fit_intercept=True"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"tol": np.nan}, "tol is the relative gap"),
        ({"warm_start": "yes"}, "warm_start must be True or False"),
        ({"class_weight": {0: 0.0, 1: 1.0}}, "class_weight must be positive"),
    ],
)
def test_wrong_parameters_are_refused_with_a_sentence(parameters, match):
    with pytest.raises(InvalidInputError, match=match):
        LinearSVC(**parameters).fit(X, Y)


def test_unscaled_data_are_solved_all_the_same():
    model = LinearSVC(C=1.0, tol=1e-6).fit(CANCER.data, CANCER.target)
    assert model.certificate_.relative_gap <= 1e-6
    assert model.score(CANCER.data, CANCER.target) > 0.95


def test_iris_after_centring_does_not_stall():
    data = load_iris()
    x = data.data - data.data.mean(axis=0)
    model = LinearSVC(C=100.0, tol=1e-6, fit_intercept=False).fit(x, data.target)
    assert model.certificate_.worst.relative_gap <= 1e-6
