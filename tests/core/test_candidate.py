"""The dual's feasible set: the box, and a sum that is zero up to the rounding of a sum."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from maxmargin.core import Bias, SquaredHinge
from maxmargin.core.candidate import balance, box, make_feasible
from maxmargin.rounding import gamma
from tests.problems import problem
from tests.strategies import duals, examples, problems

wild = st.floats(-1e9, 1e9) | st.sampled_from([0.0, 1e-300, -1e-300, 0.1, -0.1, 1 / 3])


def is_feasible(p, beta):
    alpha = beta * p.y
    upper = p.cost if p.loss.name == "hinge" else np.where(p.cost > 0, np.inf, 0.0)
    in_box = (alpha >= 0).all() and (alpha <= upper).all()
    return in_box and (not p.bias.is_free or is_balanced(beta))


def is_balanced(beta):
    """Σβ = 0 up to the rounding of such a sum, and of numbers near the smallest."""
    return abs(math.fsum(beta)) <= 2 * gamma(len(beta) + 4) * math.fsum(np.abs(beta)) + 1e-290


@examples(200)
@given(st.data())
def test_anything_can_be_made_feasible(data):
    p = data.draw(problems())
    beta = data.draw(hnp.arrays(np.float64, p.n, elements=wild))
    assert is_feasible(p, make_feasible(p, beta))


@examples(200)
@given(st.data())
def test_feasible_points_are_left_alone_up_to_rounding(data):
    p = data.draw(problems())
    beta = data.draw(duals(p))
    again = make_feasible(p, beta)
    assert is_feasible(p, again)
    np.testing.assert_allclose(again, beta, rtol=1e-11, atol=1e-11 * np.abs(beta).max())
    np.testing.assert_allclose(make_feasible(p, again), again, rtol=1e-14, atol=0)


@examples(200)
@given(hnp.arrays(np.float64, st.integers(1, 30), elements=wild))
def test_balancing_only_shrinks_and_only_the_heavier_side_beyond_rounding(beta):
    out = balance(beta)
    assert is_balanced(out)
    assert (out * beta >= 0).all()
    assert (np.abs(out) <= np.abs(beta)).all()
    plus, minus = math.fsum(beta[beta > 0]), -math.fsum(beta[beta < 0])
    lighter = beta < 0 if plus > minus else beta > 0
    if min(plus, minus) > 0:
        rounding = 1e-9 * max(plus, minus)
        np.testing.assert_allclose(out[lighter], beta[lighter], rtol=1e-9, atol=rounding)


def test_the_heavier_side_is_scaled_by_one_factor():
    np.testing.assert_allclose(balance(np.array([1.0, 3.0, -2.0])), [0.5, 1.5, -2.0])


def test_one_side_alone_becomes_zero():
    np.testing.assert_array_equal(balance(np.array([1.0, 0.0, 2.0])), np.zeros(3))


def test_the_input_is_not_changed():
    p = problem([[1], [-1], [0]], "+-+", 1)
    beta = np.array([5.0, -0.5, -3.0])
    before = beta.copy()
    make_feasible(p, beta)
    np.testing.assert_array_equal(beta, before)


def test_without_a_free_bias_nothing_is_balanced():
    p = problem([[1], [-1]], "+-", 1, bias=Bias.none())
    np.testing.assert_array_equal(make_feasible(p, np.array([0.75, 0.0])), [0.75, 0.0])
    p = replace(p, bias=Bias.penalized())
    np.testing.assert_array_equal(make_feasible(p, np.array([0.75, 0.0])), [0.75, 0.0])


def test_the_box_lies_on_the_side_of_the_label():
    p = problem([[1], [-1]], "+-", 2)
    np.testing.assert_array_equal(box(p), [[0.0, -2.0], [2.0, 0.0]])
    np.testing.assert_array_equal(box(replace(p, loss=SquaredHinge())), [[0.0, -np.inf], [np.inf, 0.0]])
    absent = replace(problem([[1], [-1], [0]], "+-+", 2), cost=np.array([2.0, 2.0, 0.0]))
    low, high = box(replace(absent, loss=SquaredHinge()))
    assert low[2] == high[2] == 0.0


def test_a_dual_point_that_does_not_sum_to_zero_has_no_value():
    p = problem([[0], [0.1]], "-+", 10)
    assert p.dual(np.array([-100.0, 10.0])) == p.dual(np.array([-5.0, 10.0])) == -np.inf
    assert p.dual(np.array([-10.0, 10.0])) == pytest.approx(19.5)


def test_a_dual_point_outside_its_box_has_no_value():
    p = problem([[0], [0.1]], "-+", 10, bias=Bias.none())
    assert p.dual(np.array([-11.0, 10.0])) == p.dual(np.array([1.0, 10.0])) == -np.inf
