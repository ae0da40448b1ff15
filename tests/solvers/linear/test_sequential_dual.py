"""The sequential dual method: what it alone is, beside an independent quadratic program."""

import clarabel
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.core import Bias, Problem, Status
from maxmargin.core.joint import JointProblem
from maxmargin.errors import NotSupportedError
from maxmargin.solvers import Auto, Budget, DualCD, solve
from maxmargin.solvers.interior.joint_interior_point import JointInteriorPoint
from maxmargin.solvers.linear.sequential_dual import SequentialDual, best_biases, onto_simplices
from tests.core.test_joint import joint_problems
from tests.strategies import examples, generators

BIASES = (Bias.none(), Bias.penalized(0.7), Bias.free())


def drawn(seed=0, n=60, d=4, k=4, bias=BIASES[0], cost=1.0):
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % k
    X = rng.standard_normal((n, d)) + 1.5 * rng.standard_normal((k, d))[labels]
    return JointProblem(X, labels, np.full(n, cost), k, bias)


def by_clarabel(problem):
    """The optimum of min ½Σ‖w_m‖² + Σcξ, ξ_j ≥ e_jm + F_m(x_j) − F_y(x_j), as a quadratic program in W, b and ξ."""
    n, k = problem.n, problem.n_classes
    X = np.hstack([problem.X, np.full((n, 1), problem.bias.scale or 1.0)])
    d, on = X.shape[1], [1.0] * problem.X.shape[1]
    on.append({"free": 0.0, "none": 1.0, "penalized": 1.0}[problem.bias.kind])
    quadratic = sp.diags(np.r_[np.tile(on, k), np.zeros(n)]).tocsc()
    rows, right = [], []
    for j in range(n):
        for m in range(k):
            row = np.zeros(k * d + n)
            row[m * d : m * d + d] += X[j]
            row[problem.labels[j] * d : problem.labels[j] * d + d] -= X[j]
            row[k * d + j] = -1.0
            rows.append(row)
            right.append(-float(m != problem.labels[j]))
    A, cones = sp.csc_matrix(np.array(rows)), [clarabel.NonnegativeConeT(len(rows))]
    if problem.bias.kind == "none":
        fixed = np.zeros((k, k * d + n))
        fixed[np.arange(k), np.arange(k) * d + d - 1] = 1.0
        A, right, cones = sp.vstack([sp.csc_matrix(fixed), A]).tocsc(), [0.0] * k + right, [clarabel.ZeroConeT(k), *cones]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    return (
        clarabel.DefaultSolver(quadratic, np.r_[np.zeros(k * d), problem.cost], A, np.array(right), cones, settings)
        .solve()
        .obj_val
    )


