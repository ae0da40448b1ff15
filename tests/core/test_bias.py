"""The best bias, against a search through all kinks, a dense grid, and a bisection of the slope."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from maxmargin.core import Bias, Hinge, PerceptronLoss, Ramp, SquaredHinge
from maxmargin.core.bias import (
    Interval,
    best_bias,
    convex_interval,
    hinge_interval,
    squared_hinge_root,
    weighted_quantiles,
)
from maxmargin.errors import NotSupportedError
from tests.problems import KNOWN, problem, signs
from tests.strategies import examples, generators, problems


def hinge_total(f, y, cost, b):
    return sum(c * max(0.0, 1.0 - t * (v + b)) for v, t, c in zip(f, y, cost, strict=True))


def squared_slope(f, y, cost, b):
    return sum(-2.0 * c * t * max(0.0, 1.0 - t * (v + b)) for v, t, c in zip(f, y, cost, strict=True))


@st.composite
def scored(draw):
    """Scores, labels of both kinds, costs; ties and equal costs are common."""
    rng = draw(generators())
    n = draw(st.integers(2, 12))
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    f = rng.integers(-8, 9, size=n) / 4.0 if draw(st.booleans()) else 3.0 * rng.standard_normal(n)
    cost = rng.choice([0.25, 0.5, 1.0], size=n) if draw(st.booleans()) else np.ones(n)
    return f, y, cost


@examples(150)
@given(scored())
def test_the_hinge_interval_is_the_flat_bottom_found_by_trying_every_kink(case):
    f, y, cost = case
    kinks = np.sort(y - f)
    values = np.array([hinge_total(f, y, cost, b) for b in kinks])
    at_bottom = kinks[values <= values.min() + 1e-12 * cost.sum()]
    low, high = hinge_interval(f, y, cost)
    assert (low, high) == pytest.approx((at_bottom[0], at_bottom[-1]), abs=1e-12)


@examples(60)
@given(scored())
def test_no_point_of_a_dense_grid_is_better_than_the_interval_and_none_outside_is_as_good(case):
    f, y, cost = case
    interval = hinge_interval(f, y, cost)
    low, high = interval
    best = hinge_total(f, y, cost, interval.middle)
    for b in np.linspace(low - 2.0, high + 2.0, 81):
        value = hinge_total(f, y, cost, b)
        assert value >= best - 1e-12
        if b < low - 1e-6 or b > high + 1e-6:
            assert value > best


@examples(100)
@given(scored())
def test_the_squared_hinge_root_is_where_the_slope_vanishes(case):
    f, y, cost = case
    b = squared_hinge_root(f, y, cost)
    # left of all kinks the slope is ≤ 0, right of all kinks ≥ 0
    low, high = (y - f).min() - 1.0, (y - f).max() + 1.0
    assert abs(squared_slope(f, y, cost, b)) <= 1e-9 * cost.sum()
    if squared_slope(f, y, cost, low) < 0 < squared_slope(f, y, cost, high):
        root = brentq(lambda at: squared_slope(f, y, cost, at), low, high, xtol=1e-13)
        # both are roots; the slope is flat only where no sample is inside the margin
        assert squared_slope(f, y, cost, 0.5 * (root + b)) == pytest.approx(0.0, abs=1e-9 * cost.sum())


def test_where_the_squared_hinge_leaves_room_the_middle_is_taken():
    # yF ≥ 1 for both while 1 − 3 ≤ b ≤ −1 + 3
    assert squared_hinge_root(np.array([3.0, -3.0]), signs("+-"), np.ones(2)) == 0.0
    assert squared_hinge_root(np.array([5.0, -3.0]), signs("+-"), np.ones(2)) == -1.0


def test_the_example_of_a_bias_that_moves_when_a_sample_without_a_say_leaves():
    p = problem([[1], [-1], [-8]], "+--", 0.1)
    beta = np.array([0.1, -0.1, 0.0])
    f = p.decision(p.combine(beta))
    assert best_bias(p, beta, f) == pytest.approx((-0.8, 0.6))
    without = replace(p, cost=np.array([0.1, 0.1, 0.0]))
    assert best_bias(without, beta, f) == pytest.approx((-0.8, 0.8))
    # the label of the third sample stays, under the midpoint rule
    assert all(f[2] + best_bias(q, beta, f).middle < 0 for q in (p, without))


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.name)
def test_known_biases_are_found(known):
    f = known.problem.decision(np.array(known.w))
    interval = best_bias(known.problem, np.array(known.beta), f)
    assert interval == pytest.approx(known.biases or (known.b, known.b), abs=1e-14)
    assert interval.middle == pytest.approx(known.b, abs=1e-14)


@examples(40)
@given(problems(biases=("free",), losses=(Hinge(),), max_n=9))
def test_samples_of_cost_zero_have_no_say(p):
    f = np.random.default_rng(p.n).standard_normal(p.n)
    on = p.present
    assert best_bias(p, np.zeros(p.n), f) == hinge_interval(f[on], p.y[on], p.cost[on])


def test_the_hard_margin_puts_both_classes_equally_far():
    p = problem(np.zeros((4, 1)), "--++", np.inf)
    f = np.array([-7.0, 1.0, 4.0, 9.0])
    b = best_bias(p, np.zeros(4), f).middle
    assert (f + b)[2] == -(f + b)[1] == 1.5


def test_without_a_bias_it_is_zero_and_a_penalized_one_is_the_weight_of_its_feature():
    p = problem([[1], [-1], [2]], "+-+", 1, bias=Bias.none())
    assert best_bias(p, np.ones(3), np.ones(3)) == (0.0, 0.0)
    p = replace(p, bias=Bias.penalized(3.0))
    beta = np.array([0.5, -0.25, 0.125])
    # w of the constant feature 3 is Σβ·3, and b is that weight times the feature
    assert best_bias(p, beta, np.zeros(3)).middle == 0.375 * 9.0


def test_a_loss_that_is_not_convex_is_refused():
    with pytest.raises(NotSupportedError, match="for convex losses"):
        best_bias(problem([[1], [-1]], "+-", 1, loss=Ramp()), np.zeros(2), np.zeros(2))


@examples(40)
@given(scored())
def test_the_slope_of_any_convex_loss_finds_the_same(case):
    f, y, cost = case
    width = 1e-9 * (1.0 + np.abs(f).max())
    slow = convex_interval(Hinge(), f, y, cost, y, 0.0)
    assert slow == pytest.approx(hinge_interval(f, y, cost), abs=width)
    b = squared_hinge_root(f, y, cost)
    low, high = convex_interval(SquaredHinge(), f, y, cost, y, 0.0)
    assert low - 1e-5 * (1.0 + abs(b)) <= b <= high + 1e-5 * (1.0 + abs(b))


def test_the_perceptrons_best_bias_is_any_that_classifies_both():
    p = problem([[1], [-1]], "+-", 1, loss=PerceptronLoss())
    low, high = best_bias(p, np.zeros(2), np.array([3.0, -2.0]))
    assert (low, high) == pytest.approx((-3.0, 2.0))


def test_the_middle_of_an_interval_is_in_it_even_where_the_ends_are_huge():
    assert Interval(1e308, 1.5e308).middle == 1.25e308
    assert Interval(2.0, 2.0).middle == 2.0


@examples(40)
@given(scored())
def test_the_bias_does_not_rise_with_the_scores(case):
    f, y, cost = case
    up = f + np.random.default_rng(len(f)).random(len(f))
    low, high = hinge_interval(f, y, cost)
    low_up, high_up = hinge_interval(up, y, cost)
    assert low_up <= low + 1e-12
    assert high_up <= high + 1e-12
    assert squared_hinge_root(f + 1.0, y, cost) == pytest.approx(squared_hinge_root(f, y, cost) - 1.0, abs=1e-9)


@given(
    st.lists(st.tuples(st.integers(-5, 5), st.sampled_from([0.1, 0.3, 0.7, 1.0, 1e-17])), min_size=1, max_size=40),
    st.floats(-1.0, 50.0),
)
def test_quantiles_are_those_of_a_sort_but_for_the_order_of_the_sums(pairs, goal):
    values, weights = (np.array(side, dtype=float) for side in zip(*pairs, strict=True))
    order = np.argsort(values, kind="stable")
    passed = np.cumsum(weights[order])
    slip = 1e-13 * passed[-1]
    first, last = (min(int(np.searchsorted(passed, goal + shift)), len(order) - 1) for shift in (-slip, slip))
    (found,) = weighted_quantiles(values, weights, goal)
    assert values[order[first]] <= found <= values[order[last]]
