"""Pegasos, SGD, subgradient descent and the perceptron against their pseudo-code, given the same draws, and against theory."""

from dataclasses import replace
from itertools import chain

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.core import Bias, Problem, Status, certify
from maxmargin.errors import InvalidInputError, NotSupportedError
from maxmargin.kernels import Polynomial, Precomputed
from maxmargin.solvers import Budget, InteriorPoint, Pegasos, Subgradient, solve
from maxmargin.solvers.base import Clock
from maxmargin.solvers.stochastic.iterates import Counts, Iterates
from maxmargin.solvers.stochastic.perceptron import Run, train
from maxmargin.solvers.stochastic.samples import epochs_of
from tests import reference
from tests.strategies import examples, generators

LINEAR_AS_KERNEL = Polynomial(1, gamma=1.0, coef0=0.0)
FORMS = ("dense", "csr", "kernel")


@st.composite
def samples(draw, whole=True):
    """Small data with labels ±1, of whole numbers or of any."""
    rng = draw(generators())
    n, d = draw(st.integers(2, 9)), draw(st.integers(1, 4))
    X = rng.integers(-3, 4, size=(n, d)).astype(float) if whole else rng.standard_normal((n, d))
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return X, y


def in_form(X, form):
    return sp.csr_array(X) if form == "csr" else X


def soft(X, y, lam, form="dense", bias="none"):
    kernel = {"kernel": LINEAR_AS_KERNEL} if form == "kernel" else {}
    cost = np.full(len(y), 1.0 / (lam * len(y)))
    return Problem(in_form(X, form), y, cost, bias=Bias.none() if bias == "none" else Bias.penalized(), **kernel)


def run(problem, solver, epochs):
    """The state after so many epochs, and the order of its visits."""
    state = solver.init(problem, Budget.bytes, None)
    solver.step(state, 0.0, Clock(Budget(iterations=epochs)))
    again = epochs_of(problem.present, solver.order, solver.seed)
    return state, np.concatenate([next(again) for _ in range(epochs)])


def weights(problem, vector):
    """The weights of the features that a vector stands for."""
    return vector[:-1] if problem.is_linear else reference.dense(problem.X).T @ vector


def as_floats(w):
    return np.array([float(v) for v in w])


def tail_of(steps):
    """The last but one of the numbers 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, … up to `steps`."""
    marks = sorted({odd * 2**k for odd in (1, 3, 5, 7) for k in range(30)})
    return [0, *(mark for mark in marks if mark <= steps)][-2]


def mean_of(iterates):
    return as_floats([sum(column) / len(iterates) for column in zip(*iterates, strict=True)])


