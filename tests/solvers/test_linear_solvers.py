"""The solvers of linear problems agree on problems too large to be finished by the refinement of the last digits."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.core import Bias, Hinge, Problem, SquaredHinge, Status
from maxmargin.solvers import InteriorPoint, solve
from maxmargin.solvers.dual_cd import DualCD
from maxmargin.solvers.proximal_newton import ProximalNewton
from maxmargin.solvers.refine import SMALL
from tests.strategies import examples, generators

N, D = 900, 60
TOL = 1e-6


@st.composite
def linear_problems(draw):
    """More values than the refinement takes on; every loss, bias, form and precision, costs over four orders."""
    rng = draw(generators())
    y = np.where(rng.random(N) < draw(st.sampled_from([0.5, 0.1])), 1.0, -1.0)
    X = rng.standard_normal((N, D)) + draw(st.sampled_from([0.0, 0.3])) * y[:, None]
    X = X.astype(draw(st.sampled_from([np.float32, np.float64])))
    X = draw(st.sampled_from([np.asarray, sp.csr_array]))(X)
    weights = rng.choice([0.0, 0.5, 1.0, 2.0], size=N) if draw(st.booleans()) else np.ones(N)
    return Problem(
        X,
        y,
        cost=weights * draw(st.sampled_from([1e-4, 1e-2, 1.0])),
        loss=draw(st.sampled_from([Hinge(), SquaredHinge()])),
        bias=draw(st.sampled_from([Bias.free(), Bias.none(), Bias.penalized(2.0)])),
    )


def test_the_problems_are_too_large_to_be_refined():
    assert N * D > SMALL


@pytest.mark.parametrize("solver", [DualCD(), ProximalNewton()], ids=["dual_cd", "proximal_newton"])
@examples(8)
@given(problem=linear_problems())
def test_the_objective_is_that_of_the_interior_point(solver, problem):
    mine, reference = (solve(problem, entrant, tol=TOL) for entrant in (solver, InteriorPoint()))
    assert mine.status is reference.status is Status.SOLVED
    assert mine.certificate.relative_gap <= TOL
    assert mine.certificate.primal == pytest.approx(reference.certificate.primal, rel=TOL)
    # the optimum lies between any dual and any primal value
    assert mine.certificate.dual <= reference.certificate.primal * (1 + 1e-12)
    assert reference.certificate.dual <= mine.certificate.primal * (1 + 1e-12)
