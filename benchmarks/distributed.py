"""Linear machines on Dask (hinge, no bias) against Spark MLlib and against our own fit on one machine, at equal gap.

Ours run in threads of this process (the default without a client) and on a LocalCluster of one process a core; the data are in
memory or persisted, as Spark's are cached. Spark runs with twice as many iterations until its weights have the gap; P from its
weights, D the best dual value that we know. `ratio` is the contender's seconds over ours, so that on one machine its inverse is
the overhead.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from itertools import pairwise
from statistics import median
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks import datasets, picture, results, spark
from benchmarks.calibration import hinge_objective, relative_gap
from benchmarks.options import Options, select
from benchmarks.results import Row
from benchmarks.timing import cores, load_loops, timed, timed_fit
from maxmargin import LinearSVC

SETS = ("covtype", "20newsgroups", "zipf_2m")
FIRST_ROUNDS, MOST_ROUNDS = 50, 1600
PATIENCE = 20.0
"""Spark is given up after a run that took so many seconds, and ten times as long as we did."""
ONE, SPARK = "ours, one machine", "Spark MLlib"
KEY = ("data", "where", "contender")


def run(options: Options) -> None:
    """Run, print and save."""
    names = select(options.data, SETS)
    config = {"load before": round(os.getloadavg()[0], 2), "repeats": options.repeats, "C": 1.0, "gap": 1e-3}
    config["pyspark"] = spark.spark_version() or "not installed"
    load_loops()
    rows = results.load("distributed")
    for name in names:
        X, y = data(name)
        fresh = list(_race(datasets.title(name), X, y, options))
        results.show(f"{name}, C=1, gap 1e-3", fresh)
        rows = replaced(rows, fresh, KEY)
        results.save("distributed", rows, **config)
    finish("distributed")


def finish(suite: str) -> None:
    """Draw the picture of saved rows."""
    found = [row | {"case": row["where"]} for row in results.load(suite)]
    picture.draw(found, results.FOLDER / f"{suite}.png")


def _race(title: str, X: Any, y: Any, options: Options) -> Iterator[Row]:
    C, gap = 1.0, 1e-3
    one = [timed_fit(LinearSVC(C=C, tol=gap, fit_intercept=False), X, y) for _ in range(options.repeats + 1)][1:]
    best_dual, one_gap = one[0][0].certificate_.dual, one[0][0].certificate_.relative_gap
    ours: dict[str, tuple[Any, float]] = {}
    for where, place in (("threads", nullcontext), (f"{cores()} processes", _cluster)):
        with place() as client:
            X_parts, y_parts = parts(X, y, 2 * cores(), client)
            runs = [timed_fit(machine(C, gap), X_parts, y_parts) for _ in range(options.repeats + 1)][1:]
        ours[where] = runs[0][0], median(seconds for _, seconds in runs)
        best_dual = max(best_dual, runs[0][0].certificate_.dual)
    theirs = _spark(X, y, C, gap, best_dual, max(PATIENCE, 10 * max(seconds for _, seconds in ours.values())))
    for where, (model, seconds) in ours.items():
        base = {
            "data": title,
            "where": where,
            "C": C,
            "gap": gap,
            "ours": seconds,
            "our gap": model.certificate_.relative_gap,
            "rounds": model.n_iter_,
            "megabytes": model.n_bytes_ / 1e6,
        }
        one_seconds = median(seconds for _, seconds in one)
        for contender, taken, its_gap in ((ONE, one_seconds, one_gap), (SPARK, *theirs)):
            yield base | {
                "contender": contender,
                "seconds": taken,
                "its gap": its_gap,
                "reached": its_gap <= gap,
                "ratio": taken / seconds,
            }


def _spark(X: Any, y: Any, C: float, gap: float, dual: float, patience: float) -> tuple[float, float]:
    """(Seconds, gap) of the first run that reaches the gap, or of the last that was tried."""
    if spark.spark_version() is None:
        return float("nan"), float("nan")
    with spark.spark_session() as session, spark.spark_table(session, X, y, 2 * cores()) as table:
        spark.train(table, X.shape[0], C, 2)  # warm up
        rounds = FIRST_ROUNDS
        while True:
            w, seconds = timed(lambda rounds=rounds: spark.train(table, X.shape[0], C, rounds))
            found = relative_gap(hinge_objective(X, y, w, C), dual)
            if found <= gap or rounds >= MOST_ROUNDS or seconds > patience:
                return seconds, found
            rounds *= 2


def machine(C: float, gap: float, **settings: Any) -> Any:
    """Our machine, without a bias."""
    from maxmargin.distributed import LinearSVC as Distributed

    return Distributed(C=C, tol=gap, fit_intercept=False, **settings)


@contextmanager
def _cluster() -> Iterator[Any]:
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=cores(), threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        yield client


def parts(X: Any, y: Any, count: int, client: Any) -> tuple[Any, Any]:
    """X and y as Dask arrays of so many blocks; persisted if there is a client."""
    import dask
    import dask.array as da

    cuts = np.linspace(0, X.shape[0], count + 1).astype(int)
    rows = [X[a:b] for a, b in pairwise(cuts)]
    make: Callable[[Any], Any] = sp.csr_array if sp.issparse(X) else np.ascontiguousarray
    blocks = [make(part) for part in rows]
    delayed = (
        client.scatter(blocks) if client is not None else [dask.delayed(b, pure=False, traverse=False) for b in blocks]
    )
    X_parts = da.concatenate(
        [
            da.from_delayed(part, block.shape, dtype=block.dtype, meta=block[:0])
            for part, block in zip(delayed, blocks, strict=True)
        ]
    )
    y_parts = da.from_array(y, chunks=(tuple(int(size) for size in np.diff(cuts)),))
    return (X_parts, y_parts) if client is None else tuple(client.persist([X_parts, y_parts]))


def data(name: str) -> tuple[Any, Any]:
    """A set with its rows in random order: some are stored class by class, and Spark's are shuffled too."""
    if name == "zipf_2m":
        X, y = datasets.zipf(2_000_000, 100_000, 20)
        y = 2 * y - 1
    else:
        X, y = datasets.linear_set(name)
    order = np.random.default_rng(0).permutation(len(y))
    return X[order], y[order]


def replaced(rows: list[Row], fresh: list[Row], key: tuple[str, ...]) -> list[Row]:
    """The rows, with fresh ones in the place of those with the same key."""
    keys = {tuple(str(row[k]) for k in key) for row in fresh}
    return [row for row in rows if tuple(str(row[k]) for k in key) not in keys] + fresh
