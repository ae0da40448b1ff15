"""Fits that fail, are interrupted or run out of their budget."""

import copy
import time

import numpy as np
import pytest
import sklearn.exceptions
from sklearn.datasets import load_iris

from maxmargin import (
    ConvergenceWarning,
    HardMarginSVC,
    InvalidInputError,
    NotSeparableError,
    NotSupportedError,
    Status,
    certify,
)
from maxmargin.solvers import Clock, ConstraintGeneration, InteriorPoint

IRIS = load_iris()
X, Y = IRIS.data[IRIS.target < 2], IRIS.target[IRIS.target < 2]
OVERLAP, LABELS = IRIS.data[IRIS.target > 0], IRIS.target_names[IRIS.target[IRIS.target > 0]]


def same(one, other):
    """Whether two attribute values are the same, array by array."""
    if isinstance(one, np.ndarray):
        return isinstance(other, np.ndarray) and one.dtype == other.dtype and np.array_equal(one, other)
    return one is other or one == other


def narrow(n=1500, d=20, gap=1e-3, seed=0):
    """A thin street that takes constraint generation several rounds to find."""
    rng = np.random.default_rng(seed)
    u = rng.standard_normal(d)
    u /= np.linalg.norm(u)
    data = rng.standard_normal((n, d))
    labels = np.where(data @ u > 0, 1, -1)
    return data + gap * np.outer(labels, u), labels


# --------------------------------------------------------------------------------------------- an error changes nothing

FAILURES = {
    "not separable": (lambda m: m.fit(OVERLAP, LABELS), NotSeparableError),
    "bad labels": (lambda m: m.fit(OVERLAP, np.zeros(100)), InvalidInputError),
    "bad data": (lambda m: m.fit(OVERLAP * np.nan, LABELS), ValueError),
    "bad weights": (lambda m: m.fit(OVERLAP, LABELS, sample_weight=-np.ones(100)), InvalidInputError),
    "bad solver": (lambda m: m.set_params(solver="nope").fit(OVERLAP[:, :2], LABELS), InvalidInputError),
    "bad kernel": (lambda m: m.set_params(kernel="sigmoid").fit(OVERLAP[:, :2], LABELS), NotSupportedError),
    "second pair": (lambda m: m.fit(IRIS.data[:, :3], IRIS.target_names[IRIS.target]), NotSeparableError),
}


@pytest.mark.parametrize("is_fitted", [False, True])
@pytest.mark.parametrize("name", FAILURES)
def test_a_fit_that_raises_leaves_the_estimator_as_it_was(name, is_fitted):
    fail, error = FAILURES[name]
    model = HardMarginSVC()
    if is_fitted:
        model.fit(X, Y)
    before = copy.deepcopy(vars(model))
    with pytest.raises(error):
        fail(model)
    model.set_params(solver="auto", kernel="linear")  # what the failing call set itself
    assert list(vars(model)) == list(before)
    assert all(same(value, before[key]) for key, value in vars(model).items())
    if is_fitted:
        np.testing.assert_array_equal(model.predict(X), Y)


def test_an_error_in_the_middle_of_training_leaves_the_estimator_as_it_was(monkeypatch):
    model = HardMarginSVC().fit(X, Y)
    before = copy.deepcopy(vars(model))

    def broken(*args):
        raise RuntimeError("out of luck")

    monkeypatch.setattr(InteriorPoint, "step", broken)
    with pytest.raises(RuntimeError, match="out of luck"):
        model.fit(OVERLAP, LABELS)
    assert all(same(value, before[key]) for key, value in vars(model).items())
    assert vars(model).keys() == before.keys()


def test_fitting_again_forgets_the_first_fit():
    model = HardMarginSVC().fit(IRIS.data[:, :2], IRIS.target == 0)
    model.fit(X, np.array(["a", "b"])[Y])
    fresh = HardMarginSVC().fit(X, np.array(["a", "b"])[Y])
    assert vars(model).keys() == vars(fresh).keys()
    for name in ("coef_", "intercept_", "support_", "dual_coef_", "classes_", "certificate_", "n_features_in_"):
        assert same(getattr(model, name), getattr(fresh, name)), name


# ----------------------------------------------------------------------------------------------------------- interrupts


def interrupt_after(monkeypatch, solver, rounds):
    """Press Ctrl-C before the solver's round number `rounds`."""
    step, count = solver.step, [0]

    def pressed(self, *args):
        if count[0] == rounds:
            raise KeyboardInterrupt
        count[0] += 1
        return step(self, *args)

    monkeypatch.setattr(solver, "step", pressed)


def test_an_interrupted_fit_keeps_the_best_model_so_far(monkeypatch):
    interrupt_after(monkeypatch, InteriorPoint, 1)
    model = HardMarginSVC(tol=0.0, solver="interior_point")  # which no round can prove, so that there is a second one
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert model.status_ is Status.INTERRUPTED
    assert model.score(X, Y) == 1.0
    assert model.certificate_.relative_gap <= 1e-9
    assert certify(model, X, Y) == model.certificate_
    assert model.fit_status_ == 1


def test_an_interrupt_inside_the_interior_point_is_heard(monkeypatch):
    """Clarabel calls back each round; what is raised there must come out as an interrupt."""
    calls = [0]

    def seconds_left(clock):
        calls[0] += 1
        if calls[0] == 4:
            raise KeyboardInterrupt
        return np.inf

    monkeypatch.setattr(Clock, "seconds_left", property(seconds_left))
    with pytest.raises(KeyboardInterrupt):
        HardMarginSVC(solver="interior_point").fit(X, Y)
    assert calls[0] >= 4


