"""The intervals of left-out decisions against n honest retrainings, and the lemmas with their counterexamples."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given

from maxmargin._loops.quantiles import bias_ends
from maxmargin.analysis.leave_one_out import Full, LeftOut, tightened, xi_alpha
from maxmargin.analysis.leave_one_out.equations import Equations, Goal, KernelProducts, LinearProducts
from maxmargin.analysis.leave_one_out.tableau import Tableau
from maxmargin.analysis.leave_one_out.theorems import is_outside, without_retraining
from maxmargin.core import Bias, Hinge, Problem, SquaredHinge
from maxmargin.core.bias import hinge_interval
from maxmargin.kernels import RBF, Linear
from maxmargin.solvers import solve
from tests import reference
from tests.problems import problem as small_problem
from tests.strategies import examples, generators, problems, separable_problems

ROUGHLY = 2e-5
"""What the twin's QP may be off, for decisions of the size of a margin."""

SCALES = (1e-2, 1.0, 10.0)

ENOUGH = 2**24

AT_SIGN = Goal(at_sign=True)


def full_of(problem, tol=1e-3):
    return Full.of(problem, tightened(problem, None, tol=tol, warm=None))


def twin(problem):
    return np.array([reference.left_out_decision(problem, i) for i in range(problem.n)])


def agrees(left_out, honest):
    """The honest decisions lie in their intervals."""
    slack = ROUGHLY * (1.0 + np.abs(np.where(np.isfinite(honest), honest, 0.0)))
    return (left_out.lower <= honest + slack) & (honest - slack <= left_out.upper)


def check(problem, goal=AT_SIGN):
    left_out = LeftOut(full_of(problem), tol=1e-11, max_bytes=2**24)
    honest = twin(problem)
    assert agrees(left_out, honest).all(), "a theorem is wrong"
    everyone = np.arange(problem.n)
    assert left_out.retrain(everyone, goal)
    assert agrees(left_out, honest).all(), "a retraining is wrong"
    is_signed = (left_out.lower > 0) | (left_out.upper <= 0)
    is_clear = np.abs(honest) > 1e-3
    assert is_signed[is_clear].all(), "a clear case was left open"
    return left_out


SOFT = problems(losses=(Hinge(),), max_n=12, scales=SCALES)


@examples(40)
@given(problem=SOFT)
def test_every_interval_holds_what_an_honest_retraining_gives(problem):
    check(problem)


@examples(15)
@given(problem=problems(losses=(Hinge(),), kernels=("linear",), max_n=12, scales=SCALES))
def test_rows_and_the_gram_matrix_say_the_same(problem):
    full = full_of(problem)
    bounds = without_retraining(full)
    samples = np.flatnonzero(~is_outside(full) & (problem.cost > 0) & np.isfinite(bounds.brackets).all(axis=1))
    lone = [i for i in samples if (problem.cost[problem.y == problem.y[i]] > 0).sum() == 1]
    samples = np.setdiff1d(samples, lone)
    found = []
    for products in (LinearProducts(full), KernelProducts(full, 1)):
        equations = Equations(full, ENOUGH)
        equations.products = products
        equations.tableau = Tableau(full, products, ENOUGH)
        found.append(equations.run(samples, bounds.brackets[samples], Goal(False, 1e-4), lambda: False))
    assert (found[0].lower <= found[1].upper + 1e-9).all()
    assert (found[1].lower <= found[0].upper + 1e-9).all()


@examples(6)
@given(problem=problems(losses=(SquaredHinge(),), kernels=("linear", "rbf"), max_n=6, scales=(1.0,)))
def test_the_squared_hinge_is_retrained_by_its_solver(problem):
    check(problem)


@examples(10)
@given(problem=separable_problems(max_n=8, scales=(1.0,)))
def test_the_hard_margin_is_retrained_by_its_solver(problem):
    left_out = LeftOut(full_of(problem, 1e-6), tol=1e-11, max_bytes=2**24)
    honest = twin(problem)
    open_ones = np.flatnonzero(~is_outside(left_out.full))
    assert left_out.retrain(open_ones, Goal(at_sign=True))
    is_clear = np.isinf(honest) | (np.abs(honest) > 1e-3)
    assert (np.where(left_out.lower > 0, 1, -1) == np.sign(honest))[is_clear].all()


