"""Kernel prediction against scikit-learn and scikit-learn-intelex: seconds of `predict` on as many rows as were trained
on.

Each library predicts with the model that it learnt itself, at its default tolerance; the support vectors are counted.
Ours is timed on float64 and on float32 rows; times are medians of runs in turn.
"""

from functools import partial
from statistics import median
from typing import Any

import numpy as np

from benchmarks import datasets, results
from benchmarks.kernel_contenders import FIRST_ITERATIONS, KERNEL
from benchmarks.options import Options, select
from benchmarks.results import Row
from benchmarks.timing import timed, timed_fit
from maxmargin import SVC

SETS = ("a9a", "ijcnn1", "mnist_parity", "cod_rna", "covtype_20k", "letter")
MOST_ITERATIONS = 100 * FIRST_ITERATIONS
OURS, SINGLE = "ours", "ours, float32"


def run(options: Options) -> None:
    """Run, print and save."""
    rows: list[Row] = []
    for name in select(options.data, tuple(datasets.KERNEL)) if options.data else SETS:
        C = datasets.KERNEL[name].C
        X, y = datasets.kernel_set(name, options.rows)
        fits = {OURS: timed_fit(SVC(C), X, y)[0], SINGLE: timed_fit(SVC(C), X.astype(np.float32), y)[0]}
        for peer in (KERNEL[name] for name in select(options.contenders, tuple(KERNEL))):
            if peer.version():
                fits[peer.name] = timed(partial(peer.train, X, y, C, 1e-3, MOST_ITERATIONS))[0]
        rows += measure(datasets.kernel_title(name), fits, X, options.repeats)
        results.save("kernel_prediction", rows)
    results.show("kernel prediction", rows)


def measure(title: str, models: dict[str, Any], X: Any, repeats: int) -> list[Row]:
    """One row a contender: its seconds, its support vectors, its seconds over ours, how many labels differ from ours."""
    seconds: dict[str, list[float]] = {name: [] for name in models}
    labels: dict[str, Any] = {}
    for _ in range(repeats):
        for name, model in models.items():
            rows = X.astype(np.float32) if name == SINGLE else X
            labels[name], taken = timed(partial(model.predict, rows))
            seconds[name].append(taken)
    ours = median(seconds[OURS])
    return [
        {
            "data": title,
            "rows": X.shape[0],
            "contender": name,
            "support vectors": len(model.support_),
            "seconds": median(seconds[name]),
            "ratio": median(seconds[name]) / ours,
            "other labels": float(np.mean(labels[name] != labels[OURS])),
        }
        for name, model in models.items()
    ]
