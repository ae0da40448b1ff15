"""The interior point: the reference has to deserve its name."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from maxmargin.core import Problem, Status, certify
from maxmargin.kernels import RBF
from maxmargin.solvers import InteriorPoint, solve
from tests.problems import problem, signs
from tests.strategies import SCALES, examples, problems, separable_problems

both_forms = pytest.mark.parametrize("form", ["primal", "dual"])


@both_forms
@examples(120)
@given(p=problems())
def test_every_well_scaled_soft_margin_is_solved_to_eight_digits(form, p):
    solution = solve(p, InteriorPoint(form), tol=1e-8)
    assert solution.status is Status.SOLVED
    assert certify(p, solution).relative_gap <= 1e-8


@both_forms
@examples(80)
@given(p=separable_problems())
def test_every_hard_margin_that_is_not_too_narrow_is_solved_to_eight_digits(form, p):
    solution = solve(p, InteriorPoint(form), tol=1e-8)
    assert solution.status is Status.SOLVED
    assert certify(p, solution).relative_gap <= 1e-8


@both_forms
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_scale_of_the_data_does_not_matter(form, scale, kernel):
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((80, 5)), signs("+-" * 40)
    p = Problem(X, y, np.ones(80))
    q = replace(p, X=scale * X, cost=p.cost / scale**2)
    if kernel == "rbf":
        p, q = replace(p, kernel=RBF(gamma=0.2)), replace(q, cost=p.cost, kernel=RBF(gamma=0.2 / scale**2))
    ours, theirs = (solve(r, InteriorPoint(form), tol=1e-9) for r in (p, q))
    np.testing.assert_allclose(p.decision(ours.w), q.decision(theirs.w), atol=1e-6)
    unit = 1.0 if kernel == "rbf" else scale**2
    assert theirs.certificate.primal * unit == pytest.approx(ours.certificate.primal, rel=1e-8)


@both_forms
@pytest.mark.parametrize(("n", "d"), [(200, 3), (30, 200)], ids=["narrow", "wide"])
def test_narrow_and_wide_data_are_solved_alike(form, n, d):
    rng = np.random.default_rng(0)
    p = Problem(rng.standard_normal((n, d)), signs("+-" * (n // 2)), np.full(n, 0.3))
    assert solve(p, InteriorPoint(form), tol=1e-10).status is Status.SOLVED


@both_forms
def test_clear_cases_stand_on_their_bounds(form):
    rng = np.random.default_rng(0)
    y = signs("+-" * 100)
    p = Problem(rng.standard_normal((200, 2)) + y[:, None], y, np.full(200, 0.5))
    solution = solve(p, InteriorPoint(form), tol=1e-9)
    alpha, z = solution.beta * y, y * (p.decision(solution.w) + solution.b)
    assert (alpha[z > 1 + 1e-6] == 0).all()
    assert (alpha[z < 1 - 1e-6] == 0.5).all()
    # no more than d + 1 samples lie on the margin of data in general position
    assert solution.certificate.groups.on <= 3


def test_a_solver_in_doubt_asks_the_dual_after_the_primal():
    p = problem([[0], [1], [2], [3]], "--++", 10)
    assert InteriorPoint()._possible_forms(p) == ["primal", "dual"]
    assert InteriorPoint("dual")._possible_forms(p) == ["dual"]


@pytest.mark.parametrize("margin", [1e-3, 1e-5])
def test_a_narrow_margin_is_found(margin):
    rng = np.random.default_rng(0)
    y = signs("+-" * 20)
    X = rng.standard_normal((40, 2))
    X[:, 0] = y * (margin + np.abs(rng.standard_normal(40)) * np.where(np.arange(40) < 6, 0.0, 1.0))
    p = Problem(X, y, np.full(40, np.inf))
    solution = solve(p, InteriorPoint(), tol=1e-6)
    assert solution.status is Status.SOLVED
    assert solution.certificate.margin >= margin * (1 - 1e-6)
