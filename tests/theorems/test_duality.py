"""Duality and complementary slackness, each line a test."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from maxmargin.core import Hinge, SquaredHinge
from maxmargin.core.candidate import make_feasible
from maxmargin.solvers import solve
from tests import reference
from tests.problems import problem
from tests.strategies import duals, examples, problems, separable_problems, weights_and_bias

hinge = problems(losses=(Hinge(),))


class Optimum:
    """α, yF and ξ of a hinge problem's samples that count, and how far an optimum to so many digits may stray.

    α strays from its rule by more than SHARE of its cost only if yF strays from its own by less than CLOSE.
    """

    def __init__(self, p):
        best = solve(p, tol=1e-12)
        on = p.present
        self.cost = p.cost[on]
        self.alpha = best.beta[on] * p.y[on]
        self.z = p.y[on] * (p.decision(best.w)[on] + best.b)
        self.slack = np.maximum(0.0, 1.0 - self.z)
        # r_j = (c − α)[m]₊ + α[−m]₊ ≤ gap: |m| > CLOSE puts α within SHARE of the bound
        gap = best.certificate.gap + 1e-13 * best.certificate.primal
        self.close = 1e-5 + math.sqrt(gap / self.cost.min())
        self.share = math.sqrt(gap / self.cost.min()) + 1e-7


@examples(40)
@given(problems() | separable_problems())
def test_strong_duality_the_optima_are_equal(p):
    best = solve(p, tol=1e-8)
    assert best.certificate.dual == pytest.approx(best.certificate.primal, rel=1e-8)
    value = reference.judge(p, best.w, best.b, make_feasible(p, best.beta))
    assert value.dual == pytest.approx(value.primal, rel=1e-7)


@examples(60)
@given(st.data())
def test_weak_duality_no_dual_value_exceeds_any_primal_value(data):
    p = data.draw(problems())
    w, b = data.draw(weights_and_bias(p))
    beta = make_feasible(p, data.draw(duals(p)))
    primal = p.primal(w, b)
    assert p.dual(beta) <= primal * (1 + 1e-12)
    best = solve(p, tol=1e-8).certificate
    assert p.dual(beta) <= best.primal * (1 + 1e-12)
    assert primal >= best.dual * (1 - 1e-12)


@examples(40)
@given(hinge)
def test_alpha_zero_means_outside_or_on_the_margin(p):
    best = Optimum(p)
    at_zero = best.alpha <= best.share * best.cost
    assert (best.z[best.alpha == 0] >= 1 - best.close).all()
    assert (best.z[at_zero] >= 1 - 1e3 * best.close).all()


@examples(40)
@given(hinge)
def test_alpha_between_means_on_the_margin(p):
    best = Optimum(p)
    between = (best.alpha > best.share * best.cost) & (best.alpha < (1 - best.share) * best.cost)
    np.testing.assert_allclose(best.z[between], 1.0, atol=best.close)


@examples(40)
@given(hinge)
def test_alpha_at_the_cost_means_inside_or_on_the_margin(p):
    best = Optimum(p)
    assert (best.z[best.alpha == best.cost] <= 1 + best.close).all()


@examples(40)
@given(hinge)
def test_a_slack_means_alpha_at_the_cost(p):
    # also [COR]: if ξ_i > 0 then α_i = C
    best = Optimum(p)
    inside = best.slack > best.close
    np.testing.assert_allclose(best.alpha[inside], best.cost[inside], rtol=best.share)


@examples(40)
@given(hinge)
def test_beyond_the_margin_means_alpha_zero(p):
    best = Optimum(p)
    beyond = best.z > 1 + best.close
    assert (best.alpha[beyond] <= best.share * best.cost[beyond]).all()


def test_the_five_lines_have_samples_to_speak_of():
    p = problem([[-3.0], [-1.0], [0.4], [1.0], [3.0], [-0.4]], "--+++-", 0.6)
    best = Optimum(p)
    assert (best.alpha == 0).any()
    assert ((best.alpha > 0) & (best.alpha < 0.6)).any()
    assert (best.alpha == 0.6).any()
    assert (best.slack > 0.1).any()
    assert (best.z > 1.1).any()


def test_on_the_margin_alpha_may_be_anything_up_to_the_cost():
    # [NYU]'s fifth line means y f = 1 (printed: < 1, where its fourth line says α = c)
    found = set()
    for cost in (0.5, 2.0, 10.0):
        best = Optimum(problem([[0], [1], [2], [3]], "--++", cost))
        found |= {round(a / cost, 6) for a, z in zip(best.alpha, best.z, strict=True) if abs(z - 1) < 1e-9}
    assert len(found) >= 2
    inside = Optimum(problem([[0], [1], [2], [3]], "--++", 0.1))
    assert (inside.alpha[inside.z < 1 - 1e-6] == 0.1).all()


@examples(40)
@given(problems(losses=(SquaredHinge(),)))
def test_under_the_squared_hinge_alpha_is_twice_the_cost_times_the_slack(p):
    best = solve(p, tol=1e-12)
    on = p.present
    slack = np.maximum(0.0, 1.0 - p.y[on] * (p.decision(best.w)[on] + best.b))
    alpha = best.beta[on] * p.y[on]
    allowed = math.sqrt(best.certificate.gap + 1e-13 * best.certificate.primal)
    # c(ξ − α/2c)² ≤ gap for each sample
    assert (np.abs(alpha - 2 * p.cost[on] * slack) <= 2 * np.sqrt(p.cost[on]) * allowed * 1.01 + 1e-300).all()


@examples(40)
@given(hinge)
def test_w_is_a_combination_of_the_samples_with_alpha_up_to_the_cost(p):
    # [COR]: w* = Σ α_i y_i x_i with 0 ≤ α_i ≤ C
    best = solve(p, tol=1e-10)
    alpha = best.beta * p.y
    assert (alpha >= 0).all()
    assert (alpha <= p.cost).all()
    f, f_beta = p.decision(best.w), reference.gram(p) @ best.beta
    radius = math.sqrt(best.certificate.gap + 1e-13 * best.certificate.primal)
    assert (np.abs(f - f_beta) <= 4 * radius * np.sqrt(p.diag()) + 1e-9 * (1 + np.abs(f).max())).all()


@examples(40)
@given(problems(losses=(Hinge(),), biases=("free",)))
def test_the_bias_is_the_average_over_the_free_support_vectors(p):
    # [DUR 5.10]
    best = solve(p, tol=1e-12)
    alpha = best.beta * p.y
    free = (p.cost > 0) & (alpha > 1e-4 * p.cost) & (alpha < (1 - 1e-4) * p.cost)
    assume(free.any())
    f = p.decision(best.w)
    gap = best.certificate.gap + 1e-13 * best.certificate.primal
    # α[−m]₊ and (c − α)[m]₊ are each at most the gap
    allowed = 1e-9 * (1 + np.abs(f).max()) + gap / (1e-4 * p.cost[free].min())
    assert best.b == pytest.approx(np.mean(p.y[free] - f[free]), abs=allowed)


@examples(30)
@given(problems(biases=("free",)))
def test_a_free_bias_balances_the_dual(p):
    beta = solve(p, tol=1e-8).beta
    assert abs(math.fsum(beta)) <= 1e-15 * np.abs(beta).max()


@examples(60)
@given(st.data())
def test_the_dual_function_is_concave(data):
    p = data.draw(problems())
    left, right = (make_feasible(p, data.draw(duals(p))) for _ in range(2))
    share = data.draw(st.sampled_from([0.25, 0.5, 0.9]))
    between = make_feasible(p, share * left + (1 - share) * right)  # moves only what rounding left of Σβ
    chord = share * p.dual(left) + (1 - share) * p.dual(right)
    size = sum(float(np.abs(beta).sum()) + 0.5 * float(beta @ reference.gram(p) @ beta) for beta in (left, right))
    assert p.dual(between) >= chord - 1e-9 * (1e-300 + size)
