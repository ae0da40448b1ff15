"""Small problems with little Python: the same answers as by the usual rounds, and only where the loops are made for them."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.core import Bias, Problem, SquaredHinge, Status, certify
from maxmargin.core.bias import hinge_interval
from maxmargin.core.workspace import Workspace
from maxmargin.kernels import RBF, Polynomial
from maxmargin.solvers import SMO, Budget, InteriorPoint, solve
from maxmargin.solvers.base import Clock
from maxmargin.solvers.smo.small_problems import is_suitable, solve_at_once
from tests.strategies import examples, generators


@st.composite
def small_problems(draw):
    """Curved boundaries with noise, far from the origin or not, samples of many costs, chosen rows or all."""
    rng, n, d = draw(generators()), draw(st.integers(257, 500)), draw(st.integers(1, 9))
    X = rng.standard_normal((n, d))
    y = np.where((X**2).sum(axis=1) > d, 1.0, -1.0) * np.where(rng.random(n) < draw(st.sampled_from([0, 0.2])), -1, 1)
    y[:2] = 1.0, -1.0
    cost = draw(st.sampled_from([0.1, 1.0, 30.0])) * (rng.random(n) + 0.1 if draw(st.booleans()) else np.ones(n))
    X, gamma = X * 10.0 + draw(st.sampled_from([0.0, 1e3])), 0.005 * draw(st.sampled_from([0.1, 1.0, 5.0]))
    rows = None
    if draw(st.booleans()):  # every other row belongs to somebody else
        wide, rows = np.zeros((2 * n, d)), np.arange(0, 2 * n, 2)
        wide[rows] = X
        X = wide
    bias = draw(st.sampled_from([Bias.free(), Bias.none()]))
    return Problem(X, y, cost, kernel=RBF(gamma), bias=bias, rows=rows)


def begun(p, max_bytes=2**28):
    return SMO().init(p, Workspace(p, max_bytes), None)


@examples(40)
@given(p=small_problems(), tol=st.sampled_from([1e-2, 1e-3, 1e-4]))
def test_it_reaches_the_gap_and_agrees_with_the_interior_point(p, tol):
    assert is_suitable(p, tol)
    solution = solve(p, SMO(), tol=tol)
    assert solution.status is Status.SOLVED
    assert certify(p, solution).relative_gap <= tol
    best = solve(p, InteriorPoint(), tol=1e-7).certificate
    assert solution.certificate.primal == pytest.approx(best.primal, rel=1.01 * tol + 1e-6)


@examples(25)
@given(p=small_problems(), goal=st.sampled_from([0.3, 1e-3]))
def test_what_it_reports_is_what_it_leaves_behind(p, goal):
    state = begun(p)
    assert solve_at_once(state, goal, 1e-3, 50) > 0
    reported, beta = (state.gap, state.b, state.dual), state.active.beta
    assert np.all((beta >= state.active.lo) & (beta <= state.active.hi))
    if p.bias.is_free:
        assert abs(beta.sum()) <= 1e-9 * np.abs(beta).sum()
    np.testing.assert_allclose(state.active.g, p.decision(beta) - p.y, atol=2e-5 * max(1.0, np.abs(beta).sum()))
    f = state.active.g + p.y
    b = hinge_interval(f, p.y, p.cost).middle if p.bias.is_free else 0.0
    missing = float(p.loss.residual(1.0 - p.y * (f + b), np.abs(beta), p.cost).sum())
    dual = 0.5 * float(beta @ (p.y - state.active.g))
    assert reported[0] == pytest.approx(missing / (abs(dual) + missing), rel=1e-6, abs=1e-12)
    assert reported[1] == pytest.approx(b, rel=1e-6, abs=1e-9)
    assert reported[2] == pytest.approx(dual, rel=1e-9)


def plain(n=600, d=4, scale=1.0, **others):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    y = np.where((X**2).sum(axis=1) > d, 1.0, -1.0)
    return Problem(X * scale, y, np.full(n, 10.0), **({"kernel": RBF(0.5 / scale**2)} | others))


def test_data_too_coarse_for_float32_go_the_usual_way():
    p = plain()
    p.X[0, 0] = 1e6  # far out, in units of the kernel's width
    state = begun(p)
    assert solve_at_once(state, 1e-3, 1e-3, 8) == 0
    assert not state.active.beta.any()
    assert np.array_equal(state.active.g, -p.y)
    assert solve(p, SMO()).status is Status.SOLVED


@pytest.mark.parametrize("megabytes", [0.03, 0.3, 3])
def test_where_rows_do_not_fit_it_goes_on_from_there(megabytes):
    p = plain(1000)
    solution = solve(p, SMO(), budget=Budget(bytes=int(megabytes * 2**20)))
    assert solution.status is Status.SOLVED
    assert certify(p, solution).relative_gap <= 1e-3


def test_rounds_are_counted_and_limited():
    p = plain()
    limited = solve(p, SMO(), budget=Budget(iterations=1))
    assert limited.n_iter == 1
    free = solve(p, SMO())
    assert free.n_iter >= 1
    state, clock = begun(p), Clock(Budget())
    assert SMO().step(state, 1e-3, clock).rounds == state.rounds == free.n_iter


def test_one_step_is_bounded_however_slow_the_problem_is():
    rng = np.random.default_rng(0)
    p = plain(3000)
    p = replace(p, y=np.where(rng.random(3000) < 0.5, 1.0, -1.0), cost=np.full(3000, 1e6))
    state, clock = begun(p), Clock(Budget())
    SMO().step(state, 1e-4, clock)
    assert clock.seconds < 5
    assert state.gap > 1e-4


@pytest.mark.parametrize(
    "other",
    [
        plain(200),
        replace(plain(), loss=SquaredHinge()),
        replace(plain(), bias=Bias.penalized(1.0)),
        replace(plain(), kernel=Polynomial(2, 0.1, 1.0)),
        replace(plain(), cost=np.append(0.0, np.ones(599))),
        replace(plain(), X=plain().X.astype(np.float32)),
        replace(plain(), X=np.asfortranarray(plain().X)),
        replace(plain(), X=sp.csr_array(plain().X)),
        plain(d=100),
        replace(plain(), kernel=RBF(1e40)),
    ],
    ids=["few", "squared", "penalized", "poly", "absent", "float32", "fortran", "csr", "wide", "gamma"],
)
def test_other_problems_are_left_alone(other):
    assert is_suitable(plain(), 1e-3)
    assert not is_suitable(plain(), 1e-5)
    assert not is_suitable(other, 1e-3)
    assert solve(other, SMO()).status is Status.SOLVED


def test_read_only_data_are_left_alone():
    p = plain()
    p.X.flags.writeable = False
    assert not is_suitable(p, 1e-3)
    assert solve(p, SMO()).status is Status.SOLVED


def test_a_warm_start_is_not_thrown_away(monkeypatch):
    p = plain()
    first = solve(p, SMO())
    monkeypatch.setattr("maxmargin.solvers.smo.smo.solve_at_once", None)  # to be called would be an error
    assert solve(p, SMO(), warm=first).status is Status.SOLVED
