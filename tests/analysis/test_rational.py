"""Rational elimination against a twin that divides as one learns it at school."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin.analysis.rational import exact_score, solve_exactly

quick = settings(deadline=None, max_examples=150)


def reduced(A, rhs):
    """The reduced echelon form of [A | rhs] and its pivot columns, in Fractions, one division after another."""
    rows = [[Fraction(float(v)) for v in row] + [Fraction(r)] for row, r in zip(A, rhs, strict=True)]
    pivots = []
    for column in range(A.shape[1]):
        k = len(pivots)
        found = [i for i in range(k, len(rows)) if rows[i][column] != 0]
        if not found:
            continue
        rows[k], rows[found[0]] = rows[found[0]], rows[k]
        rows[k] = [v / rows[k][column] for v in rows[k]]
        for i in range(len(rows)):
            if i != k:
                rows[i] = [v - rows[i][column] * u for v, u in zip(rows[i], rows[k], strict=True)]
        pivots.append(column)
    return rows, pivots


def by_school(A, rhs, guess):
    """A p = rhs with the undetermined entries taken from `guess`; None where there is no solution."""
    rows, pivots = reduced(A, rhs)
    if any(row[-1] for row in rows[len(pivots) :]):
        return None
    p = [Fraction(float(v)) for v in guess]
    for row, column in zip(rows, pivots, strict=False):
        p[column] = row[-1] - sum(row[k] * p[k] for k in range(A.shape[1]) if k not in pivots)
    return p


@st.composite
def systems(draw, values):
    m, n = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    A = np.array([[draw(values) for _ in range(n)] for _ in range(m)], dtype=float)
    if m > 1 and draw(st.booleans()):
        A[-1] = A[0]  # a rank that falls short
    rhs = [draw(st.integers(-2, 2)) for _ in range(m)]
    if draw(st.booleans()):  # a system that surely has a solution
        rhs = [int(v) for v in np.round(A).sum(axis=1)]
        A = np.round(A)
    return A, rhs, np.array([draw(st.floats(-1, 1)) for _ in range(n)])


@quick
@given(systems(st.integers(-3, 3)))
def test_integer_systems_are_solved_as_at_school(system):
    assert solve_exactly(*system) == by_school(*system)


@quick
@given(systems(st.floats(-1e6, 1e6, allow_nan=False)))
def test_float_systems_are_solved_as_at_school(system):
    assert solve_exactly(*system) == by_school(*system)


def test_the_solution_holds_without_rounding():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((12, 12)) * 10.0 ** rng.integers(-12, 12, size=(12, 12))
    rhs = list(range(12))
    p = solve_exactly(A, rhs, np.zeros(12))
    assert all(isinstance(v, Fraction) for v in p)
    for row, r in zip(A, rhs, strict=True):
        assert sum(Fraction(float(a)) * v for a, v in zip(row, p, strict=True)) == r


def test_no_solution_is_none():
    assert solve_exactly(np.array([[1.0, 1.0], [2.0, 2.0]]), [1, 3], np.zeros(2)) is None
    assert solve_exactly(np.zeros((1, 2)), [1], np.zeros(2)) is None
    almost = np.array([[1.0, 1.0], [1.0, 1.0 + 2.0**-52]])
    assert solve_exactly(almost, [1, 1], np.zeros(2)) == [1, 0]


def test_undetermined_entries_keep_the_guess():
    assert solve_exactly(np.array([[1.0, 1.0, 0.0]]), [1], np.array([9.0, 0.25, 0.5])) == [
        Fraction(3, 4),
        Fraction(1, 4),
        Fraction(1, 2),
    ]
    assert solve_exactly(np.zeros((2, 2)), [0, 0], np.array([0.5, 0.125])) == [Fraction(1, 2), Fraction(1, 8)]


def test_a_score_is_not_rounded():
    big, x = np.array([1e16, 1.0, -1e16]), np.array([1.0, 1.0, 1.0])
    assert float(np.dot(big[[0, 1]], x[[0, 1]])) - 1e16 != 1.0
    assert exact_score(big, 0.0, x) == 1
    assert exact_score(np.array([0.1]), 0.2, np.array([3.0])) == Fraction(0.1) * 3 + Fraction(0.2)


@quick
@given(
    st.lists(st.floats(-1e100, 1e100, allow_nan=False), min_size=1, max_size=6),
    st.floats(-1e100, 1e100, allow_nan=False),
    st.integers(0, 2**16),
)
def test_scores_are_sums_of_fractions(w, b, seed):
    x = np.random.default_rng(seed).integers(-3, 4, size=len(w)).astype(float)
    expected = Fraction(b) + sum(Fraction(u) * Fraction(v) for u, v in zip(w, x, strict=True))
    assert exact_score(np.array(w), b, x) == expected


@pytest.mark.parametrize("n", [40])
def test_dozens_of_unknowns_are_solved(n):
    rng = np.random.default_rng(1)
    A = rng.standard_normal((n, n))
    p = solve_exactly(A, [1] * n, np.zeros(n))
    np.testing.assert_allclose([float(v) for v in p], np.linalg.solve(A, np.ones(n)), rtol=1e-6)
