"""The last digits: Newton on the margin may only improve the certificate."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.core import L1, Bias, Candidate, Problem, Status, certify
from maxmargin.core.candidate import to_candidate
from maxmargin.kernels import Polynomial
from maxmargin.solvers import solve
from maxmargin.solvers.refine import newton, refine, snap, straighten, straighten_dual, straighten_rounded
from tests import reference
from tests.campaign import draw, judge
from tests.problems import KNOWN, problem, signs
from tests.strategies import duals, examples, problems, separable_problems


@examples(60)
@given(st.data())
def test_a_refined_candidate_is_never_worse(data):
    p = data.draw(problems(max_n=9) | separable_problems(max_n=9))
    candidate = to_candidate(p, data.draw(duals(p)))
    assert certify(p, refine(p, candidate)).relative_gap <= certify(p, candidate).relative_gap


@examples(60)
@given(problems(max_n=9) | separable_problems(max_n=9))
def test_eight_digits_become_twelve(p):
    rough = to_candidate(p, reference.solve_qp(p) * p.y * (1 + 1e-9))
    refined = refine(p, rough)
    assert certify(p, refined).relative_gap <= max(1e-9, 1e-3 * certify(p, rough).relative_gap)


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.name)
def test_known_optima_are_fixed_points(known):
    assert certify(known.problem, refine(known.problem, known.best)).relative_gap <= 1e-12


def test_snapping_is_decided_by_complementary_slackness():
    p = problem([[0], [1], [2], [3]], "--++", 10)
    candidate = to_candidate(p, np.array([-1e-9, -2.0, 2.0, 1e-9]))
    beta, free = snap(p, candidate)
    np.testing.assert_array_equal(free, [1, 2])
    np.testing.assert_array_equal(beta[[0, 3]], 0.0)
    p = problem([[1], [-1], [-8]], "+--", 0.1)
    beta, free = snap(p, to_candidate(p, np.array([0.0999, -0.0999, 0.0])))
    np.testing.assert_array_equal(beta, [0.1, -0.1, 0.0])
    assert len(free) == 0


def test_one_newton_step_solves_the_equations_of_the_free_samples():
    rng = np.random.default_rng(0)
    p = Problem(rng.standard_normal((6, 8)), signs("+-+-+-"), np.full(6, 1e6))
    beta = newton(p, 0.1 * p.y, 0.0, np.arange(6))
    f = p.decision(p.combine(beta))
    # all on the margin: y − f is the same number, the bias, for each; and Σβ = 0
    assert np.ptp(p.y - f) <= 1e-12
    assert abs(beta.sum()) <= 1e-12


def test_straightening_brings_free_samples_back_to_the_margin():
    p = problem([[0, 0], [1, 0], [2, 0], [3, 1]], "--++", np.inf)
    best = solve(p, tol=1e-12)
    bent = type(best)(best.w + np.array([0.0, 1e-5]), best.b, best.beta)
    straight = straighten(p, bent)
    z = p.y * (p.decision(straight.w) + straight.b)
    assert z.min() == pytest.approx(1.0, abs=1e-12)
    assert certify(p, straight).gap <= certify(p, bent).gap


def test_rounding_of_a_slack_is_not_what_a_tiny_objective_is_made_of():
    """With kernel values of 1e38 the best ½‖w‖² is 1e-37, and a slack of 1e-17 at a cost of 0.67 is 1e20 times that."""
    X = np.array([[5.1, 3.5, 1.4, 0.2], [4.9, 3.0, 1.4, 0.2], [6.3, 3.3, 6.0, 2.5], [5.8, 2.7, 5.1, 1.9], [7.1, 3.0, 5.9, 2.1]])
    p = problem(X, "++---", 0.67, kernel=Polynomial(7, 4178.4))
    solution = solve(p, tol=1e-3)
    assert solution.certificate.primal < 1e-30
    assert solution.certificate.relative_gap <= 1e-9


@pytest.mark.parametrize("seed", [311000129, 302000198, 91000020])
def test_a_kernel_model_is_stretched_where_some_alpha_are_at_their_bounds(seed):
    case = draw("kernels", seed)  # weights of 1e±12: what rounding puts inside the margin costs more than all the rest
    case.estimator.set_params(max_seconds=60.0)
    model = case.fit()
    assert model.status_ is Status.SOLVED
    assert list(judge(case, model)) == []


def test_the_dual_point_of_l1_is_brought_into_its_cube_without_scaling_it_down():
    case = draw("linear", 331001352)  # β of 1e9 that cancel, rows of 1e4: the weights are exact, D was 1e-3 too small
    case.estimator.set_params(max_seconds=60.0)
    model = case.fit()
    assert model.status_ is Status.SOLVED
    assert list(judge(case, model)) == []


@pytest.mark.parametrize("seed", [403000100, 611002182])
def test_rows_far_from_the_origin_do_not_stretch_the_near_ones(seed):
    # rows of 5e4 beside rows of 4e-4: the far ones err by 2e-9, and weigh next to nothing;
    # large features with small weights: ‖w‖‖x‖ is 1e5 times what the rounding of w may change
    case = draw("linear", seed)
    case.estimator.set_params(max_seconds=60.0)
    model = case.fit()
    assert model.status_ is Status.SOLVED
    assert list(judge(case, model)) == []


def test_a_dual_point_without_weights_or_a_free_bias_has_nothing_to_be_straightened():
    p = problem([[1.0], [2.0]], "-+", 1e-3, penalty=L1(), bias=Bias.none())
    nothing = Candidate(np.zeros(1), 0.0, np.array([-1e-4, 1e-4]))
    assert straighten_dual(p, nothing, 1e-9) is nothing


@pytest.mark.parametrize("seed", [711000017, 712000640])
def test_a_dual_point_that_cannot_be_straightened_divides_by_no_zero(seed):
    # a feature that no β moves: its equation has a right side and nothing else; the step leads to β = 0, which is no worse
    model = draw("linear", seed).fit()
    assert np.isfinite(model.coef_).all()


def test_small_weights_take_up_what_rounded_large_ones_that_cancel_leave_of_w():
    """Two α of 1.5e13 stand for 0.002 each, times features of 1.7e9: the last digits of Σβx are those of the small α."""
    X = np.array([[1.7000015e9], [1.7000020e9], [1.7000006e9], [1.7000005e9]])
    p = Problem(X, signs("+-++"), np.array([1.5e13, 1.5e13, 3e4, 3e4]), bias=Bias.none())
    w, beta = -1.0 / X[1], np.array([1.5e13, -1.5e13 * X[0, 0] / X[1, 0], 1.5e4, 1.5e4])
    beta[1] -= (p.combine(beta)[0] - w[0]) / X[1, 0]
    rough = Candidate(w, 0.0, beta)
    assert certify(p, straighten_rounded(p, rough, 0.0)).distance < 0.1 * certify(p, rough).distance
    far = Candidate(w, 0.0, beta * [1.0, 0.9, 1.0, 1.0])  # no rounding explains this
    assert straighten_rounded(p, far, 0.0) is far
