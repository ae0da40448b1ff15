"""Lines below a convex function, and values of a problem with one constraint."""

import numpy as np
import pytest

from maxmargin import plot
from maxmargin.core.losses import LOSSES
from maxmargin.errors import InvalidInputError
from tests.plot.conftest import labels_of


@pytest.mark.parametrize("name", [name for name, loss in LOSSES.items() if loss.convex])
def test_every_line_that_is_drawn_stays_below_the_loss_and_touches_it(name, axes):
    display = plot.TangentsDisplay.from_loss(name, at=[-0.7, 0.0, 0.4, 1.0, 1.7], ax=axes)
    for k, a in enumerate(display.at):
        for g in np.linspace(*display.slopes[k], 7):
            line = display.heights[k] + g * (display.z - a)
            assert (line <= display.values + 1e-12).all()
            assert line[display.z == a] == display.values[display.z == a]


def test_beyond_the_fan_a_line_cuts_the_hinge():
    display = plot.TangentsDisplay.from_loss("hinge", at=[1.0])
    low, high = display.slopes[0]
    for g in (low - 1e-3, high + 1e-3):
        assert (g * (display.z - 1.0) > display.values).any()


def test_a_kink_has_a_fan_and_a_smooth_place_one_line(axes):
    plot.TangentsDisplay.from_loss("hinge", at=[0.5, 1.0], ax=axes)
    assert labels_of(axes) == ["hinge(z)", "at 0.5: g = −1", "at 1: each g from −1 to 0"]
    axes.clear()
    plot.TangentsDisplay.from_loss("squared_hinge", at=[0.4], ax=axes)
    assert labels_of(axes)[1] == "at 0.4: g = −1.2"
    assert len(axes.lines) == 3


def test_a_function_that_is_not_convex_is_refused():
    with pytest.raises(InvalidInputError, match="touches ramp at"):
        plot.TangentsDisplay.from_loss("ramp", at=[0.5])
    with pytest.raises(InvalidInputError, match="give a convex function and its derivatives"):
        plot.TangentsDisplay.from_function(np.square, lambda a: 3.0 * a, [1.0], z=(-2.0, 2.0))
    display = plot.TangentsDisplay.from_function(
        np.abs, lambda a: (-1.0, 1.0) if a == 0 else np.sign(a), [0.0, 1.0], z=(-2.0, 2.0)
    )
    assert display.slopes.tolist() == [[-1.0, 1.0], [1.0, 1.0]]


def slow_dual(g, f):
    """The largest of q(λ) over a fine grid of λ."""
    return max(float((f + lam * g).min()) for lam in np.linspace(0.0, 20.0, 20_001))


def test_the_dual_value_is_the_highest_of_all_lines_and_never_above_the_primal_one():
    rng = np.random.default_rng(0)
    for _ in range(20):
        g, f = rng.normal(size=(2, 30))
        g[0] = -1.0
        display = plot.DualityDisplay.from_values(g, f, is_curve=False)
        assert display.dual <= display.primal
        assert display.multiplier >= 0
        assert (f + display.multiplier * g >= display.dual).all()
        if display.multiplier < 20.0:
            assert slow_dual(g, f) <= display.dual + 1e-9
            assert display.dual <= slow_dual(g, f) + 1e-3 * (1.0 + np.abs(g).max())


def test_a_convex_problem_has_no_gap_and_one_that_is_not_has(axes):
    w = np.linspace(-0.75, 1.1, 3701)
    slacks = np.maximum(0.0, 1.0 - np.outer(w, [1.0, 1.0, 1.0, 1.0, -4.0, -4.0]))
    convex = plot.DualityDisplay.from_values(slacks.sum(1) - 5.4, 0.5 * w**2, ax=axes)
    assert convex.primal == pytest.approx(convex.dual, abs=1e-4)
    assert not any("gap" in words for words in labels_of(axes))
    axes.clear()
    open_ = plot.DualityDisplay.from_values(np.minimum(1.0, slacks).sum(1) - 3.7, 0.5 * w**2, ax=axes)
    assert open_.primal - open_.dual > 0.05
    assert any("the gap p* − d* = 0.064" in words for words in labels_of(axes))


def test_the_multiplier_of_the_budget_is_the_cost_of_a_slack():
    """min ½w² with Σξ ≤ s: at the s that a machine of cost C reaches, λ = C."""
    from maxmargin import LinearSVC

    X, y = np.array([[1.0], [2.0], [-1.0], [0.5], [-0.4]]), np.array([1, 1, -1, -1, 1])
    C = 0.7  # here w lies between two kinks, so that the multiplier is unique
    model = LinearSVC(C=C, fit_intercept=False, tol=1e-10).fit(X, y)
    w = np.sort(np.append(np.linspace(0.0, 2.0, 4001), model.coef_[0, 0]))
    slack = np.maximum(0.0, 1.0 - np.outer(w, X[:, 0] * y)).sum(axis=1)
    own = np.maximum(0.0, 1.0 - y * model.decision_function(X)).sum()
    display = plot.DualityDisplay.from_values(slack - own - 1e-12, 0.5 * w**2)
    assert display.primal == pytest.approx(0.5 * model.coef_[0, 0] ** 2, rel=1e-3)
    assert display.multiplier == pytest.approx(C, rel=0.02)


def test_what_has_no_value_is_refused():
    with pytest.raises(InvalidInputError, match="No x has"):
        plot.DualityDisplay.from_values([1.0, 2.0], [0.0, 0.0])
    with pytest.raises(InvalidInputError, match="a finite number for each x"):
        plot.DualityDisplay.from_values([1.0, -2.0], [0.0, np.inf])
