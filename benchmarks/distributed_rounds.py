"""Rounds and bytes of a distributed fit (hinge, no bias, C=1, gap 1e-3) against the number of blocks, in threads."""

from typing import Any

from benchmarks import datasets, results
from benchmarks.distributed import SETS, data, machine, parts, replaced
from benchmarks.options import Options, select
from benchmarks.results import Row
from benchmarks.timing import load_loops, timed_fit

BLOCKS = (1, 2, 4, 8)


def run(options: Options) -> None:
    """Run, print and save."""
    load_loops()
    rows = results.load("distributed_rounds")
    for name in select(options.data, SETS):
        X, y = data(name)
        fresh = [_counted(datasets.title(name), X, y, k) for k in BLOCKS]
        results.show(f"{name}: rounds against blocks", fresh)
        rows = replaced(rows, fresh, ("data", "blocks"))
        results.save("distributed_rounds", rows, C=1.0, gap=1e-3)


def _counted(title: str, X: Any, y: Any, n_blocks: int) -> Row:
    model = machine(n_blocks=n_blocks)
    model, seconds = timed_fit(model, *parts(X, y, n_blocks, None))
    return {
        "data": title,
        "blocks": float(n_blocks),
        "rounds": model.n_iter_,
        "megabytes": model.n_bytes_ / 1e6,
        "seconds": seconds,
        "our gap": model.certificate_.relative_gap,
        "solver": model.solver_.split(":")[0],
    }
