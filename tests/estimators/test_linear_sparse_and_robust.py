"""LinearSVC with the L1 penalty, LinearSVC and SVC with the ramp loss: the scikit-learn face of both."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC as SklearnLinearSVC
from sklearn.utils.estimator_checks import check_estimator

from maxmargin import (
    SVC,
    ConvergenceWarning,
    LinearSVC,
    Regularization,
    Status,
    certify,
    leave_one_out,
)
from maxmargin.errors import NotSupportedError
from maxmargin.solvers import SMO, LinearProgram, PrimalCD
from tests.problems import clouds

SPARSE = [LinearSVC("l1", "hinge"), LinearSVC("l1", "squared_hinge")]
ROBUST = [LinearSVC(loss="ramp"), SVC(loss="ramp"), LinearSVC("l1", "ramp", n_starts=2)]
by_name = {"ids": repr}


@pytest.mark.parametrize("model", [*SPARSE, *ROBUST[:2]], **by_name)
def test_scikit_learns_own_checks_pass(model):
    results = check_estimator(model, on_fail=None, on_skip=None)
    assert [(r["check_name"], r["exception"]) for r in results if r["status"] == "failed"] == []


def test_the_call_that_others_refuse():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="penalty='l1' and loss='hinge' is not supported"):
        SklearnLinearSVC(penalty="l1", loss="hinge").fit(X, y)
    model = LinearSVC(penalty="l1", loss="hinge").fit(X, y)
    assert model.score(X, y) > 0.9
    assert model.certificate_.worst.relative_gap <= 1e-3


@pytest.mark.parametrize("model", [*SPARSE, *ROBUST], **by_name)
def test_it_is_found_by_a_grid_search_over_a_pipeline(model):
    X, labels, _ = clouds()
    name = type(model).__name__.lower()
    search = GridSearchCV(make_pipeline(StandardScaler(), model), {f"{name}__C": [0.1, 1.0]}, cv=3).fit(X, labels)
    assert search.best_score_ > 0.7


@pytest.mark.parametrize("model", [*SPARSE, *ROBUST], **by_name)
def test_the_stored_model_is_certified_again_by_anybody(model):
    X, labels, _ = clouds()
    model = clone(model).fit(X, labels)
    assert certify(model, X, labels).relative_gap == pytest.approx(model.certificate_.relative_gap, abs=1e-9)
    assert model.certificate_.relative_gap <= 1e-3


def test_the_squared_hinge_agrees_with_liblinear():
    X, labels, _ = clouds()
    peer = SklearnLinearSVC(penalty="l1", dual=False, C=0.3, fit_intercept=False, tol=1e-10, max_iter=100_000).fit(X, labels)
    ours = LinearSVC("l1", "squared_hinge", C=0.3, fit_intercept=False, tol=1e-10).fit(X, labels)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-5)
    np.testing.assert_array_equal(ours.coef_ == 0, peer.coef_ == 0)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_sparse_and_dense_data_give_the_same(loss):
    X, labels, _ = clouds()
    dense, sparse = (LinearSVC("l1", loss, tol=1e-9).fit(data, labels) for data in (X, sp.csr_matrix(X)))
    assert dense.certificate_.primal == pytest.approx(sparse.certificate_.primal, rel=1e-8)


def test_no_ball_holds_the_optimum_of_either():
    X, labels, _ = clouds()
    for model in (LinearSVC("l1"), LinearSVC(loss="ramp"), SVC(loss="ramp")):
        with pytest.raises(NotSupportedError, match="leave_one_out needs the L2 penalty"):
            leave_one_out(model, X, labels)
        predicted, is_certain = model.fit(X, labels).certified_predictions(X)
        np.testing.assert_array_equal(predicted, model.predict(X))
        assert not is_certain.any()


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (LinearSVC(n_starts=2), "n_starts=2 is for loss='ramp'"),
        (SVC(solver="exact"), "solver='exact' is for loss='ramp'"),
        (LinearSVC(loss="ramp", n_starts=0), "n_starts must be an integer"),
        (LinearSVC(loss="ramp", n_starts=True), "n_starts must be an integer"),
        (LinearSVC(loss="ramp", n_starts=1.5), "n_starts must be an integer"),
        (LinearSVC("l3"), "penalty must be one of"),
        (LinearSVC(loss="perceptron"), "loss must be one of"),
        (LinearSVC("l1", solver="dual_cd"), "DualCD solves"),
        (LinearSVC("l1", "squared_hinge", solver="linear_program"), "LinearProgram solves Hinge"),
        (LinearSVC(loss="ramp", solver="exact"), "at most 30 samples"),
        (LinearSVC("l1", C=np.inf), "hard margin"),
        (SVC(loss="ramp", C=np.inf), "finite costs"),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_bad_input_is_refused_with_a_reason(model, message):
    X, labels, _ = clouds()
    with pytest.raises(ValueError, match=message):
        model.fit(X, labels)
    assert not hasattr(model, "coef_") or not hasattr(model, "certificate_")


@pytest.mark.parametrize("model", [*SPARSE, ROBUST[0]], **by_name)
def test_budgets_warn_and_keep_the_best(model):
    X, labels, _ = clouds(n=600, d=40)
    model = clone(model).set_params(max_iter=1, tol=1e-12, C=10.0)
    with pytest.warns(ConvergenceWarning, match="budget of iterations"):
        model.fit(X, labels)
    assert model.status_ is Status.ITERATION_BUDGET
    assert np.isfinite(model.certificate_.relative_gap)


@pytest.mark.parametrize(
    ("model", "solver", "call"),
    [
        (LinearSVC("l1", "squared_hinge", C=100.0, tol=1e-13), PrimalCD, 2),
        (LinearSVC("l1", C=10.0, tol=1e-13, solver="linear_program"), LinearProgram, 2),
        (SVC(loss="ramp"), SMO, 2),
    ],
    ids=["l1 squared hinge", "l1 hinge", "ramp"],
)
def test_ctrl_c_keeps_the_best_model_so_far(model, solver, call, monkeypatch):
    X, labels, _ = clouds(n=400, d=250)
    step, calls = solver.step, []

    def interrupted(self, *others):
        calls.append(self)
        if len(calls) == call:
            raise KeyboardInterrupt
        return step(self, *others)

    monkeypatch.setattr(solver, "step", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, labels)
    assert model.status_ is Status.INTERRUPTED
    assert np.isfinite(certify(model, X, labels).relative_gap)
    assert model.predict(X[:3]).shape == (3,)


# -- λ before ‖w‖₁ --------------------------------------------------------------------------------------------------------


def literal_program(X, y, norm, slack):
    """min norm · ‖w‖₁ + slack · Σξ by HiGHS, from the formula itself."""
    n, d = X.shape
    weights = np.r_[np.full(2 * d, norm), 0.0, np.full(n, slack)]
    rows = np.hstack([-y[:, None] * X, y[:, None] * X, -y[:, None], -np.eye(n)])
    bounds = [(0, None)] * (2 * d) + [(None, None)] + [(0, None)] * n
    return linprog(weights, A_ub=rows, b_ub=-np.ones(n), bounds=bounds).fun


@pytest.mark.parametrize(
    ("trade_off", "norm", "slack"),
    [
        (Regularization.sum(0.3), 1.0, 0.3),
        (Regularization.mean(6.0), 1.0, 6.0 / 20),
        (Regularization.tikhonov(0.1), 0.1, 1.0 / 20),
        (Regularization.pegasos(0.1), 0.1, 1.0 / 20),
        (Regularization.ridge(2.0), 2.0, 1.0),
    ],
)
def test_no_spelling_of_the_trade_off_is_halved_beside_the_l1_norm(trade_off, norm, slack):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 3)), np.where(np.arange(20) % 2, 1.0, -1.0)
    X[:, 0] += 0.8 * y
    model = LinearSVC(penalty="l1", C=trade_off, tol=1e-9).fit(X, y)
    slacks = np.maximum(0.0, 1.0 - y * model.decision_function(X)).sum()
    own = norm * np.abs(model.coef_).sum() + slack * slacks
    assert own == pytest.approx(literal_program(X, y, norm, slack), rel=1e-6)
    assert np.abs(model.coef_).sum() > 0
