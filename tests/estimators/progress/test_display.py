"""Progress in digits of the gap, and what ``verbose=True`` shows of it."""

import io
import math
import re
import time

import numpy as np
import pytest
from rich.console import Console
from sklearn.datasets import load_breast_cancer, load_iris

from maxmargin import (
    SVC,
    ConvergenceWarning,
    HardMarginSVC,
    InvalidInputError,
    LinearSVC,
    NotSeparableError,
    Perceptron,
)
from maxmargin._loops.compile_time import COMPILE_TIME, seconds_in_words
from maxmargin.core import Problem
from maxmargin.estimators.progress.callbacks import WATCHER, Digits
from maxmargin.estimators.progress.display import Display
from maxmargin.solvers import Budget, Event, ProximalNewton, solve

X, Y = load_breast_cancer(return_X_y=True)
IRIS = load_iris()
NAMES = IRIS.target_names[IRIS.target]


def shares(gaps, tol, is_certified=False):
    """What a bar shows after each of these gaps."""
    digits = Digits(tol)
    return [digits.share(Event(0.0, 1, gap, object() if is_certified else None)) for gap in gaps]


# ------------------------------------------------------------------------------------------------------------ the share


@pytest.mark.parametrize("tol", [0.0, 1e-300, 1e-12, 1e-3, 0.5, 1.0, 7.0])
@pytest.mark.parametrize("first", [math.inf, math.nan, 1e300, 300.0, 0.5, 1e-6])
@pytest.mark.parametrize("is_certified", [False, True])
def test_a_bar_never_falls_and_ends_full_just_when_the_gap_is_certified(tol, first, is_certified):
    rng = np.random.default_rng(0)
    gaps = [first, *10.0 ** rng.uniform(-18, 3, 50), 0.0]
    shown = shares(gaps, tol, is_certified)
    assert shown == sorted(shown)
    assert min(shown) >= 0
    assert shown[-1] == (1.0 if is_certified else 0.99)


@pytest.mark.parametrize("tol", [1e-12, 1e-3, 0.5])
def test_a_bar_is_full_when_the_certified_gap_is_at_most_tol(tol):
    assert shares([tol], tol, is_certified=True) == [1.0]
    assert shares([1.01 * tol], tol, is_certified=True)[0] < 1.0


@pytest.mark.parametrize("first", [1.0, 1e3])
def test_each_digit_counts_the_same(first):
    assert np.diff(shares(first * 10.0 ** -np.arange(5), 1e-5 * first)) == pytest.approx(0.2)


def test_a_small_first_gap_counts_from_that_of_no_model():
    assert shares([1e-1], 1e-4) == pytest.approx([0.25])


@pytest.mark.parametrize("gap", [math.inf, math.nan])
def test_an_unknown_gap_moves_no_bar(gap):
    assert shares([gap, 1e-1, gap, 1e-2], 1e-4) == pytest.approx([0.0, 0.25, 0.25, 0.5])


# --------------------------------------------------------------------------------------------------------- who watches


@pytest.mark.parametrize("verbose", [False, True])
def test_a_fit_that_nobody_watches_has_no_observer(monkeypatch, verbose):
    observers = []

    def spy(*args, **settings):
        observers.append(settings.get("observe"))
        return solve(*args, **settings)

    monkeypatch.setattr("maxmargin.estimators.base.solve", spy)
    LinearSVC(loss="squared_hinge", verbose=verbose).fit(IRIS.data, NAMES)
    HardMarginSVC(verbose=verbose).fit(X, Y)
    assert [observer is not None for observer in observers] == [verbose] * 4


def test_callbacks_can_be_set_where_scikit_learn_has_them():
    try:
        import sklearn.callback  # noqa: F401
    except ImportError:
        assert not hasattr(LinearSVC(), "set_callbacks")
        assert not hasattr(HardMarginSVC(), "set_callbacks")
    else:
        assert LinearSVC().set_callbacks().get_params() == LinearSVC().get_params()


# -------------------------------------------------------------------------------------------------------------- verbose


def test_a_fit_is_silent(capfd):
    LinearSVC().fit(IRIS.data, NAMES)
    HardMarginSVC().fit(X, Y)
    assert capfd.readouterr() == ("", "")


def test_verbose_says_the_gap_the_goal_the_rounds_and_the_seconds_on_stderr(capsys):
    model = LinearSVC(verbose=True, tol=1e-5).fit(X, Y)
    shown = capsys.readouterr()
    assert shown.out == ""
    without_loading = re.sub(r" \(\+ [^)]*\)", "", shown.err)
    assert without_loading == (
        f"LinearSVC: gap {model.certificate_.relative_gap:.1e} certified, 1e-05 asked for, "
        f"{model.n_iter_} rounds of ProximalNewton, {seconds_in_words(model.trace_[-1].seconds)}.\n"
    )


def test_verbose_writes_a_line_for_each_binary_problem(capsys):
    LinearSVC(verbose=True).fit(IRIS.data, NAMES)
    lines = capsys.readouterr().err.splitlines()
    assert sorted(line.partition(":")[0] for line in lines) == [f"LinearSVC, {c} against the rest" for c in IRIS.target_names]
    HardMarginSVC(verbose=True, kernel="rbf", gamma=2.0).fit(IRIS.data[:, 1:], NAMES)
    lines = capsys.readouterr().err.splitlines()
    assert sorted(line.partition(":")[0] for line in lines) == [
        f"HardMarginSVC, {one} against {other}"
        for one, other in (("setosa", "versicolor"), ("setosa", "virginica"), ("versicolor", "virginica"))
    ]


