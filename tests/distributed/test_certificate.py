"""The certificate of many blocks is that of one machine, and a bound in exact arithmetic."""

from dataclasses import asdict, replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("distributed", reason="needs the extra dask: pip install 'maxmargin[dask]'")

from maxmargin.core import Bias, Candidate, Hinge, Problem, SquaredHinge, certify
from maxmargin.core.candidate import make_feasible
from maxmargin.distributed.cocoa import Followed, alpha
from maxmargin.solvers import Budget, solve
from tests.distributed.judged import blocks_of, judged
from tests.strategies import examples, generators

BIASES = (Bias.free(), Bias.none(), Bias.penalized(0.3))
LOSSES = (Hinge(), SquaredHinge())
PARTS = (1, 2, 5)


@st.composite
def candidates(draw, most=30):
    """A problem with an offset, with scales and weights far apart, and a candidate: its optimum, or somewhere near."""
    rng = draw(generators())
    n, d = draw(st.integers(5, most)), draw(st.integers(1, 4))
    X = rng.standard_normal((n, d)) * draw(st.sampled_from((1e-3, 1.0, 1e3))) + draw(st.sampled_from((0.0, 1e6)))
    if draw(st.booleans()):
        X = sp.csr_array(np.where(rng.random((n, d)) < 0.6, X, 0.0))
    X = X.astype(draw(st.sampled_from((np.float64, np.float32))))
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    cost = draw(st.sampled_from((1e-12, 1.0, 1e12))) * rng.choice([0.0, 0.5, 1.0, 3.0], n)
    if draw(st.booleans()):
        cost = 10.0 ** rng.uniform(-12, 12, n)
    cost[:2] = max(float(cost.max()), 1e-12)
    problem = Problem(X, y, cost=cost, loss=draw(st.sampled_from(LOSSES)), bias=draw(st.sampled_from(BIASES)))
    best = solve(problem, tol=1e-6, budget=Budget(iterations=100))
    factor = draw(st.sampled_from((0.0, 1e-9, 0.1)))
    w = best.w * (1.0 + factor * rng.standard_normal(d))
    b = 0.0 if problem.bias.kind == "none" else best.b * (1.0 + factor * float(rng.standard_normal()))
    beta = make_feasible(problem, best.beta * (1.0 + factor * rng.random(n)))
    return problem, Candidate(w, b, beta), draw(st.sampled_from((1e-3, 1e-6, 1e-12)))


def exactly(problem, candidate):
    """(P, the largest D(β − s·e_k) over the samples k that have room for s = Σβ) in rational arithmetic."""
    on = np.flatnonzero(problem.cost > 0)
    X = problem.X.toarray() if sp.issparse(problem.X) else problem.X
    X = [[Fraction(float(v)) for v in X[j]] for j in on]
    arrays = (problem.y[on], problem.cost[on], candidate.beta[on], candidate.w)
    y, cost, beta, w = ([Fraction(float(v)) for v in array] for array in arrays)
    b, s, power = (
        Fraction(candidate.b),
        Fraction(problem.bias.scale),
        2 if isinstance(problem.loss, SquaredHinge) else 1,
    )
    is_penalized = problem.bias.kind == "penalized"
    slack = [max(0, 1 - yj * (sum(p * q for p, q in zip(w, x, strict=True)) + b)) for yj, x in zip(y, X, strict=True)]
    primal = sum(p * p for p in w) / 2 + sum(c * m**power for c, m in zip(cost, slack, strict=True))
    primal += (b / s) ** 2 / 2 if is_penalized else 0

    def dual(beta):
        made = [sum(q * x[k] for q, x in zip(beta, X, strict=True)) for k in range(len(w))]
        made.append(s * sum(beta) if is_penalized else Fraction(0))
        curved = sum(q * q / (4 * c) for q, c in zip(beta, cost, strict=True)) if power == 2 else 0
        return sum(q * v for q, v in zip(beta, y, strict=True)) - curved - sum(v * v for v in made) / 2

    total = sum(beta) if problem.bias.is_free else Fraction(0)
    if total == 0:
        return primal, dual(beta)
    choices = []
    for k in range(len(on)):
        alpha = (beta[k] - total) * y[k]
        if alpha >= 0 and (power == 2 or alpha <= cost[k]):
            choices.append(dual([q - total * (j == k) for j, q in enumerate(beta)]))
    return primal, max(choices)


@examples(60)
@given(candidates(most=12), st.sampled_from(PARTS))
def test_the_claims_of_any_number_of_parts_hold_in_exact_arithmetic(drawn, n_parts):
    problem, candidate, tol = drawn
    _, certificate, _ = judged(problem, candidate, n_parts, tol)
    if not np.isfinite(certificate.gap):
        return
    primal, dual = exactly(problem, candidate)
    assert Fraction(certificate.primal) >= primal
    assert Fraction(certificate.dual) <= dual
    assert Fraction(certificate.gap) >= primal - dual
    assert Fraction(certificate.relative_gap) * max(abs(primal), abs(dual)) >= primal - dual


@examples(40)
@given(candidates())
def test_one_part_makes_the_certificate_of_one_machine(drawn):
    problem, candidate, tol = drawn
    b, certificate, _ = judged(problem, candidate, 1, tol)
    local = certify(problem, candidate, tol=tol)
    assert b == candidate.b
    np.testing.assert_equal(asdict(certificate), asdict(local))
    assert str(certificate) == str(local)


