"""Linear machines on Dask (hinge, no bias) against Spark MLlib and against our own fit on one machine, at equal gap.

Ours run in threads of this process (the default without a client) and on a LocalCluster of one process a core; the data are in
memory or persisted, as Spark's are cached. Spark runs with twice as many iterations until its weights have the gap; P from its
weights, D the best dual value that we know. `ratio` is the contender's seconds over ours, so that on one machine its inverse is
the overhead.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from itertools import pairwise
from statistics import median
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks import datasets, picture, results, spark
from benchmarks.calibration import hinge_objective, relative_gap
from benchmarks.options import Options, select
from benchmarks.results import Row
from benchmarks.timing import cores, load_before, load_loops, timed, timed_fit
from maxmargin import LinearSVC

C, GAP = 1.0, 1e-3
SETS = ("covtype", "20newsgroups", "zipf_2m")
FIRST_ROUNDS, MOST_ROUNDS = 50, 1600
PATIENCE, MANY = 20.0, 5.0
"""Spark is given up after a run that took so many seconds, and so many times as long as we did."""
ONE, SPARK = "one machine", "Spark MLlib"
KEY = ("data", "where", "contender")


def run(options: Options) -> None:
    """Run, print and save; Spark is measured against the rows that are saved already."""
    names = select(options.data, SETS)
    contenders = select(options.contenders, (ONE, SPARK))
    config = {"load before": load_before(), "repeats": options.repeats, "C": C, "gap": GAP}
    config["pyspark"] = spark.spark_version() or "not installed"
    load_loops()
    rows = results.load("distributed")
    for name in names:
        X, y = data(name)
        for contender in contenders:
            known = [row for row in rows if row["data"] == datasets.title(name) and row["contender"] == ONE]
            fresh = _ours(datasets.title(name), X, y, options) if contender == ONE else _spark(X, y, known)
            if not fresh:
                print(f"{name}: nothing measured; Spark needs pyspark, and our own rows first")
                continue
            results.show(f"{name}, C=1, gap 1e-3", fresh)
            rows = replaced(rows, fresh, KEY)
            results.save("distributed", rows, **config)
    finish("distributed")


def finish(suite: str) -> None:
    """Draw the picture of saved rows."""
    found = [row | {"case": row["where"]} for row in results.load(suite)]
    picture.draw(found, results.FOLDER / f"{suite}.png")


def _ours(title: str, X: Any, y: Any, options: Options) -> list[Row]:
    """A row for each place where we run, beside our fit on one machine."""
    one = [timed_fit(LinearSVC(C=C, tol=GAP, fit_intercept=False), X, y) for _ in range(options.repeats + 1)][1:]
    seconds, proof = median(seconds for _, seconds in one), one[0][0].certificate_
    rows, best = [], proof.dual
    for where, place in (("threads", nullcontext), (f"{cores()} processes", _cluster)):
        with place() as client:
            X_parts, y_parts = parts(X, y, 2 * cores(), client)
            runs = [timed_fit(machine(), X_parts, y_parts) for _ in range(options.repeats + 1)][1:]
        model, ours = runs[0][0], median(seconds for _, seconds in runs)
        best = max(best, model.certificate_.dual)
        base = {
            "data": title,
            "where": where,
            "C": C,
            "gap": GAP,
            "ours": ours,
            "our gap": model.certificate_.relative_gap,
            "rounds": model.n_iter_,
            "megabytes": model.n_bytes_ / 1e6,
        }
        rows.append(_beside(base, ONE, seconds, proof.relative_gap))
    return [row | {"best dual": best} for row in rows]


def _beside(base: Row, contender: str, seconds: float, its_gap: float) -> Row:
    return base | {
        "contender": contender,
        "seconds": seconds,
        "its gap": its_gap,
        "reached": its_gap <= GAP,
        "ratio": seconds / base["ours"],
    }


def _spark(X: Any, y: Any, known: list[Row]) -> list[Row]:
    """Spark's first run that reaches the gap, or the last that was tried, beside each of our rows."""
    if spark.spark_version() is None or not known:
        return []
    patience = max(PATIENCE, MANY * max(row["ours"] for row in known))
    with spark.spark_session() as session, spark.spark_table(session, X, y, 2 * cores()) as table:
        spark.train(table, X.shape[0], C, 2)  # warm up
        rounds = FIRST_ROUNDS
        while True:
            w, seconds = timed(partial(spark.train, table, X.shape[0], C, rounds))
            found = relative_gap(hinge_objective(X, y, w, C), known[0]["best dual"])
            if found <= GAP or rounds >= MOST_ROUNDS or seconds > patience:
                return [_beside(row, SPARK, seconds, found) for row in known]
            rounds *= 2


def machine(**settings: Any) -> Any:
    """Our machine, without a bias."""
    from maxmargin.distributed import LinearSVC as Distributed

    return Distributed(C=C, tol=GAP, fit_intercept=False, **settings)


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
    delayed = client.scatter(blocks) if client is not None else [dask.delayed(b, pure=False, traverse=False) for b in blocks]
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