# -- against the pseudo-code --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@examples(40)
@given(data=samples(), seed=st.integers(0, 99), lam=st.sampled_from([0.25, 1.0, 2.0]))
def test_sgd_is_the_box_of_the_textbook(form, data, seed, lam):
    problem = soft(*data, lam, form)
    state, draws = run(problem, Pegasos("sgd", True, order="uniform", seed=seed), 4)
    iterates, violations = reference.sgd(*data, lam, draws)
    assert np.bincount(draws[[t - 1 for t in violations]], minlength=problem.n).tolist() == (state.counts.table[:, 1].tolist())
    assert np.bincount(draws, minlength=problem.n).tolist() == state.counts.table[:, 0].tolist()
    np.testing.assert_allclose(weights(problem, state.iterates.output()), mean_of(iterates), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("batch", [1, 2])  # halves are exact
@examples(40)
@given(data=samples(), seed=st.integers(0, 99), lam=st.sampled_from([0.25, 1.0, 2.0]))
def test_pegasos_is_the_pseudo_code_of_the_lecture(form, batch, data, seed, lam):
    problem, epochs = soft(*data, lam, form), 3
    for average in (False, True, "tail"):
        state, order = run(problem, Pegasos(average=average, batch=batch, seed=seed), epochs)
        visits = order.reshape(epochs, -1)
        batches = [epoch[i : i + batch] for epoch in visits for i in range(0, len(epoch), batch)]
        iterates, violations = reference.pegasos(*data, lam, batches)
        counted = np.bincount(np.array(list(chain(*violations)), dtype=int), minlength=problem.n)
        assert counted.tolist() == state.counts.table[:, 1].tolist()
        wanted = {False: iterates[-1:], True: iterates[:-1], "tail": iterates[tail_of(len(batches)) : -1]}[average]
        found = weights(problem, state.iterates.output())
        np.testing.assert_allclose(found, mean_of(wanted), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("form", FORMS)
@examples(25)
@given(data=samples(whole=False), seed=st.integers(0, 99), lam=st.sampled_from([0.01, 0.3]))
def test_on_any_data_the_weights_are_the_pseudo_codes_to_twelve_digits(form, data, seed, lam):
    problem = soft(*data, lam, form)
    state, order = run(problem, Pegasos(average="tail", seed=seed), 8)
    iterates, violations = reference.pegasos(*data, lam, order[:, None], is_exact=False)
    assert np.bincount(np.array(list(chain(*violations)), dtype=int), minlength=problem.n).tolist() == (
        state.counts.table[:, 1].tolist()
    )
    np.testing.assert_allclose(
        weights(problem, state.iterates.output()), mean_of(iterates[tail_of(len(order)) : -1]), rtol=1e-12, atol=1e-11
    )


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("average", [False, "tail"])
@examples(25)
@given(data=samples(whole=False), seed=st.integers(0, 99), lam=st.sampled_from([1e-6, 0.01, 0.3]))
def test_projected_pegasos_is_the_pseudo_code_and_stays_in_the_ball(form, average, data, seed, lam):
    problem = soft(*data, lam, form)
    state, order = run(problem, Pegasos(average=average, project=True, seed=seed), 12)
    iterates, _ = reference.pegasos(*data, lam, order[:, None], is_exact=False, radius=lam**-0.5)
    wanted = iterates[-1:] if average is False else iterates[tail_of(len(order)) : -1]
    np.testing.assert_allclose(weights(problem, state.iterates.output()), mean_of(wanted), rtol=1e-9, atol=1e-10 * lam**-0.5)
    assert np.linalg.norm(weights(problem, state.iterates.last())) <= lam**-0.5 * (1 + 1e-9)


@pytest.mark.parametrize("steps", ["1/(λt)", "1/√t"])
@pytest.mark.parametrize("form", FORMS)
@examples(25)
@given(data=samples(whole=False), lam=st.sampled_from([0.03, 0.3, 2.0]))
def test_subgradient_descent_is_its_formula(steps, form, data, lam):
    X, y = data
    problem, T = soft(X, y, lam, form), 15
    radius = np.linalg.norm(X, axis=1).max()
    t = np.arange(1, T + 1)
    etas = 1 / (lam * t) if steps == "1/(λt)" else np.minimum(1 / (radius * np.sqrt(lam * t)), 1 / lam)
    iterates = reference.subgradient_descent(X, y, lam, etas)
    solver = Subgradient(steps)
    state = solver.init(problem, Budget.bytes, None)
    for k in range(T):
        found = problem.combine(state.beta)
        np.testing.assert_allclose(found if problem.is_linear else X.T @ found, iterates[k], rtol=1e-9, atol=1e-11)
        state.best_gap = np.inf
        solver.step(state, -1.0, Clock(Budget(iterations=1)))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("bias", ["none", "penalized"])
@examples(40)
@given(data=samples(), seed=st.integers(0, 99))
def test_the_perceptron_is_its_pseudo_code_primal_and_dual(form, bias, data, seed):
    X, y = data
    problem = replace(soft(X, y, 1.0, form, bias), cost=np.full(len(y), np.inf))
    mine = Run.start(problem, shuffle=True, seed=seed)
    for _ in range(5):
        mine.epoch()
    again = epochs_of(np.arange(len(y)), "permuted", seed)
    order = np.concatenate([next(again) for _ in range(5)])
    augmented = np.hstack([X, np.ones((len(y), 1))]) if bias == "penalized" else X
    w, mistakes, versions = reference.perceptron(augmented, y, order)
    alpha, dual_mistakes = reference.dual_perceptron(augmented @ augmented.T, y, order)
    assert mine.log[0].tolist() == mistakes == dual_mistakes
    mean, average = mean_of(versions), mine.w - mine.u / mine.clock
    if problem.is_linear:
        width = augmented.shape[1]
        assert mine.w[:width].tolist() == as_floats(w).tolist()
        np.testing.assert_allclose(average[:width], mean, rtol=1e-12, atol=1e-13)
    else:
        assert (mine.w * y).tolist() == alpha
        np.testing.assert_allclose(augmented.T @ average, mean, rtol=1e-12, atol=1e-13)
    assert order[mine.log[1] - 1].tolist() == mistakes  # times count from 1


# -- theory ---------------------------------------------------------------------------------------------------------------


@examples(60)
@given(rng=generators(), n=st.integers(2, 40), d=st.integers(1, 5), margin=st.sampled_from([0.02, 0.1, 0.5]))
def test_the_perceptron_makes_at_most_the_updates_of_its_bound(rng, n, d, margin):
    u = rng.standard_normal(d)
    u /= np.linalg.norm(u)
    X, y = rng.standard_normal((n, d)), np.where(rng.random(n) < 0.5, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    X += np.outer(y * (margin + rng.random(n)) - X @ u, u)
    problem = Problem(X, y, np.full(n, np.inf), bias=Bias.none())
    mine = train(True, 0, problem, budget=Budget())
    assert mine.is_clean
    assert mine.status is Status.SOLVED
    assert (y * (X @ mine.w[:-1]) > 0).all()
    gamma, rho = (y * (X @ u)).min(), np.linalg.norm(X, axis=1).max()
    assert len(mine.log[0]) <= (rho / gamma) ** 2
    assert np.linalg.norm(mine.w) <= np.sqrt(len(mine.log[0])) * rho * (1 + 1e-12)


def test_from_zero_the_perceptron_moves():
    problem = Problem(np.array([[1.0], [-1.0]]), np.array([1.0, -1.0]), np.full(2, np.inf), bias=Bias.none())
    mine = Run.start(problem, shuffle=False)
    assert (mine.epoch(), mine.epoch()) == (1, 0)
    assert mine.w[0] == 1.0


@pytest.mark.parametrize("method", ["pegasos", "sgd"])
def test_from_zero_pegasos_and_sgd_move(method):
    problem = soft(np.array([[1.0], [-1.0]]), np.array([1.0, -1.0]), 0.5)
    state, _ = run(problem, Pegasos(method, order="given"), 1)
    assert state.counts.table[:, 1][0] == 1


def test_the_mean_of_sgd_comes_closer_like_one_over_t():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3)) / 2
    y = np.where(X @ [1.0, -1.0, 0.5] + 0.5 * rng.standard_normal(60) > 0, 1.0, -1.0)
    problem, lam = soft(X, y, 0.1), 0.1
    best = solve(problem, InteriorPoint(), tol=1e-10).certificate.primal * lam
    epochs, excess = np.array([4, 8, 16, 32, 64, 128]), []
    for count in epochs:
        values = []
        for seed in range(40):
            state, _ = run(problem, Pegasos("sgd", True, order="uniform", seed=seed), int(count))
            values.append(lam * problem.primal(state.iterates.output()[:-1], 0.0) - best)
        excess.append(np.mean(values))
    t = 60.0 * epochs
    slope = np.polyfit(np.log(t), np.log(excess), 1)[0]
    assert -1.25 < slope < -0.75, slope
    # the theorem: E P(w̄) − P* ≤ ρ²(1 + ln T)/(2λT), with ρ the Lipschitz bound of the hinge at the iterates
    rho = np.linalg.norm(X, axis=1).max()
    assert (np.array(excess) <= (2 * rho) ** 2 * (1 + np.log(t)) / (2 * lam * t)).all()


@examples(25)
@given(data=samples(whole=False), lam=st.sampled_from([0.01, 0.3]), seed=st.integers(0, 99))
def test_pegasos_last_iterate_is_what_the_shares_of_all_visits_make(data, lam, seed):
    problem = soft(*data, lam, bias="penalized")
    state, _ = run(problem, Pegasos(average=False, seed=seed), 6)
    shares = state.counts.table[:, 1] / state.counts.table[:, 0]
    made = problem.augmented_dual(problem.y * problem.cost * shares)
    np.testing.assert_allclose(state.iterates.last(), made, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("solver", [Pegasos(), Pegasos("sgd", True, order="uniform"), Pegasos(batch=4), Subgradient()])
def test_the_gap_is_real_and_falls(form, solver):
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((80, 4)), np.where(np.arange(80) % 3 == 0, 1.0, -1.0)
    problem = soft(X + 0.5 * y[:, None], y, 0.05, form, "penalized")
    best = solve(problem, InteriorPoint(), tol=1e-9).certificate
    gaps = []
    for epochs in (1, 4, 16, 64, 256):
        solution = solve(problem, solver, tol=0.0, budget=Budget(iterations=epochs))
        judged = certify(problem, solution)
        assert judged.dual <= best.primal * (1 + 1e-9)
        assert judged.primal >= best.dual * (1 - 1e-9)
        gaps.append(judged.relative_gap)
    assert gaps[0] <= 1.0 + 1e-9
    assert gaps[-1] < 0.1 * gaps[0]
    assert solve(problem, solver, tol=0.1).status is Status.SOLVED


def test_weights_change_the_cost_and_absent_samples_are_not_visited():
    rng = np.random.default_rng(2)
    X, y = rng.standard_normal((30, 2)), np.where(np.arange(30) % 2 == 0, 1.0, -1.0)
    cost = np.where(np.arange(30) < 20, 1.0 + np.arange(30) % 3, 0.0)
    problem = Problem(X, y, cost, bias=Bias.none())
    state, _ = run(problem, Pegasos(), 5)
    assert (state.counts.table[:, 0][20:] == 0).all()
    assert (state.counts.table[:, 0][:20] == 5).all()
    assert solve(problem, Pegasos(), tol=0.01).certificate.relative_gap <= 0.01


def test_a_long_stay_at_the_edge_of_the_ball_keeps_its_digits():
    X, y = np.array([[1.0], [1.0]]), np.array([1.0, -1.0])
    problem = Problem(X, y, np.array([1e6, 1e-6]), bias=Bias.none())
    state, _ = run(problem, Pegasos(project=True, average=True), 4000)
    assert np.isfinite(state.iterates.output()).all()
    assert abs(state.iterates.last()[0]) <= state.iterates.rule.radius * (1 + 1e-9)


# -- the parts ------------------------------------------------------------------------------------------------------------


def test_visits_of_large_data_keep_neighbours_together_and_miss_nobody():
    order = next(epochs_of(np.arange(100_000), "permuted", 0, n_values=3_000_000))
    assert sorted(order.tolist()) == list(range(100_000))
    assert (np.diff(order) == 1).mean() == pytest.approx(0.75, abs=0.01)  # chunks of four


def test_uniform_draws_are_uniform():
    visits = epochs_of(np.arange(10), "uniform", 3)
    counts = np.bincount(np.concatenate([next(visits) for _ in range(2000)]), minlength=10)
    assert np.abs(counts - 2000).max() < 5 * np.sqrt(2000)


def test_a_resumed_run_goes_on_as_if_it_had_not_stopped():
    problem = soft(np.array([[1.0, 2.0], [-1.0, 0.5], [2.0, -3.0]]), np.array([1.0, -1.0, 1.0]), 0.1)
    solver = Pegasos(average=False, order="given")
    whole, _ = run(problem, solver, 2)
    half, _ = run(problem, solver, 1)
    half.iterates = Iterates.at(half.iterates.rule, half.iterates.last(), half.iterates.t)
    solver.step(half, 0.0, Clock(Budget(iterations=1)))
    np.testing.assert_allclose(half.iterates.last(), whole.iterates.last(), rtol=1e-12)


def test_without_draws_there_are_no_shares():
    np.testing.assert_array_equal(Counts.none(3).shares(), np.zeros(3))


@pytest.mark.parametrize("solver", [Pegasos(), Subgradient()])
def test_what_they_cannot_solve_is_refused(solver):
    X, y = np.array([[1.0], [-1.0]]), np.array([1.0, -1.0])
    for problem in (Problem(X, y, np.ones(2)), Problem(X, y, np.full(2, np.inf), bias=Bias.none())):
        with pytest.raises(NotSupportedError, match=solver.name):
            solve(problem, solver)


@pytest.mark.parametrize(
    "settings",
    [{"method": "adam"}, {"average": "all"}, {"batch": 0}, {"order": "sorted"}, {"method": "sgd", "project": True}],
)
def test_settings_that_mean_nothing_are_refused(settings):
    with pytest.raises(InvalidInputError):
        Pegasos(**settings)
    with pytest.raises(InvalidInputError):
        Subgradient("1/t²")


def test_a_kernel_beyond_the_whole_gram_matrix_gives_the_same(monkeypatch):
    rng = np.random.default_rng(4)
    X, y = rng.integers(-3, 4, size=(40, 3)).astype(float), np.where(np.arange(40) % 2 == 0, 1.0, -1.0)
    problem = Problem(X @ X.T, y, np.full(40, 0.5), kernel=Precomputed(), bias=Bias.penalized())
    whole, _ = run(problem, Pegasos(), 6)
    monkeypatch.setattr("maxmargin.solvers.stochastic.samples.WHOLE_GRAM", 0)
    in_rows, _ = run(problem, Pegasos(), 6)
    np.testing.assert_array_equal(in_rows.iterates.v, whole.iterates.v)
