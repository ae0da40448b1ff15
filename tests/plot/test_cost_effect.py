"""One panel for each C."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from maxmargin import SVC, LinearSVC, plot
from maxmargin.errors import InvalidInputError


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
