"""The certificate, against P − D by subtraction in rational arithmetic, and against optima that are known."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.core import L1, Bias, Candidate, Problem, Ramp, SquaredHinge, certify
from maxmargin.core.candidate import make_feasible
from maxmargin.errors import NotSupportedError
from maxmargin.kernels import Precomputed, Sigmoid
from maxmargin.solvers import solve
from tests import reference
from tests.problems import KNOWN, problem, signs
from tests.strategies import duals, examples, generators, problems, separable_problems, weights_and_bias

ROUNDING = 1e-12


def agree(certificate, twin):
    """Every number of a certificate is the twin's, to rounding."""
    slack = ROUNDING * twin.size
    assert certificate.gap >= twin.gap - 1e-16 * twin.size  # the twin is rounded once, to a float
    assert certificate.primal >= twin.primal * (1 - 1e-15)
    assert certificate.dual <= twin.dual + 1e-16 * twin.size
    assert certificate.gap == pytest.approx(twin.gap, rel=1e-9, abs=slack)
    assert certificate.primal == pytest.approx(twin.primal, rel=1e-9, abs=slack)
    assert certificate.dual == pytest.approx(twin.dual, rel=1e-9, abs=slack)
    if not twin.is_zero:
        assert certificate.margin == pytest.approx(twin.margin, rel=1e-7, abs=1e-9 * twin.reach)
    assert certificate.distance == pytest.approx(twin.distance, rel=1e-6, abs=math.sqrt(slack))


@examples(120)
@given(st.data())
def test_the_certificate_of_any_point_is_p_minus_d(data):
    p = data.draw(problems(max_n=8))
    w, b = data.draw(weights_and_bias(p))
    beta = make_feasible(p, data.draw(duals(p)))
    certificate, twin = certify(p, Candidate(w, b, beta)), reference.judge(p, w, b, beta)
    agree(certificate, twin)
    assert certificate.kkt_violation == pytest.approx(twin.violation, rel=1e-9, abs=1e-9)
    size = max(abs(certificate.primal), abs(certificate.dual))
    assert certificate.gap / size <= certificate.relative_gap
    if certificate.dual >= -certificate.primal:  # else |D| is the larger one, and has no lower bound here
        assert certificate.relative_gap <= certificate.gap / size * (1 + 1e-9)


@examples(60)
@given(problems(max_n=8))
def test_the_certificate_of_an_optimum_is_p_minus_d_though_that_is_all_rounding(p):
    best = solve(p, tol=1e-8)
    beta = make_feasible(p, best.beta)
    twin = reference.judge(p, best.w, best.b, beta)
    assert abs(certify(p, best).gap - twin.gap) <= ROUNDING * twin.size
    assert twin.gap >= -ROUNDING * twin.size
    agree(certify(p, best), twin)


@examples(60)
@given(st.data())
def test_the_certificate_of_any_separating_plane_is_p_minus_d_after_scaling(data):
    p = data.draw(separable_problems(max_n=8))
    best = solve(p, tol=1e-8)
    rng = data.draw(generators())
    w = best.w * (1.0 + 0.01 * rng.standard_normal(best.w.shape)) * 3.0
    b = best.b * 3.0
    beta = make_feasible(p, best.beta * (1.0 + 0.3 * rng.random(p.n)))
    certificate, twin = certify(p, Candidate(w, b, beta)), reference.judge(p, w, b, beta)
    if math.isinf(twin.gap):
        assert math.isinf(certificate.gap)
        assert math.isinf(certificate.kkt_violation)
    else:
        agree(certificate, twin)
        assert certificate.kkt_violation == pytest.approx(twin.violation, rel=1e-9, abs=1e-9)
    # the size of (w, b) does not matter to a hard margin
    again = certify(p, Candidate(0.25 * w, 0.25 * b, beta))
    assert again.gap == pytest.approx(certificate.gap, rel=1e-9, abs=ROUNDING * twin.size)


def test_a_plane_that_does_not_separate_proves_nothing_about_the_hard_margin():
    p = problem([[0], [1], [2], [3]], "--++", np.inf)
    certificate = certify(p, Candidate(np.array([-1.0]), 1.5, np.zeros(4)))
    assert certificate.gap == certificate.primal == certificate.relative_gap == math.inf
    assert "Not certified: the gap is infinite" in str(certificate)


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.name)
def test_known_optima_are_certified(known):
    certificate = certify(known.problem, known.best, tol=1e-9)
    assert certificate.primal == pytest.approx(known.value, rel=1e-12)
    assert certificate.dual == pytest.approx(known.value, rel=1e-12)
    assert certificate.relative_gap <= 1e-12
    assert certificate.is_optimal_to_rounding
    assert certificate.kkt_violation <= 1e-12


