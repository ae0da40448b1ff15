"""Bounds of the best bias where scores are known within bounds."""

from fractions import Fraction

import numpy as np
from hypothesis import given

from maxmargin.core import Problem, SquaredHinge
from maxmargin.core.certificate.optimum_ball import bias_at_least, bias_at_most, slope_of
from tests.strategies import examples, generators


def test_costs_that_are_multiples_of_one_are_counted_without_rounding():
    slope = slope_of(np.array([0.1, 0.1, 0.2, 0.0, 0.4]))
    assert slope.weights.tolist() == [1.0, 1.0, 2.0, 0.0, 4.0]
    assert slope.least == slope.most == 0.5
    assert slope_of(np.array([0.1, 0.3])).most > 0.0  # 0.3 is not three times 0.1 in floats


@examples(40)
@given(rng=generators())
def test_no_bound_of_the_squared_hinges_bias_is_on_the_wrong_side(rng):
    n = int(rng.integers(2, 8))
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    f, cost = rng.normal(0, 3, n) + 10.0 ** rng.integers(-3, 7), 10.0 ** rng.uniform(-6, 6, n)
    problem = Problem(np.zeros((n, 1)), y, cost, loss=SquaredHinge())

    def slope(b):
        slacks = [max(Fraction(0), 1 - Fraction(s) * (Fraction(v) + Fraction(b))) for s, v in zip(y, f, strict=True)]
        return -sum(Fraction(c) * Fraction(s) * m for c, s, m in zip(cost, y, slacks, strict=True))

    assert slope(bias_at_least(problem, f).lower) <= 0 <= slope(bias_at_most(problem, f).upper)