@pytest.mark.parametrize("bias", BIASES, ids=str)
@pytest.mark.parametrize("cost", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("solver", [SequentialDual(), JointInteriorPoint()], ids=str)
def test_the_optimum_is_that_of_an_independent_quadratic_program(bias, cost, solver):
    problem = drawn(bias=bias, cost=cost)
    found = solve(problem, solver, tol=1e-6).certificate
    best = by_clarabel(problem)
    assert found.relative_gap <= 1e-6
    assert found.dual <= best * (1 + 1e-6)
    assert best <= found.primal * (1 + 1e-6)


def test_two_classes_have_the_optimum_of_the_binary_problem():
    for bias in BIASES:
        problem = drawn(k=2, bias=bias)
        binary = Problem(problem.X, np.where(problem.labels == 1, 1.0, -1.0), 2.0 * problem.cost, bias=bias)
        joint, other = solve(problem, SequentialDual(), tol=1e-8), solve(binary, tol=1e-8)
        assert joint.certificate.primal == pytest.approx(0.5 * other.certificate.primal, rel=1e-7)
        np.testing.assert_allclose(joint.w[1] - joint.w[0], other.w, atol=1e-3)


@examples(25)
@given(joint_problems(scales=(0.1, 1.0)))
def test_the_kept_weights_are_those_of_the_dual_point(problem):
    solution = solve(problem, SequentialDual(), tol=1e-3, budget=Budget(iterations=300))
    scale = 1.0 + np.abs(solution.w).max()
    if not problem.bias.is_free:  # there β has still to be balanced
        np.testing.assert_allclose(solution.w, problem.combine(solution.beta), atol=1e-8 * scale)
    assert solution.certificate.relative_gap <= 1.0 + 1e-12


def test_sparse_and_dense_rows_and_any_order_of_them_have_one_optimum():
    problem = drawn(n=90)
    order = np.random.default_rng(1).permutation(90)
    dense = solve(problem, SequentialDual(), tol=1e-8)
    for X, at in ((sp.csr_array(problem.X), slice(None)), (problem.X[order], order), (problem.X.astype(np.float32), slice(None))):
        other = solve(JointProblem(X, problem.labels[at], problem.cost, 4, problem.bias), SequentialDual(), tol=1e-8)
        np.testing.assert_allclose(other.w, dense.w, atol=1e-3)


def test_weight_two_is_two_copies_and_weight_zero_is_absent():
    problem = drawn()
    weights = np.random.default_rng(2).integers(0, 3, problem.n).astype(float)
    rows = np.repeat(np.arange(problem.n), weights.astype(int))
    one = solve(JointProblem(problem.X, problem.labels, weights, 4, Bias.none()), SequentialDual(), tol=1e-9)
    other = solve(
        JointProblem(problem.X[rows], problem.labels[rows], np.ones(len(rows)), 4, Bias.none()), SequentialDual(), tol=1e-9
    )
    assert one.certificate.primal == pytest.approx(other.certificate.primal, rel=1e-8)
    np.testing.assert_allclose(one.w, other.w, atol=1e-3)


def test_a_warm_start_from_the_optimum_ends_at_once():
    for bias in BIASES:
        problem = drawn(bias=bias)
        first = solve(problem, SequentialDual(), tol=1e-6)
        assert solve(problem, SequentialDual(), tol=1e-6, warm=first).n_iter <= 2


def test_rows_of_zeros_are_given_their_best_share():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    found = solve(JointProblem(X, np.array([0, 1, 2, 2]), np.ones(4), 3, Bias.none()), SequentialDual(), tol=1e-9)
    assert found.certificate.relative_gap <= 1e-9
    assert found.certificate.primal >= 2.0  # the slacks of both rows of zeros are 1


BUDGETS = [(Budget(iterations=3), "ITERATION_BUDGET"), (Budget(stop=lambda: True), "INTERRUPTED")]


@pytest.mark.parametrize(("budget", "status"), BUDGETS)
def test_budgets_end_it_with_the_best_so_far(budget, status):
    found = solve(drawn(n=400, cost=100.0), SequentialDual(), tol=1e-9, budget=budget)
    assert found.status is Status[status]
    assert 1e-9 < found.certificate.relative_gap <= 1.0 + 1e-9


def test_other_solvers_refuse_it_and_it_refuses_other_problems():
    problem = drawn()
    assert Auto().choose(problem)[0] == JointInteriorPoint()
    assert Auto(seed=3).choose(drawn(n=2000, d=40))[0] == SequentialDual(3)
    with pytest.raises(NotSupportedError, match=r"does not solve several classes.*Use Auto\(\)"):
        solve(problem, DualCD())
    with pytest.raises(NotSupportedError, match="solves several classes"):
        solve(Problem(np.eye(2), np.array([1.0, -1.0]), np.ones(2)), SequentialDual())


@examples(50)
@given(generators(), st.integers(1, 6))
def test_a_projection_onto_a_simplex_satisfies_its_optimality_conditions(rng, k):
    v, total = rng.standard_normal((20, k)) * 3.0, rng.exponential(size=20)
    found = onto_simplices(v, total)
    assert (found >= 0.0).all()
    np.testing.assert_allclose(found.sum(axis=1), total, rtol=1e-12)
    theta = np.where(found > 0.0, v - found, -np.inf).max(axis=1)
    assert (np.where(found > 0.0, np.abs(v - found - theta[:, None]), 0.0) < 1e-12).all()
    assert (np.where(found == 0.0, v - theta[:, None], 0.0) < 1e-12).all()


def test_moving_the_biases_to_their_best_values_never_raises_the_objective():
    rng = np.random.default_rng(5)
    problem = drawn(bias=Bias.free())
    for _ in range(10):
        W, b = rng.standard_normal((4, 4)), rng.standard_normal(4)
        better = best_biases(problem, W, b)
        assert problem.primal(W, better) <= problem.primal(W, b) * (1 + 1e-12)
