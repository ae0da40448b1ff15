"""The L1 penalty: the corner that HiGHS finds on the whole program, found on a small one."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.analysis.critical_cost import critical_cost
from maxmargin.core import L1, Bias, Candidate, Hinge, Problem, SquaredHinge, Status, certify
from maxmargin.solvers import Budget, LinearProgram, PrimalCD, solve
from maxmargin.solvers.base import Clock
from maxmargin.solvers.columns import Columns
from maxmargin.solvers.small_program import solve_small_program
from maxmargin.solvers.tableau import Tableau
from tests import reference
from tests.strategies import examples, generators, problems

hinges = problems(max_n=14, kernels=("linear",), losses=(Hinge(),), penalty=L1())
BIASES = (Bias.free(), Bias.none(), Bias.penalized(0.7))


def wide(seed=0, n=40, d=300, bias=None, cost=1.0, density=0.1, loss=None):
    """Sparse and wide: few of many columns matter."""
    rng = np.random.default_rng(seed)
    X = sp.random_array((n, d), density=density, rng=rng, format="csr")
    y = np.where(X[:, [0, 1, 2]].sum(axis=1) - 0.3 + 0.2 * rng.standard_normal(n) > 0, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return Problem(X, y, np.full(n, cost), loss=loss or Hinge(), penalty=L1(), bias=bias or Bias.free())


@pytest.mark.parametrize("solver", [LinearProgram(), PrimalCD()], ids=lambda solver: solver.name)
@examples(40)
@given(p=hinges)
def test_the_objective_is_that_of_the_whole_linear_program(solver, p):
    solution = solve(p, solver, tol=1e-8)
    assert certify(p, solution).relative_gap <= 1e-8
    assert solution.certificate.primal == pytest.approx(reference.solve_l1(p)[2], rel=1e-8)


@pytest.mark.parametrize("bias", BIASES, ids=repr)
@pytest.mark.parametrize("cost", [0.5, 20.0])
@pytest.mark.parametrize("solver", [LinearProgram(), PrimalCD()], ids=lambda solver: solver.name)
def test_generation_ends_in_the_corner_of_the_whole(solver, bias, cost):
    p = wide(bias=bias, cost=cost)
    solution = solve(p, solver, tol=1e-8)
    w, _, value, _ = reference.solve_l1(p)
    assert solution.certificate.primal == pytest.approx(value, rel=1e-8)
    np.testing.assert_array_equal(solution.w == 0.0, np.abs(w) < 1e-9)  # exact zeros, where the corner is unique


def test_only_some_columns_and_rows_enter_the_programs(monkeypatch):
    sizes = []

    def spy(tableau, *others):
        sizes.append(tableau.T.shape)
        return lowest(tableau, *others)

    lowest = Tableau.lowest
    monkeypatch.setattr(Tableau, "lowest", spy)
    p = wide(n=400, d=2000, density=0.02)
    assert solve(p, PrimalCD(), tol=1e-8).status is Status.SOLVED
    assert max(rows for rows, _ in sizes) < 400
    assert max(columns for _, columns in sizes) < 1000


@examples(20)
@given(p=hinges, rng=generators())
def test_a_wrong_guess_of_rows_and_columns_is_mended(p, rng):
    w = rng.standard_normal(p.X.shape[1]) * (rng.random(p.X.shape[1]) < 0.3)
    guess = Candidate(w, 0.0, p.y * p.cost * (rng.random(p.n) < 0.5))
    assert solve(p, LinearProgram(), tol=1e-8, warm=guess).status is Status.SOLVED


def test_a_program_without_a_minimum_ends_at_its_reach():
    arrays = np.ones((1, 1)), np.ones(1), np.ones(1), np.ones(1), np.array([3.0]), np.ones(1)
    found = solve_small_program(*arrays, 7.0, Clock(Budget()))
    assert found.is_at_reach
    assert found.w == 7.0


@pytest.mark.parametrize("bias", BIASES, ids=repr)
@pytest.mark.parametrize("is_sparse", [True, False])
def test_the_squared_hinge_is_solved_to_the_last_digits(bias, is_sparse):
    p = wide(bias=bias, cost=3.0, loss=SquaredHinge())
    p = p if is_sparse else replace(p, X=p.X.toarray())
    solution = solve(p, tol=1e-9)
    assert solution.status is Status.SOLVED
    assert solution.certificate.primal == pytest.approx(reference.solve_l1(p)[2], rel=1e-8)
    assert 0 < np.count_nonzero(solution.w) < p.X.shape[1] / 2


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()], ids=repr)
def test_budgets_end_it_with_the_best_so_far(loss):
    p = wide(n=400, d=500, loss=loss, cost=10.0)
    cut = solve(p, tol=1e-12, budget=Budget(iterations=1))
    assert cut.status is Status.ITERATION_BUDGET
    assert cut.n_iter == 1
    assert solve(p, tol=1e-12, budget=Budget(seconds=0.0)).status is Status.TIME_BUDGET
    assert solve(p, tol=1e-12, budget=Budget(stop=lambda: True)).status is Status.INTERRUPTED


def test_an_observer_hears_and_stops():
    heard = []
    p = wide(n=400, d=500)
    assert solve(p, observe=lambda event: heard.append(event) or len(heard) == 2).status is Status.STOPPED
    assert len(heard) == 2


@pytest.mark.parametrize("solver", [LinearProgram(), PrimalCD()], ids=lambda solver: solver.name)
def test_infinite_costs_are_refused(solver):
    p = replace(wide(), cost=np.full(40, np.inf))
    assert "finite costs" in solver.accepts(p)


def test_the_columns_are_those_of_the_samples_that_count():
    p = replace(wide(bias=Bias.penalized(2.0)), cost=np.r_[np.zeros(3), np.ones(37)])
    columns = Columns.of(p)
    dense = np.hstack([p.X.toarray()[3:], np.ones((37, 1))])
    v, w = np.arange(37.0), np.arange(301.0)
    np.testing.assert_allclose(columns.sums(v), v @ dense)
    np.testing.assert_allclose(columns.scores(w), dense @ w)
    np.testing.assert_allclose(columns.squares(v), v @ dense**2)
    np.testing.assert_allclose(columns.price, np.r_[np.ones(300), 0.5])


@examples(40)
@given(p=problems(max_n=12, kernels=("linear",), penalty=L1(), scales=(1.0,)), data=st.data())
def test_the_first_weight_enters_at_the_critical_cost(p, data):
    t = critical_cost(replace(p, cost=p.cost / p.cost.max()))
    if np.isinf(t):  # no feature helps at any cost
        assert not solve(replace(p, cost=p.cost / p.cost.max() * 1e4), tol=1e-9).w.any()
        return
    below, above = (solve(replace(p, cost=p.cost / p.cost.max() * t * f), tol=1e-11) for f in (0.99, 1.01))
    size = np.abs(reference.rows_of(p)).max()
    assert np.abs(below.w).max() * size <= 1e-6
    assert np.abs(above.w).max() * size > 1e-6