@examples(60)
@given(rng=generators())
def test_the_ends_of_the_bias_are_those_of_the_problem_without_the_sample(rng):
    n = int(rng.integers(3, 12))
    f, y, cost = rng.integers(-3, 4, n) / 2, np.where(rng.random(n) < 0.5, 1.0, -1.0), rng.integers(0, 3, n) / 2
    y[:2], cost[:2] = (1.0, -1.0), 1.0
    skip = int(rng.integers(2, n))
    keep = (np.arange(n) != skip) & (cost > 0)
    total, flat = cost[keep & (y > 0)].sum(), 1e-12 * cost[keep].sum()
    goals = total - flat, total + flat
    ends = bias_ends(y - f, np.ones(n), 0.0, cost, skip, *goals, -100.0, 100.0, np.empty(n), np.empty(n))
    assert ends == tuple(hinge_interval(f[keep], y[keep], cost[keep]))


# -- the lemmas of the text, and where they end -------------------------------------------------------------------------


def overlapping(n=30, seed=0, **others):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = np.where(X[:, 0] + 0.7 * rng.normal(size=n) > 0, 1.0, -1.0)
    return Problem(X, y, np.full(n, 1.0), **others)


@pytest.mark.parametrize("bias", [Bias.free(), Bias.none(), Bias.penalized(1.0)])
def test_training_errors_are_leave_one_out_errors(bias):
    problem = overlapping(bias=bias)
    full, honest = full_of(problem), twin(problem)
    wrong = problem.y * (full.f + full.b) < -1e-2
    assert wrong.any()
    assert (problem.y * honest < 0)[wrong].all()
    bounds = without_retraining(full)
    assert (np.where(problem.y > 0, bounds.upper < 0, bounds.lower > 0))[wrong].all()


@pytest.mark.parametrize("bias", [Bias.free(), Bias.none(), Bias.penalized(1.0)])
def test_what_is_no_support_vector_stays_correct_and_moves_nothing(bias):
    problem = overlapping(bias=bias)
    full, honest = full_of(problem), twin(problem)
    outside = is_outside(full)
    assert outside.any()
    assert np.allclose(honest[outside], (full.f + full.b)[outside], atol=1e-3)


def test_without_a_bias_small_alpha_and_slack_prove_a_correct_label():
    problem = overlapping(bias=Bias.none())
    full = full_of(problem)
    alpha, slack = np.abs(full.beta), np.maximum(1.0 - problem.y * full.f, 0.0)
    sure = alpha * full.squares + slack < 0.95
    assert (problem.y * twin(problem) > 0)[sure].all()


def test_the_lemma_fails_with_a_free_bias_and_a_kernel_that_takes_negative_values():
    X = np.array([[-0.9743, -0.0149], [0.9735, -0.0118], [1.0908, -0.0025], [1.0043, -0.0744]])
    problem = small_problem(X, "++--", 4.694)
    full = full_of(problem)
    estimate = xi_alpha(full, np.ones(4), full.alpha, full.xi)
    assert estimate.number[0] < 1
    assert estimate.verdicts[0].name == "CORRECT"
    assert twin(problem)[0] == pytest.approx(-0.583, abs=2e-3)
    assert check(problem).upper[0] < 0


def test_the_lemma_fails_where_the_bias_is_an_interval_even_with_the_true_distances():
    X = np.array([[0.13], [-0.13], [0.64], [0.1], [-0.54]])
    problem = small_problem(X, "+++--", 0.4)
    full = full_of(problem)
    slack = np.maximum(1.0 - problem.y * (full.f + full.b), 0.0)
    assert abs(full.beta[1]) * ((X - X.T) ** 2).max(axis=1)[1] + slack[1] < 0.35
    assert twin(problem)[1] < -0.05
    assert check(problem).upper[1] < 0


