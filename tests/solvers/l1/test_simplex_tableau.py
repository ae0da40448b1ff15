"""The lowest corner by exchanges is the one that HiGHS finds, wherever they begin."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from maxmargin.core import L1, Hinge, Status
from maxmargin.solvers import Budget, LinearProgram, PrimalCD, solve
from maxmargin.solvers.base import Clock
from maxmargin.solvers.l1.columns import Columns
from maxmargin.solvers.l1.highs import solve_small_program
from maxmargin.solvers.l1.simplex_tableau import TUNING, Tableau
from tests.solvers.l1.test_l1 import wide
from tests.strategies import examples, generators, problems

hinges = problems(max_n=14, kernels=("linear",), losses=(Hinge(),), penalty=L1())


def begin(p, w, likely=None):
    """(A tableau of all rows and columns, their costs, no push)."""
    columns, on = Columns.of(p), p.present
    n, d = len(on), len(columns.price)
    likely = np.ones(n, bool) if likely is None else likely
    tableau = Tableau.near(columns, p.y[on], np.arange(d), np.arange(n), np.resize(w, d), likely)
    return tableau, p.cost[on], np.zeros(d)


def value(p, w):
    columns, on = Columns.of(p), p.present
    return columns.price @ np.abs(w) + p.cost[on] @ np.maximum(0.0, 1.0 - p.y[on] * columns.scores(w))


@examples(60)
@given(p=hinges, rng=generators())
def test_from_any_corner_the_lowest_is_that_of_highs(p, rng):
    d = p.X.shape[1]
    tableau, cost, push = begin(p, rng.standard_normal(d + 1) * (rng.random(d + 1) < 0.5), rng.random(len(p.present)) < 0.5)
    corner = None if tableau is None else tableau.lowest(cost, push, Clock(Budget()))
    if corner is None:  # no weight to begin with, or not regular: HiGHS's
        return
    columns = Columns.of(p)
    A = columns.take(np.arange(len(columns.price)))
    found = solve_small_program(A, p.y[p.present], cost, columns.price, push, columns.units, 1e6, Clock(Budget()))
    assert value(p, corner.w) == pytest.approx(value(p, found.w), rel=1e-8)
    assert corner.alpha.sum() == pytest.approx(value(p, found.w), rel=1e-8)


def test_rows_and_columns_that_join_later_make_no_difference():
    p = wide(n=60, d=80, density=0.3)
    whole, cost, push = begin(p, np.ones(5))
    columns = Columns.of(p)
    some = np.append(np.arange(0, 80, 3), 80)
    part = Tableau.near(columns, p.y, some, np.arange(0, 60, 2), np.ones(81), np.ones(60, bool))
    assert part.lowest(cost, push, Clock(Budget())) is not None
    part.extend(np.arange(81), np.arange(60))
    np.testing.assert_allclose(part.lowest(cost, push, Clock(Budget())).w, whole.lowest(cost, push, Clock(Budget())).w, atol=1e-9)


def test_a_fall_without_end_is_left_to_highs():
    p = wide(n=20, d=5, density=0.5)
    tableau, cost, push = begin(p, np.ones(5))
    push[0] = 1e6
    assert tableau.lowest(cost, push, Clock(Budget())) is None


def test_the_clock_is_heard_between_turns(monkeypatch):
    tableau, cost, push = begin(wide(n=60, d=80, density=0.3), np.ones(5))
    monkeypatch.setattr("maxmargin.solvers.l1.simplex_tableau.TUNING", replace(TUNING, tableau=0))
    turns = iter([False, False, True])
    assert tableau.lowest(cost, push, Clock(Budget(stop=lambda: next(turns)))).was_stopped
    assert tableau.lowest(cost, push, Clock(Budget())) is not None  # and goes on from there


def test_where_the_tableau_gives_up_highs_goes_on(monkeypatch):
    monkeypatch.setattr(Tableau, "lowest", lambda *_: None)
    p = wide(n=100, d=400)
    assert solve(p, PrimalCD(), tol=1e-8).status is Status.SOLVED


def test_a_corner_that_is_not_good_enough_is_not_the_end(monkeypatch):
    p = wide(n=100, d=400)
    answer = solve(p, PrimalCD(), tol=1e-8)
    lowest = Tableau.lowest

    def blurred(tableau, *others):
        corner = lowest(tableau, *others)
        corner.w[:] *= 1.0 + 1e-5
        return corner

    monkeypatch.setattr(Tableau, "lowest", blurred)
    again = solve(p, LinearProgram(), tol=1e-8, warm=answer)
    assert again.status is Status.SOLVED
