"""Statements of the lecture notes that do not hold as printed, each with the case that shows it (docs/errata.md)."""

import numpy as np
import pytest

from maxmargin import SVC, Halfspace, HardMarginSVC, LinearSVC, separability, theory
from maxmargin.kernels import Linear, Sigmoid


def test_a_sample_on_the_boundary_is_not_correct_for_both_labels():
    """sign(0) = +1: with margin 0 the label +1 is right although m > 0 does not hold, and −1 wrong although u ≥ 0 does."""
    x, w, b = np.array([2.0, 0.0]), np.array([1.0, 0.0]), 2.0  # the rule of the text: sign(⟨w, x⟩ − b), sign(0) = +1
    rule = 1 if x @ w >= b else -1
    margins = {y: y * (x @ w - b) / np.linalg.norm(w) for y in (1, -1)}
    assert margins == {1: 0.0, -1: 0.0}
    assert rule == 1  # so "m > 0 iff φ(x) = y" fails for y = +1
    assert rule != -1  # so "0 ≤ u < 1 then φ(x) = y" fails for y = −1


def test_a_slack_is_one_minus_the_fit_and_not_one_minus_the_distance():
    """ξ = 1 − u with u = yh(x). The text's m is u/‖w‖, and 1 − m is something else unless ‖w‖ = 1."""
    plane, x, y = Halfspace([2.0, 0.0], b=0.0), np.array([[0.25, 7.0]]), np.array([1])
    u, m = y * (x @ plane.w), y * plane.distance(x)
    assert plane.slack(x, y) == pytest.approx(1 - u)
    assert plane.slack(x, y) != pytest.approx(1 - m)


def test_without_a_separator_some_margin_is_not_positive_but_none_need_be_negative():
    """Two classes on one point: no (w, b) separates them, and w = 1 gives the margins 0, 0, 1, 1."""
    X, y = np.array([[0.0], [0.0], [1.0], [-1.0]]), np.array([1, -1, 1, -1])
    assert not separability(X, y).is_separable
    np.testing.assert_array_equal(Halfspace([1.0]).fits(X, y), [0, 0, 1, 1])
    for w, b in np.random.default_rng(0).normal(size=(100, 2)):
        assert Halfspace([w], b).fits(X, y).min() <= 0


def test_a_support_vector_may_move_and_the_boundary_stay():
    y = [1, 0, 0]
    before = HardMarginSVC(tol=1e-10).fit([[1.0, 0.0], [-1.0, 1.0], [-1.0, -1.0]], y)
    after = HardMarginSVC(tol=1e-10).fit([[1.0, 0.0], [-1.0, 2.0], [-1.0, -1.0]], y)
    assert sorted(before.support_.tolist()) == [0, 1, 2]
    np.testing.assert_allclose(before.dual_coef_[0][before.support_ == 1], -0.25, rtol=1e-6)
    np.testing.assert_allclose(after.coef_, before.coef_, atol=1e-6)
    np.testing.assert_allclose(after.intercept_, before.intercept_, atol=1e-6)


def test_tanh_of_an_inner_product_is_no_kernel_where_its_offset_is_negative():
    """K(0, 0) = tanh(b) < 0, but ‖γ(0)‖² ≥ 0 for every feature map."""
    K = Sigmoid(gamma=1.0, coef0=-0.5).block(np.zeros((1, 2)), np.zeros((1, 2)), dtype=np.float64)
    assert K[0, 0] < 0


def test_feasible_hyperplanes_may_be_closer_than_one():
    """y_i(⟨w, x_i⟩ + b) ≥ 1 keeps the samples 1/‖w‖ away."""
    X, y = [[-0.5], [0.5]], [0, 1]
    model = HardMarginSVC(tol=1e-10).fit(X, y)
    assert (np.array([-1, 1]) * model.decision_function(X) >= 1 - 1e-9).all()
    assert model.certificate_.margin == pytest.approx(0.5)
    assert model.certificate_.margin == pytest.approx(1 / np.linalg.norm(model.coef_))


