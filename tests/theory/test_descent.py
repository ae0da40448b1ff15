"""Descent with every step kept: against loops in fractions, against solvers, and the theorem on distances."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from maxmargin import Halfspace, LinearSVC, Regularization, theory
from maxmargin.core.losses import LOSSES
from maxmargin.errors import InvalidInputError
from tests.strategies import examples, generators

SPELLINGS = [Regularization.sum(0.5), Regularization.mean(2.0), Regularization.tikhonov(0.1), Regularization.ridge(0.5)]
SPELLINGS.append(Regularization.pegasos(0.25))


def noisy(seed=0, n=20, d=2):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    return rng.standard_normal((n, d)) + 0.7 * y[:, None], y


def minimiser(X, y, C, **others):
    model = LinearSVC(C=C, tol=1e-12, **others).fit(X, y)
    return model.coef_[0], float(np.ravel(model.intercept_)[0])


@examples(30)
@given(generators())
def test_sgd_of_the_handout_is_its_recursion_with_the_regularisers_gradient(rng):
    """ϖ ← ϖ − η v on (b, w) with χ = (1, x), in fractions; the bias is not penalised."""
    X, y = rng.integers(-2, 3, (5, 2)).astype(float), np.array([1.0, -1.0, 1.0, -1.0, 1.0])
    lam, eta = Fraction(1, 4), Fraction(1, 8)
    run = theory.descend(X, y, Regularization.tikhonov(0.25), batch=1, step=0.125, order="given", n_steps=7)
    w, b = [Fraction(0)] * 2, Fraction(0)
    for t in range(7):
        assert run.w[t].tolist() == w
        assert run.b[t] == b
        x, label = [Fraction(v) for v in X[t % 5].tolist()], int(y[t % 5])
        is_inside = label * (sum(a * v for a, v in zip(w, x, strict=True)) + b) < 1
        w = [a - eta * (2 * lam * a - label * v * is_inside) for a, v in zip(w, x, strict=True)]
        b += eta * label * is_inside


@pytest.mark.parametrize("C", SPELLINGS, ids=str)
@pytest.mark.parametrize("name", LOSSES)
def test_the_direction_over_all_samples_is_the_gradient_of_the_value(C, name):
    X, y = noisy(1)
    start = (np.array([0.31, -0.17]), 0.23)
    run = theory.descend(X, y, C, name, step=1e-6, n_steps=1, start=start)
    fall = run.values[0] - run.values[1]
    assert fall == pytest.approx(1e-6 * run.norms[0] ** 2, rel=1e-3)


@pytest.mark.parametrize("C", SPELLINGS, ids=str)
def test_the_value_is_the_objective_as_spelled(C):
    X, y = noisy(2)
    w, b = np.array([0.4, 0.3]), -0.2
    xi, n = np.maximum(0, 1 - y * (X @ w + b)).sum(), len(y)
    a, v = float(w @ w), C.value
    printed = {"sum": a / 2 + v * xi, "mean": a / 2 + v / n * xi, "tikhonov": v * a + xi / n}
    printed |= {"ridge": v * a + xi, "pegasos": v / 2 * a + xi / n}
    run = theory.descend(X, y, C, n_steps=0, start=(w, b))
    assert run.values[0] == pytest.approx(printed[C.spelling])


@pytest.mark.parametrize("seed", range(5))
def test_a_step_that_is_small_enough_comes_closer_to_the_minimiser(seed):
    X, y = noisy(seed)
    C = Regularization.pegasos(0.1)
    run = theory.descend(X, y, C, step="1/√t", n_steps=300, optimum=minimiser(X, y, C))
    closer = np.diff(run.distances) < 0
    is_short = run.step_sizes < run.small_enough
    assert is_short.sum() > 20
    assert closer[is_short].all()


def test_a_step_can_come_closer_without_going_lower():
    X, y = noisy(3)
    C = Regularization.pegasos(0.1)
    run = theory.descend(X, y, C, step=2.0, n_steps=200, optimum=minimiser(X, y, C))
    assert run.closer_not_lower.any()
    t = int(np.flatnonzero(run.closer_not_lower)[0])
    before, after = list(run.steps())[t : t + 2]
    assert after.distance < before.distance
    assert after.value >= before.value
    assert run.best <= run.values.min()


def test_constant_steps_do_not_converge_and_decreasing_ones_do():
    """Subgradients do not tend to zero near the minimum: hence decreasing steps."""
    X, y = noisy(4)
    C = Regularization.pegasos(0.1)
    best = minimiser(X, y, C)
    constant, decreasing = (theory.descend(X, y, C, step=step, n_steps=2000, optimum=best) for step in (0.5, "1/(μt)"))
    assert decreasing.distances[-1] < 0.02 < constant.distances[-100:].max()
    assert constant.norms[-100:].max() > 0.05


def test_pegasos_is_sgd_with_steps_one_over_lambda_t():
    X, y = noisy(5)
    lam = 0.2
    run = theory.descend(X, y, Regularization.pegasos(lam), batch=1, order="given", fit_intercept=False, n_steps=30)
    w = np.zeros(2)
    for t in range(1, 31):
        x, label, eta = X[(t - 1) % 20], y[(t - 1) % 20], 1 / (lam * t)
        inside = label * (w @ x) < 1
        w = (1 - eta * lam) * w + (eta * label * x if inside else 0)
        np.testing.assert_allclose(run.w[t], w, atol=1e-9)
    assert (run.b == 0).all()


def test_the_mean_of_the_iterates_leaves_out_the_last_one():
    X, y = noisy(6)
    run = theory.descend(X, y, 1.0, n_steps=3, step=0.1)
    np.testing.assert_allclose(run.mean().w, (run.w[0] + run.w[1] + run.w[2]) / 3)
    assert run.last() == Halfspace(run.w[3], run.b[3])
    steps = list(run.steps())
    assert [step.t for step in steps] == [1, 2, 3, 4]
    assert np.isnan(steps[-1].step_size)
    assert np.isnan(steps[0].distance)


@pytest.mark.parametrize("order", ["uniform", "permuted"])
def test_the_same_seed_gives_the_same_bits_and_epochs_visit_each_sample_once(order):
    X, y = noisy(7)
    runs = [theory.descend(X, y, 1.0, batch=3, order=order, seed=seed, n_steps=20, step=0.01) for seed in (1, 1, 2)]
    assert runs[0].w.tolist() == runs[1].w.tolist() != runs[2].w.tolist()
    one = theory.descend(np.eye(6), [1, -1] * 3, None, batch=1, order="permuted", step=1.0, n_steps=6, fit_intercept=False)
    assert np.abs(one.w[-1]).tolist() == [1.0] * 6


def test_at_the_corner_the_subgradient_is_the_chosen_one():
    for corner, moved in (("flat", 0.0), ("steep", 1.0)):
        run = theory.descend([[1.0]], [1], None, at_corner=corner, step=1.0, n_steps=1, start=([1.0], 0.0), fit_intercept=False)
        assert run.norms[0] == moved


@pytest.mark.parametrize(
    "options",
    [
        {"C": None},
        {"C": Regularization.hard()},
        {"step": "fast"},
        {"step": 0.0},
        {"batch": 0},
        {"batch": 21},
        {"order": "sorted"},
        {"at_corner": "soft"},
        {"start": ([1.0], 0.0)},
    ],
)
def test_options_are_used_or_refused(options):
    X, y = noisy()
    with pytest.raises(InvalidInputError):
        theory.descend(X, y, **{"C": 1.0, **options})
