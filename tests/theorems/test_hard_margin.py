"""What the texts state about the hard margin, each statement a test."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from maxmargin.core import Bias, Halfspace, Problem, Regularization, Status, certify
from maxmargin.core.candidate import to_candidate
from maxmargin.kernels import RBF
from maxmargin.solvers import InteriorPoint, solve
from tests import reference
from tests.problems import problem, signs
from tests.strategies import examples, generators, separable_problems

planar = separable_problems(kernels=("linear",), biases=("free", "none"), max_n=8, scales=(1.0,))
linear = separable_problems(kernels=("linear",), biases=("free", "none"), scales=(1e-3, 1.0, 1e3))


def samples(p):
    on = p.present
    return reference.rows_of(p)[on], p.y[on]


@examples(40)
@given(planar, generators())
def test_no_separating_halfspace_has_a_larger_margin_than_hard_svms(p, rng):
    # Lemma 15.2
    X, y = samples(p)
    best = solve(p, tol=1e-9)
    margin = Halfspace(best.w, best.b).margin(X, y)
    assert margin > 0
    for _ in range(200):
        w = best.w + rng.standard_normal(X.shape[1]) * np.linalg.norm(best.w) * 10.0 ** rng.uniform(-6, 1)
        if p.bias.is_free:
            f = X @ w
            b = -0.5 * (f[y > 0].min() + f[y < 0].max())
        else:
            b = 0.0
        assert Halfspace(w, b).margin(X, y) <= margin * (1 + 1e-8)


@examples(40)
@given(planar)
def test_hard_svm_is_the_best_of_all_hyperplanes_through_support_sets(p):
    # Lemma 15.2, the slow way
    X, y = samples(p)
    w, _ = reference.widest_hyperplane(X, y, has_bias=p.bias.is_free)
    best = solve(p, tol=1e-9)
    assert best.certificate.margin == pytest.approx(1 / np.linalg.norm(w), rel=1e-7)
    np.testing.assert_allclose(best.w, w, rtol=1e-4, atol=1e-5 * np.linalg.norm(w))


@examples(40)
@given(linear)
def test_the_margin_is_one_over_the_norm_of_w(p):
    X, y = samples(p)
    best = solve(p, tol=1e-9)
    width = 1 / np.linalg.norm(best.w)
    assert Halfspace(best.w, best.b).margin(X, y) == pytest.approx(width, rel=1e-8)
    assert best.certificate.margin == pytest.approx(width, rel=1e-8)
    unit = Halfspace(best.w, best.b).normalized()
    assert (y * unit.decision(X)).min() == pytest.approx(width, rel=1e-8)


@examples(40)
@given(separable_problems())
def test_support_vectors_lie_at_distance_one_over_the_norm_of_w(p):
    # Theorem 15.8, [DUR] Note 30
    best = solve(p, tol=1e-10)
    f = p.decision(best.w)
    distance = np.abs(f + best.b)  # in units of 1/‖w‖
    support = np.abs(best.beta) > 1e-6 * np.abs(best.beta).max()
    np.testing.assert_allclose(distance[support], 1.0, atol=1e-3)
    assert (distance[p.present] >= 1 - 1e-9).all()


@examples(40)
@given(linear)
def test_w_lies_in_the_span_of_the_samples_on_the_margin(p):
    # Theorem 15.8: w₀ = Σ_{i∈I} α_i x_i with I = {i : y_i F_i = 1}
    best = solve(p, tol=1e-10)
    X, y = reference.rows_of(p), p.y
    on_margin = (y * (X @ best.w + best.b) <= 1 + 1e-6) & (p.cost > 0)
    alpha, *_ = np.linalg.lstsq(X[on_margin].T, best.w, rcond=None)
    np.testing.assert_allclose(alpha @ X[on_margin], best.w, atol=1e-6 * np.linalg.norm(best.w))


def test_samples_on_the_margin_are_those_with_y_f_one_not_with_f_one():
    # [DUR] Theorem 28 as printed has I = {i : ⟨w, x_i⟩ = 1}: without the negative sample w is out of reach
    p = problem([[1, 1], [1, -1]], "+-", np.inf, bias=Bias.none())
    w = solve(p, tol=1e-10).w
    np.testing.assert_allclose(w, [0.0, 1.0], atol=1e-9)
    printed = np.isclose(p.X @ w, 1.0)
    meant = np.isclose(p.y * (p.X @ w), 1.0)
    assert np.linalg.lstsq(p.X[meant].T, w, rcond=None)[1].sum() <= 1e-18
    best = np.linalg.lstsq(p.X[printed].T, w, rcond=None)[0] @ p.X[printed]
    assert np.linalg.norm(best - w) > 0.5


@examples(30)
@given(separable_problems(kernels=("linear",), biases=("free",), max_n=8, scales=(1.0,)))
def test_the_margin_is_half_the_distance_between_the_convex_hulls(p):
    X, y = samples(p)
    distance = np.linalg.norm(reference.nearest_point(y[:, None] * X, (y < 0).astype(int)))
    assert solve(p, tol=1e-9).certificate.margin == pytest.approx(0.5 * distance, rel=1e-6)


@examples(30)
@given(linear)
def test_scaling_the_data_scales_the_margin(p):
    # [UML] Remark 15.2
    margin = solve(p, tol=1e-9).certificate.margin
    assert solve(replace(p, X=p.X * 8.0), tol=1e-9).certificate.margin == pytest.approx(8.0 * margin, rel=1e-7)


@examples(30)
@given(separable_problems(biases=("free",)))
def test_the_bias_is_the_middle_between_the_classes(p):
    # [UNC], whose b has the other sign
    best = solve(p, tol=1e-10)
    f, on = p.decision(best.w), p.cost > 0
    middle = 0.5 * (f[on & (p.y > 0)].min() + f[on & (p.y < 0)].max())
    assert best.b == pytest.approx(-middle, abs=1e-9 * max(1.0, abs(middle)))


@examples(30)
@given(separable_problems(kernels=("linear", "rbf"), max_n=10))
def test_a_large_enough_finite_cost_gives_the_hard_margin(p):
    hard = solve(p, tol=1e-9)
    top = float(np.abs(hard.beta).max())
    soft = replace(p, cost=np.where(p.cost > 0, 2.0 * top, 0.0))
    finite = solve(soft, tol=1e-9)
    assert finite.certificate.primal == pytest.approx(hard.certificate.primal, rel=1e-7)
    np.testing.assert_allclose(p.decision(finite.w), p.decision(hard.w), atol=1e-2)
    # the hard margin's own optimum is certified for the soft problem: they are one
    assert certify(soft, hard).relative_gap <= 1e-7
    # below the α that are needed it is another problem
    less = solve(replace(p, cost=np.where(p.cost > 0, 0.5 * top, 0.0)), tol=1e-9)
    assert less.certificate.primal < hard.certificate.primal * (1 - 1e-4)


def test_soft_margins_approach_the_hard_one_from_below_as_the_cost_grows():
    p = problem([[0, 0], [1, 0.2], [2, 0], [3, 1]], "--++", np.inf)
    hard = solve(p, tol=1e-10).certificate.primal
    values = [solve(replace(p, cost=np.full(4, c)), tol=1e-10).certificate.primal for c in 10.0 ** np.arange(-3, 4)]
    assert np.diff(values).min() >= -1e-12 * hard  # each is rounded up
    assert values[0] < 0.1 * hard
    assert values[-1] == pytest.approx(hard, rel=1e-9)


@pytest.mark.parametrize("lam", [1e-3, 1.0, 1e3])
def test_no_lambda_makes_soft_svm_agree_with_hard_svm_on_every_sample(lam):
    # Exercise 15.3 is refuted: two samples ±a of the line have w = 1/a, or a/(2λ) where that is smaller
    def weights(a):
        p = problem([[a], [-a]], "+-", np.inf, bias=Bias.none())
        soft = replace(p, cost=np.full(2, Regularization.tikhonov(lam).cost(2)))
        return [float(solve(q, tol=1e-10).w[0]) for q in (p, soft)]

    close, wide = lam**0.5, 2.0 * lam**0.5  # a² = λ < 2λ and a² = 4λ > 2λ
    hard, soft = weights(close)
    assert hard == pytest.approx(1 / close)
    assert soft == pytest.approx(close / (2 * lam))
    assert soft < 0.6 * hard
    hard, soft = weights(wide)
    assert soft == pytest.approx(hard) == pytest.approx(1 / wide)


# -- 15.1.1: the homogeneous case ------------------------------------------------------------------------------------


@examples(30)
@given(separable_problems(kernels=("linear",), biases=("penalized",), scales=(1.0,)))
def test_a_penalized_bias_is_a_homogeneous_halfspace_with_a_constant_feature(p):
    X = np.hstack([reference.rows_of(p), np.full((p.n, 1), p.bias.scale)])
    longer = Problem(X, p.y, p.cost, bias=Bias.none())
    ours, theirs = solve(p, tol=1e-10), solve(longer, tol=1e-10)
    np.testing.assert_allclose([*ours.w, ours.b / p.bias.scale], theirs.w, atol=1e-4 * np.linalg.norm(theirs.w))
    assert ours.certificate.primal == pytest.approx(theirs.certificate.primal, rel=1e-8)


def test_a_penalized_bias_is_not_a_free_one():
    p = problem([[4], [5]], "-+", np.inf)
    free, penalized = solve(p, tol=1e-10), solve(replace(p, bias=Bias.penalized()), tol=1e-10)
    # free: w = 2, b = −9; penalised: −4w − b ≥ 1 and 5w + b ≥ 1 bind as well, and ½b² is paid for
    assert free.certificate.primal == pytest.approx(2.0)
    assert penalized.certificate.primal == pytest.approx(2.0 + 0.5 * 81)
    soft = replace(p, cost=np.full(2, 1.0))
    free, penalized = solve(soft, tol=1e-10), solve(replace(soft, bias=Bias.penalized()), tol=1e-10)
    assert abs(free.w[0] - penalized.w[0]) > 1e-3


def test_the_homogeneous_dual_has_no_balance():
    # (15.11) is the dual of (15.3): without a bias Σα_i y_i = 0 would be a constraint too many
    p = problem([[1], [-2]], "+-", np.inf, bias=Bias.none())
    best = solve(p, tol=1e-10)
    assert best.certificate.primal == pytest.approx(0.5)
    assert abs(best.beta.sum()) > 0.9
    balanced = to_candidate(replace(p, bias=Bias.free()), best.beta)
    assert certify(p, replace(best, beta=balanced.beta)).gap > 0.1


@examples(20)
@given(separable_problems(kernels=("linear",), biases=("none",)))
def test_a_homogeneous_halfspace_never_has_the_larger_margin(p):
    assert solve(p, tol=1e-9).certificate.margin <= solve(replace(p, bias=Bias.free()), tol=1e-9).certificate.margin * (1 + 1e-8)


def test_distinct_points_are_separable_by_a_radial_kernel_whatever_their_labels():
    rng = np.random.default_rng(0)
    p = Problem(rng.standard_normal((20, 2)), signs("+-" * 10), np.full(20, np.inf), kernel=RBF(gamma=5.0))
    assert solve(p, InteriorPoint(), tol=1e-8).status is Status.SOLVED
