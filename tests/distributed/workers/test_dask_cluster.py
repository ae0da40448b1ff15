"""On a real cluster of processes: dead and slow workers, more data than memory, partitions that cannot be read."""

import os
import signal
import threading
import time
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

pytest.importorskip("distributed", reason="needs the extra dask: pip install 'maxmargin[dask]'")

import dask
import dask.array as da
from sklearn.datasets import dump_svmlight_file

from distributed import Client, LocalCluster
from maxmargin import InvalidInputError, Regularization
from maxmargin import LinearSVC as OnOneMachine
from maxmargin.distributed import LinearSVC
from maxmargin.distributed.workers import dask_cluster as cluster
from maxmargin.distributed.workers.block import Block
from maxmargin.distributed.workers.dask_cluster import Cluster
from tests.distributed.collections_of import dask_array, noisy, rows_of, wide

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore:.*large graph.*:UserWarning")


@pytest.fixture(scope="module")
def client():
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", memory_limit="1GiB") as workers,
        Client(workers) as client,
    ):
        yield client


def pids(client):
    return client.run(os.getpid)


@pytest.mark.parametrize("make", [lambda: noisy(3000, 6), lambda: wide(n=200)], ids=["tall", "wide"])
@pytest.mark.parametrize("is_near", [True, False], ids=["directly", "over the scheduler"])
def test_a_cluster_gives_what_threads_give(client, make, is_near, monkeypatch):
    X, y = make()
    if not is_near:
        # no time to reach a worker directly, and nobody is late
        monkeypatch.setattr(cluster, "TUNING", replace(cluster.TUNING, grace=0.0, late=1e9))
    assert client.sync(cluster._is_near, client, sorted(pids(client))[0]) == is_near
    on_cluster = LinearSVC(n_blocks=2).fit(dask_array(X, 4), dask_array(y, 4))
    assert on_cluster.certificate_.relative_gap <= 1e-3
    one = OnOneMachine(tol=1e-6).fit(X, y).certificate_
    assert one.dual <= on_cluster.certificate_.primal * (1 + 1e-9)
    assert on_cluster.certificate_.dual <= one.primal * (1 + 1e-9)
    assert on_cluster.n_bytes_ > 0
    assert on_cluster.n_moved_ == on_cluster.n_lost_ == 0


@pytest.mark.parametrize(("make", "tol"), [(lambda: noisy(4000, 6), 1e-7), (lambda: wide(n=300), 1e-2)], ids=["tall", "wide"])
def test_a_worker_that_is_killed_costs_time_and_not_the_proof(client, make, tol, monkeypatch):
    X, y = make()
    X_parts, y_parts = dask_array(X, 4), dask_array(y, 4)
    client.wait_for_workers(2, timeout=30)
    victim = sorted(pids(client).values())[0]
    rounds, ask = [], Cluster.ask

    def ask_and_kill(self, commands):
        rounds.append(commands)
        if len(rounds) == 3:
            os.kill(victim, signal.SIGKILL)
        return ask(self, commands)

    monkeypatch.setattr(Cluster, "ask", ask_and_kill)
    model = LinearSVC(n_blocks=2, tol=tol).fit(X_parts, y_parts)
    assert len(rounds) > 3, "the worker was killed after the last round"
    assert model.n_moved_ >= 1
    assert model.certificate_.relative_gap <= tol
    one = OnOneMachine(tol=1e-8).fit(X, y).certificate_
    assert one.dual <= model.certificate_.primal * (1 + 1e-9)
    assert model.certificate_.dual <= one.primal * (1 + 1e-9)
    client.wait_for_workers(2, timeout=30)


def test_files_are_read_on_the_workers(client, tmp_path):
    X, y = noisy(400, 20)
    X = sp.csr_array(np.where(X > 0.5, X, 0.0))
    paths = []
    for i, (rows, labels) in enumerate(zip(rows_of(X, 3), rows_of(y, 3), strict=True)):
        paths.append(tmp_path / f"{i}.svm")
        dump_svmlight_file(sp.csr_matrix(rows), labels, str(paths[-1]), zero_based=False)
    model = LinearSVC(n_blocks=2).fit(paths)
    assert model.shape_fit_ == (400, 20)
    assert model.certificate_.relative_gap <= 1e-3
    assert (model.predict(paths).compute() == y).mean() > 0.6


