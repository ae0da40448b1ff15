"""On a real cluster of processes: dead and slow workers, more data than memory, partitions that cannot be read."""

import os
import signal
import threading
import time

import numpy as np
import pytest
import scipy.sparse as sp

pytest.importorskip("distributed", reason="needs the extra dask: pip install 'maxmargin[dask]'")

import dask
import dask.array as da
from distributed import Client, LocalCluster
from sklearn.datasets import dump_svmlight_file

from maxmargin import InvalidInputError
from maxmargin import LinearSVC as OnOneMachine
from maxmargin.distributed import LinearSVC
from maxmargin.distributed.block import Block
from tests.distributed.collections_of import dask_array, noisy, rows_of, wide

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore:.*large graph.*:UserWarning")


@pytest.fixture(scope="module")
def client():
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, memory_limit="1GiB") as cluster,
        Client(cluster) as client,
    ):
        yield client


def pids(client):
    return {address: pid for address, pid in client.run(os.getpid).items()}


@pytest.mark.parametrize("make", [lambda: noisy(3000, 6), lambda: wide(n=400)], ids=["tall", "wide"])
def test_a_cluster_gives_what_threads_give(client, make):
    X, y = make()
    on_cluster = LinearSVC(n_blocks=2).fit(dask_array(X, 4), dask_array(y, 4))
    assert on_cluster.certificate_.relative_gap <= 1e-3
    with Client.as_current(client):
        pass
    one = OnOneMachine(tol=1e-6).fit(X, y).certificate_
    assert one.dual <= on_cluster.certificate_.primal * (1 + 1e-9)
    assert on_cluster.certificate_.dual <= one.primal * (1 + 1e-9)
    assert on_cluster.n_bytes_ > 0
    assert on_cluster.n_moved_ == on_cluster.n_lost_ == 0


@pytest.mark.parametrize("make", [lambda: noisy(4000, 6), lambda: wide(n=800)], ids=["tall", "wide"])
def test_a_worker_that_is_killed_costs_time_and_not_the_proof(client, make):
    X, y = make()
    X_parts, y_parts = dask_array(X, 4), dask_array(y, 4)
    client.wait_for_workers(2, timeout=30)
    victim = sorted(pids(client).values())[0]
    heard = []

    class Killer(LinearSVC):
        """Kills a worker at its third round."""

    model = Killer(n_blocks=2, tol=1e-5, C=10.0)
    import maxmargin.distributed.run as run

    look = run._look

    def look_and_kill(*arguments):
        heard.append(arguments[0])
        if len(heard) == 3:
            os.kill(victim, signal.SIGKILL)
        return look(*arguments)

    run._look = look_and_kill
    try:
        model.fit(X_parts, y_parts)
    finally:
        run._look = look
    assert len(heard) > 3, "the worker was killed after the last round"
    assert model.n_moved_ >= 1
    assert model.certificate_.relative_gap <= 1e-5
    one = OnOneMachine(tol=1e-8, C=10.0).fit(X, y).certificate_
    assert one.dual <= model.certificate_.primal * (1 + 1e-9)
    assert model.certificate_.dual <= one.primal * (1 + 1e-9)
    client.wait_for_workers(2, timeout=30)


def test_a_slow_worker_loses_its_blocks(client, monkeypatch):
    from maxmargin.distributed import cluster

    monkeypatch.setattr(cluster, "SOONEST", 0.5)
    client.wait_for_workers(2, timeout=30)
    address = sorted(pids(client))[0]
    client.run(_make_slow, workers=[address])
    try:
        X, y = noisy(3000, 5)
        started = time.perf_counter()
        model = LinearSVC(n_blocks=2).fit(dask_array(X, 2), dask_array(y, 2))
        assert time.perf_counter() - started < 25.0
        assert model.n_moved_ >= 1
        assert model.certificate_.relative_gap <= 1e-3
    finally:
        client.run(_make_quick, workers=[address])


def _make_slow():
    Block.quick_answer = Block.answer

    def slow(self, commands):
        time.sleep(30.0)
        return Block.quick_answer(self, commands)

    Block.answer = slow


def _make_quick():
    Block.answer = Block.quick_answer


def test_files_are_read_on_the_workers(client, tmp_path):
    X, y = wide(n=200)
    paths = []
    for i, (rows, labels) in enumerate(zip(rows_of(X, 3), rows_of(y, 3), strict=True)):
        paths.append(tmp_path / f"{i}.svm")
        dump_svmlight_file(sp.csr_matrix(rows), labels, str(paths[-1]), zero_based=False)
    model = LinearSVC(n_blocks=2).fit(paths)
    assert model.shape_fit_ == (200, int(X.indices.max()) + 1)
    assert model.certificate_.relative_gap <= 1e-3
    assert (model.predict(paths).compute() == y).mean() > 0.9


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
    with pytest.raises(InvalidInputError, match="Partition 1 .*no such table"):
        LinearSVC(keep=keep).fit(X_parts, da.from_array(y, chunks=50))


def test_more_data_than_memory_stream_through_the_workers(tmp_path):
    """Two workers of 256 MB each and files of 1 GB in all: four times what one worker may hold, twice what both may."""
    n_files, rows, d = 16, 8000, 1024
    rng = np.random.default_rng(0)
    direction = rng.normal(size=d)
    base, paths = rng.standard_normal((rows, d)), []
    for i in range(n_files):
        X = np.roll(base, 37 * i, axis=0)
        X[:, i] += 1.0
        y = (X @ direction + 5.0 * rng.normal(size=rows) > 0).astype(int)
        paths.append(tmp_path / f"{i}.npz")
        np.savez(paths[-1], X=X[:, :900], y=y)
    size = sum(path.stat().st_size for path in paths)
    limit = 230 * 2**20
    assert size > 4 * limit
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, memory_limit=limit) as cluster,
        Client(cluster) as client,
    ):
        model = LinearSVC(C=1e-4, tol=3e-2).fit(paths)
        assert not model.is_kept_
        assert model.certificate_.relative_gap <= 3e-2
        assert model.n_moved_ == 0, "a worker died"
        assert client.scheduler_info()["workers"]


def test_ctrl_c_keeps_the_best_model_so_far(client):
    X, y = wide(n=3000)
    model = LinearSVC(C=100.0, tol=1e-12, n_blocks=2)
    timer = threading.Timer(1.5, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        model.fit(dask_array(X, 2), dask_array(y, 2))
    assert model.status_.name == "INTERRUPTED"
    assert model.certificate_.relative_gap < 1.0
    assert model.predict(X).shape == (3000,)
