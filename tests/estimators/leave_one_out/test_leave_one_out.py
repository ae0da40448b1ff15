"""`leave_one_out`, `xi_alpha` and `LeaveOneOutSearch` on estimators: against n honest fits, in every form of input."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, LeaveOneOut, cross_val_predict
from sklearn.preprocessing import scale

from maxmargin import (
    SVC,
    HardMarginSVC,
    InvalidInputError,
    LeaveOneOutSearch,
    LinearSVC,
    NotSeparableError,
    NotSupportedError,
    Perceptron,
    Regularization,
    SettledBy,
    Status,
    leave_one_out,
    xi_alpha,
)
from maxmargin.kernels import RBF


def honest(model, X, y, weights=None):
    """The label of each sample by a fit in which its weight is 0."""
    weights = np.ones(len(y)) if weights is None else weights
    model, labels = clone(model).set_params(tol=1e-9), []
    for i in range(len(y)):
        without = weights.copy()
        without[i] = 0.0
        labels.append(model.fit(X, y, without).predict(X[[i]])[0])
    return np.array(labels)


def some(loader, n, classes=None, seed=0):
    X, y = loader(return_X_y=True)
    keep = np.flatnonzero(np.isin(y, classes)) if classes else np.arange(len(y))
    chosen = np.random.default_rng(seed).permutation(keep)[:n]
    return scale(X[chosen]), y[chosen]


CANCER = some(load_breast_cancer, 80)
IRIS = some(load_iris, 75)
DIGITS = some(load_digits, 60, classes=[1, 7, 8, 9])


@pytest.mark.parametrize(
    ("model", "data"),
    [
        (LinearSVC(), CANCER),
        (LinearSVC(C=0.01), CANCER),
        (LinearSVC(C=10.0, fit_intercept=False), CANCER),
        (LinearSVC(intercept_scaling=1.0), CANCER),
        (SVC(gamma=0.05), CANCER),
        (SVC(kernel="poly", gamma=0.1, coef0=1.0, C=0.1), CANCER),
        (LinearSVC(), IRIS),
        (SVC(gamma=0.3), IRIS),
        (SVC(gamma=0.3, break_ties=True), IRIS),
        (SVC(kernel="linear", C=0.1, fit_intercept=False), DIGITS),
    ],
)
def test_every_label_is_that_of_an_honest_fit(model, data):
    result = leave_one_out(model, *data)
    expected = honest(model, *data)
    assert result.is_certain.mean() > 0.97
    assert (result.predictions == expected)[result.is_certain].all()
    assert result.error_range.lower <= np.mean(expected != data[1]) <= result.error_range.upper


def test_the_hard_margin_too():
    X, y = IRIS[0][IRIS[1] < 2], IRIS[1][IRIS[1] < 2]
    result = leave_one_out(HardMarginSVC(), X, y)
    assert (result.predictions == honest(HardMarginSVC(), X, y))[result.is_certain].all()
    assert result.n_retrained < 8
    with pytest.raises(NotSeparableError):
        leave_one_out(HardMarginSVC(), *CANCER_NOISY)


CANCER_NOISY = (CANCER[0][:, :2], CANCER[1])


def test_weights_count_and_weight_zero_is_absent():
    X, y = CANCER
    weights = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    result = leave_one_out(LinearSVC(C=0.1), X, y, weights)
    expected = honest(LinearSVC(C=0.1), X, y, weights)
    assert (result.predictions == expected).all()
    assert result.error == pytest.approx(np.average(expected != y, weights=weights))
    assert (result.settled_by[weights == 0] == SettledBy.ABSENT).all()
    assert result.n == (weights > 0).sum()


def test_forms_of_input_do_not_matter():
    X, y = CANCER
    names = np.array(["good", "bad"])[y]
    base = leave_one_out(SVC(kernel="linear", C=0.1), X, names)
    for model, form in (
        (SVC(kernel="precomputed", C=0.1), X @ X.T),
        (SVC(kernel="linear", C=0.1), sp.csr_array(X)),
        (LinearSVC(C=0.1), sp.csr_array(X)),
        (LinearSVC(C=Regularization.mean(8.0)), X.tolist()),
    ):
        assert (leave_one_out(model, form, names).predictions == base.predictions).all()


def test_a_fitted_model_serves_as_a_start_and_is_not_changed():
    X, y = CANCER
    model = LinearSVC(C=0.1).fit(X, y)
    before = model.coef_.copy()
    assert (leave_one_out(model, X, y).predictions == leave_one_out(LinearSVC(C=0.1), X, y).predictions).all()
    assert np.array_equal(model.coef_, before)
    other = SVC(gamma=0.5).fit(X, y).set_params(gamma=0.05)
    assert (leave_one_out(other, X, y).predictions == leave_one_out(SVC(gamma=0.05), X, y).predictions).all()


def test_decision_values_are_those_of_honest_fits():
    X, y = CANCER
    result = leave_one_out(SVC(gamma=0.05), X, y, decision_values=True)
    for i in range(0, len(y), 10):
        weights = np.ones(len(y))
        weights[i] = 0.0
        value = SVC(gamma=0.05, tol=1e-10).fit(X, y, weights).decision_function(X[[i]])[0]
        assert result.decision_values[i] == pytest.approx(value, abs=1e-4)


def test_the_last_of_a_class_gets_another_label():
    X, y = CANCER
    y = y.copy().astype(object)
    y[3] = 2
    for model in (SVC(gamma=0.05), LinearSVC(C=0.1)):
        result = leave_one_out(model, X, y.astype(int))
        assert result.settled_by[3] is SettledBy.LAST_OF_ITS_CLASS
        assert result.predictions[3] != 2


def test_threads_do_not_change_a_bit():
    one, two = (leave_one_out(SVC(gamma=0.3), *IRIS, n_jobs=jobs) for jobs in (1, 2))
    assert np.array_equal(one.lower, two.lower)
    assert np.array_equal(one.upper, two.upper)
    assert (one.settled_by == two.settled_by).all()


def test_ties_are_called_undecidable():
    result = leave_one_out(LinearSVC(C=10.0), [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    assert result.status is Status.STALLED
    assert (result.settled_by[1:3] == SettledBy.UNDECIDABLE).all()
    assert result.error_range == (0.0, 0.5)
    assert "too close to a tie" in str(result)


# -- watching and stopping ----------------------------------------------------------------------------------------------


def test_an_observer_sees_progress_and_may_stop_it():
    seen = []
    whole = leave_one_out(SVC(gamma=0.05), *CANCER, decision_values=True, observe=seen.append)
    assert whole.status is Status.SOLVED
    assert [news.done for news in seen] == sorted(news.done for news in seen) or len(seen) > 1
    assert all(news.eta >= 0 and news.done <= news.total for news in seen)
    part = leave_one_out(SVC(gamma=0.05), *CANCER, decision_values=True, n_jobs=1, observe=lambda news: True)
    assert part.status is Status.STOPPED
    assert (part.predictions == whole.predictions)[part.is_certain].all()


def test_ctrl_c_returns_what_is_known(monkeypatch):
    def interrupt(news):
        raise KeyboardInterrupt

    result = leave_one_out(SVC(gamma=0.05), *CANCER, n_jobs=1, observe=interrupt)
    assert result.status is Status.INTERRUPTED
    assert (result.settled_by[~result.is_certain] == SettledBy.INTERRUPTED).all()
    assert (result.settled_by == SettledBy.OUTSIDE).any()


def test_verbose_says_nothing_without_a_terminal(capsys):
    leave_one_out(LinearSVC(C=0.1), *CANCER, verbose=True)
    assert capsys.readouterr() == ("", "")


# -- bad input ----------------------------------------------------------------------------------------------------------


def test_lapack_never_speaks_on_stdout_where_no_sample_lies_on_the_margin(capfd):
    X, y = np.full((3, 1), -2.0), np.array([1, -1, 1])
    found = leave_one_out(LinearSVC(C=0.1, fit_intercept=False), X, y)
    assert found.error_range == (1 / 3, 1.0)  # without the third sample or the first, the other two cancel: a tie
    assert capfd.readouterr().out == ""


def test_bad_input_is_refused():
    X, y = CANCER
    with pytest.raises(NotSupportedError, match="Perceptron"):
        leave_one_out(Perceptron(), X, y)
    with pytest.raises(InvalidInputError, match="tol"):
        leave_one_out(LinearSVC(), X, y, tol=-1.0)
    with pytest.raises(InvalidInputError, match="decision_values"):
        leave_one_out(LinearSVC(), X, y, decision_values="yes")
    with pytest.raises(ValueError, match="inconsistent"):
        leave_one_out(LinearSVC(), X, y[:-1])
    with pytest.raises(InvalidInputError, match="zero or negative weights"):
        leave_one_out(LinearSVC(), X, y, np.full(len(y), -1.0))
    with pytest.raises(NotFittedError):
        xi_alpha(LinearSVC(), X, y)
    with pytest.raises(NotSupportedError, match="Perceptron"):
        xi_alpha(Perceptron().fit(X, y), X, y)
    with pytest.raises(InvalidInputError, match="empty"):
        LeaveOneOutSearch(LinearSVC(), Cs=[]).fit(X, y)
    with pytest.raises(InvalidInputError, match="C = -1"):
        LeaveOneOutSearch(LinearSVC(), Cs=[-1]).fit(X, y)


# -- what separate fits mean ------------------------------------------------------------------------------------------------

THREE_CLOUDS = np.random.default_rng(5).normal(size=(24, 2)) + 1.2 * np.repeat([[0, 0], [1, 0], [0, 1]], 8, axis=0)
THREE_LABELS = np.repeat(["a", "b", "c"], 8)
DEPENDENT = {
    "C/n": (LinearSVC(C=Regularization.mean(4.0)), 2),
    "λ, no bias": (LinearSVC(C=Regularization.tikhonov(0.05), fit_intercept=False), 2),
    "λ/2, penalised bias": (LinearSVC(C=Regularization.pegasos(0.1), intercept_scaling=1.0), 2),
    "balanced": (LinearSVC(C=0.1, class_weight="balanced"), 2),
    "balanced and C/n": (SVC(C=Regularization.mean(6.0), gamma=0.5, class_weight="balanced"), 2),
    "squared": (LinearSVC(C=Regularization.mean(4.0), loss="squared_hinge"), 2),
    "one-vs-rest": (LinearSVC(C=Regularization.mean(4.0), class_weight="balanced"), 3),
    "one-vs-one": (SVC(C=Regularization.mean(4.0), gamma=0.5), 3),
    "one-vs-one, balanced": (SVC(C=Regularization.mean(4.0), gamma="auto", class_weight="balanced"), 3),
}


@pytest.mark.parametrize("name", DEPENDENT)
def test_costs_that_depend_on_the_samples_do_not_part_it_from_separate_fits(name):
    """`resolve="each"` against `cross_val_predict`, which fits n − 1 samples."""
    model, n_classes = DEPENDENT[name]
    rows = np.r_[0:8, 9:13] if n_classes == 2 else np.r_[0:8, 9:13, 17:24]
    X, y = THREE_CLOUDS[rows], THREE_LABELS[rows]
    model = clone(model).set_params(tol=1e-11)
    expected = cross_val_predict(model, X, y, cv=LeaveOneOut())
    found = leave_one_out(model, X, y, resolve="each")
    assert found.is_certain.all()
    assert found.predictions.tolist() == expected.tolist()
    assert found.resolve == "each"
    assert "separate fits" in str(found)
    assert leave_one_out(model.fit(X, y), X, y, resolve="each").predictions.tolist() == expected.tolist()


def test_the_decision_values_are_those_of_the_costs_that_are_meant():
    X, y = np.random.default_rng(0).normal(size=(8, 2)), np.arange(8) % 2
    model = LinearSVC(C=Regularization.mean(8), tol=1e-11)
    others = [np.delete(np.arange(8), i) for i in range(8)]
    fits = {"each": lambda i: clone(model).fit(X[others[i]], y[others[i]]),
            "once": lambda i: clone(model).set_params(C=1.0).fit(X[others[i]], y[others[i]])}  # fmt: skip
    errors = {}
    for resolve, fit in fits.items():
        found = leave_one_out(model, X, y, resolve=resolve, decision_values=True)
        values = [fit(i).decision_function(X[[i]])[0] for i in range(8)]
        assert found.decision_values == pytest.approx(values, abs=1e-4)
        errors[resolve] = found.error
    assert errors == {"once": 0.875, "each": 0.75}


def test_different_weights_have_the_costs_of_their_own_fits():
    X, y = THREE_CLOUDS[:16], THREE_LABELS[:16]
    weights = np.tile([1.0, 2.0, 0.5, 0.0], 4)
    model = LinearSVC(C=Regularization.mean(4.0), class_weight="balanced", tol=1e-11)
    found = leave_one_out(model, X, y, weights, resolve="each")
    for i in range(16):
        rest = weights.copy()
        rest[i] = 0.0
        assert found.predictions[i] == clone(model).fit(X, y, rest).predict(X[[i]])[0]
    assert found.is_certain.all()


def test_the_last_of_its_class_does_not_stop_balanced_weights():
    X, y = np.vstack([THREE_CLOUDS[:16], [[3.0, 3.0]]]), np.append(THREE_LABELS[:16], "z")
    found = leave_one_out(LinearSVC(class_weight="balanced", tol=1e-11), X, y, resolve="each")
    rest = LinearSVC(class_weight="balanced", tol=1e-11).fit(X[:16], y[:16])
    assert found.settled_by[16].name == "LAST_OF_ITS_CLASS"
    assert found.predictions[16] == rest.predict(X[[16]])[0]


def test_where_nothing_depends_on_the_samples_both_meanings_are_one():
    X, y = CANCER
    once, each = (leave_one_out(LinearSVC(C=0.1), X, y, resolve=resolve) for resolve in ("once", "each"))
    np.testing.assert_array_equal(once.lower, each.lower)
    assert (once.resolve, each.resolve) == ("once", "each")
    assert "all samples" in str(once)


def test_a_kernel_that_would_be_another_without_each_sample_is_refused():
    X, y = THREE_CLOUDS, THREE_LABELS
    for model in (SVC(), SVC(kernel=RBF())):
        with pytest.raises(NotSupportedError, match='gamma="scale"'):
            leave_one_out(model, X, y, resolve="each")
    assert leave_one_out(SVC(kernel="linear"), X, y, resolve="each").resolve == "each"
    with pytest.raises(InvalidInputError, match="resolve must be one of"):
        leave_one_out(LinearSVC(), X, y, resolve="never")


def test_the_search_means_what_a_grid_search_means():
    X, y = THREE_CLOUDS[:16], THREE_LABELS[:16]
    Cs = [Regularization.mean(C) for C in (0.3, 1.0, 3.0, 10.0, 30.0)]
    model = LinearSVC(tol=1e-11)
    grid = GridSearchCV(model, {"C": Cs}, cv=LeaveOneOut()).fit(X, y)
    search = LeaveOneOutSearch(model, Cs, resolve="each").fit(X, y)
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], grid.cv_results_["mean_test_score"])
    assert search.best_params_ == grid.best_params_


def test_an_interruption_leaves_the_groups_that_were_not_looked_at_open():
    X, y = THREE_CLOUDS, THREE_LABELS
    found = leave_one_out(SVC(C=Regularization.mean(4.0), gamma=0.5), X, y, resolve="each", observe=lambda _: True)
    assert found.status is Status.STOPPED
    last = found.settled_by[y == "c"]
    assert {one.name for one in last} == {"INTERRUPTED"}
    assert found.error_range.lower < found.error_range.upper
    assert np.isfinite(found.error)


# -- the estimates ------------------------------------------------------------------------------------------------------


def test_the_estimates_count_as_the_text_does():
    X, y = CANCER
    X = X / np.linalg.norm(X, axis=1).max()
    model = LinearSVC(C=0.3, tol=1e-9).fit(X, y)
    found = xi_alpha(model, X, y)
    alpha = np.zeros(len(y))
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    slack = np.maximum(0.0, 1.0 - np.where(y == 1, 1, -1) * model.decision_function(X))
    wrong = 2 * alpha * (X**2).sum(axis=1).max() + slack >= 1
    assert found.error == pytest.approx(wrong.mean())
    assert found.recall == pytest.approx(1 - wrong[y == 1].mean())
    kept = (~wrong[y == 1]).sum()
    assert found.precision == pytest.approx(kept / (kept + wrong[y == 0].sum()))
    assert {verdict.name for verdict in found.verdicts} <= {"CORRECT", "WRONG", "OPEN"}
    assert len(xi_alpha(SVC().fit(*IRIS), *IRIS)) == 3


COUNTEREXAMPLES = [
    ([[-0.9743, -0.0149], [0.9735, -0.0118], [1.0908, -0.0025], [1.0043, -0.0744]], [1, 1, 0, 0], 4.694),
    ([[0.13], [-0.13], [0.64], [0.1], [-0.54]], [1, 1, 1, 0, 0], 0.4),
]
"""Two sets of samples with a free bias whose exact leave-one-out error is larger than the estimate."""


@pytest.mark.parametrize(("X", "y", "C"), COUNTEREXAMPLES)
def test_an_estimate_that_the_exact_error_may_exceed_is_not_printed_as_a_bound(X, y, C):
    estimate = xi_alpha(LinearSVC(C=C, tol=1e-9).fit(X, y), X, y)
    assert leave_one_out(LinearSVC(C=C), X, y).error > estimate.error
    words = str(estimate)
    assert f"error ≈ {estimate.error:.2%}" in words
    assert not {"≤", "≥", "at most", "at least"} & set(words.split())


def test_without_a_free_bias_no_exact_value_is_beyond_the_estimates():
    """There the lemma is a theorem about the exact optimum; samples within 1e-6 of its line are left out of the comparison."""
    rng = np.random.default_rng(0)
    for k in range(30):
        X, y = rng.normal(size=(12, 2)), np.arange(12) % 2
        model = LinearSVC(C=float(rng.choice([0.1, 1.0, 10.0])), intercept_scaling=[None, 0.5][k % 2], tol=1e-10)
        model.set_params(fit_intercept=model.intercept_scaling is not None)
        estimate = xi_alpha(model.fit(X, y), X, y)
        assert (np.abs(estimate.number - 1.0) > 1e-6).all()
        labels = leave_one_out(model, X, y).predictions
        assert (labels != y).mean() <= estimate.error
        assert (labels[y == 1] == 1).mean() >= estimate.recall
        assert (labels == 1).sum() == 0 or y[labels == 1].mean() >= estimate.precision


# -- choosing C ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("model", "data"), [(LinearSVC(), CANCER), (SVC(gamma=0.3), IRIS)])
def test_the_search_finds_what_leave_one_out_finds_for_each_c(model, data):
    Cs = [0.01, 0.3, 10.0]
    search = LeaveOneOutSearch(model, Cs).fit(*data)
    errors = np.array([leave_one_out(clone(model).set_params(C=C), *data).error for C in Cs])
    assert np.allclose(search.cv_results_["mean_test_score"], 1 - errors)
    assert search.best_params_ == {"C": Cs[int(errors.argmin())]}
    assert search.cv_results_["rank_test_score"][search.best_index_] == 1
    assert (search.predict(data[0]) == search.best_estimator_.predict(data[0])).all()
    assert search.decision_function(data[0]).shape[0] == len(data[1])
    assert search.score(*data) > 0.8
    assert clone(search).get_params()["Cs"] == Cs
    assert not hasattr(LeaveOneOutSearch(model, [1.0], refit=False).fit(*data), "best_estimator_")
