"""Problems with targets and a total: ε-SVR by doubled rows, and one class; certified, and the same by every way there is."""

from fractions import Fraction
from unittest import mock

import clarabel
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.svm import SVR, NuSVC, OneClassSVM

from maxmargin.core import L1, Bias, Candidate, Hinge, Problem, SquaredHinge, Status, certify
from maxmargin.core.candidate import box, make_feasible, reach
from maxmargin.errors import InvalidInputError, NotSupportedError
from maxmargin.kernels import RBF, Linear
from maxmargin.solvers import SMO, SOLVERS, DualCD, InteriorPoint, auto, solve
from tests.strategies import examples, generators

FAMILY = ("smo", "interior_point", "active_set", "dual_cd", "proximal_newton")
"""Solvers that know targets and a total."""

BIASES = (Bias.free(), Bias.none(), Bias.penalized(0.7))


def regression(X, t, cost, epsilon, kernel=None, bias=None, loss=None):
    """ε-SVR: each row twice, y = ±1 and r = ±t − ε."""
    n = len(t)
    twice = np.tile(np.arange(n), 2)
    return Problem(
        X,
        np.repeat([1.0, -1.0], n),
        np.tile(np.broadcast_to(cost, n), 2),
        loss=loss or Hinge(),
        kernel=kernel or Linear(),
        bias=bias or Bias.free(),
        rows=twice,
        target=np.concatenate([t, -t]) - epsilon,
    )


def one_class(X, nu, kernel=None):
    """Schölkopf's: y = 1, r = 0, b = −ρ, c = 1/(νn), Σβ = 1."""
    n = len(X)
    return Problem(X, np.ones(n), np.full(n, 1.0 / (nu * n)), kernel=kernel or Linear(), target=np.zeros(n), total=1.0)


def nu_classification(X, y, nu, kernel=None):
    """ν-SVC: r = 0, c = 1/(νn), the classes as groups with the totals ±½ and the biases b ∓ ρ."""
    n = len(y)
    groups, totals = (y < 0).astype(int), np.array([0.5, -0.5])
    kernel = kernel or Linear()
    return Problem(X, y, np.full(n, 1.0 / (nu * n)), kernel=kernel, target=np.zeros(n), groups=groups, totals=totals)


