"""The interior point of several classes in one problem: what it alone is."""

import numpy as np
import pytest
from hypothesis import given

from maxmargin.core import Bias, Status
from maxmargin.core.joint import JointProblem
from maxmargin.errors import NotSupportedError
from maxmargin.solvers import solve
from maxmargin.solvers.interior.joint_interior_point import JointInteriorPoint
from maxmargin.solvers.linear.sequential_dual import SequentialDual
from tests.core.test_joint import joint_problems
from tests.solvers.linear.test_sequential_dual import drawn
from tests.strategies import examples


@examples(25)
@given(joint_problems())
def test_drawn_problems_are_certified_whatever_their_costs(problem):
    solution = solve(problem, JointInteriorPoint(), tol=1e-5)
    assert solution.status is Status.SOLVED
    assert solution.certificate.relative_gap <= 1e-5


@pytest.mark.parametrize("bias", [Bias.none(), Bias.penalized(0.7), Bias.free()], ids=str)
def test_both_solvers_prove_one_optimum(bias):
    problem = drawn(bias=bias, cost=5.0)
    one, other = (solve(problem, solver, tol=1e-7).certificate for solver in (JointInteriorPoint(), SequentialDual()))
    assert one.dual <= other.primal
    assert other.dual <= one.primal


def test_huge_costs_take_no_more_steps_than_a_multiple_of_ten():
    steps = [solve(drawn(bias=Bias.free(), cost=cost), JointInteriorPoint(), tol=1e-6).n_iter for cost in (1.0, 1e4)]
    assert steps[1] <= 10 * steps[0]


def test_an_optimum_has_few_support_vectors():
    """η that is as good as 0 is left out: an interior point alone would make support vectors of all samples."""
    solution = solve(drawn(n=300, bias=Bias.free()), JointInteriorPoint(), tol=1e-8)
    assert 0 < np.count_nonzero(solution.beta.any(axis=1)) < 200
    assert solution.certificate.groups.outside > 100


def test_problems_with_too_many_weights_are_refused_with_a_way_out():
    problem = JointProblem(np.zeros((3, 2000)), np.arange(3), np.ones(3), 3)
    with pytest.raises(NotSupportedError, match=r"Use SequentialDual\(\)"):
        solve(problem, JointInteriorPoint())
