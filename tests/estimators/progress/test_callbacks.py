"""scikit-learn's callbacks: who is told what, in which order, and what their answers do."""

import pickle
import threading
import time

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from maxmargin import ConvergenceWarning, HardMarginSVC, LinearSVC, NotSeparableError, Status, certify
from maxmargin.solvers import ConstraintGeneration, ProximalNewton

callback = pytest.importorskip("sklearn.callback")

X, Y = load_breast_cancer(return_X_y=True)
IRIS = load_iris()
NAMES = IRIS.target_names[IRIS.target]
PARTS = 100


class Recorder:
    """Writes down (what, path of task numbers, task's name); may answer True, or raise, at the end of some task."""

    def __init__(self, answer=None):
        self.heard, self.answer, self.models = [], answer, []

    @staticmethod
    def path_of(context):
        return () if context is None else (*Recorder.path_of(context.parent), context.task_id)

    def _note(self, what, context):
        self.heard.append((what, self.path_of(context), context.task_name))

    def setup(self, estimator, context):
        self._note("setup", context)

    def on_fit_task_begin(self, estimator, context):
        self._note("begin", context)

    def on_fit_task_end(self, estimator, context, *, X, y, metadata, fitted_estimator):
        self._note("end", context)
        if fitted_estimator is not None:
            self.models.append((fitted_estimator, X, y, metadata))
        return self.answer is not None and self.answer(context)

    def teardown(self, estimator, context):
        self._note("teardown", context)

    def gaps(self, *path):
        """The gaps of the hundredths of a problem, in the order in which they ended."""
        ends = [(p, name) for what, p, name in self.heard if what == "end" and p[:-1] == path]
        assert [p[-1] for p, _ in ends] == list(range(len(ends)))
        return [float(name.removeprefix("gap ")) for _, name in ends]


class Propagated(Recorder):
    """A recorder that meta-estimators hand down."""

    max_propagation_depth = None


def faults(heard):
    """What is wrong with the order: tasks begin inside their parent and end after their children; set up once, torn down last."""
    found, is_open, was_open = [], set(), set()
    if [what for what, *_ in heard].count("setup") != 1 or heard[0][0] != "setup":
        found.append("setup")
    if [what for what, *_ in heard].count("teardown") != 1 or heard[-1][0] != "teardown":
        found.append("teardown")
    for what, path, _ in heard:
        if what == "begin":
            if path in was_open or (len(path) > 1 and path[:-1] not in is_open):
                found.append((what, path))
            is_open.add(path)
            was_open.add(path)
        if what == "end":
            if path not in is_open or any(p[:-1] == path for p in is_open):
                found.append((what, path))
            is_open.discard(path)
    return found + [("open", path) for path in sorted(is_open)]


def state(model):
    return {name: value for name, value in vars(model).items() if name != "_skl_callbacks"}


def press_ctrl_c_before(monkeypatch, solver, number):
    step, count = solver.step, [0]

    def pressed(self, *args):
        count[0] += 1
        if count[0] == number:
            raise KeyboardInterrupt
        return step(self, *args)

    monkeypatch.setattr(solver, "step", pressed)


# ---------------------------------------------------------------------------------------------------------------- order

FITS = {
    "binary": (LinearSVC(), X, Y, 1),
    "coordinates": (LinearSVC(solver="dual_cd"), IRIS.data, IRIS.target == 1, 1),
    "one against the rest": (LinearSVC(n_jobs=3, solver="proximal_newton"), IRIS.data, NAMES, 3),
    "hard": (HardMarginSVC(), X, Y, 1),
    "pairs": (HardMarginSVC(kernel="rbf", gamma=2.0), IRIS.data[:, 1:], NAMES, 3),
}


@pytest.mark.parametrize("name", FITS)
def test_tasks_begin_and_end_in_order_and_a_solved_problem_has_all_its_parts(name):
    model, data, labels, n_problems = FITS[name]
    recorder = Recorder()
    model = clone(model).set_callbacks(recorder).fit(data, labels)
    assert faults(recorder.heard) == []
    for path in [(0,)] if n_problems == 1 else [(0, k) for k in range(n_problems)]:
        gaps = recorder.gaps(*path)
        assert len(gaps) == PARTS
        assert gaps == sorted(gaps, reverse=True)
        assert gaps[-1] <= model.tol
    assert len(recorder.heard) == 2 + 2 * (1 + PARTS * n_problems + n_problems * (n_problems > 1))


