"""Margins and dimensions measured on data: exact programs, brute force, and the constants of the losses."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from maxmargin import Halfspace, HardMarginSVC, LinearSVC, NotSeparableError, Perceptron, bounds, theory
from maxmargin.core.losses import LOSSES
from maxmargin.errors import InvalidInputError, NotSupportedError
from tests.strategies import examples, generators


@examples(40)
@given(generators(), st.booleans())
def test_the_margin_of_a_data_set_brackets_the_exact_one(rng, homogeneous):
    n = int(rng.integers(2, 7))
    X, y = rng.integers(-4, 5, (n, 2)), np.where(np.arange(n) % 2, 1, -1)
    try:
        norm2 = 2 * theory.hard_margin_program(X, y, homogeneous).minimise().value
    except NotSupportedError:
        with pytest.raises(NotSeparableError):
            theory.data_margin(X, y, homogeneous=homogeneous)
        return
    found = theory.data_margin(X, y, homogeneous=homogeneous)
    assert found.gamma <= math.sqrt(1 / norm2) * (1 + 1e-15)
    assert found.gamma_above >= math.sqrt(1 / norm2) * (1 - 1e-15)
    assert found.gamma_above <= found.gamma * (1 + 1e-8)
    assert found.rho == pytest.approx(np.linalg.norm(X, axis=1).max())
    plane = Halfspace(found.w, found.b)
    assert plane.margin(X, y) >= found.gamma * (1 - 1e-12)


def test_a_data_set_has_every_smaller_margin_and_larger_radius():
    found = theory.data_margin([[-1.0], [3.0]], [-1, 1], homogeneous=True)
    assert found.gamma == pytest.approx(1.0)
    for gamma, rho, answer in ((0.5, 3.5, True), (1.5, 3.5, False), (0.5, 2.5, False), (found.gamma_above, 3.0, None)):
        assert found.has(gamma, rho) is answer
    assert found.ratio2 == pytest.approx(9.0)
    assert "γ = " in str(found)


def test_scaling_the_data_scales_the_margin_and_leaves_the_ratio():
    X, y = np.array([[-1.0, 2.0], [3.0, 1.0], [2.0, -1.0]]), [-1, 1, 1]
    one, ten = theory.data_margin(X, y), theory.data_margin(10 * X, y)
    assert ten.gamma == pytest.approx(10 * one.gamma)
    assert ten.ratio2 == pytest.approx(one.ratio2)


@examples(30)
@given(generators())
def test_the_perceptron_makes_at_most_the_squared_ratio_of_updates(rng):
    X, y = rng.integers(-4, 5, (6, 2)).astype(float), np.array([1, -1] * 3)
    try:
        found = theory.data_margin(X, y, homogeneous=True)
    except NotSeparableError:
        return
    model = Perceptron(fit_intercept=False, shuffle=False, max_iter=10_000).fit(X, y)
    assert model.n_updates_ <= found.ratio2 * (1 + 1e-6)


def test_a_kernel_has_its_margin_in_its_feature_space():
    X, y = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]], [1, 1, -1, -1]
    found = theory.data_margin(X, y, kernel="rbf")
    assert found.rho == 1.0
    assert found.gamma == pytest.approx(HardMarginSVC(kernel="rbf", tol=1e-9).fit(X, y).certificate_.margin)


def test_capacity_counts_the_features_that_occur():
    X = sp.csr_array(np.array([[1.0, 0.0, 2.0, 0.0], [0.0, 0.0, 1.0, 0.0]]))
    for rows in (X, X.toarray()):
        found = theory.capacity(Halfspace([1.0, 5.0, 0.0, 0.0]), rows)
        assert (found.rho2, found.norm2, found.product, found.d) == (5.0, 26.0, pytest.approx(130.0), 2)
        assert found.dimension_wins
        assert "d is smaller" in str(found)


@examples(60)
@given(generators())
def test_with_a_bias_capacity_takes_the_best_constant_feature(rng):
    X, w, b = rng.standard_normal((5, 3)), rng.standard_normal(3), float(rng.standard_normal())
    found = theory.capacity(Halfspace(w, b), X)
    rho2, norm2 = (X**2).sum(axis=1).max(), w @ w
    products = [(rho2 + s * s) * (norm2 + b * b / (s * s)) for s in np.geomspace(1e-3, 1e3, 4001)]
    assert found.product <= min(products) * (1 + 1e-12)
    assert found.product == pytest.approx(min(products), rel=1e-4)
    assert found.d == 4


def test_capacity_takes_a_fitted_linear_model():
    X, y = [[-2.0], [-1.0], [1.0], [2.0]], [0, 0, 1, 1]
    model = LinearSVC(C=10, fit_intercept=False, tol=1e-9).fit(X, y)
    assert theory.capacity(model, X).norm2 == pytest.approx(1.0, rel=1e-6)
    with pytest.raises(InvalidInputError, match="coef_"):
        theory.capacity(HardMarginSVC(kernel="rbf").fit(X, y), X)
    with pytest.raises(InvalidInputError, match="columns"):
        theory.capacity(model, [[1.0, 2.0]])


@pytest.mark.parametrize("gamma", [0.5, 0.1, 1 / 1024])
def test_the_example_in_which_the_dimension_wins_has_the_margin_that_it_says(gamma):
    example = theory.vc_wins(gamma)
    found = theory.data_margin(example.X, example.y, homogeneous=True)
    assert found.gamma == pytest.approx(gamma)
    assert found.rho == 1.0
    assert example.capacity.product == pytest.approx(found.ratio2)
    assert example.capacity.dimension_wins
    m = 10_000
    margin = math.sqrt(8 * example.capacity.product / m)
    assert float(bounds.vc_rate(d=example.capacity.d, m=m)) < margin


@pytest.mark.parametrize("gamma", [0.0, 1.0, -1.0, math.nan])
def test_a_margin_beyond_the_radius_is_refused(gamma):
    with pytest.raises(InvalidInputError, match="gamma"):
        theory.vc_wins(gamma)


@pytest.mark.parametrize("name", LOSSES)
@examples(60)
@given(generators())
def test_no_two_weights_of_the_ball_break_the_constants_of_a_learning_problem(name, rng):
    problem = theory.LearningProblem(name, radius=2.0, norm=3.0)
    x, w, v = (rng.standard_normal(2) for _ in range(3))
    x, w, v = (u * r * rng.random() / np.linalg.norm(u) for u, r in ((x, 2.0), (w, 3.0), (v, 3.0)))
    loss, apart = LOSSES[name], float(np.linalg.norm(w - v))
    if problem.is_convex_lipschitz_bounded:
        assert abs(loss.value(w @ x) - loss.value(v @ x)) <= problem.lipschitz * apart * (1 + 1e-9) + 1e-12
    if problem.is_convex_smooth_bounded:
        gradients = [loss.subgradient(u @ x) * x for u in (w, v)]
        assert np.linalg.norm(gradients[0] - gradients[1]) <= problem.smoothness * apart * (1 + 1e-9) + 1e-12


def test_the_classes_of_learning_problems_are_those_of_the_definitions():
    kinds = {name: theory.LearningProblem(name, 2.0, 3.0) for name in LOSSES}
    assert {name for name, kind in kinds.items() if not kind.is_convex} == {"zero_one", "ramp"}
    assert {name for name, kind in kinds.items() if kind.is_convex_smooth_bounded} == {"squared_hinge", "logistic", "squared"}
    assert {name for name, kind in kinds.items() if not kind.is_convex_lipschitz_bounded} == {"zero_one", "ramp"}
    assert kinds["hinge"].lipschitz == 2.0
    assert kinds["squared_hinge"].lipschitz == 2.0 * 2.0 * (1 + 6.0)  # ρ · 2(1 + Bρ)
    assert kinds["squared_hinge"].smoothness == 8.0
    assert theory.LearningProblem("zero_one", 0.0, 3.0).lipschitz == 0.0
    with pytest.raises(InvalidInputError, match="radius"):
        theory.LearningProblem("hinge", math.inf, 1.0)
