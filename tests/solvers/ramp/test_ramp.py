"""The ramp loss: convex steps that never rise, and a search that ends at the least value there is."""

from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.core import L1, L2, Bias, Hinge, Problem, Ramp, Status, certify
from maxmargin.core.ramp import convex_step
from maxmargin.errors import InvalidInputError, NotSupportedError
from maxmargin.kernels import RBF, Sigmoid
from maxmargin.solvers import Budget, InteriorPoint, solve, solve_ramp, solve_ramp_exactly
from tests import reference
from tests.strategies import examples, problems

ramps = problems(max_n=12, losses=(Ramp(),), kernels=("linear", "rbf", "precomputed"), scales=(1.0,))
sparse_ramps = problems(max_n=12, losses=(Ramp(),), kernels=("linear",), scales=(1.0,), penalty=L1())


def flipped(seed=0, n=40, flips=4, **others):
    """Two clouds with some labels turned over."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    X = rng.standard_normal((n, 2)) + 1.5 * y[:, None]
    y[:flips] *= -1
    return Problem(X, y, np.full(n, 1.0), loss=Ramp(), **others)


@examples(60)
@given(p=st.one_of(ramps, sparse_ramps))
def test_the_objective_never_rises_and_the_last_step_is_certified(p):
    solution = solve_ramp(p, tol=1e-8)
    values = solution.objectives
    assert all(after <= before for before, after in pairwise(values))
    assert solution.objective == values[-1] == pytest.approx(p.primal(solution.w, solution.b), rel=1e-12)
    step = convex_step(p, solution.is_outlier)
    assert certify(step, solution).relative_gap <= 1e-8
    # what the convex step leaves out costs 1 each, so R ≤ Q_S + Σ_S c
    total = certify(step, solution).primal + p.cost[solution.is_outlier].sum()
    assert solution.objective <= total * (1 + 1e-12)


@examples(30)
@given(p=st.one_of(ramps, sparse_ramps))
def test_a_hinge_solution_without_outliers_is_returned_unchanged(p):
    hinge = solve(replace(p, loss=Hinge()), tol=1e-8)
    if (p.y * (p.decision(hinge.w) + hinge.b) < 0)[p.present].any():
        return
    ramp = solve_ramp(p, tol=1e-8)
    np.testing.assert_array_equal(ramp.w, hinge.w)
    assert ramp.b == hinge.b
    assert not ramp.is_outlier.any()


def test_flipped_labels_are_forgotten():
    solution = solve_ramp(flipped(), tol=1e-8)
    assert set(range(4)) <= set(np.flatnonzero(solution.is_outlier).tolist())


def least_by_trying_all(p):
    """min over all S of min Q_S + Σ_S c: the textbook's QP (or program) for each of 2ⁿ sets."""
    on, best = np.flatnonzero(p.cost > 0), float(p.cost.sum())
    for kept in product((False, True), repeat=len(on)):
        cost = np.zeros(p.n)
        cost[on] = np.where(kept, p.cost[on], 0.0)
        out = float(p.cost.sum() - cost.sum())
        if not cost.any() or out >= best:
            continue
        if len(np.unique(p.y[cost > 0])) < 2 and p.bias.is_free:
            best = min(best, out)
            continue
        step = replace(p, loss=Hinge(), cost=cost)
        if isinstance(p.penalty, L1):
            best = min(best, out + reference.solve_l1(step)[2])
        else:
            alpha = reference.solve_qp(step)
            best = min(
                best,
                out + float(alpha.sum() - 0.5 * (alpha * p.y) @ (reference.gram(p) + p.bias.scale**2) @ (alpha * p.y)),
            )
    return best


def tiny(seed, penalty, bias, kernel=None, n=6):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    X = rng.standard_normal((n, 2)) + y[:, None]
    y[-1] *= -1
    cost = np.full(n, 10.0 ** rng.uniform(-1, 1.5))
    others = {} if kernel is None else {"kernel": kernel}
    return Problem(X, y, cost, loss=Ramp(), penalty=penalty, bias=bias, **others)


BIASES = (Bias.free(), Bias.none(), Bias.penalized(1.0))


@pytest.mark.parametrize("bias", BIASES, ids=repr)
@pytest.mark.parametrize("penalty", [L2(), L1()], ids=repr)
def test_the_exact_search_finds_the_least_value(penalty, bias):
    for seed in range(3):
        p = tiny(seed, penalty, bias)
        found = solve_ramp_exactly(p)
        assert found.objective == pytest.approx(least_by_trying_all(p), rel=1e-5)
        assert found.objective * (1 - 1e-6) <= found.bound <= found.objective