def test_the_check_of_the_order_can_fail():
    good = [("setup", (0,), ""), ("begin", (0,), ""), ("begin", (0, 0), ""), ("end", (0, 0), ""), ("end", (0,), "")]
    good.append(("teardown", (0,), ""))
    assert faults(good) == []
    for k in range(len(good)):
        assert faults(good[:k] + good[k + 1 :]) != [], k
        assert faults(good[: k + 1] + good[k:]) != [], k
    for k in range(len(good) - 1):
        assert faults([*good[:k], good[k + 1], good[k], *good[k + 2 :]]) != [], k


def test_a_bar_moves_while_the_gap_falls():
    recorder = Recorder()
    LinearSVC(tol=1e-6, solver="proximal_newton").set_callbacks(recorder).fit(X, Y)
    assert len(set(recorder.gaps(0))) >= 5


def test_problems_are_named_after_their_classes():
    recorder = Recorder()
    LinearSVC().set_callbacks(recorder).fit(IRIS.data, NAMES)
    assert {name for what, path, name in recorder.heard if len(path) == 2} == {
        f"{name} against the rest" for name in IRIS.target_names
    }


def test_callbacks_are_called_by_one_thread_at_a_time():
    inside = threading.Lock()

    def answer(context):
        assert inside.acquire(blocking=False), "two threads at once"
        time.sleep(1e-4)
        inside.release()

    recorder = Recorder(answer)
    LinearSVC(n_jobs=3).set_callbacks(recorder).fit(IRIS.data, NAMES)
    assert faults(recorder.heard) == []


def test_callbacks_change_no_bit():
    watched, alone = LinearSVC().set_callbacks(Recorder()).fit(X, Y), LinearSVC().fit(X, Y)
    assert watched.coef_.tobytes() == alone.coef_.tobytes()
    assert vars(watched).keys() - vars(alone).keys() == {"_skl_callbacks"}


# ------------------------------------------------------------------------------------------------------ unfinished fits


def test_a_spent_budget_ends_all_tasks_but_does_not_fill_the_bar():
    recorder = Recorder()
    with pytest.warns(ConvergenceWarning):
        LinearSVC(max_iter=20, tol=1e-13).set_callbacks(recorder).fit(X, Y)
    assert faults(recorder.heard) == []
    assert 0 < len(recorder.gaps(0)) < PARTS


def test_a_callback_that_answers_true_stops_the_fit_with_the_best_model_so_far():
    recorder = Recorder(lambda context: context.parent is not None and context.task_id == 29)
    model = LinearSVC(tol=1e-6, solver="proximal_newton").set_callbacks(recorder).fit(X, Y)
    assert model.status_ is Status.STOPPED
    assert model.certificate_.relative_gap > 1e-6
    assert certify(model, X, Y) == model.certificate_
    assert faults(recorder.heard) == []
    assert len(recorder.gaps(0)) == 30
    assert len(recorder.models) == 1


def test_stopping_one_problem_leaves_the_others_alone():
    recorder = Recorder(lambda context: context.task_id == 9 and context.parent.task_name == "versicolor against the rest")
    model = LinearSVC(tol=1e-6, solver="proximal_newton").set_callbacks(recorder).fit(IRIS.data, NAMES)
    assert [len(recorder.gaps(0, k)) for k in range(3)] == [PARTS, 10, PARTS]
    assert model.status_[0] is model.status_[2] is Status.SOLVED
    assert faults(recorder.heard) == []


def test_a_callback_that_answers_true_after_a_problem_stops_the_others_too():
    recorder = Recorder(lambda context: context.task_name == "setosa against the rest")
    model = LinearSVC(tol=1e-9, solver="proximal_newton", n_jobs=1).set_callbacks(recorder).fit(IRIS.data, NAMES)
    assert model.status_ == (Status.SOLVED, Status.STOPPED, Status.STOPPED)
    assert [trace[-1].iteration for trace in model.trace_[1:]] == [1, 1]
    assert faults(recorder.heard) == []


def test_an_answer_at_the_end_of_the_fit_changes_nothing():
    model = LinearSVC().set_callbacks(Recorder(lambda context: context.parent is None)).fit(X, Y)
    assert model.status_ is Status.SOLVED


def test_a_stopped_hard_margin_is_no_interrupt():
    recorder = Recorder(lambda context: context.task_name.startswith("setosa"))
    model = HardMarginSVC(kernel="rbf", gamma=2.0).set_callbacks(recorder).fit(IRIS.data[:, 1:], NAMES)
    assert model.status_[0] is Status.SOLVED
    assert faults(recorder.heard) == []


