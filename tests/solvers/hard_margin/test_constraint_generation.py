"""Constraint generation: small working sets, exchanged until no sample intrudes."""

from dataclasses import replace
from itertools import pairwise
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.core import Bias, Candidate, Problem, Status
from maxmargin.kernels import RBF
from maxmargin.solvers import Budget, Clock, ConstraintGeneration, InteriorPoint, solve
from maxmargin.solvers.hard_margin import constraint_generation
from maxmargin.solvers.hard_margin.constraint_generation import restrict
from tests import reference
from tests.problems import problem, signs
from tests.strategies import examples, separable_problems


def cloud(n, d, seed=0, gap=1.0):
    rng = np.random.default_rng(seed)
    y = signs("+-" * (n // 2))
    X = rng.standard_normal((n, d))
    X[:, 0] = y * (gap + np.abs(X[:, 0]))
    return Problem(X, y, np.full(n, np.inf))


@examples(80)
@given(separable_problems(max_n=14), st.sampled_from([1, 2, 3]))
def test_working_sets_of_a_few_samples_lead_to_the_whole_problems_optimum(p, batch):
    with mock.patch.object(constraint_generation, "BATCH", batch):
        solution = solve(p, ConstraintGeneration(), tol=1e-8)
    assert solution.status is Status.SOLVED
    whole = solve(p, InteriorPoint(), tol=1e-8)
    assert solution.certificate.primal == pytest.approx(whole.certificate.primal, rel=3e-8)


@examples(40)
@given(separable_problems(max_n=9, kernels=("linear",), biases=("free", "none"), scales=(1.0,)))
def test_the_margin_is_that_of_the_best_of_all_support_sets(p):
    X = reference.rows_of(p)[p.present]
    w, b = reference.widest_hyperplane(X, p.y[p.present], has_bias=p.bias.is_free)
    with mock.patch.object(constraint_generation, "BATCH", 2):
        solution = solve(p, ConstraintGeneration(), tol=1e-9)
    np.testing.assert_allclose(solution.w, w, rtol=1e-5, atol=1e-6 * np.abs(w).max())
    assert solution.b == pytest.approx(b, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("bias", [Bias.free(), Bias.none(), Bias.penalized(0.5)], ids=repr)
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_of_many_samples_few_are_looked_at(bias, kernel):
    p = replace(cloud(3000, 3), bias=bias)
    p = p if kernel == "linear" else replace(p, kernel=RBF(gamma=0.1))
    sizes = []
    inner = ConstraintGeneration._solve_part

    def spy(self, state, part, tol, clock):
        sizes.append(part.n)
        return inner(self, state, part, tol, clock)

    with mock.patch.object(ConstraintGeneration, "_solve_part", spy):
        solution = solve(p, ConstraintGeneration(), tol=1e-8)
    assert solution.status is Status.SOLVED
    assert max(sizes) < 0.35 * p.n


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_where_the_active_set_gives_up_the_interior_point_takes_over(kernel):
    p = cloud(60, 3, gap=0.3)
    p = p if kernel == "linear" else replace(p, kernel=RBF(gamma=1.0))
    with mock.patch.object(constraint_generation, "MAX_ACTIVE", 1):
        solution = solve(p, ConstraintGeneration(), tol=1e-8)
    assert solution.status is Status.SOLVED
    assert solution.certificate.primal == pytest.approx(solve(p, InteriorPoint(), tol=1e-8).certificate.primal, rel=3e-8)


def test_a_warm_start_brings_its_support_into_the_working_set():
    p = cloud(1000, 2)
    solver = ConstraintGeneration()
    beta = np.zeros(1000)
    beta[[998, 999]] = 1.0, -1.0
    state = solver.init(p, Budget.bytes, Candidate(np.zeros(2), 0.0, beta))
    assert {998, 999} <= set(state.working.tolist())


def test_a_solved_problem_is_solved_in_one_round():
    p = cloud(2000, 3)
    best = solve(p, ConstraintGeneration(), tol=1e-9)
    again = solve(p, ConstraintGeneration(), tol=1e-9, warm=best)
    assert again.n_iter <= 1
    assert again.certificate.relative_gap <= best.certificate.relative_gap


def test_the_dual_value_of_the_working_set_never_falls():
    p = cloud(3000, 4, seed=5, gap=0.01)
    solver, clock, values = ConstraintGeneration(), Clock(Budget()), []
    with mock.patch.object(constraint_generation, "BATCH", 3):
        state = solver.init(p, Budget.bytes, None)
        for _ in range(200):
            progress = solver.step(state, 1e-8, clock)
            values.append(float(np.abs(state.beta).sum()))
            if progress.is_final:
                break
    assert progress.is_final
    assert not progress.is_infeasible
    assert len(values) > 2
    assert all(later >= earlier * (1 - 1e-9) for earlier, later in pairwise(values))


def test_a_part_of_a_problem_copies_nothing():
    p = Problem(np.eye(5), signs("+-+-"), np.full(4, np.inf), rows=np.array([4, 2, 0, 1]))
    part = restrict(p, np.array([1, 2]))
    assert part.X is p.X
    np.testing.assert_array_equal(part.rows, [2, 0])
    np.testing.assert_array_equal(part.y, [-1.0, 1.0])


def test_one_wrong_label_among_many_is_infeasible():
    p = cloud(2000, 2)
    X = p.X.copy()
    X[0] = X[1::2].mean(axis=0)
    assert solve(p, ConstraintGeneration(), tol=1e-6).status is Status.SOLVED
    assert solve(replace(p, X=X), ConstraintGeneration(), tol=1e-6).status is Status.INFEASIBLE


def test_absent_samples_do_not_intrude():
    p = cloud(400, 2)
    X = np.vstack([p.X, [[-9.0, 0.0]]])
    q = Problem(X, np.append(p.y, 1.0), np.append(p.cost, 0.0))
    np.testing.assert_allclose(solve(q, ConstraintGeneration(), tol=1e-9).w, solve(p, tol=1e-9).w, rtol=1e-5, atol=1e-6)


def test_many_samples_on_the_margin_do_not_send_the_exchanges_in_circles():
    corners = np.array([[x, s] for x in np.linspace(-1, 1, 150) for s in (1.0, -1.0)])
    p = problem(corners, "+-" * 150, np.inf)
    with mock.patch.object(constraint_generation, "BATCH", 2):
        solution = solve(p, ConstraintGeneration(), tol=1e-9)
    assert solution.status is Status.SOLVED
    np.testing.assert_allclose(solution.w, [0.0, 1.0], atol=1e-7)