@st.composite
def family(draw):
    """Small regressions and one-class problems, as people have them: offsets, repeated rows, targets of any size."""
    rng = draw(generators())
    n, d = draw(st.integers(3, 25)), draw(st.integers(1, 6))
    X = rng.standard_normal((n, d)) * draw(st.sampled_from([0.1, 1.0, 10.0])) + draw(st.sampled_from([0.0, 3.0]))
    if draw(st.booleans()):
        X[n // 2 :] = X[: n - n // 2]
    kernel = draw(st.sampled_from([Linear(), RBF(gamma=0.3)]))
    if draw(st.booleans()):
        return one_class(X, draw(st.sampled_from([0.1, 0.5, 0.9])), kernel)
    t = (X[:, 0] + 0.3 * rng.standard_normal(n)) * draw(st.sampled_from([1e-3, 1.0, 1e3]))
    cost = draw(st.sampled_from([0.1, 10.0])) / max(float(np.abs(t).max()), 1e-9)
    epsilon = draw(st.sampled_from([0.0, 0.1])) * float(np.abs(t).max())
    loss = draw(st.sampled_from([Hinge(), SquaredHinge()]))
    return regression(X, t, cost, epsilon, kernel, draw(st.sampled_from(BIASES)), loss)


@examples(60)
@given(family())
def test_all_solvers_prove_the_same_optimum(problem):
    solvers = [SOLVERS[name]() for name in FAMILY if SOLVERS[name]().refuses(problem) is None]
    assert len(solvers) == (5 if problem.is_linear else 3)
    solutions = [solve(problem, solver, tol=1e-6) for solver in solvers]
    for one in solutions:
        assert one.certificate.relative_gap <= 1e-6, one.status
        for other in solutions:
            assert one.certificate.dual <= other.certificate.primal
        assert certify(problem, one, tol=1e-6) == one.certificate


@pytest.mark.parametrize("name", FAMILY)
@pytest.mark.parametrize("kind", ["regression", "squared", "one class"])
def test_each_solver_proves_it_without_another_one(name, kind):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((30, 4)) + 1.0
    t = X @ rng.standard_normal(4) + 0.3 * rng.standard_normal(30)
    loss = SquaredHinge() if kind == "squared" else Hinge()
    problem = one_class(X, 0.4) if kind == "one class" else regression(X, t, 2.0, 0.1, loss=loss)
    with mock.patch.object(auto, "offers", return_value=[]):
        assert solve(problem, SOLVERS[name](), tol=1e-5).certificate.is_certified


def exact_primal(problem, w, b):
    """P(w, b) of a linear problem in fractions."""
    w, biases = [Fraction(float(v)) for v in w], [Fraction(float(v)) for v in np.atleast_1d(b)]
    totals = [problem.total] if problem.totals is None else problem.totals.tolist()
    total = sum(v * v for v in w) / 2 + sum(Fraction(t) * v for t, v in zip(totals, biases, strict=True))
    if problem.bias.kind == "penalized":
        total += (biases[0] / Fraction(problem.bias.scale)) ** 2 / 2
    groups = np.zeros(problem.n, dtype=int) if problem.groups is None else problem.groups
    rows = problem.X[problem.row(np.arange(problem.n))]
    for x, y, c, r, g in zip(rows, problem.y, problem.cost, problem.target, groups, strict=True):
        m = Fraction(float(r)) - int(y) * (sum(v * Fraction(float(u)) for v, u in zip(w, x, strict=True)) + biases[g])
        slack = max(m, Fraction(0))
        total += Fraction(float(c)) * (slack * slack if isinstance(problem.loss, SquaredHinge) else slack)
    return total


@examples(60)
@given(family(), st.sampled_from([1e-1, 1e-4]))
def test_claims_hold_in_exact_arithmetic(problem, tol):
    if not problem.is_linear:
        return
    rough, fine = solve(problem, SMO(), tol=tol), solve(problem, InteriorPoint(), tol=1e-9)
    values = [exact_primal(problem, one.w, one.b) for one in (rough, fine)]
    for one, value in zip((rough, fine), values, strict=True):
        assert Fraction(one.certificate.primal) >= value
        assert all(Fraction(one.certificate.dual) <= other for other in values)
        assert Fraction(one.certificate.gap) >= value - min(values)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("epsilon", [0.0, 0.2])
def test_regression_has_the_objective_of_scikit_learn(kernel, epsilon):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 3))
    t = np.sin(2 * X[:, 0]) + X[:, 1] + 0.2 * rng.standard_normal(80)
    problem = regression(X, t, 3.0, epsilon, RBF(gamma=0.5) if kernel == "rbf" else Linear())
    theirs = SVR(C=3.0, epsilon=epsilon, kernel=kernel, gamma=0.5, tol=1e-9).fit(X, t)
    signed = np.zeros(80)
    signed[theirs.support_] = theirs.dual_coef_[0]
    w = problem.combine(np.concatenate([np.maximum(signed, 0.0), np.minimum(signed, 0.0)]))
    ours = solve(problem, tol=1e-8)
    assert ours.certificate.primal == pytest.approx(problem.primal(w, float(theirs.intercept_[0])), rel=1e-6)


@pytest.mark.parametrize("nu", [0.05, 0.3, 0.8])
def test_one_class_has_the_objective_of_scikit_learn_and_keeps_both_promises_of_nu(nu):
    X = np.random.default_rng(1).standard_normal((120, 2))
    problem = one_class(X, nu, RBF(gamma=0.5))
    theirs = OneClassSVM(nu=nu, gamma=0.5, tol=1e-9).fit(X)
    beta = np.zeros(120)
    beta[theirs.support_] = theirs.dual_coef_[0] / (nu * 120)
    ours = solve(problem, tol=1e-9)
    expected = problem.primal(beta, float(theirs.intercept_[0]) / (nu * 120))
    assert ours.certificate.primal == pytest.approx(expected, rel=1e-6)
    decisions = problem.decision(ours.w) + ours.b
    assert np.mean(decisions < -1e-9) <= nu <= np.mean(ours.beta > 0)


