"""The boundary and the samples are those of the model."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from maxmargin import SVC, Halfspace, LinearSVC, PegasosSVC, Perceptron, certify, plot
from maxmargin.core.certificate.parts import ABSENT, INSIDE, ON, OUTSIDE
from maxmargin.errors import InvalidInputError
from maxmargin.plot.style import CLASSES, GROUPS
from tests.plot.conftest import labels_of

RINGS = 5
"""The height at which rings are drawn."""


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


def drawn_samples(axes):
    """The collections of samples: not those of the legend, of rings, of errors and of contours."""
    return [
        one for one in axes.collections
        if one.get_label().startswith("_") and not hasattr(one, "levels") and len(one.get_offsets()) and one.get_zorder() != RINGS
    ]  # fmt: skip


def test_the_colour_of_a_sample_tells_its_class_and_rings_tell_which_are_on_the_margin(clouds, axes):
    X, y = clouds
    model = SVC(C=1.0, kernel="linear").fit(X, y)
    display = plot.DecisionBoundaryDisplay.from_estimator(model, X, y, ax=axes, grid_resolution=20)
    groups = certify(model, X, y).groups
    colours, opacities = {}, dict.fromkeys(GROUPS, 0)
    for points in drawn_samples(axes):
        colour = to_hex(points.get_facecolor()[0])
        colours[colour] = colours.get(colour, 0) + len(points.get_offsets())
        opacities[next(k for k, look in GROUPS.items() if look.opacity == points.get_alpha())] += len(points.get_offsets())
    assert colours == {CLASSES[0].lower(): (y == "no").sum(), CLASSES[1].lower(): (y == "yes").sum()}
    assert [opacities[OUTSIDE], opacities[ON], opacities[INSIDE]] == list(groups)
    (rings,) = [one for one in axes.collections if one.get_zorder() == RINGS]
    np.testing.assert_array_equal(rings.get_offsets(), X[display.groups == ON])


def test_areas_grow_with_alpha_and_many_samples_get_small_marks(clouds, axes):
    X, y = clouds
    model = SVC(C=1.0, kernel="linear").fit(X, y)
    display = plot.DecisionBoundaryDisplay.from_estimator(model, X, y, ax=axes, grid_resolution=20)
    sizes = {}
    for points in drawn_samples(axes):
        sizes |= {tuple(p): s for p, s in zip(points.get_offsets(), points.get_sizes(), strict=False)}
    area = np.array([sizes[tuple(x)] for x in X])
    order = np.argsort(display.alpha)
    assert (np.diff(area[order]) >= -1e-9).all()
    np.testing.assert_array_equal(display.alpha[model.support_], np.abs(model.dual_coef_[0]))
    X, y = np.tile(X, (20, 1)), np.tile(y, 20)
    axes.clear()
    plot.DecisionBoundaryDisplay.from_estimator(SVC(C=1.0, kernel="linear").fit(X, y), X, y, ax=axes, grid_resolution=20)
    assert max(points.get_sizes().max() for points in drawn_samples(axes)) < 0.5 * area.max()


def test_units_are_as_long_on_both_axes_unless_one_would_be_very_narrow(clouds):
    X, y = clouds
    model = LinearSVC().fit(X, y)
    assert plot.DecisionBoundaryDisplay.from_estimator(model, X, y, grid_resolution=5).ax_.get_aspect() == 1.0
    assert plot.DecisionBoundaryDisplay.from_estimator(model, X, y, grid_resolution=5, aspect="auto").ax_.get_aspect() == "auto"
    wide = X * [100.0, 1.0]
    display = plot.DecisionBoundaryDisplay.from_estimator(LinearSVC().fit(wide, y), wide, y, grid_resolution=5)
    assert display.ax_.get_aspect() == "auto"
    with pytest.raises(InvalidInputError, match="aspect must be"):
        plot.DecisionBoundaryDisplay.from_estimator(model, X, y, grid_resolution=5, aspect=2.0)


def test_a_halfspace_is_drawn_with_its_margin(clouds, axes):
    X, y = clouds
    model = LinearSVC().fit(X, y)
    halfspace = Halfspace(model.coef_[0], model.intercept_[0])
    frame = pd.DataFrame(X, columns=["east", "north"])
    display = plot.DecisionBoundaryDisplay.from_estimator(halfspace, frame, y, ax=axes, grid_resolution=20)
    again = plot.DecisionBoundaryDisplay.from_estimator(model, X, y, grid_resolution=20)
    np.testing.assert_allclose(display.response, again.response)
    np.testing.assert_array_equal(display.is_wrong, again.is_wrong)
    assert axes.get_xlabel() == "east"
    assert sum(len(points.get_offsets()) for points in drawn_samples(axes)) == len(X)
    with pytest.raises(InvalidInputError, match="w of 3 numbers"):
        plot.DecisionBoundaryDisplay.from_estimator(Halfspace([1.0, 2.0, 3.0]), X, y)
    with pytest.raises(InvalidInputError, match="two features and a label of two classes each, got X of shape"):
        plot.DecisionBoundaryDisplay.from_estimator(halfspace, X, np.zeros(len(y)))
    with pytest.raises(InvalidInputError, match="trained on nothing"):
        plot.DecisionBoundaryDisplay.from_estimator(halfspace, X, y, sample_weight=np.ones(len(y)))


@pytest.mark.parametrize("layout", [None, "constrained"])
@pytest.mark.parametrize("panels", [2, 4])
def test_the_legend_stays_off_the_next_axes(clouds, layout, panels):
    X, y = clouds
    figure = Figure(figsize=(12, 4), layout=layout)
    first, second, *_ = figure.subplots(1, panels)
    display = plot.DecisionBoundaryDisplay.from_estimator(SVC().fit(X, y), X, y, ax=first, grid_resolution=10)
    figure.draw_without_rendering()
    assert first.get_legend().get_window_extent().x1 <= second.get_tightbbox().x0 + 1.0
    width = first.get_position().width
    display.plot(first)
    figure.draw_without_rendering()
    assert first.get_position().width == pytest.approx(width, rel=0.02)  # it does not shrink each time


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


@pytest.mark.parametrize("model", [Perceptron(max_iter=3), PegasosSVC(n_epochs=1000), LinearSVC(loss="squared_hinge")], ids=repr)
@pytest.mark.filterwarnings("ignore::maxmargin.ConvergenceWarning")
def test_the_other_estimators_have_boundaries_too(model, clouds, axes):
    X, y = sp.csr_array(clouds[0]), clouds[1]
    display = plot.DecisionBoundaryDisplay.from_estimator(model.fit(X, y), X, y, ax=axes, grid_resolution=20)
    assert display.ax_ is axes


def test_a_boundary_needs_two_features(clouds):
    X, y = np.hstack([clouds[0], clouds[0]]), clouds[1]
    with pytest.raises(InvalidInputError, match="two features"):
        plot.DecisionBoundaryDisplay.from_estimator(LinearSVC().fit(X, y), X, y)


def test_the_outliers_of_a_ramp_are_drawn_as_left_out(clouds, axes):
    X, y = clouds
    model = LinearSVC(loss="ramp").fit(X, y)
    display = plot.DecisionBoundaryDisplay.from_estimator(model, X, y, ax=axes, grid_resolution=20)
    assert len(model.outliers_) > 0
    np.testing.assert_array_equal(np.flatnonzero(display.groups == ABSENT), np.sort(model.outliers_))
    assert GROUPS[ABSENT].label in labels_of(axes)
    margins = plot.MarginsDisplay.from_estimator(model, X, y)
    assert margins.histogram.wrong.sum() == (model.predict(X) != y).sum()


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
    display = plot.CostEffectDisplay.from_estimator(SVC(kernel="linear"), X, y, Cs=[0.1, 1.0, 2.0], ax=axes, grid_resolution=10)
    assert display.figure_ is axes[0].figure
    with pytest.raises(InvalidInputError, match="3 axes"):
        display.plot(axes[:2])
    with pytest.raises(InvalidInputError, match="two classes"):
        plot.CostEffectDisplay.from_estimator(SVC(), X, np.arange(60) % 3)


@pytest.mark.parametrize("steps", [(StandardScaler(),), (PolynomialFeatures(2), StandardScaler())])
@pytest.mark.parametrize("is_frame", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_pipeline_is_drawn_in_the_features_that_it_is_given(clouds, axes, steps, is_frame, n_classes):
    X, y = clouds
    X, y = X * [1.0, 50.0] + [0.0, 700.0], y if n_classes == 2 else np.arange(60) % 3
    rows = pd.DataFrame(X, columns=["age", "income"]) if is_frame else X
    model = make_pipeline(*steps, SVC()).fit(rows, y)
    display = plot.DecisionBoundaryDisplay.from_estimator(model, rows, y, ax=axes, grid_resolution=20)
    np.testing.assert_array_equal(display.X, X)
    grid = np.column_stack([display.xx0.ravel(), display.xx1.ravel()])
    grid = pd.DataFrame(grid, columns=["age", "income"]) if is_frame else grid
    expected = model.decision_function(grid) if n_classes == 2 else model.predict(grid)
    np.testing.assert_allclose(display.response.ravel(), expected)
    np.testing.assert_array_equal(display.is_wrong, model.predict(rows) != y)
    assert axes.get_xlabel() == ("age" if is_frame else "feature 0")
    assert axes.get_ylim()[0] > 400


def test_behind_steps_that_leave_two_features_these_are_drawn(clouds, axes):
    X, y = clouds
    rows = np.hstack([X, X + np.sin(X)])
    model = make_pipeline(PCA(2, svd_solver="covariance_eigh"), SVC()).fit(rows, y)
    display = plot.DecisionBoundaryDisplay.from_estimator(model, rows, y, ax=axes, grid_resolution=20)
    np.testing.assert_allclose(display.X, model[:-1].transform(rows))
    assert axes.get_xlabel() == "pca0"
    with pytest.raises(InvalidInputError, match="needs two features"):
        plot.DecisionBoundaryDisplay.from_estimator(make_pipeline(StandardScaler(), SVC()).fit(rows, y), rows, y)


def test_the_effect_of_c_is_that_on_whole_pipelines(clouds):
    X, y = clouds
    weights = np.arange(60) % 3
    model = make_pipeline(StandardScaler(), SVC(kernel="linear"))
    effect = plot.CostEffectDisplay.from_estimator(model, X, y, Cs=[0.1, 10.0], sample_weight=weights, grid_resolution=10)
    for C, margin in zip(effect.Cs, effect.margins, strict=True):
        fitted = model.set_params(svc__C=C).fit(X, y, svc__sample_weight=weights)
        assert margin == pytest.approx(1.0 / np.linalg.norm(fitted[-1].coef_))
