"""Bounds by the dimension; that of vc_rate stands in test_bounds.py beside those of the margin."""

import math
from fractions import Fraction

import numpy as np
import pytest

from maxmargin import bounds
from maxmargin.errors import InvalidInputError


def chance_of_failing(d, epsilon, m):
    """P(error > ε) of the best learner there is on the hard distribution, in fractions.

    d − 1 points share the probability 8ε, one has the rest; labels are coin tosses. On what it has not seen, every learner
    guesses.
    """
    k, rare = d - 1, Fraction(8) * Fraction(epsilon)
    seen = [Fraction(1)] + [Fraction(0)] * k  # P(so many rare points were drawn)
    for _ in range(m):
        new = [p * (1 - rare + rare * Fraction(u, k)) for u, p in enumerate(seen)]
        for u in range(k):
            new[u + 1] += seen[u] * rare * Fraction(k - u, k)
        seen = new
    wrong = [sum(math.comb(u, e) for e in range(u + 1) if 8 * e > k) * Fraction(1, 2**u) for u in range(k + 1)]
    return sum(p * wrong[k - u] for u, p in enumerate(seen))


@pytest.mark.parametrize("epsilon", [0.125, 1 / 16, 0.01])
@pytest.mark.parametrize("d", [2, 5, 9, 20, 33])
def test_from_so_many_samples_every_learner_fails_on_some_labels_of_a_hard_distribution(d, epsilon):
    """The mean over all labels; so for some labels, which a halfspace gives d points in general position, it is no smaller."""
    m = int(bounds.vc_lower_samples(d=d, epsilon=epsilon))
    assert m == math.floor(Fraction(d - 1) / 32 / Fraction(epsilon))
    assert chance_of_failing(d, epsilon, m) >= Fraction(1, 6) > Fraction(1, 100)


def test_the_chance_of_failing_is_one_that_can_be_lost():
    assert chance_of_failing(9, 0.125, 60) < Fraction(1, 100)


def test_d_points_in_general_position_take_all_labels():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4, 4))
    for labels in range(16):
        y = np.where([labels >> k & 1 for k in range(4)], 1.0, -1.0)
        assert (y * (X @ np.linalg.solve(X, y)) > 0).all()


def test_the_lower_rate_is_d_over_epsilon_and_claims_nothing():
    rate = bounds.vc_lower_rate(d=1000, epsilon=0.125)
    assert float(rate) == 8000.0
    assert rate.kind == "rate"
    assert not rate.vacuous
    assert "claims nothing" in str(rate)


def test_a_margin_needs_fewer_samples_than_the_dimension_would():
    """No contradiction: the margin is an assumption on the distribution."""
    few = bounds.hard_margin_samples(rho=1.0, gamma=0.5, epsilon=0.1, delta=0.01)
    assert int(few) < int(bounds.vc_lower_samples(d=10**6, epsilon=0.1))


@pytest.mark.parametrize("bad", [0.0, 0.13, 0.5, -0.1, math.nan])
def test_the_theorem_is_about_small_errors(bad):
    with pytest.raises(InvalidInputError, match="1/8"):
        bounds.vc_lower_samples(d=10, epsilon=bad)