@pytest.mark.parametrize("bias", BIASES, ids=repr)
def test_regression_agrees_with_its_program_written_by_hand(bias):
    """min ½‖w‖² (+ ½b²/s²) + CΣ(ξ + ξ*)  s.t.  |t − ⟨w, x⟩ − b| ≤ ε + ξ; variables w, b, ξ, ξ*."""
    rng = np.random.default_rng(2)
    n, d, cost, epsilon = 30, 4, 2.0, 0.1
    X = rng.standard_normal((n, d))
    t = X @ rng.standard_normal(d) + 1.0 + 0.5 * rng.standard_normal(n)
    has_bias = bias.kind != "none"
    weight_of_b = bias.scale**-2 if bias.kind == "penalized" else 0.0
    P = sp.diags_array(np.concatenate([np.ones(d), [weight_of_b], np.zeros(2 * n)]), format="csc")
    q = np.concatenate([np.zeros(d + 1), np.full(2 * n, cost)])
    inner = np.hstack([X, np.full((n, 1), float(has_bias))])
    above, below = np.hstack([inner, -np.eye(n), np.zeros((n, n))]), np.hstack([-inner, np.zeros((n, n)), -np.eye(n)])
    positive = np.hstack([np.zeros((2 * n, d + 1)), -np.eye(2 * n)])
    right = np.concatenate([t + epsilon, epsilon - t, np.zeros(2 * n)])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    A = sp.csc_array(np.vstack([above, below, positive]))
    program = clarabel.DefaultSolver(P, q, A, right, [clarabel.NonnegativeConeT(4 * n)], settings)
    expected = program.solve().obj_val
    assert solve(regression(X, t, cost, epsilon, bias=bias), tol=1e-8).certificate.primal == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("nu", [0.2, 0.5])
def test_nu_classification_has_the_objective_of_scikit_learn_and_is_c_classification_divided_by_rho(kernel, nu):
    rng = np.random.default_rng(4)
    y = np.repeat([1.0, -1.0], 40)
    X = rng.standard_normal((80, 2)) + 1.2 * y[:, None]
    problem = nu_classification(X, y, nu, RBF(gamma=0.5) if kernel == "rbf" else Linear())
    ours = solve(problem, tol=1e-8)
    assert ours.certificate.relative_gap <= 1e-8
    b, rho = ours.b.mean(), 0.5 * (ours.b[1] - ours.b[0])
    theirs = NuSVC(nu=nu, kernel=kernel, gamma=0.5, tol=1e-10).fit(X, y)  # scaled so that its margin is 1
    beta = np.zeros(80)
    beta[theirs.support_] = theirs.dual_coef_[0]
    scale = 1.0 / np.abs(beta).sum()  # Σα = 1
    intercept = scale * float(theirs.intercept_[0])
    w, their_rho = problem.combine(scale * beta), scale
    value = problem.primal(w, intercept + np.array([-their_rho, their_rho]))
    assert ours.certificate.primal == pytest.approx(value, rel=1e-5)
    classic = solve(Problem(X, y, np.full(80, 1.0 / (rho * nu * 80)), kernel=problem.kernel), tol=1e-9)
    decisions = problem.decision(ours.w) + b
    np.testing.assert_allclose(decisions / rho, problem.decision(classic.w) + classic.b, atol=1e-3)


def test_nu_below_what_the_overlap_allows_leaves_w_at_zero():
    """ρ = 0 and P* = 0: the gap is compared with what ‖w(β)‖ could be."""
    y = np.repeat([1.0, -1.0], 40)
    X = np.random.default_rng(4).standard_normal((80, 2))
    solution = solve(nu_classification(X, y, 0.2), tol=1e-6)
    assert solution.certificate.relative_gap <= 1e-6
    assert np.abs(solution.w).max() < 1e-6
    assert abs(solution.b[1] - solution.b[0]) < 1e-6


