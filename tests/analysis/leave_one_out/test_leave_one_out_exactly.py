"""Claimed intervals of left-out decisions against exact retraining, without any tolerance.

Rows on one line, x_j = t_j v, make P(ωv) = ½q ω² + min_b Σ c_j max(0, 1 − y_j(ω q t_j + b)), q = ‖v‖², a convex function of one
number that is quadratic between the places where two kinks meet: solved exactly in fractions. Kernel values are taken to 60
digits, and the best dual point found among all splits of the samples.
"""

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given

from maxmargin.analysis.leave_one_out import Full, LeftOut
from maxmargin.analysis.leave_one_out.equations import Equations, Goal
from maxmargin.analysis.leave_one_out.left_out import BySolver
from maxmargin.core import Bias, Problem
from maxmargin.core.bias import FLAT
from maxmargin.kernels import RBF
from maxmargin.solvers import Budget, solve
from tests.strategies import examples, generators

ENOUGH = 2**24

AT_SIGN, NARROW = Goal(at_sign=True), Goal(at_sign=False, width=1e-12, at_rounding=True)


# -- exact retraining ----------------------------------------------------------------------------------------------------


def ends_of_bias(kinks, y, cost, flat=FLAT):
    """The first kinks where the costs passed are ≥ T − τ and > T + τ, τ = flat · Σc; the last one where they never are."""
    total, flat = sum(c for c, s in zip(cost, y, strict=True) if s > 0), Fraction(flat) * sum(cost)
    passed, lower = Fraction(0), None
    for k, c in sorted(zip(kinks, cost, strict=True)):
        passed += c
        if lower is None and passed >= total - flat:
            lower = k
        if passed > total + flat:
            break
    return lower, k


def loss_at(w, b, x, y, cost):
    return sum(c * max(Fraction(0), 1 - s * (w * t + b)) for t, s, c in zip(x, y, cost, strict=True))


def on_a_line(x, y, cost, q, is_free):
    """(ω, b) of the exact optimum of ½qω² + Σ c max(0, 1 − y(ωx + b))."""
    if is_free:
        places = {(y[j] - y[k]) / (x[j] - x[k]) for j in range(len(x)) for k in range(j) if x[j] != x[k]}
    else:
        places = {s / t for s, t in zip(y, x, strict=True) if t}
    places = sorted(places)

    def bias(w, flat=FLAT):
        return ends_of_bias([s - w * t for s, t in zip(y, x, strict=True)], y, cost, flat) if is_free else (0, 0)

    def value(w):
        return loss_at(w, bias(w, 0)[0], x, y, cost)

    best = None
    for low, high in zip([None, *places], [*places, None], strict=True):
        first = low if low is not None else (high - 2 if high is not None else Fraction(0))
        last = high if high is not None else first + 2
        third = (last - first) / 3
        slope = (value(last - third) - value(first + third)) / third
        w = -slope / q
        w = w if low is None else max(w, low)
        w = w if high is None else min(w, high)
        total = q * w * w / 2 + value(w)
        if best is None or total < best[0]:
            best = total, w
    return best[1], sum(bias(best[1])) / 2


def left_out_on_a_line(t, y, cost, q, is_free):
    """F₋ᵢ(xᵢ) for each sample that is not the last of its class; None for the others."""
    x, y, cost = (
        [Fraction(float(v)) * q for v in t],
        [Fraction(float(v)) for v in y],
        [Fraction(float(v)) for v in cost],
    )
    out = []
    for i in range(len(x)):
        keep = [j for j in range(len(x)) if j != i]
        if len({y[j] for j in keep}) < 2:
            out.append(None)
            continue
        w, b = on_a_line(*([v[j] for j in keep] for v in (x, y, cost)), q, is_free)
        out.append(w * x[i] + b)
    return out