@pytest.mark.parametrize("keep", [True, False])
def test_a_partition_that_cannot_be_read_is_named(client, tmp_path, keep):
    X, y = noisy(100, 3)
    paths = [tmp_path / "good.npz", tmp_path / "bad.npz"]
    np.savez(paths[0], X=X, y=y)
    paths[1].write_bytes(b"PK nothing")
    with pytest.raises(InvalidInputError, match=r"Partition 1 .*bad\.npz"):
        LinearSVC(keep=keep).fit(paths)

    def fail():
        raise RuntimeError("no such table")

    broken = da.from_delayed(dask.delayed(fail)(), (50, 3), dtype=float)
    X_parts = da.concatenate([da.from_array(X[:50]), broken])
    with pytest.raises(InvalidInputError, match=r"Partition 1 .*no such table"):
        LinearSVC(keep=keep).fit(X_parts, da.from_array(y, chunks=50))


def test_more_data_than_memory_stream_through_the_workers(tmp_path):
    limit, n_files = 448 * 2**20, 181
    X, y = noisy(26_000, 100)
    np.savez(tmp_path / "0.npz", X=X, y=y)
    paths = [tmp_path / f"{i}.npz" for i in range(n_files)]
    for path in paths[1:]:
        os.link(paths[0], path)  # the same samples again, read and counted as others
    assert n_files * X.nbytes > 2 * 4 * limit, "four times what both workers have together"
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", memory_limit=limit) as workers,
        Client(workers) as client,
    ):
        model = LinearSVC(C=Regularization.mean(10.0), tol=5e-2).fit(paths)
        assert len(client.scheduler_info()["workers"]) == 2
    assert not model.is_kept_
    assert model.certificate_.relative_gap <= 5e-2
    assert model.n_moved_ == model.n_lost_ == 0, "a worker died"
    one = OnOneMachine(C=Regularization.mean(10.0), tol=1e-4).fit(X, y).certificate_
    assert one.dual <= model.certificate_.primal * (1 + 1e-9)


def test_ctrl_c_keeps_the_best_model_so_far(client, hears_ctrl_c, monkeypatch):
    X, y = wide(n=3000)
    model = LinearSVC(C=100.0, tol=1e-12, n_blocks=2)
    rounds, ask = [], Cluster.ask

    def ask_and_press(self, commands):
        rounds.append(commands)
        if len(rounds) == 20:
            threading.Timer(0.01, os.kill, [os.getpid(), signal.SIGINT]).start()
        return ask(self, commands)

    monkeypatch.setattr(Cluster, "ask", ask_and_press)
    with pytest.raises(KeyboardInterrupt):
        model.fit(dask_array(X, 2), dask_array(y, 2))
    assert model.status_.name == "INTERRUPTED"
    assert model.certificate_.relative_gap < 1.0
    assert model.predict(X).shape == (3000,)


def test_a_slow_worker_loses_its_blocks(client, monkeypatch):
    monkeypatch.setattr(cluster, "TUNING", replace(cluster.TUNING, grace=0.5))
    client.wait_for_workers(2, timeout=30)
    address = sorted(pids(client))[0]
    client.run(_make_slow, workers=[address])
    try:
        X, y = noisy(3000, 5)
        model = LinearSVC(n_blocks=2).fit(dask_array(X, 2), dask_array(y, 2))
        assert model.n_moved_ >= 1
        assert model.certificate_.relative_gap <= 1e-3
    finally:
        client.run(_make_quick, workers=[address])


def _make_slow():
    Block.quick_answer = Block.answer

    def slow(self, commands):
        time.sleep(8.0)
        return Block.quick_answer(self, commands)

    Block.answer = slow


def _make_quick():
    Block.answer = Block.quick_answer
