"""Weak duality on finite sets: exercise 4 of section 15.8."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from maxmargin import Problem, theory
from maxmargin.errors import InvalidInputError
from tests.strategies import examples


@examples(100)
@given(hnp.arrays(np.float64, st.tuples(st.integers(1, 5), st.integers(1, 5)), elements=st.integers(-3, 3).map(float)))
def test_min_max_is_never_below_max_min_and_one_value_lies_between(table):
    n, m = table.shape
    found = theory.min_max(lambda x, y: table[x, y], range(n), range(m))
    assert found.upper == min(max(row) for row in table)
    assert found.lower == max(min(column) for column in table.T)
    assert found.upper >= found.between >= found.lower
    saddles = [(i, j) for i in range(n) for j in range(m) if table[i].max() == table[i, j] == table[:, j].min()]
    assert found.is_saddle == bool(saddles)
    if saddles:
        assert (found.row, found.column) in saddles
    assert str(found).count("≥") == 2


def test_a_function_may_be_infinite_but_not_nan():
    assert theory.min_max(lambda x, y: math.inf if x else y, [0, 1], [0, 2]).upper == 2
    with pytest.raises(InvalidInputError, match="NaN"):
        theory.min_max(lambda x, y: math.nan, [0], [0])
    with pytest.raises(InvalidInputError, match="no value"):
        theory.min_max(lambda x, y: 1.0, [], [0])


def test_the_lagrangian_of_a_machine_has_its_saddle_at_the_optimum():
    """Two points at ±1, hard: w = 1, b = 0, α = (½, ½)."""
    problem = Problem(np.array([[-1.0], [1.0]]), np.array([-1.0, 1.0]), cost=np.full(2, np.inf))
    points = [(w, b) for w in (0.5, 1.0, 2.0) for b in (-1.0, 0.0, 1.0)]
    multipliers = [(p, q) for p in (0.0, 0.5, 1.0) for q in (0.0, 0.5, 1.0)]
    found = theory.min_max(lambda x, a: theory.lagrangian(problem, [x[0]], x[1], alpha=a), points, multipliers)
    assert found.is_saddle
    assert (points[found.row], multipliers[found.column]) == ((1.0, 0.0), (0.5, 0.5))
    assert found.upper == 0.5
