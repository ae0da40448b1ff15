"""The curves are the numbers of losses, traces and paths."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from maxmargin import SVC, LinearSVC, PegasosSVC, Perceptron, Problem, l1_path, plot, solvers
from maxmargin.core import loss_from_name
from maxmargin.errors import InvalidInputError
from tests.plot.conftest import labels_of


def test_the_losses_are_those_of_the_library(axes):
    display = plot.LossesDisplay.from_losses(ax=axes)
    assert list(display.values) == ["zero_one", "hinge", "ramp", "perceptron", "squared_hinge"]
    for line, name in zip(axes.lines, display.values, strict=False):
        np.testing.assert_array_equal(line.get_ydata(), loss_from_name(name).value(line.get_xdata()))
    assert len({line.get_linestyle() for line in axes.lines[:5]}) >= 4  # told apart without colours
    assert len({line.get_color() for line in axes.lines[:5]}) == 5
    assert axes.get_xlabel() == "z = y F(x)"


def test_the_gap_is_that_of_the_trace(clouds, axes):
    X, y = clouds
    model = PegasosSVC(C=0.1, tol=1e-2).fit(X, y)
    display = plot.GapDisplay.from_estimator(model, ax=axes)
    gaps = [point.relative_gap for point in model.trace_]
    np.testing.assert_array_equal(display.gaps[0], gaps)
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), gaps)
    np.testing.assert_array_equal(axes.lines[0].get_xdata(), [point.seconds for point in model.trace_])
    assert "tol = 0.01" in labels_of(axes)
    assert (axes.get_yscale(), axes.get_ylabel()) == ("log", "relative duality gap")


def test_the_worst_of_several_gaps_is_in_front(clouds, axes):
    X, _ = clouds
    y = np.arange(60) % 3
    model = LinearSVC().fit(X, y)
    display = plot.GapDisplay.from_estimator(model, ax=axes)
    assert display.gaps[display.worst][-1] == pytest.approx(model.certificate_.worst.relative_gap)
    front = max(axes.lines, key=lambda line: line.get_zorder())
    np.testing.assert_array_equal(front.get_ydata(), np.maximum(display.gaps[display.worst], 1e-17))


def test_a_model_without_a_gap_is_refused(clouds):
    X, y = clouds
    with pytest.raises(InvalidInputError, match="no trace_"), pytest.warns(match="mistakes"):
        plot.GapDisplay.from_estimator(Perceptron(max_iter=1).fit(X, y))
    with pytest.raises(InvalidInputError, match="at least one"):
        plot.GapDisplay.from_traces([])


def test_the_primal_and_dual_values_close_in_on_the_optimum(clouds, axes):
    X, y = clouds
    for model in (SVC(C=10.0), LinearSVC(C=10.0)):
        model.fit(X, y)
        axes.clear()
        display = plot.GapDisplay.from_training(model, X, y, ax=axes)
        assert len(display.traces[0]) >= 4
        assert display.gaps[0][-1] <= model.tol
        primal, dual = (line.get_ydata() for line in axes.lines)
        best = clone(model).set_params(tol=1e-9).fit(X, y).certificate_
        assert (np.diff(primal) <= 0).all()
        assert (np.diff(dual) >= 0).all()
        assert (primal >= best.dual).all()
        assert (dual <= best.primal).all()
        assert axes.get_xlabel() == "rounds"
        np.testing.assert_array_equal(axes.lines[0].get_xdata(), [point.iteration for point in display.traces[0]])


def test_traces_of_two_solvers_have_their_names(clouds, axes):
    X, y = clouds
    problem = Problem(X, np.where(y == "yes", 1.0, -1.0), cost=np.ones(len(y)))
    traces = {solver.name: solvers.solve(problem, solver).trace for solver in (solvers.DualCD(), solvers.InteriorPoint())}
    plot.GapDisplay.from_traces(traces, tol=1e-3, ax=axes)
    assert labels_of(axes) == ["DualCD", "InteriorPoint", "tol = 0.001"]
    assert len({line.get_color() for line in axes.lines}) == 3
    axes.clear()
    plot.GapDisplay.from_traces(list(traces.values()), ax=axes)
    assert labels_of(axes) == ["trace 1", "trace 2"]
    with pytest.raises(InvalidInputError, match="'gap', 'values'"):
        plot.GapDisplay.from_traces(traces, shows="all")


def test_what_is_said_of_the_losses_is_not_refuted_by_their_values():
    """The hinge is no smallest convex loss: the squared hinge is convex, above the 0–1 loss, and smaller inside the margin."""
    display = plot.LossesDisplay.from_losses()
    z, values = display.z, display.values
    for name in ("hinge", "squared_hinge"):
        assert (values[name] >= values["zero_one"]).all()
        even = loss_from_name(name).value(np.linspace(-2.0, 2.0, 401))
        assert (np.diff(even, 2) >= -1e-12).all()
    inside, wrong = (z > 1e-9) & (z < 1), z < 0  # the smallest z > 0 is 0 beside 1
    assert (values["squared_hinge"] < values["hinge"])[inside].all()
    assert (values["squared_hinge"] > values["hinge"])[wrong].all()
    assert (values["zero_one"] <= values["ramp"]).all()
    assert (values["ramp"] <= values["hinge"]).all()
    assert (values["perceptron"][z >= 0] == 0).all()
    assert "smallest" not in plot.LossesDisplay.__doc__


def test_the_path_draws_each_feature_and_names_the_first(axes):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 5))
    path = l1_path(X, X @ [2.0, -1.0, 0.5, 0.0, 0.0] + 0.3 * rng.standard_normal(80) > 0, Cs=8)
    display = plot.L1PathDisplay.from_path(path, feature_names=list("abcde"), n_named=2, ax=axes)
    first, second = path.entry_order[:2]
    drawn = {line.get_label(): line.get_ydata() for line in axes.lines}
    np.testing.assert_array_equal(drawn["abcde"[first]], path.coef[:, first])
    np.testing.assert_array_equal(drawn["abcde"[second]], path.coef[:, second])
    assert f"{len(path.entry_order) - 2} more features" in labels_of(axes)
    assert (display.ax_.get_xscale(), display.ax_.get_xlabel()) == ("log", "C")
    with pytest.raises(InvalidInputError, match="5 feature names"):
        plot.L1PathDisplay.from_path(path, feature_names=["a"])


def test_the_gap_of_a_search_is_that_of_its_best_machine(clouds, axes):
    X, y = clouds
    model = GridSearchCV(make_pipeline(StandardScaler(), LinearSVC()), {"linearsvc__C": [1.0]}, cv=2).fit(X, y)
    display = plot.GapDisplay.from_estimator(model, ax=axes)
    assert display.gaps[0][-1] == model.best_estimator_[-1].trace_[-1].relative_gap
    again = plot.GapDisplay.from_training(model, X, y, ax=axes)
    own = plot.GapDisplay.from_training(model.best_estimator_[-1], model.best_estimator_[:-1].transform(X), y, ax=axes)
    np.testing.assert_array_equal(again.gaps[0], own.gaps[0])
