"""scikit-learn's own battery: HardMarginSVC may fail a check only by proving that its data cannot be separated."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.utils.estimator_checks import check_estimator

from maxmargin import HardMarginSVC, NotSeparableError

ESTIMATORS = {"linear": HardMarginSVC(), "rbf": HardMarginSVC(kernel="rbf", gamma=5.0)}
# (wide enough that no vote between classes hangs on a decision of 1e-17, as it does where all samples are strangers)


@pytest.fixture(scope="module", params=list(ESTIMATORS))
def outcome(request):
    """The estimator and what became of each check."""
    estimator = ESTIMATORS[request.param]
    return estimator, check_estimator(estimator, on_fail=None, on_skip=None)


def failures(results):
    return [result for result in results if result["status"] == "failed"]


def proof(error):
    """The NotSeparableError that made a check fail: the error itself, or one that it was raised from; else None."""
    while error is not None and not isinstance(error, NotSeparableError):
        error = error.__cause__ or error.__context__
    return error


def data_of(error):
    """X and y as the check handed them to `fit`, read off the traceback."""
    step, found = error.__traceback__, None
    while step is not None:
        frame = step.tb_frame
        if frame.f_code.co_name == "fit" and isinstance(frame.f_locals.get("self"), HardMarginSVC):
            found = frame.f_locals["X"], frame.f_locals["y"]
        step = step.tb_next
    X, y = found
    X = X.toarray() if sp.issparse(X) else np.asarray(X)
    return X.astype(np.float64), np.ravel(np.asarray(y))


def classes_share_a_point(witness, X, y):
    """The identity Σp x = Σq x, convex weights in each class, in rational arithmetic."""
    rows = witness.problem.rows
    weights = {int(j if rows is None else rows[j]): p for j, p in witness.exact.items()}
    labels = sorted({y[j] for j in weights})
    sums = [sum(p for j, p in weights.items() if y[j] == label) for label in labels]
    points = [
        [sum(p * Fraction(X[j, k]) for j, p in weights.items() if y[j] == label) for k in range(X.shape[1])] for label in labels
    ]
    return len(labels) == 2 and sums == [1, 1] and min(weights.values()) > 0 and points[0] == points[1]


def residual(witness, X, y, gamma):
    """‖Σpφ − Σqφ‖² of the float weights under the RBF kernel, computed here."""
    used = np.arange(len(y)) if witness.problem.rows is None else witness.problem.rows
    X, y, p = X[used], y[used], witness.weights
    first, second = sorted(set(y.tolist()))
    assert (p >= 0).all()
    assert [p[y == first].sum(), p[y == second].sum()] == pytest.approx([1, 1])
    signed = np.where(y == first, p, -p)
    return signed @ np.exp(-gamma * cdist(X, X, "sqeuclidean")) @ signed


def test_no_check_fails_but_by_a_proof_that_its_data_are_not_separable(outcome):
    _, results = outcome
    failed = [result["check_name"] for result in failures(results)]
    unproved = [
        f"{result['check_name']}: {result['exception']!r}" for result in failures(results) if proof(result["exception"]) is None
    ]
    assert failed, "scikit-learn has checks on overlapping data: a battery without any failure did not run"
    assert unproved == []


def test_the_witness_of_each_failed_check_holds(outcome):
    estimator, results = outcome
    errors = [proof(result["exception"]) for result in failures(results)]
    for error in filter(None, errors):
        assert error.witness.check(), str(error.witness.check())
        X, y = data_of(error)
        if estimator.kernel == "linear":
            assert classes_share_a_point(error.witness, X, y)
        else:
            assert residual(error.witness, X, y, estimator.gamma) <= 1e-12
            repeated = cdist(X, X) == 0
            assert (repeated & (y[:, None] != y[None, :])).any(), "so narrow a kernel separates all distinct rows"


def test_the_independent_check_can_fail():
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0, 1, 0])
    with pytest.raises(NotSeparableError) as caught:
        HardMarginSVC().fit(X, y)
    assert classes_share_a_point(caught.value.witness, X, y)
    assert not classes_share_a_point(caught.value.witness, X + np.array([[0.0], [0.0], [1e-9]]), y)
    assert not classes_share_a_point(caught.value.witness, X, np.array([0, 1, 1]))


def test_all_other_checks_pass_once_these_are_announced(outcome):
    estimator, results = outcome
    proved = {r["check_name"]: "not separable" for r in failures(results) if proof(r["exception"]) is not None}
    again = check_estimator(estimator, expected_failed_checks=proved, on_fail=None, on_skip=None)
    assert {r["check_name"] for r in again if r["status"] == "xfail"} == set(proved)
    assert [r["check_name"] for r in again if r["status"] == "failed"] == []
    assert sum(r["status"] == "passed" for r in again) > len(again) / 2
