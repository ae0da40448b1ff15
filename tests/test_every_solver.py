"""The battery that every solver of the registry has to pass, on every problem that it accepts.

"The same" means what two certificates allow: objectives within the gaps, and w and decision values within the radii of the two
balls that hold the optimum. β and b need not be unique. A solver that declares an `accuracy` is asked for no smaller gap.
"""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.svm import SVC, LinearSVC

from maxmargin.core import L1, Bias, Candidate, Problem, Status, certify
from maxmargin.core.candidate import make_feasible, to_candidate
from maxmargin.errors import NotSupportedError
from maxmargin.kernels import RBF
from maxmargin.solvers import SOLVERS, InteriorPoint, solve
from tests import reference
from tests.problems import KNOWN, problem, signs
from tests.strategies import duals, examples, generators, problems, separable_problems

TOL = 1e-6
ENTRANTS = {name: kind() for name, kind in SOLVERS.items()}
ENTRANTS |= {f"interior_point {form}": InteriorPoint(form) for form in ("primal", "dual")}

SMALL = problem([[1], [-1]], "+-", 1)
HOMOGENEOUS = replace(SMALL, bias=Bias.none())
SOFT = {name: solver for name, solver in ENTRANTS.items() if solver.accepts(SMALL) is None}

every_solver = pytest.mark.parametrize("solver", ENTRANTS.values(), ids=ENTRANTS)
FINE = {name: solver for name, solver in ENTRANTS.items() if solver.accuracy == 0}
every_fine_solver = pytest.mark.parametrize("solver", FINE.values(), ids=FINE)
every_soft_solver = pytest.mark.parametrize("solver", SOFT.values(), ids=SOFT)
soft, linear, hard = problems(max_n=10), problems(max_n=10, kernels=("linear",)), separable_problems(max_n=10)
sparse = problems(max_n=10, kernels=("linear",), penalty=L1())


def accepted(solver, strategy=None):
    """The drawn problems that a solver takes."""
    if strategy is None:
        takes_kernels = solver.accepts(replace(HOMOGENEOUS, kernel=RBF(gamma=1.0))) is None
        takes_hard = solver.accepts(replace(HOMOGENEOUS, cost=np.full(2, np.inf))) is None
        kinds = [soft if takes_kernels else linear] if solver.accepts(HOMOGENEOUS) is None else []
        kinds += [hard] if takes_hard else []
        kinds += [sparse] if solver.accepts(replace(HOMOGENEOUS, penalty=L1())) is None else []
        strategy = st.one_of(*kinds)
    return strategy.filter(lambda p: solver.accepts(p) is None)


def tol_of(solver):
    """The gap to ask for."""
    return max(TOL, solver.accuracy)


class Answer:
    """A candidate with its certificate, and the ball that holds the optimum."""

    def __init__(self, problem, candidate):
        self.problem, self.certificate = problem, certify(problem, candidate)
        beta = make_feasible(problem, candidate.beta)
        w, b, f = candidate.w, candidate.b, problem.decision(candidate.w)
        if problem.is_hard:
            closest = (problem.y * (f + b))[problem.present].min()
            w, f = w / closest, f / closest
        # f of the ball's centre ½(w + w(β)), and the centre as coefficients of the samples' φ where w is not needed
        self.centre = 0.5 * (w + problem.combine(beta))
        self.scores = 0.5 * (f + problem.decision(problem.combine(beta)))
        weight = np.where(np.isfinite(problem.cost), problem.cost, np.abs(beta))
        rounding = 1e-13 * (self.certificate.primal + float(weight @ (1.0 + np.abs(f) + abs(b))))
        self.gap = self.certificate.gap + rounding
        self.radius = math.sqrt(self.certificate.radius**2 + rounding)


def fit(problem, solver, **others):
    """Solve and insist on the certified gap."""
    solution = solve(problem, solver, tol=tol_of(solver), **others)
    assert solution.status is Status.SOLVED
    assert certify(problem, solution).relative_gap <= tol_of(solver)
    return Answer(problem, solution)


def same_value(a, b):
    width = sum(c.primal - c.dual for c in (a.certificate, b.certificate))  # both hold the optimum
    assert abs(a.certificate.primal - b.certificate.primal) <= width
    assert abs(a.certificate.dual - b.certificate.dual) <= width