def test_an_interrupted_fit_is_torn_down_where_it_is_and_keeps_its_model(monkeypatch):
    press_ctrl_c_before(monkeypatch, ProximalNewton, 12)
    recorder = Recorder()
    model = LinearSVC(tol=1e-9, solver="proximal_newton").set_callbacks(recorder)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert faults(recorder.heard) == [("open", (0,))]
    assert 0 < len(recorder.gaps(0)) < PARTS
    assert model.status_ is Status.INTERRUPTED
    assert certify(model, X, Y) == model.certificate_
    assert vars(model).keys() - vars(LinearSVC().fit(IRIS.data, NAMES)).keys() == {"_skl_callbacks"}


def test_the_progress_bar_of_an_interrupted_fit_is_not_full(monkeypatch, capsys):
    press_ctrl_c_before(monkeypatch, ProximalNewton, 12)
    with pytest.raises(KeyboardInterrupt):
        LinearSVC(tol=1e-9, solver="proximal_newton").set_callbacks(callback.ProgressBar()).fit(X, Y)
    assert "100%" not in capsys.readouterr().out


def test_an_interrupt_without_a_model_only_tears_down(monkeypatch):
    press_ctrl_c_before(monkeypatch, ConstraintGeneration, 2)
    recorder = Recorder()
    model = HardMarginSVC(kernel="rbf", gamma=2.0).set_callbacks(recorder)
    before = state(model).copy()
    with pytest.raises(KeyboardInterrupt):
        model.fit(IRIS.data[:, 1:], NAMES)
    assert recorder.heard[-1][0] == "teardown"
    assert recorder.models == []
    assert state(model) == before


def test_a_fit_that_raises_tears_down_and_leaves_the_estimator_as_it_was():
    recorder = Recorder()
    model = HardMarginSVC().set_callbacks(recorder)
    before = vars(model).copy()
    with pytest.raises(NotSeparableError):
        model.fit([[0.0], [1.0], [2.0]], [0, 1, 0])
    assert [what for what, *_ in recorder.heard] == ["setup", "begin", "teardown"]
    assert vars(model) == before
    model.fit([[0.0], [1.0], [2.0]], [0, 0, 1])
    assert faults(recorder.heard[3:]) == []


def test_bad_input_is_refused_before_any_callback_is_called():
    recorder = Recorder()
    with pytest.raises(ValueError, match="NaN"):
        LinearSVC().set_callbacks(recorder).fit(X * np.nan, Y)
    assert recorder.heard == []


@pytest.mark.parametrize("labels", [IRIS.target == 0, NAMES], ids=["binary", "three classes"])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_callback_that_raises_is_heard_and_all_are_torn_down(labels, depth):
    def answer(context):
        if len(Recorder.path_of(context)) == depth:
            raise RuntimeError("enough")

    depth = min(depth, 2 if labels.dtype == bool else 3)
    first, second = Recorder(), Recorder(answer)
    model = LinearSVC(n_jobs=2).set_callbacks(first, second)
    before = vars(model).copy()
    with pytest.raises(RuntimeError, match="enough"):
        model.fit(IRIS.data, labels)
    assert first.heard[-1][0] == second.heard[-1][0] == "teardown"
    assert vars(model) == before


# ------------------------------------------------------------------------------------------------ what callbacks are given


def test_the_end_of_a_fit_hands_over_the_fitted_estimator_and_its_data():
    recorder, weights = Recorder(), np.linspace(0.5, 1.5, len(Y))
    model = LinearSVC().set_callbacks(recorder).fit(IRIS.data, NAMES)
    ((fitted, data, labels, metadata),) = recorder.models
    assert data.tolist() == IRIS.data.tolist()
    assert labels.tolist() == NAMES.tolist()
    assert metadata is None
    assert fitted is not model
    np.testing.assert_array_equal(fitted.decision_function(data), model.decision_function(data))
    LinearSVC().set_callbacks(recorder).fit(X, Y, sample_weight=weights)
    np.testing.assert_array_equal(recorder.models[1][3]["sample_weight"], weights)


@pytest.mark.parametrize("weights", [None, np.linspace(0.0, 2.0, len(Y))], ids=["alike", "weighted"])
def test_the_scoring_monitor_scores_the_model(weights):
    monitor = callback.ScoringMonitor(scoring="accuracy")
    model = LinearSVC().set_callbacks(monitor).fit(X, Y, sample_weight=weights)
    (row,) = monitor.get_logs().data
    assert row["accuracy"] == accuracy_score(Y, model.predict(X), sample_weight=weights)


def test_a_scorer_without_weights_can_monitor_an_unweighted_fit():
    monitor = callback.ScoringMonitor(scoring=lambda estimator, X, y: {"errors": int((estimator.predict(X) != y).sum())})
    model = LinearSVC().set_callbacks(monitor).fit(X, Y)
    assert monitor.get_logs().data[0]["errors"] == (model.predict(X) != Y).sum()


