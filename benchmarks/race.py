"""One training task, we and our peers in turn, at equal certified gap: the rows of a suite.

Each contender runs at the loosest of its tolerances, to a factor of 2, whose own relative gap is at most the asked
one. `reached` is False where none of its tolerances gets there within its limits or the seconds allowed: then its
seconds are those of the last try, and the ratio (its seconds over ours) is a lower bound. Times are medians of runs
in turn. Rows are saved as they come.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from benchmarks import picture, results, summary
from benchmarks.calibration import FIRST_EPOCHS, LOOSEST, Trial, calibrate
from benchmarks.contenders import Contender
from benchmarks.options import Options, case_name
from benchmarks.results import Row
from benchmarks.summary import Floor
from benchmarks.timing import cores, load_before, proof_seconds, timed, timed_fit

PATIENCE = 2.0
"""A contender may take so many times as long as we do, if that is more than the seconds allowed."""
OUR_PATIENCE = 4.0
"""We give up after so many times the seconds allowed; `our gap` then says how far we came."""
NO_FIGURES = {"its gap": "", "its tol": "", "reached": "", "ratio": ""}
KEY = ("data", "C", "gap", "contender")
BRIEF = ("contender", "seconds", "ours", "its gap", "our gap", "its tol", "reached", "ratio")
"""The columns that differ between the rows of one task."""


@dataclass(frozen=True)
class Task:
    """A set to train on, with its trade-off, the relative gap to reach, and what more to keep in its rows."""

    title: str
    X: Any
    y: Any
    C: float
    gap: float
    notes: Row = field(default_factory=dict)


@dataclass(frozen=True)
class Race:
    """Who runs: our estimator, variants of it, peers; and how a peer's run is judged."""

    ours: Callable[..., Any]
    peers: Mapping[str, Contender]
    attempt: Callable[[Contender, Any, Any, float, float, int], Trial]
    variants: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    first_epochs: int = FIRST_EPOCHS

    def run(self, suite: str, tasks: Iterable[Task], options: Options, **more: Any) -> None:
        """Measure each task, print and save; `more` goes into the json."""
        config: dict[str, Any] = {"load before": load_before(), "repeats": options.repeats, "seconds": options.seconds, **more}
        config |= {peer.package: peer.version() or "not installed" for peer in self.peers.values()}
        print(", ".join(f"{key}: {value}" for key, value in config.items()))
        rows = results.load(suite) if options.merge else []
        for task in tasks:
            fresh = self.measure(task, options, known_tolerances(rows, task))
            results.show(f"{task.title}, {case_name(task.C, task.gap)}", [{k: row[k] for k in BRIEF} for row in fresh])
            keys = {tuple(row[k] for k in KEY) for row in fresh}
            rows = [row for row in rows if tuple(row[k] for k in KEY) not in keys] + fresh
            results.save(suite, rows, **config)

    def measure(self, task: Task, options: Options, tolerances: Mapping[str, float]) -> list[Row]:
        """One row a contender; one that is not installed, or cannot take the data, has a row that says so.

        Each contender's search for its tolerance starts at the one given.
        """
        settings = {"C": task.C, "tol": task.gap, "max_seconds": OUR_PATIENCE * options.seconds}
        data = {name: peer.prepare(task.X, task.y) for name, peer in self.peers.items() if peer.version()}
        patience = max(options.seconds, PATIENCE * timed_fit(self.ours(**settings), task.X, task.y)[1])
        trials: dict[str, Trial] = {}
        excuses = {name: "not installed" for name in self.peers if name not in data}
        for name in data:
            try:
                trials[name] = self._loosest(self.peers[name], *data[name], task, patience, tolerances.get(name, LOOSEST))
            except Exception as error:  # a peer's failure is a result, not the end of a run of hours
                excuses[name] = f"failed: {type(error).__name__}: {str(error)[:80]}"
        ours: list[float] = []
        proofs: list[float] = []
        theirs: dict[str, list[float]] = {name: [] for name in [*self.variants, *trials]}
        models: dict[str, Any] = {}
        for _ in range(options.repeats):
            model = self.ours(**settings)
            seconds, share = proof_share(model, task.X, task.y)
            ours.append(seconds)
            proofs.append(share)
            for name, variant in self.variants.items():
                models[name], seconds = timed_fit(variant(**settings), task.X, task.y)
                theirs[name].append(seconds)
            for name, trial in trials.items():
                if trial.gap <= task.gap and trial.seconds <= patience:
                    theirs[name].append(self._seconds(self.peers[name], *data[name], task.C, trial))
        base = {
            "data": task.title,
            "C": task.C,
            "gap": task.gap,
            **task.notes,
            "ours": median(ours),
            "our gap": worst(model.certificate_).relative_gap,
            "proof share": median(proofs),
            "solver": worst(model.solver_).split(":")[0],
        }
        rows = [
            _row(base, name, median(theirs[name]), worst(models[name].certificate_).relative_gap, task.gap)
            for name in self.variants
        ]
        for name in self.peers:
            if name in trials:
                trial = trials[name]
                rows.append(_row(base, name, median(theirs[name] or [trial.seconds]), trial.gap, trial.tol))
            else:
                rows.append(base | {"contender": name, "seconds": excuses[name]} | NO_FIGURES)
        return rows

    def _loosest(self, peer: Contender, X: Any, y: Any, task: Task, seconds: float, first_tol: float) -> Trial:
        def attempt(tol: float, epochs: int) -> Trial:
            return self.attempt(peer, X, y, task.C, tol, epochs)

        return calibrate(attempt, task.gap, seconds, peer.most_epochs, self.first_epochs, first_tol)

    def _seconds(self, peer: Contender, X: Any, y: Any, C: float, trial: Trial) -> float:
        return timed(lambda: peer.train(X, y, C, trial.tol, trial.epochs))[1]


def known_tolerances(rows: Iterable[Row], task: Task) -> dict[str, float]:
    """Where each contender stood in the saved rows of a task: a good place to start from, whatever it was."""
    where = (task.title, task.C, task.gap)
    return {
        str(row["contender"]): float(row["its tol"])
        for row in rows
        if (row["data"], row["C"], row["gap"]) == where and isinstance(row["its tol"], float)
    }


def report(suite: str, floors: Iterable[Floor]) -> None:
    """Print the summary of a suite's saved rows and draw their picture."""
    rows = results.load(suite)
    results.show("geometric means over the sets: a contender's seconds over ours", summary.means(rows))
    results.show("floors", summary.verdicts(rows, floors))
    picture.draw(rows, results.FOLDER / f"{suite}.png")


def proof_share(model: Any, X: Any, y: Any) -> tuple[float, float]:
    """(Seconds of a fit of the model, the certificate's share of them, or of those of all cores where problems have threads)."""
    with proof_seconds() as taken:
        seconds = timed_fit(model, X, y)[1]
    return seconds, sum(taken) / (seconds * (cores() if isinstance(model.certificate_, tuple) else 1))


def worst(value: Any) -> Any:
    """That of the problem with the largest gap, where there are several."""
    return getattr(value, "worst", value)


def _row(base: Row, contender: str, seconds: float, its_gap: float, tol: float) -> Row:
    return base | {
        "contender": contender,
        "seconds": seconds,
        "its gap": its_gap,
        "its tol": tol,
        "reached": its_gap <= base["gap"],
        "ratio": seconds / base["ours"],
    }
