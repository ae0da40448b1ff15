"""Losses of z = y·F, and the Fenchel–Young residuals that the certificate adds up: MATH §3, §11."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from maxmargin.core import losses
from maxmargin.core.losses import Hinge, Logistic, Loss, PerceptronLoss, Ramp, Squared, SquaredHinge, ZeroOne, loss_from_name
from maxmargin.core.penalties import L1, L2
from maxmargin.errors import InvalidInputError, NotSupportedError

LOSSES = list(losses.LOSSES.values())
CONVEX = [loss for loss in LOSSES if loss.convex]
DUAL = [loss for loss in LOSSES if loss.has_dual]
QUADRATIC = [loss for loss in LOSSES if loss.has_quadratic_dual]
Z = np.concatenate([np.linspace(-4, 4, 161), [-1e3, 1e3, np.nextafter(0, 1), np.nextafter(1, 0), np.nextafter(1, 2)]])
quick = settings(deadline=None, max_examples=80)
reals = st.floats(-50, 50)
costs = st.floats(1e-3, 1e3)


def by_name(loss):
    return loss.name


def dual_point(loss, share, cost):
    """A feasible α: a share of the box, or of a few times c where the box has no end."""
    return share * (cost if np.isfinite(loss.upper(cost)) else 5 * cost)


# ---------------------------------------------------------------------------------------------- values and their orde


def test_values_are_their_definitions():
    z = np.array([-2.0, -0.5, 0.0, 0.25, 1.0, 3.0])
    assert ZeroOne().value(z).tolist() == [1, 1, 1, 0, 0, 0]
    assert Hinge().value(z).tolist() == [max(0, 1 - t) for t in z]
    assert SquaredHinge().value(z).tolist() == [max(0, 1 - t) ** 2 for t in z]
    assert Ramp().value(z).tolist() == [min(1, max(0, 1 - t)) for t in z]
    assert PerceptronLoss().value(z).tolist() == [max(0, -t) for t in z]


def test_a_tie_counts_as_an_error():
    assert ZeroOne().value(0.0) == ZeroOne().value(-0.0) == 1.0
    assert ZeroOne().value(np.nextafter(0, 1)) == 0.0


@pytest.mark.parametrize("loss", LOSSES, ids=by_name)
def test_the_losses_that_claim_it_are_never_below_zero_one_and_the_others_are_somewhere(loss):
    assert (loss.value(Z) >= ZeroOne().value(Z)).all() == loss.at_least_zero_one


def test_hinge_is_an_upper_bound_of_zero_one():
    assert (Hinge().value(Z) >= ZeroOne().value(Z)).all()


def test_ramp_lies_between_zero_one_and_hinge():
    assert (ZeroOne().value(Z) <= Ramp().value(Z)).all()
    assert (Ramp().value(Z) <= Hinge().value(Z)).all()


def test_ramp_equals_zero_one_except_for_right_answers_without_a_margin():
    different = Ramp().value(Z) != ZeroOne().value(Z)
    assert (different == ((Z > 0) & (Z < 1))).all()


@quick
@given(z=hnp.arrays(np.float64, 5, elements=reals))
def test_ramp_is_a_difference_of_two_convex_functions(z):
    hinge, excess = Ramp().split(z)
    assert (hinge == Hinge().value(z)).all()
    assert (excess == PerceptronLoss().value(z)).all()
    assert hinge - excess == pytest.approx(Ramp().value(z), abs=1e-13)


def test_perceptron_loss_asks_for_no_margin_and_is_minimised_by_doing_nothing():
    assert (PerceptronLoss().value(Z[Z >= 0]) == 0).all()
    assert PerceptronLoss().value(Z) == pytest.approx(Hinge().value(Z + 1), abs=1e-12)
    assert PerceptronLoss().value(0.0) == 0.0 < ZeroOne().value(0.0)


# -------------------------------------------------------------------------------------------- convexity and smoothnes


@pytest.mark.parametrize("loss", CONVEX, ids=by_name)
@quick
@given(a=reals, b=reals, t=st.floats(0, 1))
def test_convex_losses_lie_below_their_chords(loss, a, b, t):
    chord = t * loss.value(a) + (1 - t) * loss.value(b)
    assert loss.value(t * a + (1 - t) * b) <= chord + 1e-12 * (1 + chord)


@pytest.mark.parametrize(("loss", "a", "b"), [(ZeroOne(), -1.0, 0.5), (Ramp(), -2.0, 1.0)], ids=str)
def test_the_others_have_a_point_above_its_chord(loss, a, b):
    assert not loss.convex
    assert loss.value((a + b) / 2) > (loss.value(a) + loss.value(b)) / 2


@pytest.mark.parametrize("loss", CONVEX, ids=by_name)
@quick
@given(a=reals, b=reals)
def test_subgradients_support_convex_losses_from_below(loss, a, b):
    assert loss.value(b) >= loss.value(a) + loss.subgradient(a) * (b - a) - 1e-9


@pytest.mark.parametrize("loss", LOSSES, ids=by_name)
@quick
@given(z=reals)
def test_subgradients_are_derivatives_away_from_corners(loss, z):
    assume(min(abs(z), abs(z - 1)) > 1e-3)
    h = 1e-4
    difference = (loss.value(z + h) - loss.value(z - h)) / (2 * h)
    assert loss.subgradient(z) == pytest.approx(difference, abs=1e-6)


def test_the_choices_at_the_corners_are_the_documented_ones():
    assert Hinge().subgradient(1.0) == PerceptronLoss().subgradient(0.0) == 0.0
    assert Ramp().subgradient([0.0, 1.0]).tolist() == [-1.0, 0.0]
    assert ZeroOne().subgradient([0.0, 1.0]).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("loss", LOSSES, ids=by_name)
@quick
@given(
    x=hnp.arrays(np.float64, 3, elements=reals),
    w=hnp.arrays(np.float64, 3, elements=reals),
    v=hnp.arrays(np.float64, 3, elements=reals),
    y=st.sampled_from([-1.0, 1.0]),
)
def test_hinge_and_its_like_are_lipschitz_in_w_with_the_norm_of_x(loss, x, w, v, y):
    """Claim 15.6 for the hinge; the same chain rule serves every loss with a finite constant."""
    if not math.isfinite(loss.lipschitz):
        return
    change = abs(loss.value(y * (w @ x)) - loss.value(y * (v @ x)))
    bound = loss.lipschitz * np.linalg.norm(x) * np.linalg.norm(w - v)
    assert change <= bound * (1 + 1e-9) + 1e-9


@pytest.mark.parametrize(("loss", "a", "b"), [(Hinge(), 0.0, 1.0), (Ramp(), 0.0, 1.0), (PerceptronLoss(), -1.0, 0.0)])
def test_the_lipschitz_constants_are_reached(loss, a, b):
    assert abs(loss.value(a) - loss.value(b)) == loss.lipschitz * abs(a - b)


def test_zero_one_and_squared_hinge_have_no_lipschitz_constant():
    assert ZeroOne().lipschitz == SquaredHinge().lipschitz == math.inf
    steps = 10.0 ** -np.arange(1, 8)
    assert (np.diff((ZeroOne().value(0.0) - ZeroOne().value(steps)) / steps) > 0).all()
    assert (np.diff(-SquaredHinge().subgradient(-1 / steps)) > 0).all()


@pytest.mark.parametrize("loss", LOSSES, ids=by_name)
@quick
@given(a=reals, b=reals)
def test_derivatives_change_by_the_smoothness_times_the_distance_at_most(loss, a, b):
    """And the loss lies below its parabola: ℓ(b) ≤ ℓ(a) + ℓ'(a)(b − a) + ½β(b − a)²."""
    if not math.isfinite(loss.smoothness):
        return
    assert abs(loss.subgradient(a) - loss.subgradient(b)) <= loss.smoothness * abs(a - b) * (1 + 1e-9) + 1e-12
    parabola = loss.value(a) + loss.subgradient(a) * (b - a) + 0.5 * loss.smoothness * (b - a) ** 2
    assert loss.value(b) <= parabola + 1e-9 * (1 + parabola)


