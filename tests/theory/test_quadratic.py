"""Quadratic functions in fractions, compared with floating point."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from maxmargin.errors import InvalidInputError
from maxmargin.theory import Quadratic
from maxmargin.theory.quadratic import solve_fractions
from tests.strategies import examples, generators


def symmetric(rng, d):
    root = rng.integers(-2, 3, (d, d))
    return root + root.T + int(rng.integers(0, 5)) * np.eye(d, dtype=int)


@examples(60)
@given(generators())
def test_convex_means_that_no_eigenvalue_is_negative(rng):
    d = int(rng.integers(1, 5))
    root = rng.integers(-2, 3, (d, int(rng.integers(1, d + 1))))
    assert Quadratic((root @ root.T).tolist(), [0] * d).is_convex
    A = symmetric(rng, d)
    smallest = np.linalg.eigvalsh(A.astype(float)).min()
    if abs(smallest) > 1e-9:
        assert Quadratic(A.tolist(), [0] * d).is_convex == (smallest > 0)


@examples(60)
@given(generators())
def test_no_point_lies_below_the_minimum_and_it_is_taken(rng):
    d = int(rng.integers(1, 4))
    root = rng.integers(-2, 3, (d, d))
    f = Quadratic((root @ root.T).tolist(), rng.integers(-3, 4, d).tolist(), 1)
    least, x = f.minimum()
    if x is None:
        assert least == -math.inf
        flat = np.linalg.svd(root.T.astype(float))[2][np.linalg.matrix_rank(root) :]
        assert np.abs(flat @ np.array([float(v) for v in f.b])).max() > 1e-9  # falls along a direction without curvature
    else:
        assert f.value(x) == least
        assert not any(f.gradient(x))
        assert all(f.value(z.tolist()) >= least for z in rng.integers(-4, 5, (30, d)))


def test_a_function_that_is_not_convex_has_no_minimum():
    assert Quadratic([[-2]], [0]).minimum() == (-math.inf, None)
    assert not Quadratic([[0, 1], [1, 0]], [0, 0]).is_convex


def test_floats_are_the_rational_numbers_that_they_are():
    assert Quadratic.affine([0.1]).value([10]) == Fraction(0.1) * 10 != 1


@pytest.mark.parametrize(
    "arguments", [([[1, 2], [3, 1]], [0, 0]), ([[1]], [0, 0]), ([], []), ([[math.inf]], [0]), (3, [0]), ([["a"]], [0])]
)
def test_what_is_no_quadratic_function_is_refused(arguments):
    with pytest.raises(InvalidInputError):
        Quadratic(*arguments)


def test_equations_are_solved_or_refused():
    F = Fraction
    assert solve_fractions([(F(1), F(2)), (F(2), F(4))], [F(3), F(6)]) == (3, 0)
    assert solve_fractions([(F(1), F(2)), (F(2), F(4))], [F(3), F(7)]) is None