def solved(A, r):
    """A⁻¹r by elimination in fractions; None where there is none."""
    A, n = [[*row, v] for row, v in zip(A, r, strict=True)], len(r)
    for c in range(n):
        at = next((k for k in range(c, n) if A[k][c]), None)
        if at is None:
            return None
        A[c], A[at] = A[at], A[c]
        for k in range(n):
            if k != c and A[k][c]:
                factor = A[k][c] / A[c][c]
                A[k] = [p - factor * q for p, q in zip(A[k], A[c], strict=True)]
    return [A[k][n] / A[k][k] for k in range(n)]


def by_splits(K, y, cost):
    """β of the exact optimum with a free bias: the split into 0, inside and c whose equations satisfy all conditions."""
    n, slack = len(y), Fraction(1, 10**40)
    for split in product((0, 1, 2), repeat=n):
        inside = [j for j in range(n) if split[j] == 1]
        beta = [cost[j] * y[j] if split[j] == 2 else Fraction(0) for j in range(n)]
        if not inside:
            continue
        rows = [[K[j][k] for k in inside] + [Fraction(1)] for j in inside] + [[Fraction(1)] * len(inside) + [Fraction(0)]]
        right = [y[j] - sum(K[j][k] * beta[k] for k in range(n)) for j in inside] + [-sum(beta)]
        found = solved(rows, right)
        if found is None:
            continue
        for j, value in zip(inside, found, strict=False):
            beta[j] = value
        m = [1 - y[j] * (sum(K[j][k] * beta[k] for k in range(n)) + found[-1]) for j in range(n)]
        is_in_box = all(0 <= beta[j] * y[j] <= cost[j] for j in range(n))
        if is_in_box and all((split[j] != 0 or m[j] <= slack) and (split[j] != 2 or m[j] >= -slack) for j in range(n)):
            return beta
    return None


def exact_rbf(X, gamma):
    with localcontext() as context:
        context.prec = 80
        rows = [[Decimal(float(v)) for v in x] for x in X]
        return [
            [Fraction((-Decimal(gamma) * sum((a - b) ** 2 for a, b in zip(u, v, strict=True))).exp()) for v in rows] for u in rows
        ]


def left_out_by_splits(K, y, cost):
    y, cost = [Fraction(float(v)) for v in y], [Fraction(float(v)) for v in cost]
    out = []
    for i in range(len(y)):
        keep = [j for j in range(len(y)) if j != i]
        part = [[K[j][k] for k in keep] for j in keep]
        beta = by_splits(part, [y[j] for j in keep], [cost[j] for j in keep])
        if beta is None or len({y[j] for j in keep}) < 2:
            out.append(None)
            continue
        kinks = [y[j] - sum(p * b for p, b in zip(row, beta, strict=True)) for j, row in zip(keep, part, strict=True)]
        lower, upper = ends_of_bias(kinks, [y[j] for j in keep], [cost[j] for j in keep])
        out.append(sum(K[i][j] * b for j, b in zip(keep, beta, strict=True)) + (lower + upper) / 2)
    return out


# -- what is claimed ------------------------------------------------------------------------------------------------------


def holds(lower, upper, exact):
    """Whether every claimed interval holds the exact decision."""
    return [
        e is None or ((low == -np.inf or Fraction(float(low)) <= e) and (high == np.inf or e <= Fraction(float(high))))
        for low, high, e in zip(lower, upper, exact, strict=True)
    ]


def check(problem, exact, tol):
    """The theorems, and the equations with more and more samples."""
    full = Full.of(problem, solve(problem, tol=tol, budget=Budget(seconds=1.0)))
    left_out = LeftOut(full, tol=1e-9, max_bytes=ENOUGH)
    assert all(holds(left_out.lower, left_out.upper, exact)), "a theorem claims too much"
    samples = np.array([i for i in range(problem.n) if exact[i] is not None])
    brackets, known = left_out._brackets, [exact[i] for i in samples]
    for near in (0.0, 0.05, np.inf):  # with few equations, the usual ones, and those of all samples
        equations = Equations(full, ENOUGH, near=near)
        for goal in (AT_SIGN, NARROW, NARROW):
            found = equations.run(samples, brackets[samples], goal, lambda: False)
            assert all(holds(found.lower, found.upper, known)), "the equations claim too much"
            equations.widen()
    return left_out


