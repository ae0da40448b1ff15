"""What the texts state about the soft margin, its spellings, its kernels, and what leaving a sample out does."""

import math
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from scipy.optimize import linprog, minimize

from maxmargin.core import Bias, Hinge, Problem, Regularization, SquaredHinge
from maxmargin.core.candidate import to_candidate
from maxmargin.kernels import FeatureMap, Linear, Polynomial, Precomputed, interactions
from maxmargin.solvers import solve
from tests import reference
from tests.problems import problem, signs
from tests.strategies import examples, generators, problems

n = 12
Y = signs("+-" * (n // 2))
X = np.random.default_rng(8).standard_normal((n, 3)) + 0.5 * Y[:, None]


def hinge_losses(w, b):
    return np.maximum(0.0, 1.0 - Y * (X @ w + b))


# -- the spellings ---------------------------------------------------------------------------------------------------

C, LAM = 0.8, 0.05
SPELLINGS = {
    "sum": (Regularization.sum(C), lambda w, b: 0.5 * w @ w + C * hinge_losses(w, b).sum()),
    "mean": (Regularization.mean(C), lambda w, b: 0.5 * w @ w + C / n * hinge_losses(w, b).sum()),
    "tikhonov": (Regularization.tikhonov(LAM), lambda w, b: LAM * w @ w + hinge_losses(w, b).mean()),
    "pegasos": (Regularization.pegasos(LAM), lambda w, b: 0.5 * LAM * w @ w + hinge_losses(w, b).mean()),
    "ridge": (Regularization.ridge(LAM), lambda w, b: LAM * w @ w + hinge_losses(w, b).sum()),
}


def with_cost(cost):
    return Problem(X, Y, np.full(n, cost))


@pytest.mark.parametrize("name", SPELLINGS)
def test_each_spelling_minimises_the_objective_that_its_source_prints(name):
    rng = np.random.default_rng(0)
    regularization, printed = SPELLINGS[name]
    best = solve(with_cost(regularization.cost(n)), tol=1e-12)
    value = printed(best.w, best.b)
    for _ in range(100):
        step = rng.standard_normal(4) * 10.0 ** rng.uniform(-5, 0)
        assert printed(best.w + step[:3], best.b + step[3]) >= value * (1 - 1e-10)
    # and a derivative-free search from there finds nothing better
    found = minimize(lambda v: printed(v[:3], v[3]), [*best.w, best.b], method="Nelder-Mead", options={"maxiter": 300})
    assert found.fun >= value * (1 - 1e-9)


def test_the_five_spellings_of_one_tradeoff_give_the_same_hyperplane():
    same = [Regularization.sum(C).to(name, n) for name in SPELLINGS]
    assert [r.spelling for r in same] == list(SPELLINGS)
    answers = [solve(with_cost(r.cost(n)), tol=1e-10) for r in same]
    for other in answers[1:]:
        np.testing.assert_allclose(other.w, answers[0].w, rtol=1e-6)
        assert other.b == pytest.approx(answers[0].b, rel=1e-6)


def test_lambda_in_one_place_is_half_of_lambda_in_the_other():
    # [UML] (15.4) has λ‖w‖², (15.12) (λ/2)‖w‖²
    tikhonov, pegasos = Regularization.tikhonov(LAM), Regularization.pegasos(2 * LAM)
    assert tikhonov.cost(n) == pytest.approx(pegasos.cost(n))
    assert solve(with_cost(Regularization.pegasos(LAM).cost(n))).certificate.primal != pytest.approx(
        solve(with_cost(tikhonov.cost(n))).certificate.primal, rel=1e-2
    )


def test_the_box_of_the_mean_is_one_over_two_lambda_m():
    # [DUR] Note 42 prints C = 1/(2λ), which belongs to the sum of the slacks
    printed = SPELLINGS["tikhonov"][1]
    right, wrong = (solve(with_cost(cost), tol=1e-12) for cost in (1 / (2 * LAM * n), 1 / (2 * LAM)))
    assert printed(right.w, right.b) < printed(wrong.w, wrong.b) * (1 - 1e-3)
    assert np.abs(right.beta).max() == pytest.approx(1 / (2 * LAM * n))


def test_the_pegasos_step_descends_the_half_lambda_objective():
    # [NYU]: (1 − ηλ)w + η y x is w − η∇ of (λ/2)‖w‖² + mean hinge, not of λ‖w‖² + mean hinge
    w, eta, tiny = np.array([0.3, -0.2, 0.1]), 0.1, 1e-7
    z = Y * (X @ w)
    assert np.abs(z - 1).min() > 1e-3  # differentiable here
    step = (1 - eta * LAM) * w + eta * ((Y * (z < 1)) @ X) / n
    gradients = []
    for name in ("pegasos", "tikhonov"):
        regularization = SPELLINGS[name][0]
        p = replace(with_cost(regularization.cost(n)), bias=Bias.none())
        unit = {"pegasos": LAM, "tikhonov": 2 * LAM}[name]  # what stands before ½‖w‖²
        moved = [unit * (p.primal(w + tiny * e, 0.0) - p.primal(w - tiny * e, 0.0)) / (2 * tiny) for e in np.eye(3)]
        gradients.append(np.array(moved))
    np.testing.assert_allclose(step, w - eta * gradients[0], atol=1e-8)
    assert np.linalg.norm(step - (w - eta * gradients[1])) > 1e-4


def test_the_gradient_of_the_objective_has_the_regularisers_part_and_none_of_outside_samples():
    # [DUR] Note 26: for y⟨w, x⟩ ≥ 1 the hinge contributes 0, and w itself is part of the gradient
    p = with_cost(0.7)
    w, b, tiny = np.array([0.8, 0.5, 0.2]), 0.1, 1e-7
    z = Y * (X @ w + b)
    gradient = w + 0.7 * (Hinge().subgradient(z) * Y) @ X
    moved = [(p.primal(w + tiny * e, b) - p.primal(w - tiny * e, b)) / (2 * tiny) for e in np.eye(3)]
    np.testing.assert_allclose(gradient, moved, atol=1e-6)
    assert (z > 1).any()
    assert not Hinge().subgradient(z[z > 1]).any()


def test_the_hinge_form_and_the_slack_form_have_the_same_optimum():
    rng = np.random.default_rng(0)
    # Claim 15.5: for fixed (w, b) the best slacks are the hinge losses, so that P(w, b) is the inner minimum over ξ
    p = with_cost(0.7)
    for _ in range(20):
        w, b = rng.standard_normal(3), float(rng.standard_normal())
        z = Y * (X @ w + b)
        slacks = linprog(np.full(n, 0.7), A_ub=-np.eye(n), b_ub=z - 1.0, bounds=[(0, None)] * n)
        assert p.primal(w, b) == pytest.approx(0.5 * w @ w + slacks.fun, rel=1e-12)
        np.testing.assert_allclose(slacks.x, hinge_losses(w, b), atol=1e-9)


@examples(30)
@given(problems(losses=(Hinge(),)))
def test_the_slack_forms_qp_has_the_hinge_forms_value(p):
    best = solve(p, tol=1e-9)
    alpha = reference.solve_qp(p)
    theirs = to_candidate(p, alpha * p.y)
    assert p.primal(theirs.w, theirs.b) == pytest.approx(best.certificate.primal, rel=1e-4)
    assert p.dual(theirs.beta) <= best.certificate.primal * (1 + 1e-9)


# -- kernels -------------------------------------------------------------------------------------------------------------


def test_directions_orthogonal_to_all_samples_do_not_matter():
    rng = np.random.default_rng(0)
    # the representer theorem: w has no part outside the span, and adding one only costs
    wide = np.hstack([X, np.zeros((n, 2))])
    p = Problem(wide, Y, np.full(n, 0.7))
    best = solve(p, tol=1e-10)
    np.testing.assert_array_equal(best.w[3:], 0.0)
    aside = best.w + np.array([0, 0, 0, 0.3, -0.4])
    np.testing.assert_allclose(p.decision(aside), p.decision(best.w))
    assert p.primal(aside, best.b) == pytest.approx(best.certificate.primal + 0.5 * 0.25)
    rotation = np.linalg.qr(rng.standard_normal((5, 5)))[0]
    turned = solve(Problem(wide @ rotation, Y, np.full(n, 0.7)), tol=1e-10)
    np.testing.assert_allclose(turned.w @ rotation.T, best.w, atol=1e-5)
    assert turned.certificate.primal == pytest.approx(best.certificate.primal, rel=1e-9)


def quadratic(X):
    """Φ(x) = (1, √2 x_i, x_i², √2 x_i x_j): ⟨Φ(u), Φ(v)⟩ = (1 + ⟨u, v⟩)²."""
    d = X.shape[1]
    columns = [np.ones(len(X)), *(math.sqrt(2) * X.T), *(X.T**2)]
    columns += [math.sqrt(2) * X[:, i] * X[:, j] for i in range(d) for j in range(i)]
    return np.stack(columns, axis=1)


CASES = {
    "quadratic kernel": (Polynomial(2, gamma=1.0, coef0=1.0), X, Linear(), quadratic(X)),
    "interactions": (FeatureMap(interactions), X, Linear(), interactions(X)),
    "homogeneous quadratic kernel": (Polynomial(2, gamma=1.0), X, FeatureMap(interactions), X),
    "precomputed": (Precomputed(), X @ X.T, Linear(), X),
    "sparse": (Polynomial(2, gamma=1.0, coef0=1.0), sp.csr_array(X), FeatureMap(quadratic), X),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("bias", [Bias.free(), Bias.none(), Bias.penalized(2.0)], ids=repr)
@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()], ids=lambda loss: loss.name)
def test_a_kernel_is_its_feature_map(case, bias, loss):
    kernel, rows, other, mapped = CASES[case]
    cost = np.full(n, 0.6)
    ours = Problem(rows, Y, cost, kernel=kernel, bias=bias, loss=loss)
    theirs = Problem(mapped, Y, cost, kernel=other, bias=bias, loss=loss)
    a, b = solve(ours, tol=1e-11), solve(theirs, tol=1e-11)
    assert a.certificate.primal == pytest.approx(b.certificate.primal, rel=1e-9)
    np.testing.assert_allclose(ours.decision(a.w), theirs.decision(b.w), atol=1e-4)
    assert a.certificate.margin == pytest.approx(b.certificate.margin, rel=1e-4)


def test_the_quadratic_kernel_solves_xor_and_the_linear_one_does_not():
    points, labels = np.array([[1.0, 1], [-1, -1], [1, -1], [-1, 1]]), "++--"
    curved = solve(problem(points, labels, 10, kernel=Polynomial(2, gamma=1.0, coef0=1.0)), tol=1e-10)
    assert curved.certificate.margin > 0
    flat = solve(problem(points, labels, 10), tol=1e-10)
    assert flat.certificate.primal == pytest.approx(40.0)  # w = 0: every sample pays for its whole slack


@examples(20)
@given(problems(kernels=("linear",), biases=("free",), losses=(Hinge(),), scales=(1.0,)), generators())
def test_a_free_bias_does_not_see_translations(p, rng):
    moved = replace(p, X=reference.dense(p.X) + 2.0 * rng.standard_normal(p.X.shape[1]))
    assert solve(moved, tol=1e-9).certificate.primal == pytest.approx(solve(p, tol=1e-9).certificate.primal, rel=1e-7)


# -- leaving one out -----------------------------------------------------------------------------------------------------


def without(p, i):
    cost = p.cost.copy()
    cost[i] = 0.0
    return replace(p, cost=cost)


def left_out_margin(p, i):
    best = solve(without(p, i), tol=1e-10)
    return float(p.y[i] * (p.decision(best.w)[i] + best.b))


@pytest.mark.parametrize("bias", [Bias.free(), Bias.none()], ids=repr)
def test_training_errors_are_leave_one_out_errors(bias):
    p = replace(with_cost(0.7), bias=bias)
    best = solve(p, tol=1e-10)
    z = Y * (p.decision(best.w) + best.b)
    errors = np.flatnonzero(z < -1e-9)
    assert len(errors)
    assert all(left_out_margin(p, i) < 0 for i in errors)


def test_a_sample_that_is_no_support_vector_is_no_leave_one_out_error():
    p = with_cost(0.7)
    best = solve(p, tol=1e-10)
    silent = np.flatnonzero(best.beta == 0)
    assert len(silent)
    for i in silent:
        assert left_out_margin(p, i) == pytest.approx(float(Y[i] * (p.decision(best.w)[i] + best.b)), abs=1e-4)


def test_the_leave_one_out_lemma_fails_where_the_kernel_takes_negative_values():
    # [COR]: 2αR² + ξ < 1 does not imply that the sample is classified correctly when it is left out
    points = [[-0.9743, -0.0149], [0.9735, -0.0118], [1.0908, -0.0025], [1.0043, -0.0744]]
    p = problem(points, "++--", 4.694)
    best = solve(p, tol=1e-12)
    alpha = float(best.beta[0] * p.y[0])
    slack = max(0.0, 1.0 - float(p.y[0] * (p.decision(best.w)[0] + best.b)))
    assert 2 * alpha * p.diag().max() + slack < 1
    assert left_out_margin(p, 0) < 0


def test_slacks_count_in_units_of_the_margin():
    # [NYU]: ξ = 1 on the hyperplane, ξ = 3 two margins beyond it
    best = solve(with_cost(0.7), tol=1e-10)
    unit, width = best.w / np.linalg.norm(best.w), 1 / np.linalg.norm(best.w)
    on_plane = -best.b * width * unit
    for margins, slack in ((0.0, 1.0), (-2.0, 3.0), (1.0, 0.0), (2.0, 0.0)):
        x = on_plane + margins * width * unit
        assert max(0.0, 1.0 - (x @ best.w + best.b)) == pytest.approx(slack, abs=1e-9)