@pytest.mark.parametrize(("loss", "at"), [(SquaredHinge(), 0.0), (Logistic(), 0.0), (Squared(), 3.0)], ids=str)
def test_the_smoothness_constants_are_reached(loss, at):
    h = 1e-5
    slope = (loss.subgradient(at + h) - loss.subgradient(at - h)) / (2 * h)
    assert slope == pytest.approx(loss.smoothness, rel=1e-6)


@pytest.mark.parametrize(("loss", "corner"), [(Hinge(), 1.0), (PerceptronLoss(), 0.0), (Ramp(), 1.0)], ids=str)
def test_losses_with_a_corner_are_not_smooth(loss, corner):
    assert loss.smoothness == math.inf
    assert loss.subgradient(corner - 1e-12) != loss.subgradient(corner + 1e-12)


@pytest.mark.parametrize("loss", [Logistic(), Squared()], ids=by_name)
def test_what_is_only_evaluated_says_so_and_names_a_loss_to_train(loss):
    assert loss.convex
    with pytest.raises(NotSupportedError, match=r"evaluated and not trained here\. Use 'hinge'"):
        loss.residual([0.0], [0.0], 1.0)


def test_the_logistic_loss_is_its_formula_and_does_not_overflow():
    z = np.linspace(-20, 20, 41)
    np.testing.assert_allclose(Logistic().value(z), [math.log1p(math.exp(-t)) for t in z], rtol=1e-13)
    assert Logistic().value([-1e4, 1e4]).tolist() == [1e4, 0.0]
    assert Logistic().subgradient([-1e4, 0.0, 1e4]).tolist() == [-1.0, -0.5, 0.0]


