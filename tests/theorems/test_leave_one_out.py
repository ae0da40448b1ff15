"""The experiment of Joachims' lecture in small: ten splits, his bound, his algorithm, exact leave-one-out, validation error."""

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin import LinearSVC, leave_one_out
from maxmargin.theory import InfluenceCase, joachims_leave_one_out

RNG = np.random.default_rng(5)
N_TEXTS, N_WORDS = 120, 60
TOPIC = np.where(np.arange(N_TEXTS) % 2, 1, -1)


def texts():
    """Counts of words, of length 1: a few words belong to a topic, most to none."""
    share = np.tile(1.0 / (1.0 + np.arange(N_WORDS)), (N_TEXTS, 1))
    share[:, 10:30:2] *= np.where(TOPIC > 0, 8.0, 1.0)[:, None]
    counts = RNG.poisson(8.0 * share / share.sum(axis=1, keepdims=True)).astype(float)
    counts[:, 0] += 1.0
    return sp.csr_array(counts / np.linalg.norm(counts, axis=1, keepdims=True))


ROWS = texts()
SPLITS = [np.random.default_rng(seed).permutation(N_TEXTS) for seed in range(10)]


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("C", [0.5, 2.0])
def test_on_ten_splits_the_bound_is_above_both_errors_in_the_mean(C, fit_intercept):
    model, bound, exact, validation = LinearSVC(C=C, fit_intercept=fit_intercept, tol=1e-8), [], [], []
    for order in SPLITS:
        train, test = order[: N_TEXTS // 2], order[N_TEXTS // 2 :]
        his, ours = (how(model, ROWS[train], TOPIC[train]) for how in (joachims_leave_one_out, leave_one_out))
        bound.append(his.upper)
        exact.append(ours.error)
        validation.append(1 - model.fit(ROWS[train], TOPIC[train]).score(ROWS[test], TOPIC[test]))
        if not fit_intercept:  # then the lemma is a theorem, on each split
            assert his.upper >= ours.error
            assert his.error == ours.error
    assert np.mean(bound) >= max(np.mean(exact), np.mean(validation))
    assert abs(np.mean(exact) - np.mean(validation)) < 0.1  # leave-one-out has next to no bias


@pytest.mark.parametrize("C", [0.5, 2.0, 10.0])
def test_the_exact_algorithm_retrains_no_more_than_the_printed_one(C):
    model = LinearSVC(C=C, fit_intercept=False, tol=1e-8)
    his, ours = (how(model, ROWS, TOPIC) for how in (joachims_leave_one_out, leave_one_out))
    assert ours.n_retrained <= len(his.retrained)
    assert his.share == np.mean(his.cases == InfluenceCase.RETRAINED)
    assert 0 < his.share < 1