def test_a_sample_without_influence_can_widen_the_interval_of_biases_and_keeps_its_label():
    problem = small_problem([[1], [-1], [-8]], "+--", 0.1)
    left_out = check(problem, Goal(False, 1e-7))
    assert left_out.lower[2] == pytest.approx(-1.6, abs=1e-6)  # the middle of [−0.8, 0.8]


def test_the_last_sample_of_a_class_is_given_to_the_other():
    left_out = LeftOut(full_of(small_problem([[0], [1], [3]], "--+", 10)), tol=1e-10, max_bytes=2**20)
    assert left_out.lower[2] == left_out.upper[2] == -np.inf
    assert left_out.retrain(np.array([2]), Goal(at_sign=True))
    assert not left_out.is_retrained[2]


def test_a_sample_at_the_origin_has_the_decision_zero():
    problem = small_problem([[0], [1], [-2]], "++-", 1.0, bias=Bias.none())
    left_out = LeftOut(full_of(problem), tol=1e-10, max_bytes=2**20)
    assert left_out.lower[0] == left_out.upper[0] == 0.0


def test_a_tie_is_not_decided():
    problem = small_problem([[0], [1], [2], [3]], "--++", 10)
    left_out = check(problem)
    assert left_out.lower[1] < 0 < left_out.upper[1]
    assert left_out.upper[1] - left_out.lower[1] < 1e-5


def test_a_kernel_that_is_no_kernel_proves_nothing():
    from maxmargin.kernels import Sigmoid

    problem = overlapping(20, kernel=Sigmoid(1.0, -1.0))
    bounds = without_retraining(Full.of(problem, solve(problem, tol=1e-3)))
    assert not ((bounds.lower > -np.inf) & (bounds.upper < np.inf)).any()


# -- threads, interruption, memory --------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_sparse", [False, True])
def test_two_threads_give_the_same_bits_as_one(is_sparse):
    problem = overlapping(120)
    problem = replace(problem, X=sp.csr_array(problem.X)) if is_sparse else problem
    full = full_of(problem)
    found = []
    for n_threads in (1, 2):
        left_out = LeftOut(full, tol=1e-10, max_bytes=2**24)
        left_out.retrain(np.arange(problem.n), Goal(at_sign=True), n_threads)
        found.append((left_out.lower, left_out.upper))
    assert np.array_equal(found[0], found[1])


def test_ctrl_c_keeps_what_is_known():
    problem = overlapping(100, kernel=RBF(1.0))
    left_out = LeftOut(full_of(problem), tol=1e-10, max_bytes=2**24)
    before = left_out.upper - left_out.lower

    def interrupt(more):
        raise KeyboardInterrupt

    assert not left_out.retrain(np.arange(100), Goal(False, 1e-6), 1, interrupt)
    after = left_out.upper - left_out.lower
    assert (after <= before).all()
    assert 0 < (after < before).sum() < 100


@pytest.mark.parametrize("goal", [Goal(False, 1e-6), Goal(True, 1e-6), Goal(False, 1e6)])
@pytest.mark.parametrize("kernel", [Linear(), RBF(1.0)])
def test_each_sample_is_told_of_once_when_it_is_finished(kernel, goal):
    left_out = LeftOut(full_of(overlapping(100, kernel=kernel)), tol=1e-10, max_bytes=2**24)
    told = []
    assert left_out.retrain(np.arange(100), goal, 2, told.append)
    assert sum(told) == 100


def test_an_observer_can_stop_it():
    left_out = LeftOut(full_of(overlapping(100)), tol=1e-10, max_bytes=2**24)
    assert not left_out.retrain(np.arange(100), Goal(False, 1e-6), 2, lambda more: True)


def test_without_memory_for_the_gram_matrix_the_solver_retrains():
    problem = overlapping(12, kernel=RBF(1.0))
    left_out = LeftOut(full_of(problem), tol=1e-10, max_bytes=100)
    left_out.retrain(np.arange(12), Goal(at_sign=True))
    assert left_out.is_retrained.any()
    assert agrees(left_out, twin(problem)).all()
