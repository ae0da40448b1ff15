"""The number of threads changes the time of a fit, never its bits."""

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin import LinearSVC
from maxmargin.solvers.linear import rows, smoothed_hinge

N, D = 3600, 60
RNG = np.random.default_rng(0)
X = RNG.standard_normal((N, D))
SCORES = X @ RNG.standard_normal((D, 3)) + RNG.standard_normal((N, 3))
LABELS = {"two classes": SCORES[:, 0] > 0, "three classes": SCORES.argmax(axis=1)}
BIASES = {"free": {}, "none": {"fit_intercept": False}, "penalised": {"intercept_scaling": 2.0}}
FORMS = {"dense": np.asarray, "csr": sp.csr_array}


@pytest.fixture(autouse=True)
def threads_at_once(monkeypatch):
    """These data are small: let even their passes use the threads."""
    for module in (rows, smoothed_hinge):
        monkeypatch.setattr(module, "PIECE_VALUES", 3)


@pytest.mark.parametrize("solver", ["dual_cd", "proximal_newton"])
@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("form", FORMS)
def test_one_thread_or_more_give_the_same_bits(solver, labels, bias, form):
    data, y = FORMS[form](X), LABELS[labels]
    one, *others = (LinearSVC(C=0.01, tol=1e-2, solver=solver, n_jobs=jobs, **BIASES[bias]).fit(data, y) for jobs in (1, 2, 4))
    for other in others:
        for name in ("coef_", "intercept_", "support_", "dual_coef_"):
            np.testing.assert_array_equal(getattr(other, name), getattr(one, name))
        assert other.certificate_ == one.certificate_
        assert other.n_iter_ == one.n_iter_


def test_the_seed_changes_the_road_and_not_the_answer():
    models = [
        LinearSVC(C=0.01, tol=1e-8, solver="dual_cd", random_state=seed).fit(X, LABELS["two classes"]) for seed in (0, 0, 1)
    ]
    np.testing.assert_array_equal(models[0].coef_, models[1].coef_)
    assert not np.array_equal(models[0].coef_, models[2].coef_)
    np.testing.assert_allclose(models[0].coef_, models[2].coef_, atol=1e-4)
