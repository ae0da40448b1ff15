"""How our time grows with the rows from 50 to 5000: a step between neighbouring sizes that is far above 1 is a cliff.

SVC (RBF) and LinearSVC with C = 1 to a gap of 1e-3, on synthetic clusters and on a9a; each size takes the first rows of
the same order. A step is the growth of the seconds over the growth of the rows: 1 is time in proportion to the rows.
"over a larger size" is the most that a size takes over any larger one: above 1 a cliff that leads down.
"""

from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks import datasets, results
from benchmarks.linear_growth import slope
from benchmarks.options import Options, select
from benchmarks.race import worst
from benchmarks.results import Row
from benchmarks.timing import in_turn, load_before, timed_fit
from maxmargin import SVC, LinearSVC

GAP = 1e-3
"""The relative gap of all fits."""

SIZES = tuple(int(n) for n in np.geomspace(50, 5000, 15).round())
SETS = ("clusters", "a9a")
MODELS = {"SVC": SVC, "LinearSVC": LinearSVC}
LOOKS = {"SVC": ("#0072B2", "o"), "LinearSVC": ("#D55E00", "s")}


def run(options: Options) -> None:
    """Run, print, save and draw."""
    config = {"load before": load_before(), "repeats": options.repeats}
    sizes = tuple(n for n in SIZES if n <= (options.rows or max(SIZES)))
    suite = "small_growth_part" if options.is_narrowed else "small_growth"
    rows: list[Row] = []
    for name in select(options.data, SETS):
        is_synthetic = name == SETS[0]
        X, y = datasets.clusters(max(sizes), 20, 2) if is_synthetic else datasets.kernel_set(name, max(sizes))
        title = name if is_synthetic else datasets.kernel_title(name)
        for model in MODELS:
            rows += [{"data": title, **row} for row in along(model, X, y, sizes, options.repeats)]
            results.save(suite, rows, **config)
    finish(suite)


def finish(suite: str) -> None:
    """Print the saved rows and draw them."""
    rows = results.load(suite)
    results.show("growth of small fits", rows)
    draw(rows, results.FOLDER / f"{suite}.png")


def along(model: str, X: Any, y: Any, sizes: tuple[int, ...], repeats: int) -> list[Row]:
    """A row for each size, with the slope along all of them and the largest step."""
    rows: list[Row] = []
    for n in sizes:
        machine = MODELS[model](C=1.0, tol=GAP)
        timed_fit(machine, X[:n], y[:n])
        runs = in_turn({model: partial(machine.fit, X[:n], y[:n])}, repeats)[model]
        gap, solver = worst(machine.certificate_).relative_gap, worst(machine.solver_).split(":")[0]
        found = {"model": model, "rows": n, "solver": solver, "our gap": gap, "seconds": median(runs), "least": min(runs)}
        rows.append(found | {"step": _step(rows[-1], found) if rows else ""})
    largest = max(rows[1:], key=lambda row: row["step"])
    seconds = [row["seconds"] for row in rows]
    found = {"slope": slope(sizes, seconds), "largest step": largest["step"], "at": largest["rows"]}
    found["over a larger size"] = max(taken / min(seconds[k + 1 :]) for k, taken in enumerate(seconds[:-1]))
    return [row | found for row in rows]


def _step(smaller: Row, larger: Row) -> float:
    return (larger["seconds"] / smaller["seconds"]) / (larger["rows"] / smaller["rows"])


def draw(rows: list[Row], path: Path) -> bool:
    """Seconds against rows on log axes, a panel a set and a line a model."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print("no picture: matplotlib is not installed")
        return False
    sets = list(dict.fromkeys(row["data"] for row in rows))
    figure = Figure(figsize=(4.2 * len(sets), 3.6), layout="constrained")
    for panel, data in zip(figure.subplots(1, len(sets), sharey=True, squeeze=False)[0], sets, strict=True):
        for model, (colour, marker) in LOOKS.items():
            line = [row for row in rows if (row["data"], row["model"]) == (data, model)]
            panel.plot([r["rows"] for r in line], [r["seconds"] for r in line], color=colour, marker=marker, label=model)
        panel.set_xscale("log")
        panel.set_yscale("log")
        panel.grid(color="0.9", linewidth=0.6)
        panel.set_title(data, fontsize=10)
        panel.set_xlabel("rows")
    figure.axes[0].set_ylabel("seconds of a fit")
    figure.axes[0].legend(frameon=False)
    figure.savefig(path, dpi=110, metadata={"Software": None})
    return True