# ------------------------------------------------------------------------------------------------------------- dualit


@pytest.mark.parametrize("loss", DUAL, ids=by_name)
@quick
@given(m=reals, share=st.floats(0, 1), cost=costs)
def test_the_residual_is_value_plus_conjugate_minus_product_and_never_negative(loss, m, share, cost):
    alpha = dual_point(loss, share, cost)
    r = loss.residual(m, alpha, cost)
    plain = cost * loss.value(1 - m) + loss.conjugate(alpha, cost) - alpha * m
    assert r >= 0
    assert r == pytest.approx(plain, abs=1e-11 * cost * (1 + m * m))


@pytest.mark.parametrize("loss", DUAL, ids=by_name)
@quick
@given(m=reals, cost=costs)
def test_the_residual_vanishes_where_alpha_is_the_slope(loss, m, cost):
    alpha = -cost * loss.subgradient(1 - m)
    assert loss.residual(m, alpha, cost) == pytest.approx(0, abs=1e-12 * cost)


@pytest.mark.parametrize("loss", DUAL, ids=by_name)
@pytest.mark.parametrize("cost", [0.5, 2.0])
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_the_conjugate_is_the_supremum_on_a_grid(loss, cost, share):
    alpha = dual_point(loss, share, cost)
    m = np.linspace(-5, 5, 10001)
    assert loss.conjugate(alpha, cost) == pytest.approx(np.max(alpha * m - cost * loss.value(1 - m)), abs=1e-5)


@pytest.mark.parametrize("loss", QUADRATIC, ids=by_name)
@quick
@given(share=st.floats(0, 1), cost=costs)
def test_a_quadratic_dual_is_one_with_half_its_diagonal(loss, share, cost):
    alpha = dual_point(loss, share, cost)
    assert loss.dual_penalty(alpha, cost) == pytest.approx(0.5 * loss.dual_diagonal(cost) * alpha**2, rel=1e-14)


@pytest.mark.parametrize("loss", DUAL, ids=by_name)
@quick
@given(m=reals, error=st.floats(0, 2), share=st.floats(0, 1), at=st.floats(-1, 1), cost=costs)
def test_no_residual_within_the_error_is_above_its_bound(loss, m, error, share, at, cost):
    m, error, alpha, cost = (np.array([v]) for v in (m, error, dual_point(loss, share, cost), cost))
    bound = loss.residual_above(m, error, alpha, cost)
    assert bound >= loss.residual(m + at * error, alpha, cost)


@pytest.mark.parametrize("loss", DUAL, ids=by_name)
def test_outside_the_box_conjugate_and_residual_are_infinite(loss):
    outside = np.array([-1e-300, -2.0, 3.0])[: 2 if np.isinf(loss.upper(2.0)) else 3]
    for cost in (2.0, 0.0):
        assert np.isinf(loss.conjugate(outside, cost)).all()
        assert np.isinf(loss.residual(np.zeros_like(outside), outside, cost)).all()


def test_the_dual_terms_are_those_of_the_table():
    alpha, cost = np.array([0.0, 1.0, 2.0]), np.array([2.0, 2.0, 4.0])
    assert Hinge().dual_penalty(alpha, cost).tolist() == [0.0, 0.0, 0.0]
    assert PerceptronLoss().dual_penalty(alpha, cost).tolist() == alpha.tolist()
    assert SquaredHinge().dual_penalty(alpha, cost).tolist() == (alpha**2 / (4 * cost)).tolist()
    assert Hinge().dual_diagonal(cost).tolist() == PerceptronLoss().dual_diagonal(cost).tolist() == [0.0, 0.0, 0.0]
    assert SquaredHinge().dual_diagonal(cost).tolist() == (1 / (2 * cost)).tolist()
    assert Hinge().upper(cost).tolist() == PerceptronLoss().upper(cost).tolist() == cost.tolist()
    assert np.isposinf(SquaredHinge().upper(cost)).all()


