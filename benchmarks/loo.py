"""Exact leave-one-out against scikit-learn's 5-fold cross-validation of the same model, and against n retrainings.

Text: the linear machine, C = 1, with a free bias (peer: SVC(kernel="linear")), a penalised one and none (peer:
LinearSVC(loss="hinge")). Tables: RBF with a free bias (peer: SVC). Our seconds include validation, tightening the fit, all
theorems and retrainings; what is compiled is loaded before. n retrainings are extrapolated from a sample of our own fits and
marked so. Beside the exact error stand the ξα estimate, which needs no retraining, and the error on held-out samples.
"""

import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import sklearn.svm
from sklearn.model_selection import cross_val_score

from benchmarks import loo_sets, results
from benchmarks.options import Options, select
from benchmarks.results import Row
from benchmarks.summary import geometric_mean
from benchmarks.timing import timed, timed_fit
from maxmargin import SVC, LinearSVC, leave_one_out

FLOOR_FOLDS, FLOOR_RETRAININGS = 2.0, 100.0
"""At most so many times 5-fold cross-validation, at least so many times faster than n retrainings: in the geometric mean."""

SAMPLE = 5
"""Retrainings that are timed."""

BIASES = ("free", "penalized", "none")

PEER_SECONDS = 120.0
"""Where one fit of the peer takes longer than a fifth of this, its folds are extrapolated from it."""


def run(options: Options) -> None:
    """Run, print, save and draw."""
    chosen = select(options.data, loo_sets.names())
    suite = "loo_part" if options.is_narrowed else "loo"
    _warm_up()
    rows: list[Row] = []
    for task in loo_sets.tasks(chosen, options.rows):
        for bias in BIASES if task.is_text else ("free",):
            rows.append(measure(task, bias, options.repeats))
            results.save(suite, rows, repeats=options.repeats)
    finish(suite)


def finish(suite: str) -> None:
    """Print the saved rows with their verdicts, and draw them."""
    rows = results.load(suite)
    results.show("exact leave-one-out", rows)
    for name, column, is_met in (
        ("≤ 2 × 5-fold cross-validation", "× 5-fold", lambda value: value <= FLOOR_FOLDS),
        ("≥ 100 × faster than n retrainings", "× n fits", lambda value: value >= FLOOR_RETRAININGS),
    ):
        mean = geometric_mean(row[column] for row in rows)
        missed = [f"{row['data']}, {row['bias']}: {row[column]:.2g}" for row in rows if not is_met(row[column])]
        print(f"{name}: {mean:.3g} in the geometric mean, {'met' if is_met(mean) else 'not met'}; ", end="")
        print(f"not on {len(missed)} of {len(rows)}: {'; '.join(missed)}" if missed else "on each set")
    for bias in BIASES:
        some = [row["× 5-fold"] for row in rows if row["bias"] == bias]
        if some:
            print(f"× 5-fold with the bias {bias}: {geometric_mean(some):.3g} in the geometric mean of {len(some)}")
    draw(rows, results.FOLDER / f"{suite}.png")


def measure(task: loo_sets.LooTask, bias: str, repeats: int) -> Row:
    """One row: our leave-one-out, one fit, the peer's folds, n retrainings, and the three errors."""
    model, peer = machines(task.is_text, bias)
    runs = [leave_one_out(model, task.X, task.y) for _ in range(repeats)]
    found, seconds = runs[0], median(result.seconds for result in runs)
    fits = [timed_fit(model, task.X, task.y) for _ in range(repeats)]
    fit_seconds = median(pair[1] for pair in fits)
    folds, is_whole = _folds(peer, task)
    honest = _retraining(model, task) * found.n
    held_out = float(np.mean(fits[0][0].predict(task.X_test) != task.y_test))
    return {
        "data": task.name,
        "bias": bias,
        "n": found.n,
        "retrained %": 100.0 * found.n_retrained / found.n,
        "seconds": seconds,
        "one fit": fit_seconds,
        "5-fold": folds,
        "5-fold measured": is_whole,
        "n fits (extrapolated)": honest,
        "× 5-fold": seconds / folds,
        "× n fits": honest / seconds,
        "error %": 100.0 * found.error,
        "undecidable": int((~found.is_certain).sum()),
        "ξα %": 100.0 * found.xi_alpha.error,  # type: ignore[union-attr]
        "held out %": 100.0 * held_out,
    }


def machines(is_text: bool, bias: str) -> tuple[Any, Any]:
    """Our machine and scikit-learn's for the same objective."""
    if not is_text:
        return SVC(), sklearn.svm.SVC(cache_size=1000)
    if bias == "free":
        return LinearSVC(), sklearn.svm.SVC(kernel="linear", cache_size=1000)
    ours = {"intercept_scaling": 1.0} if bias == "penalized" else {"fit_intercept": False}
    return LinearSVC(**ours), sklearn.svm.LinearSVC(loss="hinge", fit_intercept=bias == "penalized", max_iter=20_000)  # type: ignore[arg-type]


def _folds(peer: Any, task: loo_sets.LooTask) -> tuple[float, bool]:
    """(Seconds of 5-fold cross-validation, whether they were measured as a whole)."""
    _, once = timed_fit(peer, task.X, task.y)
    if 5 * once > PEER_SECONDS:
        return 4 * once, False  # five fits on four fifths of the samples, at least
    return timed(lambda: cross_val_score(peer, task.X, task.y, cv=5))[1], True


def _retraining(model: Any, task: loo_sets.LooTask) -> float:
    """Mean seconds of a fit without one sample, over a few samples."""
    rng, total = np.random.default_rng(0), 0.0
    for i in rng.choice(len(task.y), SAMPLE, replace=False):
        weights = np.ones(len(task.y))
        weights[i] = 0.0
        started = time.perf_counter()
        model.fit(task.X, task.y, weights)
        total += time.perf_counter() - started
    return total / SAMPLE


def _warm_up() -> None:
    """Load what is compiled, for small sets and for large ones."""
    for name, rows in (("webkb4", 300), ("reuters:cpu", None), ("german", 300), ("svmguide1", None)):
        task = loo_sets.task(name, rows)
        for bias in BIASES if task.is_text else ("free",):
            leave_one_out(machines(task.is_text, bias)[0], task.X, task.y)


def draw(rows: list[Row], path: Path) -> bool:
    """Our seconds against the folds', a point a row, with the floor and the goal as lines."""
    try:
        import matplotlib.figure
    except ImportError:
        print("no picture: matplotlib is not installed")
        return False
    figure = matplotlib.figure.Figure(figsize=(6.4, 0.26 * len(rows) + 1.5), layout="constrained")
    axes = figure.subplots()
    looks = {"free": ("#0072B2", "o"), "penalized": ("#E69F00", "s"), "none": ("#009E73", "^")}
    for at, row in enumerate(rows[::-1]):
        colour, marker = looks[row["bias"]]
        axes.plot(row["× 5-fold"], at, marker=marker, color=colour)
    axes.set_yticks(range(len(rows)), [f"{row['data']}, {row['bias']}" for row in rows[::-1]], fontsize=7)
    axes.axvline(FLOOR_FOLDS, color="black", linewidth=1.0)
    axes.axvline(0.5, color="black", linewidth=1.0, linestyle=":")
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.grid(axis="x", color="0.9", linewidth=0.6)
    axes.set_xlabel(
        "seconds of exact leave-one-out over those of 5-fold cross-validation\n(line: floor; dotted: goal)", fontsize=8
    )
    figure.savefig(path, dpi=110, metadata={"Software": None})
    return True
