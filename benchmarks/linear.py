"""Linear training (hinge, no bias) against its peers, at equal certified gap.

See `benchmarks.race` for the rules. A contender's gap is (P − D) / max(|P|, |D|), P from its weights, D as it shows
it in an untimed run. Our times include validation, certificate and the ball for certified predictions. "ours, free
bias" is our fit with a free bias: its ratio is what the bias costs. Compiled loops are loaded before; what loading
and compiling take is measured apart, in fresh processes.
"""

from collections.abc import Iterator
from functools import partial

from benchmarks import datasets, first_fit, summary
from benchmarks.calibration import run_once
from benchmarks.contenders import LINEAR, Contender
from benchmarks.options import ALL_CASES, Options, select
from benchmarks.race import Race, Task, report
from benchmarks.timing import load_loops, small_sets, timed
from maxmargin import LinearSVC


def run(options: Options) -> None:
    """Run, print, save and draw."""
    names = select(options.data, tuple(datasets.LINEAR))
    peers = {name: LINEAR[name] for name in select(options.contenders, tuple(LINEAR))}
    suite = "linear_part" if options.is_narrowed and not options.merge else "linear"
    race = Race(partial(LinearSVC, fit_intercept=False), peers, run_once, {summary.FREE_BIAS: LinearSVC})
    costs = first_fit.measure()
    _warm_up(list(peers.values()))
    race.run(suite, _tasks(names, options), options, **costs)
    finish(suite)


def finish(suite: str) -> None:
    """Print the summary of saved rows and draw their picture."""
    report(suite, summary.LINEAR_FLOORS)


def _tasks(names: tuple[str, ...], options: Options) -> Iterator[Task]:
    for name in names:
        X, y = datasets.linear_set(name)
        for C, gap in options.cases or ALL_CASES:
            yield Task(datasets.title(name), X, y, C, gap)


def _warm_up(peers: list[Contender]) -> None:
    load_loops()
    for peer in peers:
        for X, y in small_sets() if peer.version() else []:
            timed(partial(peer.train, *peer.prepare(X, y), 1.0, 0.1, 100))
