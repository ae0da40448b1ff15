"""Peak memory of a linear fit over the data's own, ours and scikit-learn's, each in a fresh process.

The process makes the data, loads the loops and fits: see `benchmarks.memory`. Run as ``python -m
benchmarks.linear_memory SET CONTENDER C GAP`` it is that process.
"""

import json
import sys
from functools import partial

from benchmarks import datasets, results
from benchmarks.contenders import ScikitLearn
from benchmarks.fresh_process import run_fresh
from benchmarks.memory import data_megabytes, peak_megabytes
from benchmarks.options import Options, select
from benchmarks.summary import FREE_BIAS
from benchmarks.timing import load_loops, small_sets, timed
from maxmargin import LinearSVC

SETS = ("20newsgroups", "covtype", "mnist", "zipf_200k")
OURS, SCIKIT_LEARN = "ours", ScikitLearn.name


def run(options: Options) -> None:
    """Run, print and save."""
    rows = []
    for name in select(options.data, tuple(datasets.LINEAR)) if options.data else SETS:
        for C, gap in options.cases or ((1.0, 1e-3),):
            for who in (OURS, FREE_BIAS, SCIKIT_LEARN):
                found = run_fresh("benchmarks.linear_memory", name, who, str(C), str(gap))
                ratio = found["peak MB"] / found["data MB"]
                rows.append({"data": datasets.title(name), "C": C, "gap": gap, "contender": who, **found, "peak / data": ratio})
                results.save("linear_memory", rows)
    results.show("peak memory of a fit, beyond the data", rows)


def _measure(name: str, who: str, C: float, gap: float) -> dict[str, float]:
    load_loops()
    for X, y in small_sets():
        timed(partial(ScikitLearn().train, X, y, 1.0, 0.1, 100))
    X, y = datasets.linear_set(name)
    if who == SCIKIT_LEARN:
        fit = partial(ScikitLearn().train, X, y, C, 0.1, 1000)
    else:
        fit = partial(LinearSVC(C=C, tol=gap, fit_intercept=who == FREE_BIAS).fit, X, y)
    return {"data MB": data_megabytes(X), "peak MB": peak_megabytes(partial(timed, fit))}


if __name__ == "__main__":
    print(json.dumps(_measure(sys.argv[1], sys.argv[2], float(sys.argv[3]), float(sys.argv[4]))))