def test_the_exact_search_takes_kernels():
    p = tiny(0, L2(), Bias.free(), RBF(gamma=0.5))
    assert solve_ramp_exactly(p).objective == pytest.approx(least_by_trying_all(p), rel=1e-5)


def test_the_exact_search_agrees_with_highs_mixed_integer_program():
    for seed in range(3):
        p = tiny(seed, L1(), Bias.free(), n=12)
        assert solve_ramp_exactly(p).objective == pytest.approx(reference.solve_ramp_milp(p), rel=1e-5)


def test_several_starts_find_the_global_optimum_of_most_tiny_problems(record_property):
    draws = [tiny(seed, L1(), bias, n=10) for seed in range(6) for bias in BIASES]
    hits = sum(solve_ramp(p, tol=1e-8, starts=10).objective <= reference.solve_ramp_milp(p) * (1 + 1e-6) for p in draws)
    record_property("share of global optima", hits / len(draws))
    assert hits >= 0.8 * len(draws), f"{hits} of {len(draws)}"


def test_more_starts_are_never_worse():
    for seed in range(5):
        p = tiny(seed, L2(), Bias.free(), n=12)
        assert solve_ramp(p, starts=5).objective <= solve_ramp(p).objective


def test_a_class_that_is_forgotten_whole_leaves_the_bias_alone():
    X, y = np.zeros((5, 1)), np.array([1.0, 1.0, 1.0, 1.0, -1.0])
    solution = solve_ramp(Problem(X, y, np.ones(5), loss=Ramp()))
    assert solution.objective == 1.0
    np.testing.assert_array_equal(np.flatnonzero(solution.is_outlier), [4])


@pytest.mark.parametrize("bias", [Bias.none(), Bias.penalized(1.0)], ids=repr)
def test_one_class_without_a_free_bias_is_a_problem_like_any_other(bias):
    X, y = np.array([[1.0], [2.0], [-1.0]]), np.array([1.0, 1.0, -1.0])
    p = Problem(X, y, np.array([1.0, 1.0, 0.0]), bias=bias)
    assert solve(p, InteriorPoint(), tol=1e-8).status is Status.SOLVED


def test_one_class_with_a_free_bias_is_refused_by_solve():
    p = Problem(np.eye(3), np.array([1.0, -1.0, -1.0]), np.array([0.0, 1.0, 1.0]))
    with pytest.raises(InvalidInputError, match="one class"):
        solve(p)


def test_budgets_count_over_all_steps():
    p = flipped(n=200, flips=20, kernel=RBF(gamma=1.0))
    whole = solve_ramp(p, tol=1e-8)
    cut = solve_ramp(p, tol=1e-8, budget=Budget(iterations=max(whole.n_iter // 2, 1)))
    assert cut.status is Status.ITERATION_BUDGET
    assert cut.n_iter <= max(whole.n_iter // 2, 1)
    assert solve_ramp(p, budget=Budget(stop=lambda: True), starts=3).status is Status.INTERRUPTED
    assert solve_ramp(p, budget=Budget(seconds=0.0)).status is Status.TIME_BUDGET


def test_the_exact_search_hands_back_the_best_when_a_budget_ends_it():
    p = flipped(n=24, flips=5)
    cut = solve_ramp_exactly(p, budget=Budget(iterations=3))
    assert cut.status is Status.ITERATION_BUDGET
    assert cut.bound <= cut.objective
    heard = []
    assert solve_ramp_exactly(p, observe=lambda event: heard.append(event) or True).status is Status.STOPPED
    assert len(heard) == 1


def test_what_it_cannot_do_is_refused():
    with pytest.raises(NotSupportedError, match="Use solve"):
        solve_ramp(replace(flipped(), loss=Hinge()))
    with pytest.raises(InvalidInputError, match="starts"):
        solve_ramp(flipped(), starts=0)
    for p in (flipped(n=32), replace(flipped(n=8), loss=Hinge()), flipped(n=8, kernel=Sigmoid(gamma=1.0))):
        with pytest.raises(NotSupportedError, match="at most 30 samples"):
            solve_ramp_exactly(p)
    with pytest.raises(NotSupportedError):
        solve(flipped())
