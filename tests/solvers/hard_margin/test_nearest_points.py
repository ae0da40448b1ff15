"""The nearest points of hulls, against trying every support."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.solvers import Budget, Clock
from maxmargin.solvers.hard_margin.nearest_points import nearest_points
from tests import reference
from tests.strategies import examples, generators


@st.composite
def hulls(draw):
    """Rows in one group or two; whole numbers among them, so that ties and dependent rows occur."""
    rng = draw(generators())
    n, d, n_groups = draw(st.integers(2, 8)), draw(st.integers(1, 4)), draw(st.integers(1, 2))
    V = rng.integers(-3, 4, size=(n, d)).astype(float) if draw(st.booleans()) else rng.standard_normal((n, d))
    V += draw(st.sampled_from([0.0, 2.0, 10.0]))
    group = rng.integers(0, n_groups, size=n)
    group[:n_groups] = np.arange(n_groups)
    return V * draw(st.sampled_from([1e-6, 1.0, 1e6])), group


def run(V, group, start=None, tol=1e-12, max_support=100, budget=None):
    if start is None:
        start = np.zeros(len(V))
        start[[np.flatnonzero(group == g)[0] for g in np.unique(group)]] = 1.0
    return nearest_points(V, group, start, tol=tol, max_support=max_support, clock=Clock(budget or Budget()))


def is_feasible(found, V, group):
    scale = np.abs(V).max()
    np.testing.assert_allclose(found.alpha @ V, found.u, atol=1e-9 * scale)
    assert (found.alpha >= 0).all()
    for g in np.unique(group):
        assert found.alpha[group == g].sum() == pytest.approx(1.0, abs=1e-9)


@examples(150)
@given(hulls())
def test_the_nearest_point_is_the_shortest_of_all_supports(case):
    V, group = case
    best = reference.nearest_point(V, group)
    found = run(V, group)
    scale = np.abs(V).max()
    if np.linalg.norm(best) > 1e-6 * scale:
        assert found.is_optimal
        is_feasible(found, V, group)
        np.testing.assert_allclose(found.u, best, atol=1e-7 * scale)
    else:  # the hulls meet: it says that it is stuck, or finds a point that is nothing but rounding
        assert not found.is_optimal or np.linalg.norm(found.u) <= 1e-6 * scale


@examples(60)
@given(hulls(), generators())
def test_any_start_leads_to_the_same_point(case, rng):
    V, group = case
    best = reference.nearest_point(V, group)
    if np.linalg.norm(best) <= 1e-6 * np.abs(V).max():
        return
    start = rng.random(len(V)) * (rng.random(len(V)) < 0.6)
    for g in np.unique(group):
        own = np.flatnonzero(group == g)
        start[own[0]] += 0.1
        start[own] /= start[own].sum()
    found = run(V, group, start)
    assert found.is_optimal
    np.testing.assert_allclose(found.u, best, atol=1e-7 * np.abs(V).max())


@pytest.mark.parametrize("n_groups", [1, 2])
@pytest.mark.parametrize(("n", "d"), [(300, 5), (120, 60), (40, 200)])
def test_larger_hulls_satisfy_their_optimality_conditions(n, d, n_groups):
    rng = np.random.default_rng(n + d)
    V, group = rng.standard_normal((n, d)), np.arange(n) % n_groups
    V[:, 0] = 1.0 + np.abs(V[:, 0])
    found = run(V, group)
    assert found.is_optimal
    is_feasible(found, V, group)
    products = V @ found.u
    for g in range(n_groups):
        own = group == g
        lowest = products[own & (found.alpha > 0)].mean()
        assert products[own].min() >= lowest - 1e-9 * (found.u @ found.u)


def test_more_support_than_allowed_gives_up():
    V = np.hstack([np.eye(6), np.ones((6, 1))])
    group = np.zeros(6, dtype=np.intp)
    assert not run(V, group, max_support=3).is_optimal
    found = run(V, group)
    assert found.is_optimal
    np.testing.assert_allclose(found.alpha, 1 / 6)


def test_a_budget_of_seconds_is_heard_between_the_compiled_calls():
    rng = np.random.default_rng(0)
    V = rng.standard_normal((600, 300))
    V[:, 0] = 1.0 + np.abs(V[:, 0])
    found = run(V, np.zeros(600, dtype=np.intp), budget=Budget(seconds=0.0))
    assert not found.is_optimal


def test_a_looser_tolerance_stops_earlier_and_within_it():
    rng = np.random.default_rng(2)
    V, group = rng.standard_normal((200, 20)), np.zeros(200, dtype=np.intp)
    V[:, 0] += 3.0
    tight, loose = run(V, group), run(V, group, tol=0.1)
    shortest = math.sqrt(tight.u @ tight.u)
    assert (loose.alpha > 0).sum() <= (tight.alpha > 0).sum() + 1
    assert shortest <= np.linalg.norm(loose.u) <= shortest * 1.2


def test_hulls_that_meet_among_rows_of_very_different_length_end_the_exchanges():
    # u falls from one exchange to the next, but α cannot say so: its own point is rounding
    V = np.array(
        [
            [-2.0, -191.597189, -339.899885, -0.589692152],
            [1.59405262, -3.0, 0.0, 0.0],
            [-0.889317206, -349.929756, 0.0, 1.868166e-43],
            [-0.165272981, 0.0, 21.5885559, -0.0853809623],
            [0.420359368, 0.0, 3.0, 1.0],
            [-714.023046, 0.0, 2.0, 0.0],
            [0.0, 1.0, -1.10561855e-62, 0.0],
        ]
    )
    found = run(V, np.zeros(7, dtype=np.intp), tol=1e-9)
    assert np.linalg.norm(found.u) <= 1e-12
