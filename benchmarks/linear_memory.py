"""Peak memory of a linear fit over the data's own, ours and scikit-learn's, each in a fresh process.

The process makes the data, loads the loops, gives freed memory back, resets the kernel's high-water mark and fits: the peak is
that mark minus what was resident before. Where the mark cannot be reset (not Linux) it also holds what making the data took.
Run as ``python -m benchmarks.linear_memory SET CONTENDER C GAP`` it is that process.
"""

import ctypes
import gc
import json
import resource
import sys
from functools import partial
from pathlib import Path
from typing import Any

import scipy.sparse as sp

from benchmarks import datasets, results
from benchmarks.contenders import ScikitLearn
from benchmarks.fresh_process import run_fresh
from benchmarks.options import Options, select
from benchmarks.summary import FREE_BIAS
from benchmarks.timing import load_loops, small_sets, timed, timed_fit
from maxmargin import LinearSVC

SETS = ("20newsgroups", "covtype", "mnist", "zipf_200k")
OURS, SCIKIT_LEARN = "ours", ScikitLearn.name
STATUS, MARK = Path("/proc/self/status"), Path("/proc/self/clear_refs")
MB = 2**20


def run(options: Options) -> None:
    """Run, print and save."""
    rows = []
    for name in select(options.data, tuple(datasets.LINEAR)) if options.data else SETS:
        for C, gap in options.cases or ((1.0, 1e-3),):
            for who in (OURS, FREE_BIAS, SCIKIT_LEARN):
                found = run_fresh("benchmarks.linear_memory", name, who, str(C), str(gap))
                ratio = found["peak MB"] / found["data MB"]
                rows.append(
                    {"data": datasets.title(name), "C": C, "gap": gap, "contender": who, **found, "peak / data": ratio}
                )
                results.save("linear_memory", rows)
    results.show("peak memory of a fit, beyond the data", rows)


def data_bytes(X: Any) -> int:
    """What the arrays of X hold."""
    arrays = (X.data, X.indices, X.indptr) if sp.issparse(X) else (X,)
    return int(sum(array.nbytes for array in arrays))


def _measure(name: str, who: str, C: float, gap: float) -> dict[str, float]:
    load_loops()
    for X, y in small_sets():
        timed(partial(ScikitLearn().train, X, y, 1.0, 0.1, 100))
    X, y = datasets.linear_set(name)
    gc.collect()
    if sys.platform == "linux":
        ctypes.CDLL(None).malloc_trim(0)
        MARK.write_text("5")
    before = _kilobytes("VmRSS")
    if who == SCIKIT_LEARN:
        timed(lambda: ScikitLearn().train(X, y, C, 0.1, 1000))
    else:
        timed_fit(LinearSVC(C=C, tol=gap, fit_intercept=who == FREE_BIAS), X, y)
    return {"data MB": data_bytes(X) / MB, "peak MB": (_kilobytes("VmHWM") - before) * 1024 / MB}


def _kilobytes(field: str) -> int:
    if STATUS.exists():
        line = next(line for line in STATUS.read_text().splitlines() if line.startswith(f"{field}:"))
        return int(line.split()[1])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1024 if sys.platform == "darwin" else 1)


if __name__ == "__main__":
    print(json.dumps(_measure(sys.argv[1], sys.argv[2], float(sys.argv[3]), float(sys.argv[4]))))
