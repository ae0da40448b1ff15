import numpy as np
import pytest

from maxmargin.analysis.stopped_early import stopped_early
from maxmargin.core import Problem
from maxmargin.kernels import RBF
from maxmargin.solvers import solve


def problem(n=60):
    rng = np.random.default_rng(0)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    return Problem(rng.normal(size=(n, 2)) + 0.7 * y[:, None], y, cost=np.full(n, 10.0), kernel=RBF(0.5))


def test_each_moment_holds_the_optimum_between_its_values_and_the_last_one_has_the_goal():
    best = solve(problem(), tol=1e-9).certificate
    trace = stopped_early(problem(), 1e-8)
    assert len(trace) > 3
    assert all(at.dual <= best.primal and at.primal >= best.dual for at in trace)
    assert trace[-1].relative_gap <= 1e-8 < trace[0].relative_gap


def test_the_rounds_rise():
    rounds = [at.iteration for at in stopped_early(problem(), 1e-8)]
    assert rounds == sorted(set(rounds))


@pytest.mark.parametrize("seconds", [0.0, 1e-9])
def test_without_time_there_is_one_moment(seconds):
    assert len(stopped_early(problem(), 1e-8, seconds)) == 1


def test_it_stops_where_it_is_told_to():
    told = []
    trace = stopped_early(problem(), 1e-8, stop=lambda: bool(told.append(0)) or len(told) > 4)
    assert 0 < len(trace) < len(stopped_early(problem(), 1e-8))
