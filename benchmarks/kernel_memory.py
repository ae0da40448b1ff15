"""Peak memory of a kernel fit beyond the data, over what it announces; ours and scikit-learn's.

We announce `cache_size`, two and a half copies of the data in float32, and 50 MB for tiles and vectors; scikit-learn its
`cache_size`.

Each fit in a fresh process: see `benchmarks.memory`. Run as ``python -m benchmarks.kernel_memory SET CONTENDER
MEGABYTES ROWS`` it is that process.
"""

import json
import sys
from functools import partial

import sklearn.svm

from benchmarks import datasets, results
from benchmarks.fresh_process import run_fresh
from benchmarks.memory import data_megabytes, peak_megabytes
from benchmarks.options import Options, select
from benchmarks.timing import timed, timed_fit
from maxmargin import SVC

SETS = ("a9a", "mnist_parity", "covtype_20k", "letter", "mnist_digits")
CACHES = (100, 400, 1600)
WORK_MB = 50
"""What SVC's docstring allows for tiles and vectors."""
COPIES = 2.5 / 2
"""What it allows for float32 copies of the data, over the data's own (float64)."""
MACHINES = {"ours": SVC, "scikit-learn": sklearn.svm.SVC}


def run(options: Options) -> None:
    """Run, print and save."""
    rows = []
    for name in select(options.data, tuple(datasets.KERNEL)) if options.data else SETS:
        for megabytes in CACHES:
            for who in select(options.contenders, tuple(MACHINES)):
                size = str(options.rows or datasets.KERNEL[name].n)
                found = run_fresh("benchmarks.kernel_memory", name, who, str(megabytes), size)
                announced = megabytes + (COPIES * found["data MB"] + WORK_MB if who == "ours" else 0.0)
                row = {"data": datasets.kernel_title(name), "contender": who, "cache MB": megabytes, **found}
                rows.append(row | {"announced MB": announced, "peak / announced": found["peak MB"] / announced})
                results.save("kernel_memory", rows)
    results.show("peak memory of a kernel fit, beyond the data", rows)


def _measure(name: str, who: str, megabytes: int, rows: int) -> dict[str, float]:
    machine = partial(MACHINES[who], C=datasets.KERNEL[name].C, cache_size=megabytes)
    timed_fit(machine(), *datasets.clusters(300, 5, 2))
    X, y = datasets.kernel_set(name, rows)
    return {"data MB": data_megabytes(X), "peak MB": peak_megabytes(partial(timed, partial(machine().fit, X, y)))}


if __name__ == "__main__":
    print(json.dumps(_measure(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))))
