"""Compare the speed of two checkouts of the project on the same calls, run in turn.

    python -m benchmarks against --other ../before --suites kernel,loo --repeats 5

Each checkout has a process of its own, in which the first run of a call is not timed, because it compiles. Then they take turns.
The fastest run of each is kept: other load on the machine can only add time. `ratio` is this checkout's time divided by the
other's, for the wall clock and for the processor.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import datasets, loo_sets
from benchmarks.options import Options, select

ROOT = Path(__file__).parent.parent
COSTS = (0.01, 1.0, 100.0)
BIASES: dict[str, dict[str, Any]] = {"free": {}, "penalized": {"intercept_scaling": 1.0}, "none": {"fit_intercept": False}}
SUITES = ("kernel", "linear", "loo", "l1", "online")


def calls(suite: str) -> list[tuple[str, ...]]:
    """The calls of a suite, as texts that `prepared` understands."""
    if suite == "kernel":
        return [(suite, name) for name in datasets.KERNEL]
    if suite == "linear":
        return [(suite, name, bias, str(C)) for name in datasets.LINEAR for bias in ("free", "none") for C in COSTS]
    if suite == "loo":
        texts = [(suite, name, bias) for name in loo_sets.names() if name not in loo_sets.TABLES for bias in BIASES]
        return [*texts, *((suite, name, "rbf") for name in loo_sets.TABLES)]
    if suite == "l1":
        from benchmarks.l1 import SETS

        return [(suite, name) for name in SETS]
    return [(suite, name, kind) for name in ("20newsgroups", "a9a", "covtype") for kind in ("pegasos", "perceptron")]


def prepared(suite: str, name: str, *rest: str) -> Callable[[], Any]:
    """A call, with its data loaded."""
    from maxmargin import SVC, LinearSVC, PegasosSVC, Perceptron, Regularization, leave_one_out

    if suite == "kernel":
        X, y = datasets.kernel_set(name)
        return partial(SVC(C=datasets.KERNEL[name].C).fit, X, y)
    if suite == "loo":
        task = loo_sets.task(name)
        model = SVC() if rest[0] == "rbf" else LinearSVC(**BIASES[rest[0]])
        return partial(leave_one_out, model, task.X, task.y)
    if suite == "l1":
        X, y, *_ = datasets.l1_set(name)
        return partial(LinearSVC("l1", C=1.0, tol=1e-6).fit, X, y)
    X, y = datasets.linear_set(name)
    if suite == "linear":
        return partial(LinearSVC(C=float(rest[1]), **BIASES[rest[0]]).fit, X, y)
    if rest[0] == "pegasos":
        return partial(PegasosSVC(C=Regularization.pegasos(1e-4), n_epochs=10, tol=None).fit, X, y)
    return partial(Perceptron(max_iter=10).fit, X, y)


def run(options: Options) -> None:
    """Run, print and save."""
    from benchmarks import results  # here: the other checkout may lack what these need
    from benchmarks.summary import geometric_mean

    here, there = _started(ROOT), _started(Path(str(options.other)))
    rows: list[dict[str, Any]] = []
    for suite in select(options.suites, SUITES):
        for call in calls(suite):
            if options.data and call[1] not in options.data:
                continue
            taken = [(_asked(here, call), _asked(there, call)) for _ in range(1 + options.repeats)][1:]
            ours, its = ([min(column) for column in zip(*side, strict=True)] for side in zip(*taken, strict=True))
            row = {"suite": suite, "call": " ".join(call[1:]), "seconds": ours[0], "its seconds": its[0]}
            rows.append({**row, "ratio": ours[0] / its[0], "ratio of the processor": ours[1] / its[1]})
            print(*(f"{value:.3g}" if isinstance(value, float) else value for value in rows[-1].values()), flush=True)
            results.save("against_part" if options.is_narrowed else "against", rows, repeats=options.repeats)
    for suite in dict.fromkeys(row["suite"] for row in rows):
        for column in ("ratio", "ratio of the processor"):
            found = sorted((row[column], row["call"]) for row in rows if row["suite"] == suite)
            print(f"{suite}, {column}: mean {geometric_mean(value for value, _ in found):.3f}, highest", *found[-4:])
    for process in (here, there):
        process.stdin.close()
        process.wait()


def _started(root: Path) -> Any:
    """A process with that checkout's maxmargin, and this one's benchmarks."""
    path = os.pathsep.join((str(root / "src"), str(ROOT)))
    command = [sys.executable, "-m", "benchmarks.against"]
    return subprocess.Popen(
        command, cwd=ROOT, env={**os.environ, "PYTHONPATH": path}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def _asked(process: Any, call: tuple[str, ...]) -> tuple[float, float]:
    """(Seconds of the wall clock, seconds of the processor) of one call there."""
    process.stdin.write(json.dumps(call) + "\n")
    process.stdin.flush()
    wall, cpu = json.loads(process.stdout.readline())
    return wall, cpu


def serve() -> None:
    """Make each call that comes as a line, and answer with its seconds."""
    import warnings

    warnings.simplefilter("ignore")
    last, make = None, None
    for line in sys.stdin:
        call = json.loads(line)
        if call != last:
            last, make = call, prepared(*call)
        assert make is not None
        wall, cpu = time.perf_counter(), time.process_time()
        make()
        print(json.dumps((time.perf_counter() - wall, time.process_time() - cpu)), flush=True)


if __name__ == "__main__":
    serve()