def disturbed():
    """Each known optimum with one of its parts moved; not b where it has room, nor the length of w where it is free."""
    for known in KNOWN:
        best = known.best
        yield pytest.param(known.problem, replace(best, beta=0.9 * best.beta), id=f"{known.name}: beta")
        if known.problem.bias.kind != "none":
            yield pytest.param(known.problem, replace(best, w=best.w + 0.1), id=f"{known.name}: w")
            if known.biases is None:
                yield pytest.param(known.problem, replace(best, b=best.b + 0.1), id=f"{known.name}: b")


@pytest.mark.parametrize(("p", "candidate"), list(disturbed()))
def test_a_known_optimum_that_is_disturbed_is_found_out(p, candidate):
    assert certify(p, candidate).relative_gap > 1e-4


@pytest.mark.parametrize("known", [k for k in KNOWN if k.biases], ids=lambda known: known.name)
def test_every_bias_of_the_interval_is_optimal_and_none_outside(known):
    low, high = known.biases
    for b in np.linspace(low, high, 7):
        assert certify(known.problem, replace(known.best, b=float(b))).relative_gap <= 1e-14
    for b in (low - 1e-3, high + 1e-3):
        assert certify(known.problem, replace(known.best, b=b)).gap > 1e-5


@examples(60)
@given(st.data())
def test_the_gap_is_never_below_the_true_suboptimality(data):
    p = data.draw(problems(max_n=8))
    best = certify(p, solve(p, tol=1e-8))
    w, b = data.draw(weights_and_bias(p))
    certificate = certify(p, Candidate(w, b, data.draw(duals(p))))
    slack = ROUNDING * certificate.primal
    assert certificate.dual <= best.primal + slack
    assert certificate.primal >= best.dual - slack
    assert certificate.gap >= certificate.primal - best.primal - slack


@examples(60)
@given(st.data())
def test_the_optimum_lies_in_the_ball_around_the_middle_of_w_and_w_beta(data):
    p = data.draw(problems(max_n=8))
    best = solve(p, tol=1e-10)
    w, b = data.draw(weights_and_bias(p))
    beta = make_feasible(p, data.draw(duals(p)))
    certificate = certify(p, Candidate(w, b, beta))
    middle = 0.5 * (p.augmented(w, b) + p.augmented_dual(beta)) if p.is_linear else 0.5 * (w + beta)
    away = (p.augmented(best.w, best.b) if p.is_linear else best.w) - middle
    squared = away @ away if p.is_linear else away @ reference.gram(p) @ away
    if not p.is_linear and p.bias.kind == "penalized":
        s = p.bias.scale
        squared += (best.b / s - 0.5 * (b / s + s * beta.sum())) ** 2
    slack = certify(p, best).radius
    assert math.sqrt(max(squared, 0.0)) <= certificate.radius * (1 + 1e-9) + slack + 1e-7 * math.sqrt(certificate.primal)


def test_the_radius_is_the_root_of_the_gap_where_w_is_w_beta():
    p = problem([[0], [1], [2], [3]], "--++", 10)
    beta = np.array([0.0, -1.0, 1.0, 0.0])
    certificate = certify(p, Candidate(p.combine(beta), -1.5, beta))
    assert certificate.gap > 0.1
    assert certificate.radius == pytest.approx(math.sqrt(certificate.gap), rel=1e-12)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("bias", [Bias.free(), Bias.none()], ids=repr)
def test_the_l1_certificate_of_a_linear_programs_answer_is_tight(seed, bias):
    p = sparse_problem(seed, bias)
    w, b, value, alpha = reference.solve_l1(p)
    certificate = certify(p, Candidate(w, b, alpha * p.y))
    assert certificate.primal == pytest.approx(value, rel=1e-9)
    assert 0 <= certificate.relative_gap <= 1e-8
    assert certificate.dual <= value * (1 + 1e-12)
    assert math.isnan(certificate.distance)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("bias", [Bias.free(), Bias.none()], ids=repr)
def test_the_l1_gap_of_any_point_covers_its_suboptimality(seed, bias):
    p = sparse_problem(seed, bias)
    _, _, value, alpha = reference.solve_l1(p)
    rng = np.random.default_rng(seed)
    for _ in range(20):
        w = rng.standard_normal(3) * (rng.random(3) < 0.7)
        b = 0.0 if bias.kind == "none" else float(rng.standard_normal())
        for beta in (alpha * p.y, p.cost * p.y * rng.random(p.n) * 3.0):
            certificate = certify(p, Candidate(w, b, beta))
            assert certificate.gap >= certificate.primal - value - 1e-9 * value
            assert certificate.dual <= value * (1 + 1e-9)
            assert certificate.gap == pytest.approx(certificate.primal - certificate.dual, rel=1e-9)


def sparse_problem(seed, bias):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((9, 3)), signs("+-+-+-+-+")
    return Problem(X, y, rng.choice([0.5, 1.0, 3.0], size=9), penalty=L1(), bias=bias)


