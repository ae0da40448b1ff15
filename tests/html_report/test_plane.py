"""Projections: the places are what the captions say."""

import numpy as np
import pytest
from contourpy import contour_generator
from sklearn.decomposition import PCA

from maxmargin import SVC, LinearSVC
from maxmargin.html_report.plane import _leading, evenly, lead
from maxmargin.html_report.svg import Chart, Scale
from maxmargin.html_report.words import number
from tests.html_report.pages import iris


def test_components_are_those_of_a_principal_component_analysis():
    X = np.random.default_rng(0).standard_normal((40, 6)) * [5, 3, 1, 1, 1, 1]
    ours, theirs = _leading(X @ X.T, 2), PCA(2).fit_transform(X)
    for k in range(2):
        sign = np.sign(ours[:, k] @ theirs[:, k])
        np.testing.assert_allclose(ours[:, k], sign * theirs[:, k], atol=1e-9)


def test_fewer_samples_than_components_are_padded():
    assert _leading(np.ones((1, 1)), 2).tolist() == [[0.0, 0.0]]


def test_rows_are_evenly_chosen():
    assert evenly(5, 10).tolist() == [0, 1, 2, 3, 4]
    chosen = evenly(1000, 11)
    assert (chosen[0], chosen[-1], len(np.unique(chosen))) == (0, 999, 11)


def test_ticks_are_round_and_inside():
    for low, high in ((0.0, 1.0), (-3.7, 12.2), (1e-7, 3e-7), (-1e6, 5e5)):
        ticks = Scale(low, high, 0, 100).ticks()
        assert 3 <= len(ticks) <= 8
        assert low - 1e-9 * (high - low) <= min(ticks)
        assert max(ticks) <= high + 1e-9 * (high - low)
    assert Scale(1e-6, 1.0, 0, 100, is_log=True).ticks()[0] == 1e-6


def test_numbers_have_thousands_apart_and_a_real_minus():
    assert number(1234567) == "1\u202f234\u202f567"
    assert number(-0.5) == "−0.5"


def test_areas_have_their_holes_and_curves_their_ends():
    x = np.linspace(-1.0, 1.0, 80)
    contours = contour_generator(x, x, np.hypot(*np.meshgrid(x, x)))
    chart = Chart("", "", "", "", (-1.0, 1.0), (-1.0, 1.0))
    chart.areas(contours.filled(0.4, 0.8), "band")
    chart.curves(contours.lines(0.6), "edge")
    chart.curves(contours.lines(5.0), "edge")
    (band, (area,)), (edge, (curve,)) = chart.parts
    assert (band, area.count("M"), area.count("z")) == ("band", 2, 2)
    assert (edge, curve.count("M"), curve.count("z")) == ("edge", 1, 0)


@pytest.mark.parametrize("model", [SVC(C=2.0), SVC(break_ties=True), LinearSVC()], ids=repr)
def test_the_lead_vanishes_where_the_class_changes(model):
    X, y = np.asarray(iris()[0])[:, :2], iris()[1]
    model.fit(X, y)
    low, high = X[y == "versicolor"], X[y == "virginica"]
    is_between = model.predict(low) != model.predict(high)
    low, high = low[is_between], high[is_between]
    far = lead(model, low)
    for _ in range(50):
        middle = 0.5 * (low + high)
        same = (model.predict(middle) == model.predict(low))[:, None]
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    assert len(far) > 10
    assert (far > 0).all()
    assert np.median(lead(model, low)) < 1e-9
