"""Active sets in many digits: few samples, whatever their scale."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.core import Bias, Hinge, Problem, SquaredHinge, Status
from maxmargin.core.certificate.certify import certify
from maxmargin.kernels import RBF, Linear
from maxmargin.solvers import ActiveSet, Budget, Clock, ConstraintGeneration, solve
from tests.campaign import draw, judge
from tests.strategies import examples, generators


def finished(problem):
    """The candidate where pivoting ends, by ActiveSet alone."""
    solver = ActiveSet()
    state = solver.init(problem, None, None)
    clock = Clock(Budget())
    while not solver.step(state, 0.0, clock).is_final:
        pass
    return solver.finish(state, 0.0)


@examples(25)
@given(
    rng=generators(),
    loss=st.sampled_from([Hinge(), SquaredHinge()]),
    bias=st.sampled_from([Bias.free(), Bias.none(), Bias.penalized(0.3)]),
)
def test_costs_and_features_of_any_scale_end_in_their_last_digits(rng, loss, bias):
    n, d = int(rng.integers(4, 20)), int(rng.integers(1, 8))
    X = rng.standard_normal((n, d)) * 10.0 ** rng.integers(-3, 6, size=d)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    cost = 10.0 ** rng.integers(-12, 13, size=n)
    problem = Problem(X, y, cost, loss, bias=bias)
    certificate = certify(problem, finished(problem))
    assert certificate.relative_gap <= 1e-6 or certificate.gap <= 4.0 * certificate.rounding


def test_what_is_flat_beside_the_largest_costs_is_not_flat_for_the_others():
    """Costs of 4e17 count no slope below 4e5 as one, but a sample of cost 4e5 lies on the margin all the same."""
    X = np.array([[0.0], [1.0], [5.0], [6.0]])
    y = np.array([-1.0, 1.0, 1.0, -1.0])
    cost = np.array([4e5, 4e5, 4e17, 1e-7])
    problem = Problem(X, y, cost)
    solution = solve(problem, ActiveSet(), tol=1e-9)
    assert solution.status is Status.SOLVED
    np.testing.assert_allclose(solution.w * X[:2, 0] + solution.b, [-1.0, 1.0], rtol=1e-9)


def test_equal_samples_of_both_classes_end():
    X = np.repeat(np.array([[0.0, 1.0], [1.0, 0.0]]), 10, axis=0)
    y = np.where(np.arange(20) % 2, 1.0, -1.0)
    for kernel in (None, RBF(1.0)):
        problem = Problem(X, y, np.full(20, 3.0), **({} if kernel is None else {"kernel": kernel}))
        assert certify(problem, finished(problem)).relative_gap <= 1e-12


@pytest.mark.parametrize("kernel", [Linear(), RBF(0.1)])
@pytest.mark.parametrize("bias", [Bias.free(), Bias.none()])
def test_a_hard_margin_is_a_box_without_an_upper_end(kernel, bias):
    rng = np.random.default_rng(3)
    y = np.where(np.arange(16) % 2, 1.0, -1.0)
    X = rng.standard_normal((16, 3)) * [1.0, 1e-3, 1e3]
    X[:, 1] += 0.01 * y
    problem = Problem(X, y, np.full(16, np.inf), kernel=kernel, bias=bias)
    found = finished(problem)
    assert certify(problem, found).relative_gap <= 1e-9
    best = solve(problem, ConstraintGeneration(), tol=1e-9)
    assert best.certificate.primal == pytest.approx(certify(problem, found).primal, rel=1e-8)


CLOSED = [
    *(("kernels", 331000484), ("linear", 331003547)),  # a K that is singular to float64, with weights of 1e±12
    ("linear", 403001823),  # a hard margin to 1e-9
    ("linear", 613002166),  # timestamps to 1e-9, from the end of the exact solver alone
]


@pytest.mark.parametrize(("family", "seed"), CLOSED)
def test_what_other_solvers_leave_of_a_gap_is_closed(family, seed):
    case = draw(family, seed)
    case.estimator.set_params(max_seconds=60.0)
    model = case.fit()
    assert model.status_ is Status.SOLVED
    assert list(judge(case, model)) == []


def test_more_samples_than_a_few_dozen_are_refused():
    X = np.zeros((65, 1))
    problem = Problem(X, np.where(np.arange(65) % 2, 1.0, -1.0), np.ones(65))
    with pytest.raises(Exception, match="takes up to 64 samples"):
        solve(problem, ActiveSet())


def test_a_run_of_many_single_exchanges_is_not_taken_for_a_stall():
    case = draw("linear", 302001173)  # 209 exchanges, the last of which closes a gap of 1
    case.estimator.set_params(max_seconds=60.0)
    assert case.fit().status_ is Status.SOLVED
