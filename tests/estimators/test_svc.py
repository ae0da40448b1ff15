"""SVC: against scikit-learn's, against theory, and within scikit-learn."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.svm
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from maxmargin import SVC, HardMarginSVC, LinearSVC, NotSeparableError, Regularization, certify
from maxmargin.core import Problem
from maxmargin.kernels import RBF
from maxmargin.solvers import SOLVERS
from tests.strategies import examples

CANCER, WINE = load_breast_cancer(), load_wine()
X, Y = StandardScaler().fit_transform(CANCER.data)[:150, :8], CANCER.target[:150]
WX, WY = StandardScaler().fit_transform(WINE.data)[::2], WINE.target_names[WINE.target][::2]
TIGHT = {"tol": 1e-9}
KERNELS = {
    "rbf": {"kernel": "rbf"},
    "rbf, gamma=auto": {"kernel": "rbf", "gamma": "auto"},
    "rbf, gamma=0.3": {"kernel": "rbf", "gamma": 0.3},
    "linear": {"kernel": "linear"},
    "poly": {"kernel": "poly", "coef0": 1.0},
    "poly, degree 2": {"kernel": "poly", "degree": 2, "gamma": 0.2, "coef0": 0.5},
    "callable": {"kernel": laplacian_kernel},
}


def peer_of(parameters, x, y, **more):
    return sklearn.svm.SVC(**parameters, **more, tol=1e-8, cache_size=50).fit(x, y)


def agree(model, peer, x, atol=2e-4):
    """Shapes, dtypes and signs of the attributes, and decision values."""
    assert model.n_features_in_ == x.shape[1]
    for name in ("classes_", "class_weight_", "intercept_", "n_support_", "shape_fit_", "fit_status_"):
        ours, theirs = np.asarray(getattr(model, name)), np.asarray(getattr(peer, name))
        assert ours.shape == theirs.shape, name
        assert ours.dtype.kind == theirs.dtype.kind, name
    for name in ("support_", "n_iter_", "n_support_"):
        assert np.asarray(getattr(model, name)).dtype == np.asarray(getattr(peer, name)).dtype, name
    assert model.n_iter_.shape == peer.n_iter_.shape
    assert model.dual_coef_.shape[0] == peer.dual_coef_.shape[0]
    assert model.dual_coef_.shape[1] == len(model.support_) == model.n_support_.sum()
    np.testing.assert_allclose(model.intercept_, peer.intercept_, atol=20 * atol)
    np.testing.assert_allclose(model.decision_function(x), peer.decision_function(x), atol=atol)
    assert (model.predict(x) == peer.predict(x)).all()


def dense_duals(model, n):
    out = np.zeros((model.dual_coef_.shape[0], n))
    dual = model.dual_coef_
    out[:, model.support_] = dual.toarray() if sp.issparse(dual) else dual
    return out


# ------------------------------------------------------------------------------------------------- within scikit-learn


def test_scikit_learns_checks_pass_without_an_expected_failure():
    check_estimator(SVC(), on_skip=None)


@pytest.mark.slow
@pytest.mark.parametrize("parameters", [{"kernel": "linear"}, {"kernel": "poly"}, {"loss": "squared_hinge"}])
def test_the_checks_pass_with_other_parameters_too(parameters):
    check_estimator(SVC(**parameters), on_skip=None)


def test_it_works_in_pipelines_searches_calibration_and_pickles():
    search = GridSearchCV(make_pipeline(StandardScaler(), SVC()), {"svc__C": [0.1, 10.0]}, cv=2).fit(X, Y)
    assert search.best_score_ > 0.9
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(again.decision_function(X), search.best_estimator_.decision_function(X))
    assert CalibratedClassifierCV(SVC(), cv=2, ensemble=False).fit(X, Y).predict_proba(X).shape == (150, 2)
    twin = clone(SVC(C=3.0, kernel=RBF(0.5)))
    assert twin.get_params()["kernel"] == RBF(0.5)


def test_pickles_leave_the_prepared_support_vectors_out():
    model = SVC().fit(X, Y)
    before = len(pickle.dumps(model))
    model.predict(X)
    assert len(pickle.dumps(model)) == before


def test_parameters_that_we_do_not_have_are_type_errors():
    with pytest.raises(TypeError, match="nu"):
        SVC(nu=0.5)


# ------------------------------------------------------------------------------------------------ against scikit-learn


@pytest.mark.parametrize("parameters", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("C", [0.3, 5.0])
def test_two_classes_have_scikit_learns_model(parameters, C):
    model, peer = SVC(C, **parameters, **TIGHT).fit(X, Y), peer_of(parameters, X, Y, C=C)
    agree(model, peer, X)
    np.testing.assert_allclose(dense_duals(model, 150), dense_duals(peer, 150), atol=1e-2 * C)
    np.testing.assert_allclose(model.support_vectors_, X[model.support_])
    assert model.certificate_.relative_gap <= 1e-9
    assert certify(model, X, Y).relative_gap <= 1e-9


@pytest.mark.parametrize("shape", ["ovr", "ovo"])
@pytest.mark.parametrize(
    "parameters", [KERNELS["rbf"], KERNELS["linear"], KERNELS["callable"]], ids=["rbf", "linear", "callable"]
)
def test_three_classes_have_scikit_learns_model(parameters, shape):
    more = {"decision_function_shape": shape}
    model, peer = SVC(**parameters, **more, **TIGHT).fit(WX, WY), peer_of(parameters, WX, WY, **more)
    agree(model, peer, WX)
    np.testing.assert_allclose(dense_duals(model, len(WY)), dense_duals(peer, len(WY)), atol=1e-2)
    assert model.certificate_.worst.relative_gap <= 1e-9
    assert len(model.certificate_) == len(model.solver_) == 3


def test_ties_are_broken_as_in_scikit_learn():
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((60, 2)), rng.integers(0, 4, 60)
    new = 3 * rng.standard_normal((400, 2))
    settings = {"C": 0.3, "gamma": 0.4}
    for break_ties in (False, True):
        model = SVC(**settings, break_ties=break_ties, **TIGHT).fit(x, y)
        peer = peer_of(settings, x, y, break_ties=break_ties)
        clear = np.abs(peer_of(settings, x, y, decision_function_shape="ovo").decision_function(new)).min(axis=1) > 1e-5
        assert (model.predict(new) == peer.predict(new))[clear].all()


needs_smo = pytest.mark.skipif("smo" not in SOLVERS, reason="no other solver takes kernels that are not convex")


@needs_smo
def test_a_kernel_that_is_not_positive_semidefinite_is_solved_and_said_to_be_so():
    model = SVC(kernel="sigmoid", gamma=0.5, coef0=1.0, max_seconds=5).fit(X, Y)
    assert not model.certificate_.convex
    assert "not positive semi-definite" in str(model.certificate_)
    assert model.predict(X).shape == Y.shape


@needs_smo
def test_a_gentle_sigmoid_agrees_with_scikit_learn():
    parameters = {"kernel": "sigmoid", "gamma": 0.01}
    agree(SVC(**parameters, **TIGHT).fit(X, Y), peer_of(parameters, X, Y), X, atol=1e-3)


def test_a_precomputed_matrix_gives_the_model_of_its_kernel():
    K, new = rbf_kernel(X, gamma=0.1), rbf_kernel(X[:7] + 0.1, X, gamma=0.1)
    model, twin = SVC(kernel="precomputed", **TIGHT).fit(K, Y), SVC(gamma=0.1, **TIGHT).fit(X, Y)
    peer = peer_of({"kernel": "precomputed"}, K, Y)
    agree(model, peer, K)
    assert model.support_vectors_.shape == peer.support_vectors_.shape == (0, 0)
    np.testing.assert_allclose(model.decision_function(new), twin.decision_function(X[:7] + 0.1), atol=1e-6)


def test_a_callables_predictions_need_the_support_vectors_only():
    asked = []

    def kernel(U, V):
        asked.append((len(U), len(V)))
        return rbf_kernel(U, V, gamma=0.1)

    model = SVC(kernel=kernel).fit(X, Y)
    asked.clear()
    model.predict(X[:5])
    assert asked == [(5, len(model.support_))]


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_sparse_rows_give_the_model_of_dense_ones(kernel, index):
    x = np.where(np.abs(X) > 0.7, X, 0.0)
    rows = sp.csr_array(x)
    rows.indices, rows.indptr = rows.indices.astype(index), rows.indptr.astype(index)
    dense, sparse = (SVC(kernel=kernel, coef0=1.0, gamma=0.2, **TIGHT).fit(data, Y) for data in (x, rows))
    np.testing.assert_allclose(dense.decision_function(x), sparse.decision_function(rows), atol=1e-5)
    np.testing.assert_allclose(sparse.decision_function(x), sparse.decision_function(rows), atol=1e-10)
    assert sp.issparse(sparse.support_vectors_)
    assert (dense.predict(x) == sparse.predict(rows)).all()


@pytest.mark.parametrize("weights", ["samples", "classes", "both", "balanced"])
def test_weights_agree_with_scikit_learn(weights):
    of_samples = np.random.default_rng(0).uniform(0.5, 2.0, 150) if weights in ("samples", "both") else None
    of_classes = {0: 2.0, 1: 0.7} if weights in ("classes", "both") else "balanced" if weights == "balanced" else None
    model = SVC(gamma=0.1, class_weight=of_classes, **TIGHT).fit(X, Y, sample_weight=of_samples)
    peer = sklearn.svm.SVC(gamma=0.1, class_weight=of_classes, tol=1e-8).fit(X, Y, sample_weight=of_samples)
    agree(model, peer, X)
    np.testing.assert_allclose(model.class_weight_, peer.class_weight_)


# ------------------------------------------------------------------------------------------------------ against theory


@examples(15)
@given(st.integers(0, 10_000), st.sampled_from(["hinge", "squared_hinge"]), st.sampled_from([2, 3]), st.booleans())
def test_a_weight_of_k_is_k_copies_and_zero_is_absent(seed, loss, n_classes, balanced):
    rng = np.random.default_rng(seed)
    x, y = rng.standard_normal((18, 2)), np.arange(18) % n_classes
    weights = rng.integers(0, 3, size=18)
    weights[:n_classes] = 1
    settings = {"C": Regularization.mean(5.0), "loss": loss, "class_weight": "balanced" if balanced else None, **TIGHT}
    settings["decision_function_shape"] = "ovo"
    weighted = SVC(**settings).fit(x, y, sample_weight=weights)
    copied = SVC(**settings).fit(np.repeat(x, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted.decision_function(x), copied.decision_function(x), atol=1e-4)
    assert weighted.kernel_.gamma == pytest.approx(copied.kernel_.gamma)


def test_an_infinite_cost_is_the_hard_margin():
    soft, hard = (model.fit(X[:, :5], Y) for model in (SVC(np.inf, gamma=1.0, tol=1e-6), HardMarginSVC(kernel="rbf", gamma=1.0)))
    np.testing.assert_array_equal(soft.dual_coef_, hard.dual_coef_)
    np.testing.assert_array_equal(soft.decision_function(X[:, :5]), hard.decision_function(X[:, :5]))
    assert soft.solver_ == hard.solver_
    with pytest.raises(NotSeparableError) as caught:
        SVC(np.inf, kernel="linear").fit([[0.0], [1.0], [2.0]], [0, 1, 0])
    assert caught.value.witness.check()


def test_the_linear_kernel_uses_the_linear_engine_and_says_so():
    many, labels = np.tile(X, (5, 1)), np.tile(Y, 5)
    model, linear = SVC(kernel="linear", **TIGHT).fit(many, labels), LinearSVC(**TIGHT).fit(many, labels)
    assert model.solver_ == linear.solver_
    assert model.solver_.startswith("ProximalNewton: ")
    np.testing.assert_allclose(model.coef_, linear.coef_, atol=1e-6)
    with pytest.raises(AttributeError, match="linear kernel only"):
        _ = SVC().fit(X, Y).coef_


def test_without_an_intercept_the_bias_is_zero():
    model = SVC(fit_intercept=False, **TIGHT).fit(X, Y)
    assert model.intercept_ == 0.0
    assert model.certificate_.relative_gap <= 1e-9


@pytest.mark.parametrize(
    "change", [{"C": 20.0}, {"C": 0.02}, {"gamma": 0.7}, {"C": 3.0, "gamma": 0.05}, {"C": np.inf, "gamma": 2.0}]
)
@pytest.mark.parametrize("labels", ["two", "three"])
def test_a_warm_start_reaches_the_optimum_of_the_new_parameters(change, labels):
    x, y = (X, Y) if labels == "two" else (WX, WY)
    warm = SVC(C=1.0, gamma=0.1, warm_start=True, tol=1e-8).fit(x, y)
    first = warm.decision_function(x)
    warm.set_params(**change).fit(x, y)
    cold = SVC(C=1.0, gamma=0.1, tol=1e-8).set_params(**change).fit(x, y)
    np.testing.assert_allclose(warm.decision_function(x), cold.decision_function(x), atol=1e-3)
    assert np.abs(warm.decision_function(x) - first).max() > 1e-3


def test_a_warm_start_at_the_optimum_needs_no_round_and_other_data_start_anew():
    model = SVC(warm_start=True).fit(X, Y)
    assert model.fit(X, Y).trace_[0].iteration == 0
    assert model.fit(X, 1 - Y).predict(X).tolist() == SVC().fit(X, 1 - Y).predict(X).tolist()


SOFT = Problem(np.eye(2), np.array([-1.0, 1.0]), cost=np.ones(2), kernel=RBF(gamma=1.0))


@pytest.mark.parametrize(
    "solver", [name for name, kind in SOLVERS.items() if kind().accepts(SOFT) is None and name != "active_set"]
)
def test_every_solver_that_takes_kernels_gives_the_same_model(solver):
    model = SVC(solver=solver, **TIGHT).fit(X, Y)
    assert "asked for" in model.solver_
    np.testing.assert_allclose(model.decision_function(X), SVC(**TIGHT).fit(X, Y).decision_function(X), atol=1e-4)


def test_a_tighter_tolerance_has_no_larger_gap():
    gaps = [SVC(tol=tol).fit(X, Y).certificate_.relative_gap for tol in (1e-1, 1e-3, 1e-6, 1e-9)]
    assert all(later <= earlier + 1e-12 for earlier, later in pairwise(gaps))
