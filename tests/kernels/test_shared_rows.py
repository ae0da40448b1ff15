"""Rows that several problems on the same data share: made once, never taken for those of other data."""

import pickle
import threading
from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin import SVC
from maxmargin.core import Candidate, Problem, certify
from maxmargin.core.certificate import scores as scores_module
from maxmargin.kernel_matrix import packed as packed_module
from maxmargin.kernel_matrix.shared_rows import SharedRows
from maxmargin.kernels import RBF, Linear
from maxmargin.solvers import SMO, solve


def one_hot(n=400, d=20):
    rng = np.random.default_rng(0)
    X = (rng.random((n, d)) < 0.2).astype(np.float64)
    return X, np.where(X[:, :5].sum(axis=1) > 1, 1.0, -1.0)


def test_rows_are_listed_once_for_all_pairs_and_threads():
    X, y = one_hot(1800)
    y = y + 3 * (X[:, 7] > 0) + 6 * (X[:, 8] > 0)  # eight classes
    listed = []
    original = packed_module.PackedRows.of.__func__

    def listing(cls, rows, *others):
        listed.append(rows.shape[0])
        return original(cls, rows, *others)

    with (
        mock.patch.object(scores_module, "MUCH_WORK", 0),
        mock.patch.object(packed_module.PackedRows, "of", classmethod(listing)),
    ):
        SVC(C=10.0, n_jobs=2).fit(X, y)
    assert listed.count(1800) == 1
    assert len(listed) > 1, "columns are listed by themselves"


def test_the_certificate_is_the_same_with_and_without_them():
    X, y = one_hot()
    p = Problem(X, y, np.full(len(y), 3.0), kernel=RBF(0.3))
    solution = solve(p, SMO())
    shared = replace(p, shared=SharedRows(p.kernel, X))
    with mock.patch.object(scores_module, "MUCH_WORK", 0):
        assert certify(shared, solution).gap == pytest.approx(certify(p, solution).gap, rel=1e-9)
        chosen = np.arange(0, 400, 2)
        part, half = replace(shared, y=y[chosen], cost=p.cost[chosen], rows=chosen), solution.beta[chosen]
        found = certify(part, Candidate(half, solution.b, half)).gap
        assert found == pytest.approx(
            certify(replace(part, shared=None), Candidate(half, solution.b, half)).gap, rel=1e-9
        )


def test_they_are_not_taken_for_other_data_or_another_kernel():
    X, y = one_hot()
    p = Problem(X, y, np.ones(len(y)), kernel=RBF(0.3), shared=SharedRows(RBF(0.3), X))
    assert p.packed is not None
    assert replace(p, X=X.copy()).packed is None
    assert replace(p, kernel=RBF(0.4)).packed is None


@pytest.mark.parametrize("kernel", [Linear(), RBF(0.3)])
def test_what_is_not_packed_is_not_shared(kernel):
    X, _ = one_hot()
    assert not SharedRows(kernel, sp.csr_array(X)).fits(X, kernel)
    dense = np.random.default_rng(0).standard_normal((100, 80))
    assert not SharedRows(kernel, dense).fits(dense, kernel)


def test_rows_too_far_out_for_float32_are_looked_at_one_by_one():
    X, y = one_hot()
    X = np.hstack([X, np.zeros((len(X), 20))])
    X[0, 30] = 1e4
    p = Problem(X, y, np.full(len(y), 3.0), kernel=RBF(0.3))
    shared = replace(p, shared=SharedRows(p.kernel, X))
    solution = solve(shared, SMO())
    assert solution.certificate.relative_gap <= 1e-3
    with mock.patch.object(scores_module, "MUCH_WORK", 0):
        assert certify(shared, solution).gap == pytest.approx(certify(p, solution).gap, rel=1e-9)


def test_they_survive_a_pickle_without_their_rows():
    X, _ = one_hot()
    shared = SharedRows(RBF(0.3), X)
    assert shared.fits(X, RBF(0.3))
    assert len(shared.rows.at) == len(X)
    again = pickle.loads(pickle.dumps(shared))
    assert again.fits(again.X, RBF(0.3))
    assert again._rows is None


def test_several_threads_get_the_same_rows():
    X, _ = one_hot()
    shared, found = SharedRows(RBF(0.3), X), []
    threads = [threading.Thread(target=lambda: found.append(shared.rows)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(found) == 4
    assert all(rows is found[0] for rows in found)