def test_the_hinge_residual_is_a_sum_of_two_non_negative_terms():
    m, alpha, cost = np.array([0.5, -0.5, 0.0]), np.array([1.0, 1.0, 1.0]), 4.0
    assert Hinge().residual(m, alpha, cost).tolist() == [(4 - 1) * 0.5, 1 * 0.5, 0.0]


def test_the_squared_hinge_residual_is_a_square_inside_the_margin():
    assert SquaredHinge().residual(0.5, 3.0, 2.0) == 2.0 * (0.5 - 3.0 / 4.0) ** 2
    assert SquaredHinge().residual(-0.5, 3.0, 2.0) == 3.0 * 0.5 + 9.0 / 8.0


@pytest.mark.parametrize("penalty", [L1(), L2()], ids=by_name)
@pytest.mark.parametrize("loss", DUAL, ids=by_name)
@pytest.mark.parametrize("seed", range(3))
def test_the_gap_of_any_primal_and_dual_point_is_the_sum_of_the_residuals(loss, penalty, seed):
    """P(w) − D(α) for whatever w and feasible α, without a bias: the identity behind the certificate."""
    rng = np.random.default_rng(seed)
    X, y, w = rng.normal(size=(30, 4)), rng.choice([-1.0, 1.0], 30), rng.normal(size=4)
    cost = rng.uniform(0.1, 3.0, 30)
    alpha = rng.uniform(0, 1, 30) * cost
    alpha *= 0.999 * penalty.shrink(X.T @ (alpha * y))
    u, z = X.T @ (alpha * y), y * (X @ w)
    primal = penalty.value(w) + (cost * loss.value(z)).sum()
    dual = alpha.sum() - loss.dual_penalty(alpha, cost).sum() - penalty.conjugate(u)
    gap = loss.residual(1 - z, alpha, cost).sum() + penalty.residual(w, u)
    assert gap == pytest.approx(primal - dual, rel=1e-12)


def test_residuals_keep_their_digits_where_subtraction_loses_them():
    m, cost = 2.0**-30, 2.0**20
    r = Hinge().residual(m, cost - 2.0**-30, cost)
    assert r == 2.0**-60
    assert SquaredHinge().residual(1.0, 2 * cost * (1 + 2.0**-30), cost) == cost * 2.0**-60


# ----------------------------------------------------------------------------------------------------------------- KK


@pytest.mark.parametrize(
    ("m", "alpha", "group"),
    [
        (-0.5, 0.0, "outside: α = 0 and yF ≥ 1"),
        (0.0, 0.0, "outside, just on it"),
        (0.0, 1.0, "on the margin: 0 < α < c and yF = 1"),
        (0.0, 2.0, "α = c on the margin"),
        (0.5, 2.0, "inside: α = c and yF ≤ 1"),
        (3.0, 2.0, "wrong: α = c"),
    ],
)
def test_complementary_slackness_scores_zero(m, alpha, group):
    assert Hinge().kkt_violation(m, alpha, 2.0) == 0.0
    assert Hinge().residual(m, alpha, 2.0) == 0.0


def test_the_hinge_violation_is_the_smaller_of_distance_and_share():
    cost = 2.0
    assert Hinge().kkt_violation(0.25, 0.5, cost) == min(0.25, 1 - 0.5 / cost)
    assert Hinge().kkt_violation(5.0, 0.5, cost) == min(5.0, 1 - 0.5 / cost)
    assert Hinge().kkt_violation(-0.1, 0.5, cost) == min(0.1, 0.5 / cost)
    assert Hinge().kkt_violation(-9.0, 0.5, cost) == min(9.0, 0.5 / cost)


def test_the_squared_hinge_violation_compares_alpha_with_twice_the_cost_of_the_slack():
    assert SquaredHinge().kkt_violation(0.5, 2 * 3.0 * 0.5, 3.0) == 0.0
    assert SquaredHinge().kkt_violation(0.5, 1.0, 4.0) == abs(0.5 - 1.0 / 8.0)
    assert SquaredHinge().kkt_violation(-2.0, 1.0, 4.0) == 1.0 / 8.0


@pytest.mark.parametrize("loss", DUAL, ids=by_name)
@quick
@given(m=reals, share=st.floats(0, 1), cost=costs)
def test_no_violation_means_no_residual_and_the_other_way_round(loss, m, share, cost):
    alpha = dual_point(loss, share, cost)
    violation, r = loss.kkt_violation(m, alpha, cost), loss.residual(m, alpha, cost)
    assert violation >= 0
    if violation == 0:
        assert r <= 1e-12 * cost * (1 + m * m)
    if r == 0:
        assert violation <= 1e-6


