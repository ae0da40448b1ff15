"""Leaving samples out on the equations of the full solution: exact, twins and empty rows included."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from maxmargin._loops.leave_one_out import outcome
from maxmargin.analysis.leave_one_out import Full, LeftOut, tightened
from maxmargin.analysis.leave_one_out.equations import Equations, Goal, KernelProducts, LinearProducts
from maxmargin.analysis.leave_one_out.tableau import Tableau, sides_of
from maxmargin.core import Bias, Hinge, Problem
from maxmargin.solvers import InteriorPoint, solve
from tests.strategies import examples, generators, problems

ENOUGH = 2**24


def full_of(problem):
    return Full.of(problem, tightened(problem, None, tol=1e-10, warm=None))


def likely_sides(full):
    return sides_of(np.abs(full.beta), full.slack, full.squares, full.problem.cost, full.problem.y)


def without(tableau, full, samples):
    """From the full solution."""
    at, beta = tableau.samples, full.beta[np.newaxis]
    g = (full.f + full.b - full.problem.y)[np.newaxis, at]
    return tableau.without(samples, beta[:, at], g, np.array([full.b]), beta.sum(axis=1))


def blobs(n, d, bias, seed=0, noise=1.0):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 3 == 0, 1.0, -1.0)
    X = rng.normal(size=(n, d)) * noise + y[:, None] * 0.5
    return Problem(X, y, cost=np.full(n, 0.7), bias=bias)


def honest_beta(problem, i):
    cost = problem.cost.copy()
    cost[i] = 0.0
    return solve(replace(problem, cost=cost), InteriorPoint(), tol=1e-11).beta


BIASES = (Bias.none(), Bias.penalized(1.0), Bias.free())


@pytest.mark.parametrize("bias", BIASES, ids=lambda bias: bias.kind)
def test_the_pivots_end_at_the_optimum_without_the_sample(bias):
    problem = blobs(60, 80, bias)  # more features than samples: β is unique
    full = full_of(problem)
    tableau = Tableau(full, LinearProducts(full), ENOUGH)
    tableau.widen(np.arange(60))
    order = np.argsort(tableau.samples)
    for i in range(0, 60, 7):
        found = without(tableau, full, np.array([i])).beta[0][order]
        assert found == pytest.approx(honest_beta(problem, i), abs=1e-5)
        assert found[i] == 0.0


@pytest.mark.parametrize("bias", BIASES, ids=lambda bias: bias.kind)
def test_twins_and_empty_rows_do_not_stop_it(bias):
    problem = blobs(40, 6, bias, noise=1.5)
    X = np.array(problem.X)
    X[20:30], X[30:32] = X[:10], 0.0  # with their twins' labels or others
    problem = replace(problem, X=X)
    left_out = LeftOut(full_of(problem), tol=1e-11, max_bytes=ENOUGH)
    equations = Equations(left_out.full, ENOUGH)
    for _ in range(3):
        equations.widen()
        found = equations.run(np.arange(40), left_out._brackets, Goal(False, 1e-2), lambda: False)
    # With a free bias and nobody left inside, b is an interval: those few are for others to settle.
    assert np.mean(found.upper - found.lower < 1e-2) > 0.8
    slow = LeftOut(left_out.full, tol=1e-11, max_bytes=0)
    slow.retrain(np.arange(40), Goal(False, 1e-6))
    assert (found.lower <= slow.upper + 1e-6).all()
    assert (slow.lower <= found.upper + 1e-6).all()


@examples(25)
@given(problem=problems(losses=(Hinge(),), kernels=("linear",), max_n=14, scales=(1.0,)))
def test_the_interval_holds_what_the_solver_finds(problem):
    full = full_of(problem)
    left_out = LeftOut(full, tol=1e-11, max_bytes=ENOUGH)
    present = np.flatnonzero(problem.cost > 0)
    classes, counts = np.unique(problem.y[present], return_counts=True)
    samples = present[np.isin(problem.y[present], classes[counts > 1])]
    equations = Equations(full, ENOUGH)
    found = equations.run(samples, left_out._brackets[samples], Goal(False, 1e-6), lambda: False)
    left_out.retrain(samples, Goal(False, 1e-6))
    assert (found.lower <= left_out.upper[samples] + 1e-6).all()
    assert (left_out.lower[samples] <= found.upper + 1e-6).all()


@pytest.mark.parametrize("bias", BIASES, ids=lambda bias: bias.kind)
def test_samples_that_move_beyond_the_equations_join_them(bias):
    problem = blobs(300, 4, bias)
    full = full_of(problem)
    equations = Equations(full, ENOUGH, near=0.0)
    before, open_ones = len(equations.tableau.samples), []
    brackets = LeftOut(full, tol=1e-11, max_bytes=ENOUGH)._brackets
    for _ in range(3):
        equations.widen()
        found = equations.run(np.arange(300), brackets, Goal(False, 1e-2), lambda: False)
        open_ones.append(int((found.upper - found.lower > 1e-2).sum()))
    assert open_ones[2] < min(open_ones[0], 30)
    assert len(equations.tableau.samples) > before


def test_the_likely_sides_are_those_of_the_optimum():
    problem = blobs(80, 100, Bias.free())
    rough, fine = (Full.of(problem, solve(problem, tol=tol)) for tol in (1e-4, 1e-11))
    assert (likely_sides(rough) == likely_sides(fine)).mean() > 0.95
    alpha = np.abs(fine.beta)
    assert ((likely_sides(fine) == 0) == ((alpha > 1e-7) & (alpha < 0.7 - 1e-7))).all()


def test_without_room_there_are_no_equations():
    problem = blobs(30, 3, Bias.free())
    for products in (LinearProducts, lambda full: KernelProducts(full, 1)):
        full = full_of(problem)
        assert len(Tableau(full, products(full), max_bytes=100).samples) == 0
        found = Equations(full, 100).run(np.arange(3), np.zeros((3, 2)), Goal(True), bool)
        assert np.isinf([found.lower, found.upper]).all()


@examples(30)
@given(rng=generators())
def test_small_systems_are_solved_or_refused(rng):
    k = int(rng.integers(1, 7))
    Q, x = rng.normal(size=(k, k)), rng.normal(size=k)
    Q = Q @ Q.T

    def inside(Q):
        """β where all samples go inside, so that Qβ = −g; None where that has no answer."""
        beta, far = np.empty(k), np.full(k, np.inf)
        is_found = outcome(Q, 0, np.zeros(k), -(Q @ x), -far, far, np.zeros(k), k, beta, np.empty(k))
        return beta if is_found else None

    assert inside(Q) == pytest.approx(x, abs=1e-6 * np.linalg.cond(Q))
    Q[:, -1] = Q[-1] = 0.0
    assert inside(Q) is None


def test_pivots_from_where_the_last_ones_led_mend_what_the_ridge_left():
    problem = blobs(120, 5, Bias.none())
    left_out = LeftOut(full_of(problem), tol=1e-11, max_bytes=ENOUGH)
    inside = np.flatnonzero(likely_sides(left_out.full) == 0)[:3]
    found = Equations(left_out.full, ENOUGH, near=np.inf).run(
        inside, left_out._brackets[inside], Goal(False, 1e-5), lambda: False
    )
    assert (found.upper - found.lower <= 1e-5).all()


def test_each_sample_is_told_once_however_many_turns_it_takes():
    problem = blobs(300, 4, Bias.none())
    left_out = LeftOut(full_of(problem), tol=1e-11, max_bytes=ENOUGH)
    told = []
    assert left_out.retrain(np.arange(300), Goal(False, 1e-5), 1, told.append)
    assert sum(told) == 300


def test_rows_in_float32_are_not_copied_as_a_whole():
    problem = blobs(60, 5, Bias.free())
    X = np.asarray(problem.X, dtype=np.float32)
    single, double = (full_of(replace(problem, X=Z)) for Z in (X, X.astype(np.float64)))
    products = LinearProducts(single)
    products.join(np.arange(10))
    held = [*vars(products).values(), *products._rows]
    assert all(getattr(value, "shape", None) != X.shape for value in held)
    assert products.gram(np.arange(3)).dtype == np.float64
    found = []
    for full in (single, double):
        left_out = LeftOut(full, tol=1e-10, max_bytes=ENOUGH)
        left_out.retrain(np.arange(60), Goal(False, 1e-6))
        found.append(left_out)
    assert (found[0].lower <= found[1].upper).all()
    assert (found[1].lower <= found[0].upper).all()