# --------------------------------------------------------------------------------------------------- scikit-learn's own bar


def test_the_progress_bar_shows_the_fit(capsys):
    LinearSVC().set_callbacks(callback.ProgressBar()).fit(X, Y)
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("LinearSVC - fit")
    assert "100%" in line


@pytest.mark.parametrize("name", ["[/b]", "[red]", "virginica"])
def test_the_progress_bar_shows_each_class_whatever_its_name(capsys, name):
    LinearSVC().set_callbacks(callback.ProgressBar()).fit(IRIS.data, np.array(["a", "b", name])[IRIS.target])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert sum("against the rest" in line and "100%" in line for line in lines) == 3
    assert sum(name.strip("[") in line for line in lines) == 1


def test_the_progress_bar_survives_a_fit_that_raises(capsys):
    model = HardMarginSVC().set_callbacks(callback.ProgressBar())
    with pytest.raises(NotSeparableError):
        model.fit([[0.0], [1.0], [2.0]], [0, 1, 0])
    line = capsys.readouterr().out
    assert "HardMarginSVC - fit" in line
    assert "100%" not in line
    assert not [thread for thread in threading.enumerate() if type(thread).__name__ == "RichProgressMonitor"]


def test_a_pipeline_hands_its_callbacks_down():
    recorder = Propagated()
    pipe = make_pipeline(StandardScaler(), LinearSVC()).set_callbacks(recorder).fit(X, Y)
    assert faults(recorder.heard) == []
    assert len(recorder.gaps(0, 1)) == PARTS
    assert not {"_skl_callbacks", "_parent_callback_ctx"} & vars(pipe[-1]).keys()


def test_a_search_hands_its_callbacks_down():
    recorder = Propagated()
    search = GridSearchCV(LinearSVC(solver="proximal_newton"), {"C": [0.1, 1.0]}, cv=2, error_score="raise")
    search.set_callbacks(recorder).fit(IRIS.data, NAMES)
    assert faults(recorder.heard) == []
    for fit in [(0, 0, k) for k in range(4)] + [(0, 1)]:
        assert [len(recorder.gaps(*fit, k)) for k in range(3)] == [PARTS] * 3


def test_the_progress_bar_shows_a_search_of_a_pipeline(capsys):
    search = GridSearchCV(make_pipeline(StandardScaler(), LinearSVC()), {"linearsvc__C": [0.1, 1.0]}, cv=2)
    search.set_callbacks(callback.ProgressBar(max_propagation_depth=None)).fit(X, Y)
    shown = capsys.readouterr().out
    assert shown.count("LinearSVC - fit") == 5
    assert "100%" in shown


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning", "ignore:.*non-finite")
def test_a_failed_candidate_does_not_end_a_search():
    recorder = Propagated()
    search = GridSearchCV(HardMarginSVC(), {"kernel": ["linear", "rbf"]}, cv=2, refit=False)
    overlap = IRIS.target > 0
    search.set_callbacks(recorder).fit(IRIS.data[overlap], IRIS.target[overlap])
    assert np.isnan(search.cv_results_["mean_test_score"]).tolist() == [True, False]
    assert recorder.heard[-1][0] == "teardown"
    assert [what for what, *_ in recorder.heard].count("setup") == 1


# --------------------------------------------------------------------------------------------- parameters, copies, checks


def test_callbacks_are_no_parameter_and_follow_a_clone():
    recorder = Recorder()
    model = LinearSVC().set_callbacks(recorder)
    assert model.get_params() == LinearSVC().get_params()
    assert clone(model)._skl_callbacks == [recorder]
    assert vars(model.set_callbacks()) == vars(LinearSVC())


def test_a_model_with_callbacks_can_be_pickled():
    model = LinearSVC().set_callbacks(callback.ProgressBar()).fit(X, Y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(again.fit(X, Y).coef_, model.coef_)


@pytest.mark.parametrize("wrong", [Recorder, "ProgressBar", object()], ids=["class", "name", "object"])
def test_what_is_no_callback_is_refused(wrong):
    with pytest.raises(TypeError, match="FitCallback protocol"):
        LinearSVC().set_callbacks(wrong)


def test_scikit_learns_checks_pass_with_callbacks():
    recorder = Recorder()
    results = check_estimator(LinearSVC().set_callbacks(recorder), on_fail=None, on_skip=None)
    assert [result["check_name"] for result in results if result["status"] == "failed"] == []
    assert recorder.heard, "the checks did not run the callbacks"
