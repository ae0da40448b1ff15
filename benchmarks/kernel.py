"""Kernel training (RBF, gamma="scale", free bias) against its peers, at equal certified gap.

See `benchmarks.race` for the rules. A contender is judged by what `certify` says of its own `dual_coef_` and
`intercept_` on the same problem, in float64; of several classes the worst pair counts. scikit-learn can be stopped by
a limit of iterations only: a run that meets it is given twice as many, until it takes longer than the seconds
allowed. First case: a C for each set, gap 1e-3; second case: C = 100, gap 1e-5. The small sets before the first task
load what is compiled.
"""

from collections.abc import Iterator
from functools import partial

from benchmarks import datasets, summary
from benchmarks.kernel_contenders import FIRST_ITERATIONS, KERNEL, run_once
from benchmarks.options import Options, case_name, select
from benchmarks.race import Race, Task, report
from benchmarks.timing import timed, timed_fit
from maxmargin import SVC

TIGHT = (100.0, 1e-5)
"""The second case: C and gap."""


def run(options: Options) -> None:
    """Run, print, save and draw."""
    names = select(options.data, tuple(datasets.KERNEL))
    peers = {name: KERNEL[name] for name in select(options.contenders, tuple(KERNEL))}
    suite = "kernel_part" if options.is_narrowed and not options.merge else "kernel"
    X, y = datasets.clusters(300, 5, 3)
    timed_fit(SVC(), X, y)
    for peer in peers.values():
        if peer.version():
            timed(partial(peer.train, X, y, 1.0, 0.1, FIRST_ITERATIONS))
    Race(SVC, peers, run_once, first_epochs=FIRST_ITERATIONS).run(suite, tasks(names, options), options)
    finish(suite)


def finish(suite: str) -> None:
    """Print the summary of saved rows and draw their picture."""
    report(suite, summary.KERNEL_FLOORS)


def tasks(names: tuple[str, ...], options: Options) -> Iterator[Task]:
    """Each set in its cases, or in those asked for; of `options.rows` rows if that is fewer."""
    for name in names:
        X, y = datasets.kernel_set(name, options.rows)
        own = datasets.KERNEL[name].C
        for C, gap in options.cases or ((own, 1e-3), TIGHT):
            label = summary.OWN_C if (C, gap) == (own, 1e-3) else case_name(C, gap)
            notes = {
                "case": label,
                "rows": X.shape[0],
                "columns": X.shape[1],
                "classes": datasets.KERNEL[name].n_classes,
            }
            yield Task(datasets.kernel_title(name), X, y, C, gap, notes)