def test_what_sticks_out_of_the_box_violates():
    assert Hinge().kkt_violation(0.0, 3.0, 2.0) == 3.0 / 2.0 - 1
    assert Hinge().kkt_violation(0.0, -1.0, 2.0) == 1.0 / 2.0
    assert SquaredHinge().kkt_violation(0.0, -1.0, 2.0) == 1.0 / 4.0


# -------------------------------------------------------------------------------------------- hard margin, and absenc


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()], ids=by_name)
def test_an_infinite_cost_is_the_hard_margin(loss):
    m, alpha, cost = np.array([-2.0, 0.0, 0.5, -1.0]), np.array([3.0, 4.0, 1.0, 0.0]), np.full(4, np.inf)
    assert loss.residual(m, alpha, cost).tolist() == [3.0 * 2.0, 0.0, math.inf, 0.0]
    assert loss.dual_penalty(alpha, cost).tolist() == loss.dual_diagonal(cost).tolist() == [0.0] * 4
    assert np.isposinf(loss.upper(cost)).all()
    assert loss.kkt_violation(m, alpha, cost).tolist() == [min(2.0, 3.0 / 4.0), 0.0, 0.5, 0.0]
    assert loss.kkt_violation(m, np.zeros(4), cost).tolist() == [0.0, 0.0, 0.5, 0.0]
    assert loss.conjugate(alpha, cost).tolist() == [0.0] * 4


@pytest.mark.parametrize("loss", DUAL, ids=by_name)
def test_a_cost_of_zero_is_an_absent_sample(loss):
    m, nothing = np.array([-2.0, 0.0, 0.5, 7.0]), np.zeros(4)
    for result in (
        loss.residual(m, nothing, nothing),
        loss.kkt_violation(m, nothing, nothing),
        loss.upper(nothing),
        loss.dual_diagonal(nothing),
        loss.dual_penalty(nothing, nothing),
    ):
        assert result.tolist() == [0.0] * 4


@pytest.mark.parametrize("loss", DUAL, ids=by_name)
def test_a_cost_for_all_equals_one_for_each(loss):
    m, alpha = np.array([-1.0, 0.0, 2.0]), np.array([0.5, 1.0, 1.5])
    for method in (loss.residual, loss.kkt_violation):
        assert (method(m, alpha, 2.0) == method(m, alpha, np.full(3, 2.0))).all()
        one_by_one = [method(m[i], alpha[i], 2.0) for i in range(3)]
        assert method(m, alpha, 2.0).tolist() == one_by_one
    assert loss.dual_penalty(alpha, 2.0).shape == loss.dual_penalty(1.0, np.ones(3)).shape == (3,)


# ---------------------------------------------------------------------------------------------------------- as object


@pytest.mark.parametrize("loss", [ZeroOne(), Ramp()], ids=by_name)
def test_what_is_not_convex_has_no_dual(loss):
    assert not loss.has_dual
    with pytest.raises(NotSupportedError, match="not convex and has no dual"):
        loss.residual([0.0], [0.0], 1.0)
    for method in (loss.dual_diagonal, loss.upper):
        with pytest.raises(NotSupportedError, match=loss.name):
            method(1.0)
    for method in (loss.conjugate, loss.dual_penalty):
        with pytest.raises(NotSupportedError, match=loss.name):
            method(0.5, 1.0)
    with pytest.raises(NotSupportedError, match="hinge"):
        loss.kkt_violation(0.0, 0.5, 1.0)


@pytest.mark.parametrize("loss", LOSSES, ids=by_name)
def test_everything_is_float64_and_nan_stays_visible(loss):
    z = np.array([0.5, np.nan], dtype=np.float32)
    z.flags.writeable = False
    assert loss.value(z).dtype == loss.subgradient(z).dtype == np.float64
    assert np.isnan(loss.value(z)).tolist() == [False, True]


@pytest.mark.parametrize("loss", LOSSES, ids=by_name)
def test_losses_are_values_with_names(loss):
    assert loss_from_name(loss.name) == loss
    assert loss_from_name(loss) is loss
    assert pickle.loads(pickle.dumps(loss)) == loss
    assert hash(type(loss)()) == hash(loss)


@pytest.mark.parametrize("bad", ["Hinge", "huber", None, 1])
def test_unknown_losses_are_refused(bad):
    with pytest.raises(InvalidInputError, match=r"Unknown loss .* Use one of 'hinge', 'squared_hinge', 'ramp'"):
        loss_from_name(bad)


def test_loss_is_abstract():
    with pytest.raises(TypeError):
        Loss()
