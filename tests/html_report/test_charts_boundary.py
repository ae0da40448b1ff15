"""Projections: the places are what the captions say."""

import numpy as np
import pytest
from sklearn.decomposition import PCA

from maxmargin import SVC, LinearSVC
from maxmargin.html_report.charts import _leading, evenly, lead
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
