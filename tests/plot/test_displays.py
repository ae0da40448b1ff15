"""Each display draws the model's own numbers, on the axes that it is given."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from maxmargin import SVC, LinearSVC, PegasosSVC, Perceptron, SettledBy, certify, l1_path, leave_one_out, plot
from maxmargin.analysis.leave_one_out.theorems import Verdict
from maxmargin.core import loss_from_name
from maxmargin.core.certificate.groups import ABSENT, INSIDE, ON, OUTSIDE
from maxmargin.errors import InvalidInputError, MissingExtraError
from maxmargin.plot.leave_one_out import VERDICTS
from maxmargin.plot.style import GROUPS

matplotlib = pytest.importorskip("matplotlib")
from matplotlib.colors import to_rgb  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402


@pytest.fixture(scope="module")
def clouds():
    rng = np.random.default_rng(0)
    y = np.where(np.arange(60) % 2, 1, -1)
    return rng.standard_normal((60, 2)) * 0.9 + np.outer(y, [1.1, 0.6]), np.where(y > 0, "yes", "no")


@pytest.fixture
def axes():
    return Figure().subplots()


def labels_of(ax):
    return ax.get_legend_handles_labels()[1]


# -- the boundary ------------------------------------------------------------------------------------------------


def test_the_boundary_is_where_the_decision_is_zero(clouds, axes):
    X, y = clouds
    model = SVC(C=1.0, gamma=0.5).fit(X, y)
    display = plot.DecisionBoundaryDisplay.from_estimator(model, X, y, ax=axes, grid_resolution=80)
    grid = np.column_stack([display.xx0.ravel(), display.xx1.ravel()])
    np.testing.assert_allclose(display.response.ravel(), model.decision_function(grid))
    drawn = [path.vertices for c in axes.collections if hasattr(c, "levels") for path in c.get_paths()]
    lines = np.concatenate(drawn[1:])  # the first is the band
    levels = model.decision_function(lines[(np.abs(lines - X.mean(0)) < 2).all(axis=1)])
    assert np.abs(levels[:, None] - [-1.0, 0.0, 1.0]).min(axis=1).max() < 0.05


def test_samples_are_drawn_once_with_the_colour_of_their_group(clouds, axes):
    X, y = clouds
    model = SVC(C=1.0, kernel="linear").fit(X, y)
    plot.DecisionBoundaryDisplay.from_estimator(model, X, y, ax=axes, grid_resolution=20)
    groups = certify(model, X, y).groups
    drawn = dict.fromkeys(GROUPS, 0)
    for points in axes.collections:
        if (
            points.get_label().startswith("_")
            and len(getattr(points, "get_offsets", list)())
            and not hasattr(points, "levels")
        ):
            face = tuple(points.get_facecolor()[0][:3])
            group = next(g for g, look in GROUPS.items() if np.allclose(to_rgb(look.face), face))
            drawn[group] += len(points.get_offsets())
    assert [drawn[OUTSIDE], drawn[ON], drawn[INSIDE]] == list(groups)


def test_areas_grow_with_alpha(clouds, axes):
    X, y = clouds
    model = SVC(C=1.0, kernel="linear").fit(X, y)
    display = plot.DecisionBoundaryDisplay.from_estimator(model, X, y, ax=axes, grid_resolution=20)
    sizes = {}
    for points in axes.collections:
        if points.get_label().startswith("_") and not hasattr(points, "levels"):
            sizes |= {tuple(p): s for p, s in zip(points.get_offsets(), points.get_sizes(), strict=False)}
    area = np.array([sizes[tuple(x)] for x in X])
    order = np.argsort(display.alpha)
    assert (np.diff(area[order]) >= -1e-9).all()
    np.testing.assert_array_equal(display.alpha[model.support_], np.abs(model.dual_coef_[0]))


def test_training_errors_get_a_cross(clouds, axes):
    X, y = clouds
    model = LinearSVC(C=0.01).fit(X, y)
    plot.DecisionBoundaryDisplay.from_estimator(model, X, y, ax=axes, grid_resolution=20)
    (crosses,) = [c for c in axes.collections if c.get_label() == "training error"]
    wrong = X[model.predict(X) != y]
    np.testing.assert_array_equal(np.sort(crosses.get_offsets(), axis=0), np.sort(wrong, axis=0))
    assert {"class no", "class yes", "F = 0"} <= set(labels_of(axes))


def test_regions_are_drawn_for_more_classes_and_names_come_from_the_frame():
    rng = np.random.default_rng(1)
    y = np.arange(60) % 3
    X = pd.DataFrame(rng.standard_normal((60, 2)) + 2.0 * np.eye(3)[y, :2], columns=["length", "width"])
    display = plot.DecisionBoundaryDisplay.from_estimator(SVC().fit(X, y), X, y, grid_resolution=40)
    assert display.ax_.get_xlabel() == "length"
    assert display.ax_.get_ylabel() == "width"
    assert set(np.unique(display.response)) <= {0.0, 1.0, 2.0}
    assert display.ax_.figure is display.figure_


@pytest.mark.parametrize(
    "model", [Perceptron(max_iter=3), PegasosSVC(n_epochs=1000), LinearSVC(loss="squared_hinge")], ids=repr
)
@pytest.mark.filterwarnings("ignore::maxmargin.ConvergenceWarning")
def test_the_other_estimators_have_boundaries_too(model, clouds, axes):
    X, y = sp.csr_array(clouds[0]), clouds[1]
    display = plot.DecisionBoundaryDisplay.from_estimator(model.fit(X, y), X, y, ax=axes, grid_resolution=20)
    assert display.ax_ is axes


def test_a_boundary_needs_two_features(clouds):
    X, y = np.hstack([clouds[0], clouds[0]]), clouds[1]
    with pytest.raises(InvalidInputError, match="two features"):
        plot.DecisionBoundaryDisplay.from_estimator(LinearSVC().fit(X, y), X, y)


# -- the effect of C ---------------------------------------------------------------------------------------------


def test_a_larger_cost_makes_a_narrower_margin(clouds):
    X, y = clouds
    Cs = (0.01, 0.1, 1.0, 10.0)
    display = plot.CostEffectDisplay.from_estimator(LinearSVC(tol=1e-6), X, y, Cs=Cs, grid_resolution=20)
    fits = [LinearSVC(C=C, tol=1e-6).fit(X, y) for C in Cs]
    np.testing.assert_allclose(display.margins, [1.0 / np.linalg.norm(fit.coef_) for fit in fits])
    np.testing.assert_array_equal(display.n_support, [len(fit.support_) for fit in fits])
    assert (np.diff(display.margins) < 0).all()
    assert display.axes_.shape == (2, 2)
    titles = [ax.get_title() for ax in display.axes_.ravel()]
    assert titles[0].startswith("C = 0.01: margin ")
    assert len({ax.get_xlim() for ax in display.axes_.ravel()}) == 1


def test_given_axes_are_used_and_counted(clouds):
    X, y = clouds
    axes = Figure().subplots(1, 3)
    display = plot.CostEffectDisplay.from_estimator(
        SVC(kernel="linear"), X, y, Cs=[0.1, 1.0, 2.0], ax=axes, grid_resolution=10
    )
    assert display.figure_ is axes[0].figure
    with pytest.raises(InvalidInputError, match="3 axes"):
        display.plot(axes[:2])
    with pytest.raises(InvalidInputError, match="two classes"):
        plot.CostEffectDisplay.from_estimator(SVC(), X, np.arange(60) % 3)


# -- losses, gap, margins ----------------------------------------------------------------------------------------


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
    np.testing.assert_array_equal(axes.lines[2].get_ydata(), np.maximum(display.gaps[display.worst], 1e-17))


def test_a_model_without_a_gap_is_refused(clouds):
    X, y = clouds
    with pytest.raises(InvalidInputError, match="no trace_"), pytest.warns(match="mistakes"):
        plot.GapDisplay.from_estimator(Perceptron(max_iter=1).fit(X, y))
    with pytest.raises(InvalidInputError, match="at least one"):
        plot.GapDisplay.from_traces([])


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


def test_the_histogram_counts_the_models_margins(clouds, axes):
    X, y = clouds
    model = SVC(C=1.0).fit(X, y)
    plot.MarginsDisplay.from_estimator(model, X, y, ax=axes)
    z = np.where(y == "yes", 1, -1) * model.decision_function(X)
    assert sum(bar.get_height() for bars in axes.containers for bar in bars) == 60
    wrong = next(bars for bars in axes.containers if bars.get_label().startswith("wrong"))
    assert sum(bar.get_height() for bar in wrong) == (z <= 0).sum()
    assert len({bars.patches[0].get_hatch() for bars in axes.containers}) == len(axes.containers)
    assert axes.get_ylabel() == "samples"


def test_one_problem_of_several_is_chosen(clouds, axes):
    X, _ = clouds
    y = np.arange(60) % 3
    model = SVC().fit(X, y)
    with pytest.raises(InvalidInputError, match="0: 0 against 1, 1: 0 against 2"):
        plot.MarginsDisplay.from_estimator(model, X, y)
    display = plot.MarginsDisplay.from_estimator(model, X, y, problem=1, ax=axes)
    assert sum(getattr(display.histogram, zone).sum() for zone in ("wrong", "inside", "outside")) == 40


# -- leave-one-out and the path ----------------------------------------------------------------------------------


def test_verdicts_stand_at_their_slack_and_dual_variable(clouds, axes):
    X, y = clouds
    result = leave_one_out(LinearSVC(C=0.1), X, y)
    display = plot.LeaveOneOutDisplay.from_result(result, y, ax=axes)
    estimate = result.xi_alpha
    drawn = np.concatenate([c.get_offsets() for c in axes.collections if not c.get_label().startswith("leave-one-out")])
    expected = np.column_stack([estimate.xi, estimate.alpha])
    np.testing.assert_array_equal(drawn[np.lexsort(drawn.T)], expected[np.lexsort(expected.T)])
    wrong = result.predictions != y
    (ring,) = [c for c in axes.collections if c.get_label() == f"leave-one-out error ({wrong.sum()})"]
    np.testing.assert_array_equal(ring.get_offsets(), expected[wrong])
    lemma = next(line for line in axes.lines if "lemma" in line.get_label())
    np.testing.assert_allclose(2 * lemma.get_ydata() * estimate.radius2 + lemma.get_xdata(), 1.0)
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("slack ξ", "dual variable α")


def test_every_verdict_has_a_look():
    names = {how.name for how in SettledBy} - {"ABSENT"}
    assert names | {verdict.name for verdict in Verdict} == set(VERDICTS)


def test_several_problems_are_drawn_one_at_a_time(clouds, axes):
    X, y = clouds
    result = leave_one_out(SVC(), X, np.arange(60) % 3)
    with pytest.raises(InvalidInputError, match="from_xi_alpha"):
        plot.LeaveOneOutDisplay.from_result(result, np.arange(60) % 3)
    display = plot.LeaveOneOutDisplay.from_xi_alpha(result.xi_alpha[0], ax=axes)
    assert display.is_error is None
    np.testing.assert_array_equal(display.verdicts == "WRONG", display.xi > 1)
    with pytest.raises(InvalidInputError, match="60 labels"):
        plot.LeaveOneOutDisplay.from_result(leave_one_out(LinearSVC(), X, y), ["a"])


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


def test_the_outliers_of_a_ramp_are_drawn_as_left_out(clouds, axes):
    X, y = clouds
    model = LinearSVC(loss="ramp").fit(X, y)
    display = plot.DecisionBoundaryDisplay.from_estimator(model, X, y, ax=axes, grid_resolution=20)
    assert len(model.outliers_) > 0
    np.testing.assert_array_equal(np.flatnonzero(display.groups == ABSENT), np.sort(model.outliers_))
    assert GROUPS[ABSENT].label in labels_of(axes)
    margins = plot.MarginsDisplay.from_estimator(model, X, y)
    assert margins.histogram.wrong.sum() == (model.predict(X) != y).sum()


# -- all of them -------------------------------------------------------------------------------------------------


def test_a_second_plot_goes_elsewhere_with_the_same_numbers(axes):
    first = plot.LossesDisplay.from_losses(["hinge"])
    again = first.plot(axes, legend=False)
    assert again is first
    assert first.ax_ is axes
    assert axes.get_legend() is None


@pytest.mark.parametrize("name", plot.__all__)
def test_each_display_shows_an_example(name):
    assert ">>>" in getattr(plot, name).__doc__


def test_without_matplotlib_the_extra_is_named():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from maxmargin import plot, errors\n"
        "try: plot.LossesDisplay.from_losses()\n"
        "except errors.MissingExtraError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert "pip install 'maxmargin[plot]'" in done.stdout
    assert issubclass(MissingExtraError, ImportError)
