"""The scores of large kernel machines: float32 where the gap does not depend on more, float64 elsewhere."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.core import Bias, Candidate, Problem, certify
from maxmargin.core import scores as module
from maxmargin.core.scores import scores
from maxmargin.kernels import RBF
from maxmargin.solvers import SMO, solve
from tests.strategies import examples, generators


def solved(rng, n, cost, tol, bias, rows=None):
    X = rng.standard_normal((n, 4)) * rng.choice([0.1, 1.0, 10.0]) + rng.choice([0.0, 100.0])
    y = np.where(X[:, 0] * X[:, 1] > np.median(X[:, 0] * X[:, 1]), 1.0, -1.0) * rng.choice([-1.0, 1.0], n, p=[0.1, 0.9])
    chosen = None if rows is None else rng.permutation(n)[:rows]
    labels = y if chosen is None else y[chosen]
    p = Problem(
        X, labels, np.full(len(labels), cost), kernel=RBF(gamma=float(1 / (4 * X.var()))), bias=bias, rows=chosen
    )
    return p, solve(p, SMO(), tol=tol)


@examples(25)
@given(
    rng=generators(),
    cost=st.sampled_from([0.1, 1.0, 100.0]),
    tol=st.sampled_from([0.3, 1e-2, 1e-5]),
    bias=st.sampled_from([Bias.free(), Bias.none()]),
    rows=st.sampled_from([None, 200]),
)
def test_the_gap_is_that_of_float64(rng, cost, tol, bias, rows):
    p, found = solved(rng, 300, cost, tol, bias, rows)
    exact = certify(p, found, p.decision(found.w))
    with mock.patch.object(module, "MUCH_WORK", 0):
        mixed = certify(p, found)
    assert mixed.gap == pytest.approx(exact.gap, rel=1e-9, abs=1e-9 * exact.primal)
    assert mixed.kkt_violation == pytest.approx(exact.kkt_violation, rel=1e-6, abs=1e-9)
    assert mixed.margin == pytest.approx(exact.margin, rel=1e-4, abs=1e-9)
    assert mixed.primal == pytest.approx(exact.primal, rel=1e-4)
    assert mixed.dual == pytest.approx(exact.dual, rel=1e-4, abs=1e-5 * exact.primal)
    assert mixed.groups == exact.groups


def looked_at(p, found):
    """(largest error as a share of its bound, how many samples were computed again) of scores that begin in float32."""
    seen = []

    def look(problem, candidate, f, error):
        again = original(problem, candidate, f, error)
        errors = np.abs(f - problem.decision(candidate.w))
        seen.append((float((errors[error > 0] / error[error > 0]).max(initial=0.0)), again.mean()))
        np.testing.assert_allclose(errors[error == 0], 0.0, atol=1e-9)
        return again

    original = module._open_samples
    with mock.patch.object(module, "MUCH_WORK", 0), mock.patch.object(module, "_open_samples", look):
        scores(p, Candidate(found.w, found.b, found.beta))
    return seen[0]


def test_few_samples_of_a_large_fit_need_float64():
    ratio, again = looked_at(*solved(np.random.default_rng(0), 4000, 1.0, 1e-3, Bias.free()))
    assert ratio < 0.2
    assert 0 < again < 0.1


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("cost", [1.0, 100.0])
def test_errors_of_all_samples_are_far_below_the_bound_that_some_of_them_set(seed, cost):
    ratio, _ = looked_at(*solved(np.random.default_rng(seed), 2500, cost, 1e-2, Bias.free()))
    assert ratio < 0.5


@pytest.mark.parametrize("far", [3.0, 6.0, 12.0])
@pytest.mark.parametrize("seed", range(3))
def test_outliers_that_none_of_those_was_like_keep_within_the_bound(seed, far):
    """12 times as far out float32 is too coarse for their tiles, which float64 then makes: no error, no bound."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((4000, 6)) * np.where(rng.random((4000, 1)) < 0.01, far, 1.0)
    y = np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0) * rng.choice([-1.0, 1.0], 4000, p=[0.1, 0.9])
    p = Problem(X, y, np.full(4000, 10.0), kernel=RBF(0.1))
    found = solve(p, SMO())
    ratio, _ = looked_at(p, found)
    assert ratio < 0.5
    with mock.patch.object(module, "MUCH_WORK", 0):
        assert certify(p, found).gap == pytest.approx(certify(p, found, p.decision(found.w)).gap, rel=1e-9)
