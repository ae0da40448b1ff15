"""The solvers of linear problems agree on problems too large to be finished by the refinement of the last digits."""

from contextlib import ExitStack
from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.core import Bias, Hinge, Problem, SquaredHinge, Status
from maxmargin.solvers import InteriorPoint, auto, solve
from maxmargin.solvers.base import Budget
from maxmargin.solvers.linear import normal_equations as equations
from maxmargin.solvers.linear.dual_cd import DualCD
from maxmargin.solvers.linear.proximal_newton import ProximalNewton
from maxmargin.solvers.linear.rows import Rows
from maxmargin.solvers.refine import REFINE
from tests.strategies import examples, generators

N, D = 900, 60
TOL = 1e-6


@st.composite
def linear_problems(draw):
    """More values than the refinement takes on; every loss, bias, form and precision, costs over four orders."""
    rng = draw(generators())
    y = np.where(rng.random(N) < draw(st.sampled_from([0.5, 0.1])), 1.0, -1.0)
    X = rng.standard_normal((N, D)) + draw(st.sampled_from([0.0, 0.3])) * y[:, None]
    X = X.astype(draw(st.sampled_from([np.float32, np.float64])))
    X = draw(st.sampled_from([np.asarray, sp.csr_array]))(X)
    weights = rng.choice([0.0, 0.5, 1.0, 2.0], size=N) if draw(st.booleans()) else np.ones(N)
    return Problem(
        X,
        y,
        cost=weights * draw(st.sampled_from([1e-4, 1e-2, 1.0])),
        loss=draw(st.sampled_from([Hinge(), SquaredHinge()])),
        bias=draw(st.sampled_from([Bias.free(), Bias.none(), Bias.penalized(2.0)])),
    )


def test_the_problems_are_too_large_to_be_refined():
    assert REFINE.small < N * D


ALONE = (auto, "offers", lambda problem, present: [])
EARLY = (auto.Auto, "tuning", replace(auto.Auto.tuning, newton_price=1e-9))
ITERATED = (equations, "TUNING", replace(equations.TUNING, factored=0))

WAYS = {
    "dual_cd": (DualCD(), ALONE),
    "dual_cd, then proximal_newton": (DualCD(), EARLY),
    "dual_cd, then proximal_newton by iteration": (DualCD(), EARLY, ITERATED),
    "proximal_newton": (ProximalNewton(),),
    "proximal_newton by iteration": (ProximalNewton(), ITERATED),
}
"""Each solver, and how its constants are set for it."""


@pytest.fixture(params=WAYS.values(), ids=WAYS, scope="module")
def solver(request):
    """One of the ways to solve a linear problem."""
    with ExitStack() as stack:
        for module, name, value in request.param[1:]:
            stack.enter_context(mock.patch.object(module, name, value))
        yield request.param[0]


@examples(8)
@given(problem=linear_problems())
def test_the_objective_is_that_of_the_interior_point(solver, problem):
    mine, reference = (solve(problem, entrant, tol=TOL) for entrant in (solver, InteriorPoint()))
    assert mine.status is reference.status is Status.SOLVED
    assert mine.certificate.relative_gap <= TOL
    assert mine.certificate.primal == pytest.approx(reference.certificate.primal, rel=TOL)
    # the optimum lies between any dual and any primal value
    assert mine.certificate.dual <= reference.certificate.primal * (1 + 1e-12)
    assert reference.certificate.dual <= mine.certificate.primal * (1 + 1e-12)


def tall(C: float = 100.0) -> Problem:
    """Twenty samples a feature and large costs: sweeps crawl."""
    rng = np.random.default_rng(0)
    X = sp.random_array((2000, 100), density=0.1, rng=rng, format="csr")
    y = np.where(X @ rng.normal(size=100) + 0.3 * rng.normal(size=2000) > 0, 1.0, -1.0)
    return Problem(X, y, cost=np.full(2000, C))


def test_slow_sweeps_end_in_another_solver_which_the_answer_names():
    found = solve(tall(), DualCD(), tol=1e-9)
    assert found.status is Status.SOLVED
    assert found.solver.startswith("DualCD, then ProximalNewton: ")
    assert solve(tall(1e-3), DualCD(), tol=1e-3).solver.startswith("DualCD: ")


@pytest.mark.parametrize("more", [0, 1, 2, 5])
def test_what_was_found_before_the_hand_over_is_not_lost(more):
    """The first steps of the successor are far behind; a budget that ends there still gives the better of the two."""
    events = []
    solve(tall(), DualCD(), tol=1e-9, observe=events.append)
    handed = next(event for event in events if event.certificate is not None)
    found = solve(tall(), DualCD(), tol=1e-9, budget=Budget(iterations=handed.iteration + more))
    assert found.status is Status.ITERATION_BUDGET
    assert found.certificate.relative_gap <= handed.certificate.relative_gap


def never() -> bool:
    return False


@examples(20)
@given(rng=generators(), is_sparse=st.booleans(), ridge=st.sampled_from([0.0, 1.0]))
def test_newtons_equations_have_one_solution_however_they_are_solved(rng, is_sparse, ridge):
    X = rng.standard_normal((30, 7)) * (rng.random((30, 7)) < 0.5)
    rows = Rows.of_matrix(sp.csr_array(X) if is_sparse else X)
    cost, bent = rng.uniform(0.5, 2.0, 30), rng.random(30) < rng.choice([0.3, 0.7])
    right, diagonal = rng.standard_normal(8), np.append(np.ones(7), ridge)
    factored = equations.Factored(rows, cost, 1.5, diagonal)
    factored.turn(np.flatnonzero(bent), cost[bent])
    exact = factored.solve(right, 3.0, bent, never)
    with mock.patch.object(equations, "TUNING", replace(equations.TUNING, inexact=1e-12)):
        near = equations.Iterated(rows, cost, 1.5, diagonal).solve(right, 3.0, bent, never)
    A = np.column_stack([X, np.full(30, 1.5)])[bent]
    H = np.diag(factored.diagonal(3.0, int(bent.sum()))) + 3.0 * A.T @ (cost[bent, None] * A)
    np.testing.assert_allclose(H @ exact, right, atol=1e-9)
    np.testing.assert_allclose(near, exact, rtol=1e-6, atol=1e-8)


def test_a_free_bias_that_balances_a_large_feature_does_not_slow_newton_steps():
    """Seconds since 1970 beside scaled features: w₀ and b move together, and the step may not hold b back."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((382, 17))
    X[:, 0] = 1.7e9 + rng.integers(0, 30_000_000, size=382)
    y = np.where((X[:, 0] > np.median(X[:, 0])) ^ (X[:, 1] > 0.7), 1.0, -1.0)
    solution = solve(Problem(X, y, cost=np.full(382, 550.0)), ProximalNewton(), tol=1e-5)
    assert solution.status is Status.SOLVED
    assert solution.solver.startswith("ProximalNewton: ")
