"""Certificates of problems that are judged together: theorems about the stored numbers, and the same as one by one."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.core import Bias, Candidate, Problem, certify
from maxmargin.kernel_matrix.matrix import KernelMatrix
from maxmargin.kernels import RBF, Linear
from maxmargin.solvers import Budget
from maxmargin.solvers.base import Clock
from maxmargin.solvers.linear import together as newton
from maxmargin.solvers.smo import together as smo
from maxmargin.solvers.together import Sums, Together, certified
from tests.strategies import examples, generators

BIASES = {"free": Bias.free(), "none": Bias.none(), "penalised": Bias.penalized(0.5)}


def posed(rng, n, k, bias, unit):
    """k problems on all of n rows, with costs of several sizes, and the constant feature that a penalised bias adds."""
    X = rng.standard_normal((n, 3)) * unit
    Y = np.where(rng.random((k, n)) < 0.5, -1.0, 1.0)
    Y[:, 0], Y[:, 1] = 1.0, -1.0
    cost = 10.0 ** rng.integers(-2, 3, (k, n))
    rows, starts = np.tile(np.arange(n), k), n * np.arange(k + 1)
    constant = bias.scale if bias.kind == "penalized" else 0.0
    extended = np.column_stack((X, np.full(n, constant))) if constant else X
    return X, extended, Together(rows, starts, Y.ravel(), cost.ravel(), bias.is_free, constant)


def exact(problem, w, b, beta):
    """P(w, b) and, where Σβ = 0 or no bias is free, D(β), as fractions."""
    X = [[Fraction(x) for x in row] for row in problem.X.tolist()]
    y, cost = ([Fraction(v) for v in values.tolist()] for values in (problem.y, problem.cost))
    w, beta, b = [Fraction(v) for v in w.tolist()], [Fraction(v) for v in beta.tolist()], Fraction(b)
    constant = b * b / Fraction(problem.bias.scale) ** 2 if problem.bias.kind == "penalized" else 0
    primal = (sum(v * v for v in w) + constant) / 2
    for row, label, c in zip(X, y, cost, strict=True):
        primal += c * max(0, 1 - label * (sum(u * v for u, v in zip(row, w, strict=True)) + b))
    made = [sum(v * row[a] for v, row in zip(beta, X, strict=True)) for a in range(len(w))]
    total = sum(beta)
    dual = sum(abs(v) for v in beta) - sum(v * v for v in made) / 2
    if problem.bias.kind == "penalized":
        dual -= (Fraction(problem.bias.scale) * total) ** 2 / 2
    return primal, dual if total == 0 or not problem.bias.is_free else None


@examples(60)
@given(
    rng=generators(),
    n=st.integers(4, 25),
    k=st.integers(1, 3),
    bias=st.sampled_from(sorted(BIASES)),
    unit=st.sampled_from([1e-6, 1.0, 1e5]),
    engine=st.sampled_from(["smo", "newton"]),
)
def test_what_is_claimed_of_linear_problems_holds_in_exact_fractions(rng, n, k, bias, unit, engine):
    X, extended, together = posed(rng, n, k, BIASES[bias], unit)
    clock = Clock(Budget())
    if engine == "smo":
        solved = smo.solve_together(KernelMatrix(Linear(), extended, dtype=np.float64), together, 1e-3, clock)
    else:
        solved = newton.solve_together(extended, together, 1e-3, clock)
    for p, (solution, _) in enumerate(solved):
        own = slice(p * n, (p + 1) * n)
        problem = Problem(X, together.y[own], together.cost[own], bias=BIASES[bias])
        primal, dual = exact(problem, solution.w, solution.b, solution.beta)
        claim = solution.certificate
        if not math.isfinite(claim.gap):
            continue
        assert primal <= Fraction(claim.primal)
        if dual is not None:
            assert dual >= Fraction(claim.dual)
            assert primal - dual <= Fraction(claim.gap)
        alone = certify(problem, Candidate(solution.w, solution.b, solution.beta), tol=1e-3)
        assert alone.primal == pytest.approx(claim.primal, rel=1e-4)
        assert alone.gap <= claim.gap * (1.0 + 1e-6) + 1e-4 * claim.primal
        if dual is not None:  # else β is made feasible in another way
            assert alone.groups == claim.groups


@examples(40)
@given(rng=generators(), n=st.integers(2, 30), k=st.integers(1, 3), is_free=st.booleans(), off=st.sampled_from([0.0, 1e-9, 0.1]))
def test_any_candidates_get_the_certificates_that_each_gets_alone(rng, n, k, is_free, off):
    """Also where they are bad, and Σβ is not 0."""
    bias = Bias.free() if is_free else Bias.none()
    X, _, together = posed(rng, n, k, bias, 1.0)
    kernel = RBF(0.5)
    beta = together.y * together.cost * rng.random(n * k)
    for p in range(k if is_free else 0):  # balanced, up to what is asked for
        own = slice(p * n, (p + 1) * n)
        plus, minus = beta[own].clip(0.0).sum(), -beta[own].clip(None, 0.0).sum()
        beta[own] *= np.where(beta[own] > 0, min(1.0, minus / plus), min(1.0, plus / minus) * (1.0 - off))
    biases = rng.standard_normal(k) if is_free else np.zeros(k)
    problems = [
        Problem(X, together.y[own], together.cost[own], kernel=kernel, bias=bias)
        for own in (slice(p * n, (p + 1) * n) for p in range(k))
    ]
    f = np.concatenate([p.decision(b) for p, b in zip(problems, np.split(beta, k), strict=True)])
    error, nothing = 1e-13 * (1.0 + np.abs(beta).sum()) * np.ones(n * k), np.empty((0, 0))
    sums = Sums(f, error, np.ones(n), nothing, nothing)
    solved = certified(together, beta, biases, sums, True, 1e-3, Clock(Budget()), np.zeros(k, int), "{n}", False)
    for p, ((solution, _), problem) in enumerate(zip(solved, problems, strict=True)):
        own = beta[p * n : (p + 1) * n]
        alone = certify(problem, Candidate(own, float(biases[p]), own))
        claim = solution.certificate
        assert claim.primal == pytest.approx(alone.primal, rel=1e-9)
        if off == 0.0:  # else β is made feasible in another way
            assert claim.gap == pytest.approx(alone.gap, rel=1e-6, abs=1e-7 * alone.primal)
        assert claim.dual <= alone.primal
