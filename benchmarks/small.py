"""Small fits, predictions and grid searches against scikit-learn's class of the same name, at equal certified gap.

SVC (RBF) and LinearSVC (hinge) on tables of 100 to 2000 rows. scikit-learn runs at the loosest of its tolerances, to a
factor of 2, whose own relative gap is at most 1e-3; of several problems the worst counts. Its LinearSVC penalizes the
bias, so ours does too; "free bias" is our default, a different problem, compared with the same run of scikit-learn.

Calls are made in turn in a warm process, as many as `timing.in_turn` says; their medians are compared. `reached` is
False where scikit-learn did not reach the gap within `GIVEN_UP` seconds: the ratio is then a lower bound. `its limit` is
the max_iter given to its LinearSVC: where it is above 1000, the default would have ended the fit too early.

A grid search makes 48 fits, 16 points in 3 folds, without a refit. At each point scikit-learn has the tolerance that
reaches the gap on all rows; the gaps are the worst of all points.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

from sklearn.model_selection import GridSearchCV

from benchmarks import results, small_contenders, small_tables
from benchmarks.calibration import Trial, calibrate
from benchmarks.contenders import Contender
from benchmarks.kernel_contenders import FIRST_ITERATIONS, ScikitLearn, run_once
from benchmarks.options import Options, select
from benchmarks.race import worst
from benchmarks.results import Row
from benchmarks.summary import geometric_mean
from benchmarks.timing import in_turn, load_before, timed
from maxmargin import SVC, LinearSVC

GAP = 1e-3
"""The relative gap of all fits."""

COSTS = (1.0, 100.0)
GIVEN_UP = 5.0
"""Seconds of one run after which scikit-learn is not given more iterations."""

PEER = "scikit-learn"
BRIEF = ("model", "C", "what", "ours", "seconds", "ratio", "our gap", "its gap", "its limit", "reached")
"""The columns that are shown."""

JOBS = (("grid", None), ("grid n_jobs=2", 2))
"""The grid searches, and their n_jobs."""

QUICK, QUICK_FLOOR, FLOOR = 2e-4, 0.8, 1.0
"""Where scikit-learn takes less than so many seconds, the lower floor of the ratio holds."""


@dataclass(frozen=True)
class Model:
    """Variants of our class, the first on scikit-learn's own problem; its class, and how that is judged; the grid's points."""

    ours: Mapping[str, Callable[..., Any]]
    peer: Callable[..., Contender]
    attempt: Callable[..., Trial]
    first_epochs: int
    points: tuple[dict[str, float], ...]
    grids: tuple[str, ...]

    def loosest(self, X: Any, y: Any, C: float, **more: float) -> Trial:
        """The run of scikit-learn that its times belong to."""
        peer = self.peer(**more)

        def attempt(tol: float, epochs: int) -> Trial:
            return self.attempt(peer, X, y, C, tol, epochs)

        return calibrate(attempt, GAP, GIVEN_UP, peer.most_epochs, self.first_epochs)


MODELS = (
    Model(
        ours={"SVC": SVC},
        peer=ScikitLearn,
        attempt=run_once,
        first_epochs=FIRST_ITERATIONS,
        points=tuple({"C": C, "gamma": gamma} for C in (0.1, 1.0, 10.0, 100.0) for gamma in (0.001, 0.01, 0.1, 1.0)),
        grids=("iris", "breast_cancer_569", "digits_300", "sonar"),
    ),
    Model(
        ours={"LinearSVC, penalized bias": partial(LinearSVC, intercept_scaling=1.0), "LinearSVC, free bias": LinearSVC},
        peer=small_contenders.PenalizedBias,
        attempt=small_contenders.run_once,
        first_epochs=small_contenders.FIRST_EPOCHS,
        points=tuple({"C": 10.0 ** (k / 4)} for k in range(-8, 8)),
        grids=("breast_cancer_569", "wine"),
    ),
)


def run(options: Options) -> None:
    """Run, print and save."""
    suite = "small_part" if options.is_narrowed else "small"
    config = {"load before": load_before(), "repeats": options.repeats, "seconds": GIVEN_UP}
    rows: list[Row] = []
    for name in select(options.data, tuple(small_tables.TABLES)):
        X, y = small_tables.table(name)
        notes = {"data": small_tables.title(name), "half": small_tables.half(name)}
        notes |= {"rows": X.shape[0], "columns": X.shape[1], "classes": len(set(y))}
        fresh = []
        for model in MODELS:
            for C in COSTS:
                fresh += fits(X, y, model, C, options.repeats)
            if name in model.grids:
                fresh += grids(X, y, model, options.repeats)
        rows += [notes | row for row in fresh]
        results.show(notes["data"], [{key: row[key] for key in BRIEF} for row in fresh])
        results.save(suite, rows, **config)
    finish(suite)


def finish(suite: str) -> None:
    """Print and save the summary of saved rows, and print those below the floor."""
    rows = results.load(suite)
    lines = summarize(rows)
    results.save(suite.replace("small", "small_summary"), lines)
    results.show("scikit-learn's seconds over ours", lines)
    short = [{key: row[key] for key in ("data", *BRIEF)} for row in rows if not is_met(row)]
    if short:
        results.show("below the floor", short)


def fits(X: Any, y: Any, model: Model, C: float, repeats: int) -> list[Row]:
    """Rows of the fit and, for the first variant, of predictions."""
    trial = model.loosest(X, y, C)
    peer = model.peer()
    calls = {name: partial(_fit, make, X, y, C) for name, make in model.ours.items()}
    fitted = {name: call() for name, call in calls.items()}
    gaps = {name: worst(machine.certificate_).relative_gap for name, machine in fitted.items()}
    fitted[PEER] = timed(partial(peer.train, X, y, C, trial.tol, trial.epochs))[0]
    reached = trial.gap <= GAP
    if reached:
        calls[PEER] = partial(peer.train, X, y, C, trial.tol, trial.epochs)
    first = next(iter(model.ours))
    work = {"fit": calls}
    for n in (1, 100):
        work[f"predict {n}"] = {name: partial(fitted[name].predict, X[:n]) for name in (first, PEER)}
    found = {"C": C, "its gap": trial.gap, "its tol": trial.tol, "its limit": trial.epochs, "reached": reached}
    rows: list[Row] = []
    for what, these in work.items():
        rows += _rows(what, gaps, {PEER: [trial.seconds]} | in_turn(these, repeats), found)
    return rows


def grids(X: Any, y: Any, model: Model, repeats: int) -> list[Row]:
    """Rows of the grid search, in one process and in two."""
    trials = [model.loosest(X, y, **point) for point in model.points]
    ours = [{key: [value] for key, value in point.items()} for point in model.points]
    # Folds may need more iterations than all rows do.
    theirs = [point | {"tol": [trial.tol], "max_iter": [2 * trial.epochs]} for point, trial in zip(ours, trials, strict=True)]
    gaps = {
        name: max(worst(_fit(make, X, y, **point).certificate_).relative_gap for point in model.points)
        for name, make in model.ours.items()
    }
    found = {"C": "", "its gap": max(trial.gap for trial in trials), "its tol": "", "its limit": ""}
    found["reached"] = found["its gap"] <= GAP
    rows: list[Row] = []
    for what, n_jobs in JOBS:
        searches = {
            name: GridSearchCV(make(tol=GAP), ours, cv=3, refit=False, n_jobs=n_jobs) for name, make in model.ours.items()
        }
        searches[PEER] = GridSearchCV(model.peer().machine(1.0, GAP, -1), theirs, cv=3, refit=False, n_jobs=n_jobs)
        calls = {name: partial(search.fit, X, y) for name, search in searches.items()}
        for call in calls.values():
            timed(call)
        rows += _rows(what, gaps, in_turn(calls, repeats), found)
    return rows


def _fit(make: Callable[..., Any], X: Any, y: Any, C: float, **more: float) -> Any:
    return make(C=C, tol=GAP, **more).fit(X, y)


def _rows(what: str, gaps: Mapping[str, float], seconds: Mapping[str, list[float]], found: Row) -> list[Row]:
    """A row for each of our variants that was timed."""
    its = median(seconds[PEER])
    return [
        {
            "model": name,
            "what": what,
            "ours": median(seconds[name]),
            "seconds": its,
            "ratio": its / median(seconds[name]),
            "ours, least": min(seconds[name]),
            "least": min(seconds[PEER]),
            "runs": len(seconds[name]),
            "our gap": gap,
            **found,
        }
        for name, gap in gaps.items()
        if name in seconds
    ]


def floor(row: Row) -> float:
    """What the ratio of a row must be."""
    return QUICK_FLOOR if row["seconds"] < QUICK else FLOOR


def is_met(row: Row) -> bool:
    """Whether a row is at its floor or above, at the gap that was asked for."""
    return row["ratio"] >= floor(row) and row["our gap"] <= GAP


def summarize(rows: list[Row]) -> list[Row]:
    """A line for each model and each piece of work: geometric means, over the halves too, and the lowest ratio."""
    lines = []
    for model, what in dict.fromkeys((row["model"], row["what"]) for row in rows):
        some = [row for row in rows if (row["model"], row["what"]) == (model, what)]
        lowest = min(some, key=lambda row: row["ratio"])
        line = {"model": model, "what": what, "mean": geometric_mean(row["ratio"] for row in some)}
        for part in ("a-m", "n-z"):
            ratios = [row["ratio"] for row in some if row["half"] == part]
            line[f"mean {part}"] = geometric_mean(ratios) if ratios else ""
        line |= {"lowest": lowest["ratio"], "on": lowest["data"], "below the floor": sum(not is_met(row) for row in some)}
        lines.append(line | {"of": len(some)})
    return lines
