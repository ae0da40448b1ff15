"""The Lagrangian of the machine, its extremes and their gap: exact fractions, brute force, and solvers."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from maxmargin import Problem, theory
from maxmargin.core import L1, Bias, SquaredHinge
from maxmargin.core.candidate import make_feasible
from maxmargin.errors import InvalidInputError, NotSupportedError
from maxmargin.solvers import solve
from maxmargin.theory import DualityGap, SlaterPoint
from tests.problems import KNOWN, problem
from tests.strategies import examples, generators

BIASES = (Bias.free(), Bias.none(), Bias.penalized(2.0))


def drawn(rng, bias, hard=False):
    """Whole numbers, so that float64 makes no error; y has both labels."""
    n, d = int(rng.integers(2, 6)), int(rng.integers(1, 4))
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    cost = np.full(n, np.inf) if hard else rng.integers(1, 5, n).astype(float)
    return Problem(rng.integers(-3, 4, (n, d)).astype(float), y, cost, bias=bias)


def by_the_formula(p, w, b, xi, alpha, lam):
    """The Lagrangian in fractions, as printed."""
    w, b = [Fraction(v) for v in w], Fraction(b)
    total = sum(v * v for v in w) / 2
    if p.bias.kind == "penalized":
        total += (b / Fraction(p.bias.scale)) ** 2 / 2
    for i in range(p.n):
        F = sum(v * Fraction(x) for v, x in zip(w, p.X[i].tolist(), strict=True)) + b
        slack = Fraction(0) if p.is_hard else Fraction(xi[i])
        total += Fraction(alpha[i]) * (1 - int(p.y[i]) * F - slack)
        if not p.is_hard:
            total += Fraction(p.cost[i]) * slack - Fraction(lam[i]) * slack
    return total


def point(rng, p):
    """(w, b, ξ, α, λ), any point: nothing need be feasible."""
    b = 0.0 if p.bias.kind == "none" else float(rng.integers(-3, 4))
    w, xi, alpha, lam = (rng.integers(low, 4, k).astype(float) for low, k in ((-3, p.X.shape[1]), (-3, p.n), (0, p.n), (0, p.n)))
    return (w, b, None, alpha, None) if p.is_hard else (w, b, xi, alpha, lam)


@examples(100)
@given(generators())
def test_the_lagrangian_is_its_formula(rng):
    for bias in BIASES:
        for hard in (False, True):
            p = drawn(rng, bias, hard)
            at = point(rng, p)
            assert theory.lagrangian(p, *at) == by_the_formula(p, *at)


@examples(60)
@given(generators())
def test_the_largest_lagrangian_is_the_objective_or_grows_without_end(rng):
    for hard in (False, True):
        p = drawn(rng, Bias.free(), hard)
        w, b, xi, _, _ = point(rng, p)
        most = theory.max_over_multipliers(p, w, b, xi)
        m = 1 - p.y * (p.X @ w + b)
        slacks = np.zeros(p.n) if hard else xi
        feasible = (slacks >= 0).all() and (m <= slacks).all()
        assert math.isfinite(most) == feasible
        for size in (1.0, 1e3, 1e6):  # the best multipliers up to a size: all of it on what is violated, nothing on the rest
            alpha, lam = size * (m > slacks), size * (slacks < 0)
            value = theory.lagrangian(p, w, b, xi, alpha, None if hard else lam)
            assert (
                value == most
                if feasible
                else value >= theory.lagrangian(p, w, b, xi, 0 * alpha, None if hard else 0 * lam) + size
            )


@examples(60)
@given(generators())
def test_the_dual_function_is_the_least_lagrangian_or_minus_infinity(rng):
    for bias in BIASES:
        p = drawn(rng, bias)
        alpha = np.minimum(rng.integers(0, 4, p.n).astype(float), p.cost)
        lam = p.cost - alpha
        least = theory.dual_function(p, alpha, lam)
        balanced = bias.kind != "free" or alpha @ p.y == 0
        assert math.isfinite(least) == balanced
        assert theory.dual_function(p, alpha) == least
        w = p.X.T @ (alpha * p.y)
        b = bias.scale**2 * float(alpha @ p.y)
        values = [theory.lagrangian(p, *at[:3], alpha, lam) for at in (point(rng, p) for _ in range(20))]
        if balanced:
            assert theory.lagrangian(p, w, b, np.zeros(p.n), alpha, lam) == least
            assert min(values) >= least
        else:
            steep = -1e9 * float(np.sign(-(alpha @ p.y)))
            assert theory.lagrangian(p, w, steep, np.zeros(p.n), alpha, lam) < min(values) - 1e6


def test_the_dual_function_falls_without_end_where_alpha_and_lambda_miss_the_cost():
    p = problem([[-1.0], [1.0]], "-+", 2.0)
    assert theory.dual_function(p, [1.0, 1.0], [1.0, 0.5]) == -math.inf
    assert theory.dual_function(p, [3.0, 3.0]) == -math.inf
    assert theory.lagrangian(p, [0.0], 0.0, [0.0, -1e9], [1.0, 1.0], [1.0, 0.5]) < -1e8
    assert math.isfinite(theory.dual_function(replace(p, cost=np.full(2, np.inf)), [3.0, 3.0]))


@examples(60)
@given(generators())
def test_the_gap_of_any_pair_is_the_difference_and_each_term_of_it_is_at_least_zero(rng):
    for bias in BIASES:
        p = drawn(rng, bias)
        w, b, _, _, _ = point(rng, p)
        alpha = make_feasible(p, p.y * np.minimum(rng.integers(0, 4, p.n), p.cost)) * p.y
        xi = np.maximum(0, 1 - p.y * (p.X @ w + b)) + rng.integers(0, 2, p.n)
        pair = theory.weak_duality(p, w, b, xi, alpha)
        assert pair.gap == pytest.approx(pair.primal - pair.dual, rel=1e-12)
        assert pair.apart >= 0
        assert (pair.slackness >= 0).all()
        assert (pair.price >= 0).all()
        assert pair.primal >= pair.dual
        assert theory.lagrangian(p, w, b, xi, alpha, np.maximum(p.cost - alpha, 0)) <= pair.primal + 1e-9


@pytest.mark.parametrize(
    "known", [known for known in KNOWN if not isinstance(known.problem.loss, SquaredHinge)], ids=lambda k: k.name
)
def test_strong_duality_at_every_optimum_that_is_known(known):
    best, p = known.best, known.problem
    pair = theory.weak_duality(p, best.w, best.b, alpha=np.abs(best.beta))
    assert pair.primal == pytest.approx(known.value)
    assert pair.gap == pytest.approx(0, abs=1e-12)
    assert isinstance(pair, DualityGap)


def test_complementary_slackness_holds_to_the_gap_of_a_fit():
    rng = np.random.default_rng(0)
    p = Problem(rng.standard_normal((40, 3)), rng.choice([-1.0, 1.0], 40), cost=np.full(40, 2.0))
    found = solve(p, tol=1e-9)
    pair = theory.weak_duality(p, found.w, found.b, alpha=np.abs(found.beta))
    assert 0 <= pair.gap <= 1e-8 * pair.primal
    assert max(pair.slackness.max(), pair.price.max(), pair.apart) <= pair.gap


def test_an_infeasible_side_makes_the_gap_infinite_and_the_sentence_says_so():
    p = problem([[-1.0], [1.0]], "-+", 2.0)
    for pair in (theory.weak_duality(p, [0.0], 0.0, [0.5, 0.5], [1, 1]), theory.weak_duality(p, [0.0], 0.0, alpha=[1.0, 0.0])):
        assert pair.gap == math.inf
        assert "infinite" in str(pair)


def test_a_slater_point_exists_for_every_soft_margin_and_for_separable_data():
    labels = "++-"
    for X in ([[0.0], [1.0], [3.0]], [[0.0], [1.0], [0.5]]):
        point = theory.slater_point(problem(X, labels, 1.0))
        assert point.check()
        assert "room" in str(point)
        assert math.isfinite(theory.max_over_multipliers(point.problem, point.w, point.b, point.xi))
    hard = theory.slater_point(problem([[0.0], [1.0], [3.0]], labels, np.inf))
    assert isinstance(hard, SlaterPoint)
    assert hard.room == pytest.approx(1.0)
    assert hard.check()
    assert not replace(hard, w=hard.w / 4, b=hard.b / 4).check()


def test_without_a_slater_point_the_witness_proves_it():
    witness = theory.slater_point(problem([[0.0], [1.0], [0.5]], "++-", np.inf))
    assert not witness.is_separable
    assert witness.check()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda p: theory.lagrangian(p, [0.0], 0.0, [0, 0], [1, -1], [0, 0]), "alpha has a negative entry"),
        (lambda p: theory.lagrangian(p, [0.0], 0.0, [0, 0], [1, 1], [0, -1]), "lam has a negative entry"),
        (lambda p: theory.lagrangian(p, [0.0], 0.0, None, [1, 1], [0, 1]), "xi must have"),
        (lambda p: theory.lagrangian(p, [0.0], 0.0, [0, 0], None, [0, 1]), "alpha must have"),
        (lambda p: theory.lagrangian(p, [0.0, 1.0], 0.0, [0, 0], [1, 1], [0, 1]), "w has shape"),
        (lambda p: theory.max_over_multipliers(replace(p, bias=Bias.none()), [0.0], 1.0, [0, 0]), "no bias"),
        (lambda p: theory.max_over_multipliers(replace(p, cost=np.full(2, np.inf)), [0.0], 1.0, [0, 0]), "no slacks"),
        (lambda p: theory.dual_function(replace(p, cost=np.full(2, np.inf)), [1, 1], [1, 1]), "no λ"),
    ],
)
def test_what_is_no_point_is_refused(call, words):
    with pytest.raises(InvalidInputError, match=words):
        call(problem([[-1.0], [1.0]], "-+", 2.0))


@pytest.mark.parametrize("other", [{"loss": SquaredHinge()}, {"penalty": L1()}])
def test_another_objective_has_another_lagrangian(other):
    with pytest.raises(NotSupportedError, match="hinge"):
        theory.slater_point(problem([[-1.0], [1.0]], "-+", 2.0, **other))