@examples(30)
@given(generators(), st.integers(4, 25), st.sampled_from([0.1, 0.4, 0.9]), st.booleans())
def test_claims_about_groups_hold_in_exact_arithmetic(rng, n, share, is_overlapping):
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    X = rng.standard_normal((n, 2)) + (0.0 if is_overlapping else 3.0) * y[:, None]
    problem = nu_classification(X, y, share * 2 * (n // 2) / n)
    rough, fine = (solve(problem, tol=tol) for tol in (1e-2, 1e-7))
    values = [exact_primal(problem, one.w, one.b) for one in (rough, fine)]
    for one, value in zip((rough, fine), values, strict=True):
        assert Fraction(one.certificate.primal) >= value
        assert all(Fraction(one.certificate.dual) <= other for other in values)
        assert Fraction(one.certificate.gap) >= value - min(values)


def test_groups_of_more_samples_than_an_interior_point_holds_go_to_pairs():
    rng = np.random.default_rng(0)
    y = np.where(np.arange(4200) % 2, 1.0, -1.0)
    problem = nu_classification(rng.standard_normal((4200, 2)) + y[:, None], y, 0.5, RBF(gamma=0.5))
    assert auto.Auto().choose(problem)[0].name == "SMO"
    assert auto.Auto().choose(nu_classification(np.eye(4), y[:4], 0.5))[0].name == "InteriorPoint"
    solution = solve(problem, tol=1e-2)
    assert solution.status is Status.SOLVED


def test_groups_that_cannot_be_posed_are_refused_with_the_reason():
    X, y = np.eye(3), np.array([1.0, 1.0, -1.0])
    with pytest.raises(InvalidInputError, match="of group 1 cannot be reached"):
        nu_classification(X, y, 0.9)  # ν ≤ 2 · 1/3
    with pytest.raises(InvalidInputError, match="a group for each sample"):
        Problem(X, y, np.ones(3), groups=np.zeros(2), totals=np.zeros(1))
    with pytest.raises(NotSupportedError, match="has one bias"):
        solve(nu_classification(X, y, 0.5), DualCD())


def test_a_tube_that_holds_all_targets_leaves_w_at_zero():
    X, t = np.arange(6.0)[:, None], np.array([0.1, -0.1, 0.05, 0.0, -0.05, 0.1])
    solution = solve(regression(X, t, 1.0, 0.5))
    assert solution.certificate.gap == solution.certificate.primal == 0.0
    np.testing.assert_array_equal(solution.w, [0.0])


@given(generators(), st.integers(1, 30), st.floats(0.0, 1.0))
def test_any_dual_point_can_be_made_feasible(rng, n, share):
    X = rng.standard_normal((n, 2))
    y = np.where(rng.random(n) < 0.7, 1.0, -1.0)
    y[0] = 1.0
    cost = rng.random(n) + 0.1
    total = share * float(cost[y > 0].sum())
    problem = Problem(X, y, cost, target=np.zeros(n), total=total)
    beta = make_feasible(problem, 3.0 * rng.standard_normal(n))
    lo, hi = box(problem)
    assert ((lo <= beta) & (beta <= hi)).all()
    assert beta.sum() == pytest.approx(total, abs=1e-12 * n)


def test_raising_stops_at_the_bounds():
    np.testing.assert_allclose(reach(np.zeros(3), np.array([1.0, 1.0, 2.0]), 4.0), [1.0, 1.0, 2.0])


def test_what_cannot_be_posed_is_refused_with_the_reason():
    X, y, cost = np.eye(2), np.array([1.0, -1.0]), np.ones(2)
    with pytest.raises(InvalidInputError, match="cannot be reached: β sums up to 1"):
        Problem(X, y, cost, total=2.0)
    with pytest.raises(InvalidInputError, match="0 without a free bias"):
        Problem(X, y, cost, total=0.5, bias=Bias.none())
    with pytest.raises(InvalidInputError, match="finite number for each"):
        Problem(X, y, cost, target=np.array([1.0, np.nan]))
    with pytest.raises(InvalidInputError, match="target must have one number"):
        Problem(X, y, cost, target=np.ones(3))
    with pytest.raises(NotSupportedError, match="finite costs and the L2"):
        Problem(X, y, cost, target=np.ones(2), penalty=L1())


@pytest.mark.parametrize("name", sorted(set(SOLVERS) - set(FAMILY)))
def test_solvers_that_know_classification_only_say_so(name):
    problem = regression(np.eye(4), np.arange(4.0), 1.0, 0.1)
    with pytest.raises(NotSupportedError, match="Use SMO"):
        solve(problem, SOLVERS[name]())


def test_targets_of_one_are_classification():
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((30, 2)), np.where(rng.random(30) < 0.5, 1.0, -1.0)
    plain = Problem(X, y, np.ones(30), kernel=RBF(gamma=1.0))
    with_targets = Problem(X, y, np.ones(30), kernel=RBF(gamma=1.0), target=np.ones(30))
    solution = solve(plain, SMO(), tol=1e-6)
    candidate = Candidate(solution.w, solution.b, solution.beta)
    ours, same = certify(plain, candidate), certify(with_targets, candidate)
    assert same.primal == pytest.approx(ours.primal, rel=1e-14)
    assert same.dual == pytest.approx(ours.dual, rel=1e-12)
    assert same.gap == pytest.approx(ours.gap, rel=1e-12)
