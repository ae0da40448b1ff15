"""Fits in several threads at once give the bits of fits one after another."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from maxmargin import HardMarginSVC, NotSeparableError


def data(n, d, seed):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.standard_normal((n, d))
    X[:, 0] += np.where(y == 1, 4.0, -4.0)
    return X, y


TASKS = [
    (HardMarginSVC(kernel=kernel, gamma=0.1), *data(n, 4, seed))
    for seed in range(3)
    for kernel in ("linear", "rbf")
    for n in (60, 600)
]


def fitted(task):
    model, X, y = task
    model = HardMarginSVC(**model.get_params()).fit(X, y)
    return model.dual_coef_.tobytes(), model.intercept_.tobytes(), model.support_.tobytes(), model.certificate_


def test_fits_in_threads_have_the_same_bits_as_fits_in_turn():
    in_turn = [fitted(task) for task in TASKS]
    with ThreadPoolExecutor(4) as pool:
        at_once = list(pool.map(fitted, TASKS))
    assert at_once == in_turn
    assert [fitted(task) for task in TASKS] == in_turn


def test_one_model_serves_many_threads():
    model, X, y = TASKS[1]
    model = HardMarginSVC(kernel="rbf", gamma=0.1).fit(X, y)
    expected = model.decision_function(X)
    with ThreadPoolExecutor(4) as pool:
        for decisions in pool.map(model.decision_function, [X] * 16):
            np.testing.assert_array_equal(decisions, expected)


def test_a_failing_fit_in_one_thread_does_not_disturb_the_others():
    X, y = data(80, 3, 7)
    expected = HardMarginSVC().fit(X, y).coef_

    def either(k):
        if k % 2:
            with pytest.raises(NotSeparableError) as caught:
                HardMarginSVC().fit(X, np.roll(y, 3) * (np.arange(80) > 7))
            return bool(caught.value.witness.check())
        return np.array_equal(HardMarginSVC().fit(X, y).coef_, expected)

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(either, range(12)))