@examples(40)
@given(candidates())
def test_several_parts_claim_what_one_does_up_to_rounding(drawn):
    problem, candidate, tol = drawn
    one, *others = (judged(problem, candidate, n_parts, tol)[1] for n_parts in PARTS)
    for other in others:
        size = max(one.primal, one.gap)
        slack = one.rounding + other.rounding + 1e-12 * size
        assert other.groups == one.groups
        assert other.kkt_violation == one.kkt_violation
        assert abs(other.gap - one.gap) <= slack
        assert other.primal == pytest.approx(one.primal, rel=1e-12)
        assert other.rounding <= 4.0 * one.rounding + 1e-12 * size


def offset(n=40, far=1e6, bias=BIASES[0]):
    """Overlapping classes far from the origin, with what a solver makes of them."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((n, 3)), np.where(np.arange(n) % 2, 1.0, -1.0)
    problem = Problem(X + 0.5 * y[:, None] + far, y, cost=np.ones(n), bias=bias)
    best = solve(problem, tol=1e-9)
    return problem, Candidate(best.w, best.b, make_feasible(problem, best.beta))


def test_the_blocks_are_asked_again_only_where_rounding_costs_too_much():
    for far, tol, n_visits in ((0.0, 1e-6, 1), (1e6, 1e-2, 1), (1e6, 1e-9, 2)):
        _, certificate, found = judged(*offset(far=far), 3, tol)
        assert found == n_visits
        assert certificate.is_certified
        assert certificate.tol == tol


def test_an_imbalance_is_taken_from_one_sample():
    problem, candidate = offset()
    beta = candidate.beta.copy()
    beta[np.flatnonzero(beta > 0)[0]] *= 1.0 - 1e-12
    moved = Candidate(candidate.w, candidate.b, beta)
    _, certificate, _ = judged(problem, moved, 4, 1e-9)
    primal, dual = exactly(problem, moved)
    assert primal - dual <= Fraction(certificate.gap)
    assert certificate.gap == pytest.approx(certify(problem, moved, tol=1e-9).gap, rel=0.1)  # scales instead


@pytest.mark.parametrize("far", [0.0, 1e6])
def test_the_best_of_several_biases_is_judged(far):
    problem, candidate = offset(far=far)
    biases = candidate.b + np.array([0.1, -0.1, 0.0, 0.3])
    b, certificate, _ = judged(problem, candidate, 2, 1e-6, biases)
    assert b == candidate.b
    assert certificate == judged(problem, candidate, 2, 1e-6)[1]


def test_parts_without_samples_or_without_cost_change_nothing():
    problem, candidate = offset(far=0.0)
    cost = problem.cost.copy()
    cost[10:20] = 0.0
    problem = replace(problem, cost=cost)
    candidate = replace(candidate, beta=make_feasible(problem, candidate.beta))
    _, certificate, _ = judged(problem, candidate, [0, 10, 10, 0, 20, 0], 1e-3)
    _, whole, _ = judged(problem, candidate, 1, 1e-3)
    assert certificate.groups == whole.groups
    assert sum(certificate.groups) == 30
    assert certificate.margin == whole.margin
    assert certificate.gap == pytest.approx(whole.gap, rel=1e-9)


def test_entries_that_are_stored_twice_are_one_number():
    rows, columns, values = [0, 0, 0, 1], [0, 0, 0, 0], [2.5, -0.5, -1.0, -1.0]
    X = sp.csr_array((values, columns, np.cumsum([0, *np.bincount(rows)])), shape=(2, 1))
    assert not X.has_canonical_format
    problem = Problem(X, np.array([1.0, -1.0]), cost=np.ones(2), bias=Bias.none())
    assert problem.X.has_canonical_format
    assert not X.has_canonical_format  # the caller's matrix stays as it is
    candidate = Candidate(np.array([1.0]), 0.0, np.array([0.5, -0.5]))
    _, certificate, _ = judged(problem, candidate, 2, 1e-3)
    assert certificate.is_certified
    assert certificate.primal == pytest.approx(0.5)


def test_a_dual_point_that_is_far_from_balanced_is_balanced_first():
    problem, candidate = offset(far=0.0)
    beta = np.where(candidate.beta > 0, 0.5, 1.0) * candidate.beta
    moved = Candidate(candidate.w, candidate.b, beta)
    _, certificate, n_visits = judged(problem, moved, 3, 1e-3)
    assert n_visits == 2
    assert certificate.gap == pytest.approx(certify(problem, moved, tol=1e-3).gap, rel=1e-9)


def test_no_dual_variables_at_all_prove_what_zero_does():
    problem, candidate = offset(far=0.0)
    _, certificate, _ = judged(problem, replace(candidate, beta=np.zeros(problem.n)), 2, 1e-3)
    assert certificate.dual == pytest.approx(0.0, abs=1e-12)
    assert certificate.gap == pytest.approx(certificate.primal)


@pytest.mark.parametrize(("round_", "kept"), [(4, 0.75), (3, 0.5)])
def test_a_move_that_the_driver_never_heard_of_is_not_followed(round_, kept):
    problem, candidate = offset()
    (block,) = blocks_of(problem, candidate.beta, 1)
    site = block.site(0, 0, block.piece(0), {})
    coordinates = site.memory.sweeps
    coordinates.alpha[:2] = 1.0, 2.0
    coordinates.moved, coordinates.before, coordinates.round = np.array([0]), np.array([0.5]), 3
    np.testing.assert_array_equal(alpha(site, Followed(round_, 0.5))[:2], [kept, 2.0])
    assert not site.carried
