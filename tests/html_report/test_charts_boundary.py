"""Projections: the places are what the captions say."""

import numpy as np
import pytest
from sklearn.decomposition import PCA

from maxmargin import SVC, LinearSVC
from maxmargin.estimators.per_sample import Subject
from maxmargin.html_report.charts import GRID, _leading, boundary, evenly
from tests.html_report.pages import iris


def test_components_are_those_of_a_principal_component_analysis():
    X = np.random.default_rng(0).standard_normal((40, 6)) * [5, 3, 1, 1, 1, 1]
    ours, theirs = _leading(X @ X.T, 2), PCA(2).fit_transform(X)
    for k in range(2):
        sign = np.sign(ours[:, k] @ theirs[:, k])
        np.testing.assert_allclose(ours[:, k], sign * theirs[:, k], atol=1e-9)


def test_what_does_not_spread_has_places_too():
    assert np.abs(_leading(np.ones((3, 3)), 2)).max() < 1e-12


def test_rows_are_evenly_chosen():
    assert evenly(5, 10).tolist() == [0, 1, 2, 3, 4]
    chosen = evenly(1000, 11)
    assert (chosen[0], chosen[-1], len(np.unique(chosen))) == (0, 999, 11)


@pytest.mark.parametrize("model", [SVC(C=2.0), SVC(break_ties=True), LinearSVC()], ids=repr)
def test_the_class_changes_at_the_edge_of_its_region(model):
    X, y = np.asarray(iris()[0])[:, :2], iris()[1]
    chart = boundary(Subject(model.fit(X, y), X, y))["chart"]
    edges = np.vstack([line for _, class_, lines, _ in chart.parts if class_ == "edge" for line in lines])
    wide, high = np.ptp(chart.x_range) / GRID, np.ptp(chart.y_range) / GRID
    around = [model.predict(edges + np.array([a * wide, b * high])) for a in (-1.5, 0, 1.5) for b in (-1.5, 0, 1.5)]
    is_edge = np.any(np.array(around) != around[0], axis=0)
    assert len(edges) > 100
    assert is_edge.mean() > 0.99
