"""Linear training (hinge, no bias) against its peers, at equal certified gap.

Each contender runs at the loosest of its tolerances, to a factor of 2, whose own relative gap (P − D) / max(|P|, |D|) is at most
the asked one: P from its weights, D as it shows it in an untimed run. `reached` is False where none of its tolerances gets there
within its epochs or the seconds allowed: then its seconds are those of the last try, and the ratio (its seconds over ours) is a
lower bound. Our times include validation, certificate and the ball for certified predictions. "ours, free bias" is our fit with a
free bias: its ratio is what the bias costs. Times are medians of runs in turn, compiled loops loaded before; what loading and
compiling take is measured apart, in fresh processes. Rows are saved as they come.
"""

import os
from functools import partial
from statistics import median
from typing import Any

from benchmarks import datasets, first_fit, picture, results, summary
from benchmarks.calibration import Trial, calibrate, run_once
from benchmarks.contenders import LINEAR, Contender
from benchmarks.options import ALL_CASES, Options, case_name, select
from benchmarks.results import Row
from benchmarks.timing import load_loops, small_sets, timed, timed_fit
from maxmargin import LinearSVC

PATIENCE = 2.0
"""A contender may take so many times as long as we do, if that is more than the seconds allowed."""
OUR_PATIENCE = 4.0
"""We give up after so many times the seconds allowed; `our gap` then says how far we came."""
NO_FIGURES = {"its gap": "", "its tol": "", "reached": "", "ratio": ""}
KEY = ("data", "C", "gap", "contender")


def run(options: Options) -> None:
    """Run, print, save and draw."""
    peers = [LINEAR[name] for name in select(options.contenders, tuple(LINEAR))]
    names = select(options.data, tuple(datasets.LINEAR))
    suite = "linear_part" if options.is_narrowed and not options.merge else "linear"
    more: dict[str, Any] = {"load before": round(os.getloadavg()[0], 2)}
    more |= {"repeats": options.repeats, "seconds": options.seconds, **first_fit.measure()}
    more |= {peer.package: peer.version() or "not installed" for peer in LINEAR.values()}
    if more["load before"] > 0.5:
        print(
            "This machine is busy: the times will not be worth much, least of all those of threads that wait for each other."
        )
    print(", ".join(f"{key}: {value}" for key, value in more.items()))
    rows = results.load(suite) if options.merge else []
    _warm_up(peers)
    for name in names:
        X, y = datasets.linear_set(name)
        title = datasets.title(name)
        for C, gap in options.cases or ALL_CASES:
            fresh = _measure(title, X, y, C, gap, peers, options)
            results.show(f"{title}, {case_name(C, gap)}", [_brief(row) for row in fresh])
            keys = {tuple(row[k] for k in KEY) for row in fresh}
            rows = [row for row in rows if tuple(row[k] for k in KEY) not in keys] + fresh
            results.save(suite, rows, **more)
    finish(suite)


def finish(suite: str) -> None:
    """Print the summary of saved rows and draw their picture."""
    rows = results.load(suite)
    results.show("geometric means over the sets: a contender's seconds over ours", summary.means(rows))
    results.show("floors", summary.verdicts(rows))
    picture.draw(rows, results.FOLDER / f"{suite}.png")


def _warm_up(peers: list[Contender]) -> None:
    load_loops()
    for peer in peers:
        for X, y in small_sets() if peer.version() else []:
            timed(partial(peer.train, *peer.prepare(X, y), 1.0, 0.1, 100))


def _measure(title: str, X: Any, y: Any, C: float, gap: float, peers: list[Contender], options: Options) -> list[Row]:
    """One row a contender; one that is not installed, or cannot take the data, has a row that says so."""
    data = {peer.name: peer.prepare(X, y) for peer in peers if peer.version()}
    ours_at = partial(LinearSVC, C=C, tol=gap, max_seconds=OUR_PATIENCE * options.seconds)
    patience = max(options.seconds, PATIENCE * timed_fit(ours_at(fit_intercept=False), X, y)[1])
    trials: dict[str, Trial] = {}
    excuses = {peer.name: "not installed" for peer in peers if peer.name not in data}
    for name in data:
        try:
            trials[name] = _loosest(LINEAR[name], *data[name], C, gap, patience)
        except Exception as error:  # a peer's failure is a result, not the end of a run of hours
            excuses[name] = f"failed: {type(error).__name__}: {str(error)[:80]}"
    ours, free = [], []
    theirs: dict[str, list[float]] = {name: [] for name in trials}
    for _ in range(options.repeats):
        model, seconds = timed_fit(ours_at(fit_intercept=False), X, y)
        ours.append(seconds)
        with_bias, seconds = timed_fit(ours_at(), X, y)
        free.append(seconds)
        for name, trial in trials.items():
            if trial.gap <= gap and trial.seconds <= patience:
                theirs[name].append(_seconds(LINEAR[name], *data[name], C, trial))
    base = {
        "data": title,
        "C": C,
        "gap": gap,
        "ours": median(ours),
        "our gap": model.certificate_.relative_gap,
        "solver": model.solver_.split(":")[0],
    }
    rows = [_row(base, summary.FREE_BIAS, median(free), with_bias.certificate_.relative_gap, gap)]
    for peer in peers:
        if peer.name in trials:
            trial = trials[peer.name]
            rows.append(_row(base, peer.name, median(theirs[peer.name] or [trial.seconds]), trial.gap, trial.tol))
        else:
            rows.append(base | {"contender": peer.name, "seconds": excuses[peer.name]} | NO_FIGURES)
    return rows


def _loosest(peer: Contender, X: Any, y: Any, C: float, gap: float, seconds: float) -> Trial:
    return calibrate(lambda tol, epochs: run_once(peer, X, y, C, tol, epochs), gap, seconds, peer.most_epochs)


def _seconds(peer: Contender, X: Any, y: Any, C: float, trial: Trial) -> float:
    return timed(lambda: peer.train(X, y, C, trial.tol, trial.epochs))[1]


def _row(base: Row, contender: str, seconds: float, its_gap: float, tol: float) -> Row:
    return base | {
        "contender": contender,
        "seconds": seconds,
        "its gap": its_gap,
        "its tol": tol,
        "reached": its_gap <= base["gap"],
        "ratio": seconds / base["ours"],
    }


def _brief(row: Row) -> Row:
    """The columns that differ between the rows of one case."""
    shown = ("contender", "seconds", "ours", "its gap", "our gap", "its tol", "reached", "ratio")
    return {key: row[key] for key in shown}
