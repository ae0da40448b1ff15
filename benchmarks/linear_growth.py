"""How our linear training grows on Zipf-like sets: log-log slopes in rows, columns and entries a row.

One of the three is varied, the other two stay; 1 in rows and in entries a row is time in proportion to the entries.
"""

from collections.abc import Sequence
from statistics import median

import numpy as np

from benchmarks import results
from benchmarks.datasets import zipf
from benchmarks.options import Options
from benchmarks.results import Row
from benchmarks.timing import load_loops, timed_fit
from maxmargin import LinearSVC

ROWS, COLUMNS, PER_ROW = 50_000, 20_000, 40
AXES = {
    "rows": [(n, COLUMNS, PER_ROW) for n in (25_000, 50_000, 100_000, 200_000, 400_000)],
    "columns": [(ROWS, d, PER_ROW) for d in (5_000, 10_000, 20_000, 40_000, 80_000)],
    "entries a row": [(ROWS, COLUMNS, k) for k in (10, 20, 40, 80, 160)],
}


def slope(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """Of the line through (log size, log seconds) by least squares."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def run(options: Options) -> None:
    """Run, print and save."""
    load_loops()
    rows: list[Row] = []
    for C, gap in options.cases or ((1.0, 1e-3), (1.0, 1e-6)):
        for axis, shapes in AXES.items():
            rows += _along(axis, shapes, C, gap, options.repeats)
            results.save("linear_growth", rows)
    results.show("growth of linear training, no bias", rows)


def _along(axis: str, shapes: list[tuple[int, int, int]], C: float, gap: float, repeats: int) -> list[Row]:
    rows: list[Row] = []
    for shape in shapes:
        X, y = zipf(*shape)
        fits = [timed_fit(LinearSVC(C=C, tol=gap, fit_intercept=False), X, y) for _ in range(repeats)]
        sizes = {"rows": X.shape[0], "columns": X.shape[1], "entries": X.nnz}
        model = fits[0][0]
        found = {"solver": model.solver_.split(":")[0], "our gap": model.certificate_.relative_gap}
        rows.append({"axis": axis, "C": C, "gap": gap, **sizes, **found, "seconds": median(s for _, s in fits)})
    steepness = slope([row["entries" if axis == "entries a row" else axis] for row in rows], [r["seconds"] for r in rows])
    return [row | {"slope": steepness} for row in rows]
