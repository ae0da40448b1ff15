"""The bias and the gap by one compiled call: those of the certificate."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin._loops.smo.hinge_gap import look
from maxmargin.core.bias import hinge_interval
from tests.strategies import examples, generators


def bias_by_sorting(g, y, cost, beta):
    """The middle of the best biases: where the costs of the kinks −g, in order, reach those of the positives less Σβ."""
    order = np.argsort(-g)
    total, flat = cost[y > 0].sum() - beta.sum(), 1e-12 * cost.sum()
    at = np.searchsorted(np.cumsum(cost[order]), [total - flat, total + flat])
    low, high = -g[order[np.minimum(at, len(g) - 1)]]
    return low + 0.5 * (high - low)


@examples(100)
@given(rng=generators(), n=st.integers(2, 60), scale=st.sampled_from([1.0, 1e-9, 1e12, 1e38]), grid=st.booleans())
def test_it_finds_the_bias_and_the_gap(rng, n, scale, grid):
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    cost = rng.random(n) + 0.01
    beta = y * cost * rng.choice([0.0, 0.3, 1.0], n)
    g = rng.integers(-3, 4, n) * 0.5 if grid else rng.standard_normal(n) * scale ** rng.random(n)
    expected = bias_by_sorting(g, y, cost, beta)
    b, missing = look(g, y, beta, cost, True)
    assert b == pytest.approx(expected, rel=1e-12, abs=1e-12 * np.abs(g).max())
    m, alpha = -y * (g + b), np.abs(beta)
    residuals = (cost - alpha) * np.maximum(m, 0.0) + alpha * np.maximum(-m, 0.0)
    assert missing == pytest.approx(residuals.sum(), rel=1e-9)
    assert look(g, y, beta, cost, False)[0] == 0.0


def test_values_of_very_different_sizes_are_told_apart():
    g = -np.array([-1e38, 1e-6, 2e-6, 3e-6, 1e38])
    y, cost = np.array([-1.0, 1.0, -1.0, 1.0, 1.0]), np.ones(5)
    assert look(g, y, np.zeros(5), cost, True)[0] == pytest.approx(hinge_interval(g + y, y, cost).middle, rel=1e-9)


def test_infinite_gradients_end():
    g = np.array([np.inf, -np.inf, 0.0, np.nan])
    look(g, np.array([1.0, -1.0, 1.0, -1.0]), np.zeros(4), np.ones(4), True)
