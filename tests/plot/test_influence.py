"""The machine without a sample is the one that leave-one-out means."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from maxmargin import SVC, HardMarginSVC, LinearSVC, Regularization, leave_one_out, plot
from maxmargin.errors import InvalidInputError


@pytest.mark.parametrize(
    "model",
    [
        LinearSVC(C=0.3),
        LinearSVC(C=Regularization.mean(20.0), class_weight={"no": 2.0}, fit_intercept=False),
        SVC(C=1.0),
        SVC(C=1.0, gamma=0.7, class_weight="balanced"),
    ],
)
def test_the_values_without_a_sample_are_those_of_leave_one_out(clouds, model):
    X, y = clouds
    samples = [0, 7, 20, 31]
    display = plot.InfluenceDisplay.from_estimator(model, X, y, samples=samples, grid_resolution=5)
    exact = leave_one_out(model, X, y, decision_values=True)
    signs = np.where(y == "yes", 1.0, -1.0)
    np.testing.assert_allclose(display.after, (signs * exact.decision_values)[samples], atol=2e-4)


def test_there_is_a_panel_for_each_case_that_occurs(clouds):
    X, y = clouds
    display = plot.InfluenceDisplay.from_estimator(LinearSVC(C=0.3), X, y, grid_resolution=30)
    assert [title.split(":")[0] for title in display.titles] == ["Case 1", "Case 2", "Case 3", "A training error"]
    outside, on, inside, wrong = range(4)
    assert display.alpha[outside] == 0.0
    np.testing.assert_allclose(display.without[outside], display.panels[outside].response, atol=1e-3)
    assert 0.0 < display.alpha[on] < 0.3
    assert display.xi[on] == pytest.approx(0.0, abs=1e-6)
    assert display.alpha[inside] == pytest.approx(0.3)
    assert display.xi[inside] <= 1.0 < display.xi[wrong]
    assert display.after[wrong] < 0
    radius2 = (X**2).sum(axis=1).max()
    np.testing.assert_allclose(display.lemma, 2.0 * display.alpha * radius2 + display.xi)
    assert [len(one.collections) > 0 for one in display.axes_.ravel()] == [True] * 4
    assert display.axes_.ravel()[3].get_title().startswith("A training error\nα = 0.3")


def test_a_hard_margin_without_a_support_vector_is_wider(axes):
    X, y = [[0.0, 0.0], [1.0, 0.0], [3.0, 1.0], [3.0, 3.0]], [0, 0, 1, 1]
    display = plot.InfluenceDisplay.from_estimator(HardMarginSVC(), X, y, samples=[1], grid_resolution=10, ax=axes)
    assert display.after[0] < 1.0 == pytest.approx(display.before[0])
    assert display.plot(Figure().subplots()).titles == ["Case 2: on the margin"]


def test_what_cannot_be_drawn_is_refused(clouds):
    X, y = clouds
    with pytest.raises(InvalidInputError, match="two classes, got 3"):
        plot.InfluenceDisplay.from_estimator(LinearSVC(), X, np.arange(len(y)) % 3)
    with pytest.raises(InvalidInputError, match="the only one of its class"):
        plot.InfluenceDisplay.from_estimator(LinearSVC(), X, np.arange(len(y)) == 3, samples=[3])
    with pytest.raises(InvalidInputError, match="2 axes are needed"):
        plot.InfluenceDisplay.from_estimator(LinearSVC(), X, y, samples=[0, 1], grid_resolution=5, ax=Figure().subplots())
    with pytest.raises(InvalidInputError, match="of two features"):
        plot.InfluenceDisplay.from_estimator(LinearSVC(), np.column_stack([X, X]), y, samples=[0])
