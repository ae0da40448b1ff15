"""Margins and verdicts are drawn where the model has them."""

import numpy as np
import pytest
from matplotlib.collections import PathCollection
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from maxmargin import SVC, LinearSVC, SettledBy, leave_one_out, plot
from maxmargin.analysis.leave_one_out.theorems import Verdict
from maxmargin.errors import InvalidInputError
from maxmargin.plot.samples import VERDICTS


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


def test_verdicts_stand_at_their_slack_and_dual_variable(clouds, axes):
    X, y = clouds
    result = leave_one_out(LinearSVC(C=0.1), X, y)
    display = plot.LeaveOneOutDisplay.from_result(result, y, ax=axes)
    estimate = result.xi_alpha
    marks = [c for c in axes.collections if isinstance(c, PathCollection) and not c.get_label().startswith("leave-one-out")]
    drawn = np.concatenate([c.get_offsets() for c in marks])
    expected = np.column_stack([estimate.xi, estimate.alpha])
    np.testing.assert_array_equal(drawn[np.lexsort(drawn.T)], expected[np.lexsort(expected.T)])
    wrong = result.predictions != y
    (ring,) = [c for c in axes.collections if c.get_label() == f"leave-one-out error ({wrong.sum()})"]
    np.testing.assert_array_equal(ring.get_offsets(), expected[wrong])
    lemma = next(line for line in axes.lines if "lemma" in line.get_label())
    np.testing.assert_allclose(2 * lemma.get_ydata() * estimate.radius2 + lemma.get_xdata(), 1.0)
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("slack ξ", "dual variable α")


def test_the_number_of_samples_on_one_point_stands_beside_it(clouds, axes):
    X, y = clouds
    result = leave_one_out(LinearSVC(C=1.0), X, y)
    plot.LeaveOneOutDisplay.from_result(result, y, ax=axes)
    n_outside = int(((result.xi_alpha.alpha == 0) & (result.xi_alpha.xi == 0)).sum())
    assert n_outside > 20
    assert f"{n_outside} samples here" in [text.get_text() for text in axes.texts]


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


def test_pipelines_are_drawn_as_their_machines_on_the_rows_that_these_see(clouds):
    X, y = clouds
    model = make_pipeline(StandardScaler(), SVC()).fit(50.0 * X, y)
    machine, Z = model[-1], model[:-1].transform(50.0 * X)
    whole, own = (plot.MarginsDisplay.from_estimator(*given, y).histogram for given in ((model, 50.0 * X), (machine, Z)))
    np.testing.assert_array_equal(whole.outside, own.outside)
    whole, own = (plot.LeaveOneOutDisplay.from_estimator(*given, y) for given in ((model, 50.0 * X), (machine, Z)))
    np.testing.assert_array_equal(whole.alpha, own.alpha)