@pytest.mark.parametrize("was_fitted", [False, True])
def test_an_interrupt_before_any_model_leaves_the_estimator_as_it_was(monkeypatch, was_fitted):
    model = HardMarginSVC()
    if was_fitted:
        model.fit(X, Y)
    before = copy.deepcopy(vars(model))
    interrupt_after(monkeypatch, ConstraintGeneration, 0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(OVERLAP, LABELS)
    assert vars(model).keys() == before.keys()
    assert [key for key, value in vars(model).items() if not same(value, before[key])] == []


def test_an_interrupt_between_two_pairs_leaves_the_estimator_as_it_was(monkeypatch):
    model = HardMarginSVC(kernel="rbf", gamma=2.0).fit(X, Y)
    before = copy.deepcopy(vars(model))
    interrupt_after(monkeypatch, ConstraintGeneration, 2)
    with pytest.raises(KeyboardInterrupt):
        model.fit(IRIS.data[:, 1:], IRIS.target_names[IRIS.target])
    assert [key for key, value in vars(model).items() if not same(value, before[key])] == []
    np.testing.assert_array_equal(model.predict(X), Y)


def test_an_interrupted_fit_of_many_samples_keeps_a_model_that_separates(monkeypatch):
    data, labels = narrow(gap=1.0)
    interrupt_after(monkeypatch, ConstraintGeneration, 1)
    model = HardMarginSVC(tol=0.0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(data, labels)
    assert model.score(data, labels) == 1.0
    assert model.status_ is Status.INTERRUPTED
    assert certify(model, data, labels) == model.certificate_
    assert 0 < model.certificate_.relative_gap < 1


# -------------------------------------------------------------------------------------------------------------- budgets


def test_the_warning_is_scikit_learns_too():
    assert issubclass(ConvergenceWarning, sklearn.exceptions.ConvergenceWarning)


def test_a_spent_budget_returns_a_model_that_separates_with_a_warning_that_says_the_gap():
    data, labels = narrow()
    model = HardMarginSVC(max_iter=1)
    with pytest.warns(ConvergenceWarning, match="HardMarginSVC: .*Not certified: the gap is .*, and 1e-06 was asked for"):
        model.fit(data, labels)
    assert model.score(data, labels) == 1.0
    assert model.certificate_.relative_gap > 1e-6
    assert certify(model, data, labels) == model.certificate_
    assert model.fit_status_ == 1
    assert model.n_iter_ == [1]


def test_a_spent_budget_of_rounds_is_blamed_on_max_iter():
    data, labels = narrow()
    model = HardMarginSVC(max_iter=1)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model.fit(data, labels)
    assert model.status_ is Status.ITERATION_BUDGET


def test_a_spent_budget_of_seconds_is_blamed_on_max_seconds():
    model = HardMarginSVC(max_seconds=1e-9)
    with pytest.warns(ConvergenceWarning, match="max_seconds"):
        model.fit(X, Y)
    assert model.status_ is Status.TIME_BUDGET


def test_a_budget_of_no_rounds_is_blamed_on_max_iter():
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        HardMarginSVC(max_iter=0).fit(X, Y)


def test_a_fit_does_not_exceed_its_seconds_by_much():
    data, labels = narrow(3000, 40)
    HardMarginSVC().fit(data[:400], labels[:400])  # compiles
    started = time.perf_counter()
    with pytest.warns(ConvergenceWarning):
        HardMarginSVC(max_seconds=1e-4).fit(data, labels)
    assert time.perf_counter() - started < 0.9


@pytest.mark.filterwarnings("ignore::maxmargin.ConvergenceWarning")
def test_the_closest_sample_has_margin_one_also_when_the_budget_ran_out():
    data, labels = narrow()
    model = HardMarginSVC(max_iter=1).fit(data, labels)
    assert np.abs(model.decision_function(data)).min() == pytest.approx(1.0, rel=1e-6)


def test_a_spent_budget_on_overlapping_data_is_an_error_and_no_model():
    model = HardMarginSVC(max_iter=1)
    with pytest.raises(NotSeparableError) as caught:
        model.fit(OVERLAP, LABELS)
    assert caught.value.witness.check()
    assert not hasattr(model, "support_")


def test_an_impossible_tolerance_is_said_to_be_beyond_the_arithmetic():
    with pytest.warns(ConvergenceWarning, match="precision of the arithmetic.*and 0 was asked for"):
        model = HardMarginSVC(tol=0.0).fit(X, Y)
    assert model.status_ is Status.STALLED
    assert model.certificate_.relative_gap <= 1e-12


def test_the_warning_points_at_the_line_that_called_fit():
    with pytest.warns(ConvergenceWarning) as caught:
        HardMarginSVC(tol=0.0).fit(X, Y)
    assert [warning.filename for warning in caught] == [__file__]


def test_a_looser_tolerance_never_gives_a_smaller_gap_than_asked():
    data, labels = narrow(gap=0.05)
    for tol in (1e-1, 1e-3, 1e-6, 1e-9):
        assert HardMarginSVC(tol=tol).fit(data, labels).certificate_.relative_gap <= tol


def test_enough_budget_is_silent():
    data, labels = narrow()
    model = HardMarginSVC(max_iter=10_000, max_seconds=600.0, cache_size=16.0).fit(data, labels)
    assert model.status_ is Status.SOLVED