def test_verbose_says_why_a_gap_was_missed(capsys):
    with pytest.warns(ConvergenceWarning):
        LinearSVC(verbose=True, max_iter=3).fit(X, Y)
    assert "3 rounds" in (line := capsys.readouterr().err)
    assert line.endswith("The budget of iterations ran out first; allow more with max_iter, or relax tol.\n")
    with pytest.raises(NotSeparableError):
        HardMarginSVC(verbose=True).fit([[0.0], [1.0], [2.0]], [0, 1, 0])
    assert "gap inf not certified" in capsys.readouterr().err


def test_verbose_changes_no_bit():
    watched, alone = LinearSVC(verbose=True).fit(X, Y), LinearSVC().fit(X, Y)
    assert watched.coef_.tobytes() == alone.coef_.tobytes()
    assert watched.certificate_ == alone.certificate_


@pytest.mark.parametrize("verbose", [-1, 0.5, None, "yes"])
@pytest.mark.parametrize("estimator", [LinearSVC, HardMarginSVC])
def test_verbose_is_a_flag_or_a_level(estimator, verbose):
    with pytest.raises(InvalidInputError, match=f"verbose must be True, False or an integer ≥ 0, got {verbose!r}"):
        estimator(verbose=verbose).fit(X, Y)


def test_a_terminal_shows_bars_while_problems_are_solved_and_lines_after():
    terminal = Console(file=io.StringIO(), force_terminal=True, width=80, color_system=None)
    solution = solve(Problem(X, 2.0 * Y - 1, cost=np.ones(len(Y))), ProximalNewton(), budget=Budget(iterations=2))
    with Display("LinearSVC", ["[red] against the rest", "b against the rest"], 1e-3, console=terminal) as display:
        display.begin(0)
        display.begin(1)
        assert display.see(0, Event(0.1, 7, 2.5e-2, None), 0.5) is False
        display.see(0, Event(0.2, 8, math.inf, None), 0.5)
        display._progress.refresh()
        bars = terminal.file.getvalue()
        display.end(0, solution)
        line = terminal.file.getvalue().removeprefix(bars)
        display._progress.refresh()
        after = terminal.file.getvalue().removeprefix(bars + line)
    assert "[red] against the rest ━" in bars
    assert "gap 2.5e-02, goal 0.001, round 8 " in bars
    assert "b against the rest" in bars
    assert "gap ?, goal 0.001, round 0" in bars
    assert "LinearSVC, [red] against the rest: gap " in line
    assert "[red]" not in after
    assert "b against the rest" in after


def test_one_bar_is_for_all_problems_and_lines_can_be_left_out():
    terminal = Console(file=io.StringIO(), force_terminal=True, width=80, color_system=None)
    solution = solve(Problem(X, 2.0 * Y - 1, cost=np.ones(len(Y))), ProximalNewton(), budget=Budget(iterations=2))
    with Display("SVC", ["a against b", "a against c"], 1e-3, console=terminal, lines=False) as display:
        display.begin(0)
        display.end(0, solution)
        display._progress.refresh()
        assert display._progress.tasks[0].completed == 1.0
        display.begin(1)
        display.see(1, Event(0.2, 8, 1e-2, None), 0.5)
        assert display._progress.tasks[0].completed == 1.5
        assert display._progress.tasks[0].total == 2.0
    assert "SVC, all" in terminal.file.getvalue()
    assert "asked for" not in terminal.file.getvalue()


class Recorder:
    """A watcher that keeps what it hears."""

    def __init__(self, *about):
        self.about, self.heard = about, []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.heard.append("closed")

    def begin(self, k):
        self.heard.append("begin")

    def see(self, k, event, share):
        self.heard.append("see")
        return False

    def end(self, k, solution):
        self.heard.append("end")


@pytest.mark.parametrize("estimator", [LinearSVC(), SVC(kernel="rbf"), Perceptron(max_iter=5)])
@pytest.mark.filterwarnings("ignore::maxmargin.ConvergenceWarning")
def test_fits_can_be_watched_from_outside_whatever_verbose_says(estimator):
    made = []

    def make(*about):
        made.append(Recorder(*about))
        return made[-1]

    token = WATCHER.set(make)
    estimator.fit(X, Y)
    WATCHER.reset(token)
    estimator.fit(X, Y)
    (recorder,) = made
    assert recorder.about[0] == type(estimator).__name__
    assert recorder.heard[0] == "begin"
    assert "see" in recorder.heard
    assert recorder.heard[-2:] == ["end", "closed"]


def test_compiling_is_told_once_and_not_for_each_problem(monkeypatch):
    problem = Problem(np.array([[0.0], [1.0]]), np.array([-1.0, 1.0]), cost=np.ones(2))
    solution = solve(problem)
    written = io.StringIO()
    monkeypatch.setattr(COMPILE_TIME, "compiled", 1)
    with Display("SVC", ["a", "b"], 1e-3, Console(file=written, width=200)) as shown:
        for k in range(2):
            shown.begin(k)
            if k == 0:
                with COMPILE_TIME:
                    time.sleep(0.06)
            shown.end(k, solution)
    first, second = written.getvalue().splitlines()
    assert "s compiling, " in first
    assert "compiling" not in second