def test_groups_count_outside_on_and_inside():
    p = problem([[0], [1], [2], [3]], "--++", 10)
    assert certify(p, Candidate(np.array([2.0]), -3.0, np.array([0.0, -2.0, 2.0, 0.0]))).groups == (2, 2, 0)
    p = problem([[1], [-1], [-8]], "+--", 0.1)
    assert certify(p, Candidate(np.array([0.2]), 0.0, np.array([0.1, -0.1, 0.0]))).groups == (1, 0, 2)
    p = problem([[1], [-1]], "+-", 0.5, loss=SquaredHinge())
    assert certify(p, Candidate(np.array([2 / 3]), 0.0, np.array([1, -1]) / 3)).groups == (0, 0, 2)


def test_absent_samples_are_in_no_group():
    p = Problem(np.array([[0.0], [1.0], [2.0]]), signs("--+"), np.array([0.0, 5.0, 5.0]))
    assert sum(certify(p, Candidate(np.array([2.0]), -3.0, np.array([0.0, -2.0, 2.0]))).groups) == 2


def test_beta_outside_the_feasible_set_is_brought_into_it_before_it_is_judged():
    p = problem([[1], [-1]], "+-", 0.25)
    wild = Candidate(np.array([0.5]), 0.0, np.array([40.0, -7.0]))
    assert certify(p, wild).gap == pytest.approx(0.0, abs=1e-15)
    assert certify(p, Candidate(np.array([0.5]), 0.0, np.array([-1.0, 1.0]))).dual == pytest.approx(0.0, abs=1e-300)


def test_a_kernel_that_betrays_itself_is_not_called_convex():
    K = np.array([[0.0, 1.0], [1.0, 0.0]])
    p = Problem(K, signs("+-"), np.ones(2), kernel=Precomputed())
    certificate = certify(p, Candidate(np.array([1.0, -1.0]), 0.0, np.array([1.0, -1.0])))
    assert not certificate.convex
    assert certificate.radius == math.inf
    assert "better optimum may exist" in str(certificate)
    assert certify(Problem(np.eye(2), signs("+-"), np.ones(2), kernel=Precomputed()), known_nothing()).convex


def test_trust_in_a_kernel_is_declared():
    certificate = certify(Problem(np.eye(2), signs("+-"), np.ones(2), kernel=Precomputed()), known_nothing())
    assert certificate.assumed_psd
    assert "if the kernel is positive semi-definite" in str(certificate)
    p = Problem(np.eye(2), signs("+-"), np.ones(2), kernel=Sigmoid(gamma=1.0))
    assert not certify(p, known_nothing()).convex


def known_nothing():
    return Candidate(np.zeros(2), 0.0, np.zeros(2))


def test_a_bias_where_there_is_none_is_refused():
    with pytest.raises(NotSupportedError, match="no bias"):
        certify(problem([[1], [-1]], "+-", 1, bias=Bias.none()), Candidate(np.array([1.0]), 0.5, np.zeros(2)))


def test_a_loss_that_is_not_convex_is_refused():
    with pytest.raises(NotSupportedError, match="not convex"):
        certify(problem([[1], [-1]], "+-", 1, loss=Ramp()), known_nothing())


def test_a_gap_far_below_the_rounding_of_p_minus_d_keeps_its_digits():
    # P = D = 2 at the optimum; w moved by 2⁻³⁰ leaves m ≤ 0 on the margin and adds ½δ² and α·δ-terms, known exactly.
    p = problem([[0], [1], [2], [3]], "--++", 10)
    delta = 2.0**-30
    moved = Candidate(np.array([2.0 + delta]), -3.0 - 1.5 * delta, np.array([0.0, -2.0, 2.0, 0.0]))
    # yF = 1 + δ/2 on both support vectors: α·δ/2 each, and ½δ²
    assert certify(p, moved).gap == pytest.approx(2 * 2.0 * delta / 2 + 0.5 * delta**2, rel=1e-12)
    shifted = Candidate(np.array([2.0 + delta]), -3.0 - 1.5 * delta, np.array([0.0, -2.0 - delta, 2.0 + delta, 0.0]))
    # w = w(β) now: only α·δ/2 of the two remains
    assert certify(p, shifted).gap == pytest.approx((2.0 + delta) * delta, rel=1e-9)


def test_many_samples_are_judged_like_few():
    """Ten thousand copies of a sample make the same sums as one of their cost, though no block of memory holds them all."""
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1.0, -1.0, 1.0, 1.0])
    few = Problem(X, y, cost=np.full(4, 10.0), bias=Bias.penalized())
    copies = 10_000
    many = Problem(np.repeat(X, copies, axis=0), np.repeat(y, copies), np.full(4 * copies, 10.0 / copies), bias=few.bias)
    w, beta = np.array([1.5]), np.array([-1.0, -3.0, 2.0, 0.5])
    one = certify(few, Candidate(w, -2.0, beta))
    other = certify(many, Candidate(w, -2.0, np.repeat(beta / copies, copies)))
    for name in ("primal", "dual", "gap", "kkt_violation", "margin", "distance"):
        assert getattr(other, name) == pytest.approx(getattr(one, name), rel=1e-10), name
    assert other.groups == tuple(copies * count for count in one.groups)