def same(a, b, sign=1.0, order=slice(None)):
    """Objective and, where the optimum is unique, decision values (of b's samples in the given order of a's) and weights."""
    same_value(a, b)
    if not a.problem.penalty.strongly_convex:
        return
    allowed = a.radius + b.radius
    length = np.sqrt(np.maximum(b.problem.diag(), 0.0))
    apart = np.abs(a.scores[order] - sign * b.scores)
    rounding = 1e-9 * (np.abs(a.scores).max() + np.abs(b.scores).max())
    assert (apart <= allowed * length + rounding).all()
    if a.problem.is_linear:
        apart = np.linalg.norm(a.centre - sign * b.centre)
        assert apart <= allowed + 1e-9 * np.linalg.norm(a.centre)


@every_solver
@examples(30)
@given(data=st.data())
def test_the_answer_is_certified_and_agrees_with_the_textbooks_qp(solver, data):
    p = data.draw(accepted(solver))
    if isinstance(p.penalty, L1):
        mine = fit(p, solver)
        assert mine.certificate.primal == pytest.approx(reference.solve_l1(p)[2], rel=2 * TOL, abs=mine.gap)
        return
    reference_answer = Answer(p, to_candidate(p, reference.solve_qp(p) * p.y))
    assert reference_answer.certificate.relative_gap <= 1e-2
    same(fit(p, solver), reference_answer)


@every_solver
@examples(15)
@given(data=st.data())
def test_all_solvers_that_accept_a_problem_agree(solver, data):
    p = data.draw(accepted(solver))
    mine = fit(p, solver)
    for other in ENTRANTS.values():
        if other is not solver and other.accepts(p) is None:
            same(mine, fit(p, other))


@every_solver
@examples(20)
@given(data=st.data())
def test_a_warm_start_gives_the_same(solver, data):
    p = data.draw(accepted(solver))
    cold = fit(p, solver)
    same(cold, fit(p, solver, warm=solve(p, solver, tol=max(1e-2, 10 * solver.accuracy))))
    anywhere = to_candidate(p, data.draw(duals(p)))
    same(cold, fit(p, solver, warm=anywhere))


@every_solver
@examples(20)
@given(data=st.data())
def test_the_order_of_the_samples_does_not_matter(solver, data):
    p = data.draw(accepted(solver))
    order = data.draw(generators()).permutation(p.n)
    same(fit(p, solver), fit(choose(p, order), solver), order=order)


@every_solver
@examples(20)
@given(data=st.data())
def test_a_weight_of_k_is_k_copies(solver, data):
    p = data.draw(accepted(solver))
    k = data.draw(generators()).integers(1, 4, size=p.n)
    copies = np.repeat(np.arange(p.n), k)
    # the cost of an absent sample stays 0, of a hard margin ∞
    same(fit(replace(p, cost=p.cost * k), solver), fit(choose(p, copies), solver), order=copies)


@every_solver
@examples(20)
@given(data=st.data())
def test_a_weight_of_zero_is_an_absent_sample(solver, data):
    p = data.draw(accepted(solver))
    rng = data.draw(generators())
    kept = keep_both_classes(p, rng.random(p.n) < 0.7)
    assume(len(kept) < p.n)
    absent = np.zeros(p.n)
    absent[kept] = p.cost[kept]
    same(fit(replace(p, cost=absent), solver), fit(choose(p, kept), solver), order=kept)


@every_solver
@examples(15)
@given(data=st.data())
def test_flipped_labels_negate_the_model(solver, data):
    p = data.draw(accepted(solver))
    same(fit(p, solver), fit(replace(p, y=-p.y), solver), sign=-1.0)


@every_fine_solver  # a share of violations is seldom 0
@examples(20)
@given(data=st.data())
def test_a_sample_without_a_say_can_be_removed(solver, data):
    p = data.draw(accepted(solver))
    solution = solve(p, solver, tol=tol_of(solver))
    silent = [j for j in range(p.n) if solution.beta[j] == 0 and p.cost[j] > 0 and (p.y == p.y[j]).sum() > 1]
    silent = [j for j in silent if (p.cost[(p.y == p.y[j]) & (np.arange(p.n) != j)] > 0).any()]
    assume(silent)
    kept = np.setdiff1d(np.arange(p.n), silent[:1])
    same(Answer(p, solution), fit(choose(p, kept), solver), order=kept)


@every_solver
@examples(15)
@given(data=st.data())
def test_a_tighter_tolerance_never_raises_the_gap(solver, data):
    p = data.draw(accepted(solver))
    tols = [tol for tol in (0.5, 1e-1, 1e-2, 1e-3, TOL, 1e-8) if tol >= solver.accuracy]
    gaps = [certify(p, solve(p, solver, tol=tol)).relative_gap for tol in tols]
    gaps = [max(gap, 1e-12) for gap in gaps]  # below that rounding throws the dice
    for tighter, gap, last in zip(tols[1:], gaps[1:], gaps, strict=False):
        assert gap <= max(tighter, last)  # a lucky end for a loose tolerance binds no other