OFFSETS = {"plain": (0.0, 1.0), "far off": (1e4, 1e-3), "time stamps": (1.7e9, 3600.0)}
V = np.array([1.0, -0.5, 2.0])
Q = Fraction(21, 4)


def line(rng, offset, step, C, spread, n=7):
    t = offset + step * rng.integers(-8, 9, n)
    y = np.where(t + step * rng.normal(0, 4, n) > offset, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    weights = 10.0 ** rng.choice([-spread, 0.0, spread], n) if spread else np.ones(n)
    return t, y, C * weights


@pytest.mark.parametrize("where", OFFSETS)
@examples(12)
@given(rng=generators())
def test_no_interval_of_rows_on_a_line_misses_the_exact_decision(where, rng):
    offset, step = OFFSETS[where]
    C = 10.0 ** rng.integers(-4, 7) / step**2
    t, y, cost = line(rng, offset, step, C, rng.choice([0.0, 0.0, 3.0, 12.0]))
    bias = Bias.free() if rng.random() < 0.7 else Bias.none()
    X = t[:, np.newaxis] * V
    problem = Problem(sp.csr_array(X) if rng.random() < 0.5 else X, y, cost, bias=bias)
    check(problem, left_out_on_a_line(t, y, cost, Q, bias.is_free), tol=10.0 ** rng.integers(-12, -2))


@examples(10)
@given(rng=generators())
def test_no_interval_of_an_rbf_kernel_misses_the_exact_decision(rng):
    n = 5
    X = rng.integers(-6, 7, (n, 2)) / 4 + rng.choice([0.0, 1e3, 1e6])
    X = X[np.unique(X, axis=0, return_index=True)[1]]
    y = np.where(rng.random(len(X)) < 0.5, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    gamma, cost = float(rng.choice([0.1, 1.0, 4.0])), np.full(len(X), 10.0 ** rng.integers(-2, 5))
    problem = Problem(X, y, cost, kernel=RBF(gamma=gamma))
    check(problem, left_out_by_splits(exact_rbf(X, gamma), y, cost), tol=10.0 ** rng.integers(-12, -2))


@examples(4)
@given(rng=generators())
def test_no_interval_by_a_solver_misses_the_exact_decision(rng):
    t, y, cost = line(rng, 1e4, 0.125, 10.0 ** rng.integers(-3, 3), 0.0, n=6)
    problem = Problem(t[:, np.newaxis] * V, y, cost)
    exact = left_out_on_a_line(t, y, cost, Q, is_free=True)
    samples = np.array([i for i in range(problem.n) if exact[i] is not None])[:3]
    way = BySolver(Full.of(problem, solve(problem, tol=1e-6)), tol=1e-9)
    found = way.run(samples, np.empty((len(samples), 2)), AT_SIGN, lambda: False)
    assert all(holds(found.lower, found.upper, [exact[i] for i in samples]))


def test_a_slope_that_is_zero_but_for_rounding_makes_an_interval_of_biases():
    # 0.1 + 0.1 + 0.1 − 0.3 is not 0 in floats, and its sign would choose one end
    problem = Problem(np.zeros((4, 1)), np.array([1.0, 1.0, 1.0, -1.0]), np.array([0.1, 0.1, 0.1, 0.3]))
    full = Full.of(problem, solve(problem, tol=1e-6))
    assert -1e-12 < full.low_bias.middle <= full.high_bias.middle < 1e-12


def test_a_row_whose_squares_vanish_is_not_taken_for_a_row_of_zeros():
    X = np.array([[1.0], [-1.0], [1e-200], [0.0]])
    full_problem = Problem(X, np.array([1.0, -1.0, 1.0, 1.0]), np.ones(4), bias=Bias.none())
    left_out = LeftOut(Full.of(full_problem, solve(full_problem, tol=1e-6)), tol=1e-9, max_bytes=ENOUGH)
    assert left_out.upper[2] > 0.0
    assert left_out.lower[3] == left_out.upper[3] == 0.0