def test_samples_inside_the_margin_take_part_in_w():
    """The sum over the samples with yF = 1 alone, carried over from the hard margin, is another w."""
    X, y = np.array([[-2.0], [-1.0], [1.0], [2.0], [-0.5]]), np.array([-1, -1, 1, 1, 1])
    model = SVC(C=0.2, kernel="linear", tol=1e-10).fit(X, y)
    z = (y * model.decision_function(X))[model.support_]
    on, inside = np.abs(z - 1) < 1e-6, z < 1 - 1e-6
    w = model.dual_coef_[0] @ X[model.support_]
    assert inside.any()
    np.testing.assert_allclose(model.dual_coef_[0][inside] * y[model.support_][inside], 0.2)
    np.testing.assert_allclose(w, model.coef_[0], atol=1e-6)
    assert np.abs(w - model.dual_coef_[0][on] @ X[model.support_][on]).max() > 0.05


def test_a_multiplier_at_the_cost_does_not_make_the_slack_small():
    """α = C together with ξ < 1 − 2CR² makes a sample correct; the first does not bring the second with it."""
    X, y = np.array([[-2.0], [-1.0], [1.0], [2.0], [-1.5], [1.5]]), np.array([-1, -1, 1, 1, 1, -1])
    C, radius2 = 0.05, 4.0
    model = LinearSVC(C=C, tol=1e-10).fit(X, y)
    slack = np.maximum(0, 1 - y * model.decision_function(X))
    at_cost = model.support_[np.abs(model.dual_coef_[0]) >= C * (1 - 1e-9)]
    assert 1 - 2 * C * radius2 > 0
    assert 4 in at_cost
    assert slack[4] > 1


def test_the_kernel_dual_of_a_machine_with_a_bias_needs_its_balance():
    """x = 1 with y = −1, x = 2 with y = +1: without Σα_iy_i = 0, α = t(2, 1) has the value 3t; with it the maximum is 2."""
    X, y = np.array([[1.0], [2.0]]), np.array([-1, 1])
    Q = np.outer(y, y) * Linear().block(X, X, dtype=np.float64)
    for t in (1.0, 10.0, 100.0):
        alpha = t * np.array([2.0, 1.0])
        assert alpha.sum() - 0.5 * alpha @ Q @ alpha == 3 * t
    model = HardMarginSVC(tol=1e-10).fit(X, y)
    alpha = np.abs(model.dual_coef_[0])
    assert alpha @ y == pytest.approx(0.0)
    assert alpha.sum() - 0.5 * alpha @ Q @ alpha == pytest.approx(2.0)
    assert 0.5 * model.coef_[0] @ model.coef_[0] == pytest.approx(2.0)


def test_half_the_squared_norm_has_the_same_minimiser_and_half_the_multipliers():
    """x = 1 with y = +1, through the origin, so 1 − w ≤ 0: w = 1 for w² with α = 2 and the value 1, for ½w² with α = 1 and ½."""
    constraint = theory.Quadratic.affine([-1], 1)
    whole = theory.Program(theory.Quadratic([[2]], [0]), [constraint])
    half = theory.Program(theory.Quadratic([[1]], [0]), [constraint])
    assert whole.dual([2]) == whole.objective.value([1]) == 1
    assert half.dual([1]) == half.objective.value([1]) == 0.5


def test_the_lagrangian_is_not_stationary_in_the_multiplier_of_an_inactive_constraint():
    """∂L/∂α_i = g_i(w, b) = 1 − y_iF_i, which is negative for each sample outside the margin."""
    X, y = np.array([[-3.0], [-1.0], [1.0], [3.0]]), np.array([-1, -1, 1, 1])
    model = HardMarginSVC(tol=1e-10).fit(X, y)
    g = 1 - y * model.decision_function(X)
    assert g[0] == pytest.approx(-2.0)
    assert 0 not in model.support_


def test_with_a_curved_equality_kkt_hold_at_a_maximum():
    """min x s.t. x² − 1 = 0: ∇f + β∇h = 1 + 2βx vanishes at x = 1 with β = −½, and at x = −1, the minimum, with β = ½."""
    f, h = theory.Quadratic.affine([1]), theory.Quadratic([[2]], [0], -1)
    for x, beta in ((1, -0.5), (-1, 0.5)):
        assert h.value([x]) == 0
        assert f.gradient([x])[0] + beta * h.gradient([x])[0] == 0
    assert f.value([1]) > f.value([-1])


def test_the_update_bound_is_about_hyperplanes_through_the_origin():
    X, y = [[1.0], [3.0]], [-1, 1]
    found = theory.data_margin(X, y)
    assert found.gamma == pytest.approx(1.0)
    run = theory.perceptron_by_sgd(X, y, n_epochs=100)
    assert (run.norms > 0).sum() > 10 * found.ratio2
    assert run.norms[-2:].any()