@every_solver
@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.name)
def test_known_answers(solver, known):
    p = known.problem
    if solver.accepts(p) is not None:
        with pytest.raises(ValueError, match=type(solver).__name__):
            solve(p, solver)
        return
    same(fit(p, solver), Answer(p, known.best))
    assert solve(p, solver, tol=TOL).certificate.primal == pytest.approx(known.value, rel=2 * TOL)


@every_solver
@examples(10)
@given(data=st.data())
def test_the_same_call_gives_the_same_bits(solver, data):
    p = data.draw(accepted(solver))
    first, second = solve(p, solver, tol=tol_of(solver)), solve(p, solver, tol=tol_of(solver))
    np.testing.assert_array_equal(first.w, second.w)
    np.testing.assert_array_equal(first.beta, second.beta)
    assert first.b == second.b


# -- other libraries ----------------------------------------------------------------------------------------------------


def blobs(seed, n=60, d=4):
    rng = np.random.default_rng(seed)
    y = signs("+-" * (n // 2))
    return rng.standard_normal((n, d)) + 0.5 * y[:, None], y


@every_soft_solver
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_scikit_learns_svc_agrees_to_its_tolerance(solver, seed, kernel):
    X, y = blobs(seed)
    weights = np.random.default_rng(seed).choice([0.5, 1.0, 2.0], size=len(y))
    peer = SVC(C=0.7, kernel=kernel, gamma=0.3, tol=1e-9).fit(X, y, weights)
    p = Problem(X, y, 0.7 * weights) if kernel == "linear" else Problem(X, y, 0.7 * weights, kernel=RBF(gamma=0.3))
    if solver.accepts(p) is not None:
        with pytest.raises(NotSupportedError):
            solve(p, solver)
        return
    beta = np.zeros(len(y))
    beta[peer.support_] = peer.dual_coef_[0]
    theirs = Candidate(peer.coef_[0] if kernel == "linear" else beta, float(peer.intercept_[0]), beta)
    assert certify(p, theirs).relative_gap <= 1e-6
    same(fit(p, solver), Answer(p, theirs))


@every_soft_solver
@pytest.mark.parametrize("intercept", [None, 0.5])
def test_scikit_learns_linear_svc_agrees_to_its_tolerance(solver, intercept):
    X, y = blobs(7)
    settings = {"fit_intercept": False} if intercept is None else {"intercept_scaling": intercept}
    peer = LinearSVC(C=0.3, loss="hinge", dual=True, tol=1e-9, max_iter=100_000, random_state=0, **settings).fit(X, y)
    bias = Bias.none() if intercept is None else Bias.penalized(intercept)
    p = Problem(X, y, np.full(len(y), 0.3), bias=bias)
    mine = fit(p, solver)
    b = 0.0 if intercept is None else float(np.ravel(peer.intercept_)[0])
    assert p.primal(peer.coef_[0], b) == pytest.approx(mine.certificate.primal, rel=1e-5)
    np.testing.assert_allclose(peer.coef_[0], mine.centre, atol=1e-2)


@every_solver
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_scikit_learns_svc_with_an_enormous_cost_has_the_hard_margin(solver, kernel):
    X, y = blobs(1)
    X = X + 3.0 * y[:, None]
    peer = SVC(C=1e6, kernel=kernel, gamma=0.05, tol=1e-9).fit(X, y)
    p = Problem(X, y, np.full(len(y), np.inf))
    p = p if kernel == "linear" else replace(p, kernel=RBF(gamma=0.05))
    if solver.accepts(p) is not None:
        with pytest.raises(NotSupportedError):
            solve(p, solver)
        return
    beta = np.zeros(len(y))
    beta[peer.support_] = peer.dual_coef_[0]
    theirs = Candidate(peer.coef_[0] if kernel == "linear" else beta, float(peer.intercept_[0]), beta)
    assert certify(p, theirs).relative_gap <= 1e-6
    same(fit(p, solver), Answer(p, theirs))


# -- other samples of the same problem ------------------------------------------------------------------------------


def choose(p, samples):
    """The same problem on some of its samples, perhaps repeated."""
    rows = samples if p.rows is None else p.rows[samples]
    return replace(p, rows=rows, y=p.y[samples], cost=p.cost[samples])


def keep_both_classes(p, chosen):
    """The chosen samples, and of each class at least one that counts."""
    chosen = chosen.copy()
    for label in (-1.0, 1.0):
        if not (chosen & (p.y == label) & (p.cost > 0)).any():
            chosen[np.flatnonzero((p.y == label) & (p.cost > 0))[0]] = True
    return np.flatnonzero(chosen)
