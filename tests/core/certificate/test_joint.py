"""What the certificate of a joint problem claims, held against fractions: no tolerance."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.core import Bias, Candidate, certify
from maxmargin.core.joint import JointProblem
from maxmargin.solvers import Budget, solve
from tests.core.test_joint import drawn_shares, joint_problems
from tests.strategies import examples


def exact_vector(values):
    return [Fraction(float(value)) for value in values]


def exact_primal(problem, W, b):
    """P of the stored numbers."""
    rows, weights, biases = [exact_vector(x) for x in problem.X], [exact_vector(w) for w in W], exact_vector(b)
    total = sum((v * v for w in weights for v in w), Fraction(0)) / 2
    if problem.bias.kind == "penalized":
        total += sum((v / Fraction(problem.bias.scale)) ** 2 for v in biases) / 2
    for x, label, cost in zip(rows, problem.labels.tolist(), exact_vector(problem.cost), strict=True):
        F = [sum((v * z for v, z in zip(w, x, strict=True)), b) for w, b in zip(weights, biases, strict=True)]
        total += cost * max(F[m] + (m != label) - F[label] for m in range(problem.n_classes))
    return total


def exact_dual(problem, beta):
    """D of the point that the stored η of the wrong classes mean, multiplied into their simplex; biases that are not free."""
    k, d = problem.n_classes, problem.X.shape[1]
    gain, W, columns = Fraction(0), [[Fraction(0)] * d for _ in range(k)], [Fraction(0)] * k
    shares = problem.shares(beta)
    for x, label, cost, own in zip(problem.X, problem.labels.tolist(), exact_vector(problem.cost), shares, strict=True):
        eta = exact_vector(own)
        total = sum(eta)
        if total > cost:
            eta, total = [v * cost / total for v in eta], cost
        signed = [total if m == label else -eta[m] for m in range(k)]
        gain += total
        for m in range(k):
            columns[m] += signed[m]
            if signed[m]:
                W[m] = [w + signed[m] * z for w, z in zip(W[m], exact_vector(x), strict=True)]
    size = sum(v * v for w in W for v in w)
    size += Fraction(problem.bias.scale) ** 2 * sum(v * v for v in columns)
    return gain - size / 2


def candidates(problem, seed, of_optimum):
    """A point near the optimum, or any."""
    if of_optimum:
        return solve(problem, tol=1e-9, budget=Budget(iterations=200))
    rng, beta = np.random.default_rng(seed), drawn_shares(problem, seed)
    W = problem.combine(problem.feasible(beta)) * rng.uniform(0, 2)
    b = np.zeros(problem.n_classes) if problem.bias.kind == "none" else rng.standard_normal(problem.n_classes)
    return Candidate(W, b, beta)


@examples(60)
@given(joint_problems(), st.integers(0, 1000), st.booleans())
def test_claims_hold_in_exact_arithmetic(problem, seed, of_optimum):
    candidate = candidates(problem, seed, of_optimum)
    found = certify(problem, candidate, tol=1e-9)
    primal = exact_primal(problem, candidate.w, candidate.b)
    assert primal <= Fraction(found.primal)
    if problem.bias.is_free:
        better = solve(problem, tol=1e-10, budget=Budget(iterations=200))
        above = exact_primal(problem, better.w, better.b)
        assert Fraction(found.dual) <= above
        assert primal - above <= Fraction(found.gap)
    else:
        dual = exact_dual(problem, candidate.beta)
        assert Fraction(found.dual) <= dual
        assert primal - dual <= Fraction(found.gap)
        size = max(abs(primal), abs(dual))
        assert (primal - dual) / size <= Fraction(found.relative_gap)


@examples(30)
@given(joint_problems(scales=(0.1, 1.0)))
def test_the_gap_of_an_optimum_is_small_and_its_rounding_told(problem):
    solution = solve(problem, tol=1e-7)
    found = certify(problem, solution, tol=1e-7)
    assert found.relative_gap <= 1e-7
    assert 0.0 <= found.rounding <= found.gap
    assert sum(found.groups) == np.count_nonzero(problem.cost)


def test_a_class_whose_share_nobody_can_give_up_has_no_proof():
    """With a free bias, columns that do not add up to 0 need a sample to take from; here rounding exceeds what there is."""
    X = np.array([[1.0], [2.0], [3.0]])
    problem = JointProblem(X, np.arange(3), np.array([1.0, 1.0, 1.0]), 3, Bias.free())
    found = certify(problem, Candidate(np.zeros((3, 1)), np.zeros(3), np.zeros((3, 3))))
    assert found.primal >= 3.0
    assert found.dual <= 0.0
    assert found.relative_gap >= 1.0
