"""Where the soft margin is the hard one: exact programs, solvers on both sides of C*, and the counterexample."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin import LinearSVC, NotSeparableError, Regularization, theory
from maxmargin.errors import InvalidInputError
from tests.strategies import examples, generators


@examples(25)
@given(generators(), st.booleans())
def test_the_hyperplanes_agree_above_the_cost_and_differ_below(rng, homogeneous):
    n = int(rng.integers(2, 7))
    X, y = rng.integers(-4, 5, (n, 2)).astype(float), np.where(np.arange(n) % 2, 1, -1)
    try:
        found = theory.hard_soft_agreement(X, y, homogeneous=homogeneous)
    except NotSeparableError:
        return
    assert found.certificate.relative_gap <= 1e-8
    assert found.lam == pytest.approx(1 / (2 * n * found.cost))
    assert found.advantage(0.98 * found.cost) > 0
    assert found.advantage(1.02 * found.cost) <= 0
    options = {"fit_intercept": not homogeneous, "tol": 1e-12}
    above, below = (LinearSVC(C=share * found.cost, **options).fit(X, y) for share in (1.01, 0.9))
    size = np.linalg.norm(found.halfspace.w)
    assert np.linalg.norm(above.coef_[0] - found.halfspace.w) <= 1e-4 * size
    assert np.linalg.norm(below.coef_[0] - found.halfspace.w) >= 1e-3 * size
    again = LinearSVC(C=Regularization.tikhonov(0.99 * found.lam), **options).fit(X, y)
    assert np.linalg.norm(again.coef_[0] - found.halfspace.w) <= 1e-4 * size


def test_where_multipliers_are_not_unique_the_smallest_maximum_counts():
    """Twice the same sample: one copy alone would need α = ¼, two share it."""
    once = theory.hard_soft_agreement([[-2.0], [2.0]], [-1, 1], homogeneous=False)
    twice = theory.hard_soft_agreement([[-2.0], [2.0], [-2.0], [2.0]], [-1, 1, -1, 1], homogeneous=False)
    assert once.cost == pytest.approx(0.125)
    assert twice.cost == pytest.approx(0.0625)
    assert twice.lam == pytest.approx(once.lam)


@pytest.mark.parametrize("lam", [1e-3, 0.25, 0.3, 1.0, 7.0, 1e4])
def test_for_every_lambda_two_samples_refute_exercise_three(lam):
    found = theory.no_single_lambda(lam)
    assert found.hard != found.soft
    a, exact = Fraction(float(found.X[1, 0])), Fraction(lam)

    def objective(w):
        return exact * w * w + max(Fraction(0), 1 - a * w)

    assert a * found.hard == 1
    assert objective(found.soft) < objective(found.hard)
    for near in (found.soft * Fraction(99, 100), found.soft * Fraction(101, 100)):
        assert objective(near) > objective(found.soft)
    agreement = theory.hard_soft_agreement(found.X, found.y.astype(int))
    assert agreement.lam < lam


def test_what_has_no_answer_is_refused():
    with pytest.raises(NotSeparableError):
        theory.hard_soft_agreement([[1.0], [1.0]], [1, -1])
    for lam in (0.0, -1.0, np.inf, np.nan):
        with pytest.raises(InvalidInputError, match="lam"):
            theory.no_single_lambda(lam)
