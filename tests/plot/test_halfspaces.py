"""Lines, feet and arrows stand where the geometry puts them."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import same_color
from matplotlib.lines import AxLine
from matplotlib.markers import MarkerStyle
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from maxmargin import SVC, Halfspace, HardMarginSVC, LinearSVC, plot
from maxmargin.errors import InvalidInputError
from maxmargin.plot.style import CLASSES, MARKERS
from tests.plot.conftest import labels_of

X = np.array([[0.0, 0.0], [1.0, 0.0], [3.0, 1.0], [3.0, 3.0]])
Y = np.array(["no", "no", "yes", "yes"])
SIGNS = np.array([-1, -1, 1, 1])


def arrows_of(ax):
    """From where to where each arrow goes."""
    return [(np.array(one.xyann), np.array(one.xy)) for one in ax.texts if one.arrow_patch is not None]


def numbers_of(ax):
    return [float(one.get_text().replace("−", "-")) for one in ax.texts if one.get_text() and "=" not in one.get_text()]


def test_each_line_is_where_its_halfspace_is_zero_and_says_its_margin(axes):
    lines = {"by hand": Halfspace([2.0, 0.5], b=-4.0), "widest": HardMarginSVC().fit(X, Y), "wrong": Halfspace([0.0, 1.0], -2.0)}
    display = plot.HalfspacesDisplay.from_halfspaces(lines, X, Y, ax=axes)
    drawn = {line.get_label(): line for line in axes.lines if isinstance(line, AxLine) and not line.get_label().startswith("_")}
    for name, label in zip(lines, drawn, strict=True):
        one = display.halfspaces[name]
        np.testing.assert_allclose(one.decision(np.array([drawn[label].get_xy1(), drawn[label].get_xy2()])), 0.0, atol=1e-12)
        assert display.margins[name] == pytest.approx((SIGNS * (X @ one.w + one.b)).min() / np.linalg.norm(one.w))
        assert f"{display.margins[name]:.3g}".replace("-", "−") in label
    assert display.widest == "widest"
    assert display.margins["wrong"] < 0


def test_the_band_around_the_widest_line_touches_the_closest_samples(axes):
    display = plot.HalfspacesDisplay.from_halfspaces([Halfspace([1.0, 0.0], -2.0), Halfspace([2.0, 1.0], -4.5)], X, Y, ax=axes)
    one, margin = display.halfspaces[display.widest], display.margins[display.widest]
    (band,) = axes.patches
    np.testing.assert_allclose(np.abs(one.distance(band.get_xy())), margin)
    assert labels_of(axes)[:2] == [f"line {k + 1}: margin {m:.3g}" for k, m in enumerate(display.margins.values())]


def test_a_line_needs_two_features_and_a_linear_machine(clouds):
    points, y = clouds
    with pytest.raises(InvalidInputError, match="has 3"):
        plot.HalfspacesDisplay.from_halfspaces([Halfspace([1.0, 2.0, 3.0])], points, y)
    with pytest.raises(InvalidInputError, match="fitted linear classifier"):
        plot.HalfspacesDisplay.from_halfspaces([SVC(kernel="rbf").fit(points, y)], points, y)
    with pytest.raises(InvalidInputError, match="behind StandardScaler"):
        plot.HalfspacesDisplay.from_halfspaces([make_pipeline(StandardScaler(), LinearSVC()).fit(points, y)], points, y)
    with pytest.raises(InvalidInputError, match="At least one"):
        plot.HalfspacesDisplay.from_halfspaces([], points, y)
    frame = pd.DataFrame(points, columns=["east", "north"])
    assert plot.HalfspacesDisplay.from_halfspaces([Halfspace([1.0, 1.0])], frame, y).ax_.get_ylabel() == "north"


def test_a_foot_is_the_nearest_point_of_the_line(axes):
    halfspace, points = Halfspace([3.0, 4.0], b=-5.0), np.array([[3.0, 4.0], [0.0, 0.0], [2.0, -2.0]])
    display = plot.DistanceDisplay.from_halfspace(halfspace, points, ax=axes)
    np.testing.assert_allclose(halfspace.decision(display.feet), 0.0, atol=1e-12)
    along = np.linspace(-20.0, 20.0, 4001)[:, None] * np.array([-0.8, 0.6]) + display.feet[0]
    for x, foot, distance in zip(points, display.feet, display.distances, strict=True):
        assert abs(distance) == pytest.approx(np.linalg.norm(x - foot))
        assert np.linalg.norm(along - x, axis=1).min() >= abs(distance) - 1e-9
    np.testing.assert_allclose(numbers_of(axes), display.distances, atol=5e-3)


def test_the_two_sides_have_the_colours_and_marks_of_the_classes_minus_and_plus_one(axes):
    plot.DistanceDisplay.from_halfspace(Halfspace([3.0, 4.0], b=-5.0), [[3.0, 4.0], [0.0, 0.0]], ax=axes)
    drawn = {points.get_label(): points for points in axes.collections}
    for words, colour, marker in (("F < 0", CLASSES[0], MARKERS[0]), ("F > 0", CLASSES[1], MARKERS[1])):
        points = drawn[f"x with {words}, and F(x)/‖w‖"]
        assert same_color(points.get_facecolor()[0], colour)
        mark = MarkerStyle(marker)
        np.testing.assert_array_equal(points.get_paths()[0].vertices, mark.get_path().transformed(mark.get_transform()).vertices)


def test_the_projection_of_any_difference_has_the_same_length(axes):
    halfspace, x = Halfspace([3.0, 4.0], b=-5.0), np.array([[3.0, 4.0]])
    for p in ([-1.0, 2.0], [7.0, 0.0]):
        display = plot.DistanceDisplay.from_halfspace(halfspace, x, through=p, ax=axes)
        assert halfspace.decision(display.through[None])[0] == pytest.approx(0.0, abs=1e-12)
        assert (x[0] - display.through) @ halfspace.normalized().w == pytest.approx(display.distances[0])
    with pytest.raises(InvalidInputError, match="in the plane"):
        plot.DistanceDisplay.from_halfspace(halfspace, [[1.0, 2.0, 3.0]])


def test_a_slack_arrow_ends_on_the_line_of_its_class_and_is_as_long_as_its_slack(clouds, axes):
    points, y = clouds
    model = LinearSVC(C=0.5, tol=1e-8).fit(points, y)
    display = plot.SlackDisplay.from_estimator(model, points, y, ax=axes)
    signs, F = np.where(y == "yes", 1.0, -1.0), model.decision_function(points)
    np.testing.assert_allclose(display.xi, np.maximum(0.0, 1.0 - signs * F))
    ends = model.decision_function(display.tips)
    np.testing.assert_allclose((signs * ends)[display.xi > 0], 1.0)
    lengths = np.linalg.norm(display.tips - points, axis=1)
    np.testing.assert_allclose(lengths, display.xi / np.linalg.norm(model.coef_), atol=1e-12)
    found = arrows_of(axes)
    assert len(found) == int((display.xi > 1e-3).sum()) + 1  # and the width
    np.testing.assert_allclose([end for _, end in found[:-1]], display.tips[display.xi > 1e-3])


def test_the_width_is_measured_from_the_hyperplane_to_the_margin(axes):
    model = HardMarginSVC().fit(X, Y)
    display = plot.SlackDisplay.from_estimator(model, X, Y, ax=axes)
    assert display.xi == pytest.approx(np.zeros(4), abs=1e-6)
    ((start, end),) = arrows_of(axes)
    np.testing.assert_allclose(model.decision_function([start, end]), [0.0, 1.0], atol=1e-9)
    assert np.linalg.norm(end - start) == pytest.approx(model.certificate_.margin)
    assert "slack ξ, in widths 1/‖w‖" not in labels_of(axes)


def test_numbers_of_many_slacks_are_left_out(clouds, axes):
    points, y = clouds
    plot.SlackDisplay.from_estimator(Halfspace([0.1, 0.1]), points, y, ax=axes)
    assert numbers_of(axes) == []
