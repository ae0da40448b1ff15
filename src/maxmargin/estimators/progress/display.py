"""What ``verbose=True`` shows on stderr: a bar for each problem being solved, a line for each that is.

A bar is the share of the digits that are proved, so that the time left is that of the digits to come.
"""

import math
from collections.abc import Sequence
from typing import Self

from rich import progress
from rich.console import Console
from rich.text import Text

from maxmargin._loops.compile_time import Stopwatch, seconds_in_words
from maxmargin.core import Solution, Status
from maxmargin.solvers import Event


class _Bars:
    """Abstract base: bars on stderr, which are there while there is a terminal, and leave nothing behind."""

    def __init__(self, console: Console | None, *columns: progress.ProgressColumn) -> None:
        self._console = Console(stderr=True) if console is None else console
        first = (progress.TextColumn("{task.description}", markup=False), progress.BarColumn(bar_width=None))
        last = (progress.TimeElapsedColumn(), progress.TimeRemainingColumn())
        self._progress = progress.Progress(*first, *columns, *last, console=self._console, transient=True)

    def __enter__(self) -> Self:
        if self._console.is_interactive:
            self._progress.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._console.is_interactive:
            self._progress.stop()


class Display(_Bars):
    """An observer of one fit that draws bars on a terminal, above them one for all problems if there are several.

    It writes a line for each problem that is solved, with or without a terminal, unless ``lines=False``.
    """

    def __init__(
        self, estimator: str, names: Sequence[str], tol: float, console: Console | None = None, *, lines: bool = True
    ) -> None:
        super().__init__(console, progress.TextColumn(f"gap {{task.fields[gap]}}, goal {tol:g}{{task.fields[rounds]}}"))
        self._names, self._before = ([estimator], "") if len(names) == 1 else (names, f"{estimator}, ")
        self._tol, self._lines, self._watch = tol, lines, Stopwatch()
        self._bars: dict[int, progress.TaskID] = {}
        self._shares, self._worst = [0.0] * len(names), 0.0
        self._all = self._progress.add_task(
            f"{estimator}, all", total=float(len(names)), visible=len(names) > 1, gap="?", rounds=""
        )

    def begin(self, k: int) -> None:
        """Show a bar."""
        self._bars[k] = self._progress.add_task(self._names[k], total=1.0, gap="?", rounds=", round 0")

    def see(self, k: int, event: Event, share: float) -> bool:
        """Move the bar; never asks to stop."""
        self._progress.update(self._bars[k], completed=share, rounds=f", round {event.iteration}")
        if math.isfinite(event.relative_gap):  # else the last that was known stays
            self._progress.update(self._bars[k], gap=f"{event.relative_gap:.1e}")
        self._reach(k, share)
        return False

    def end(self, k: int, solution: Solution) -> None:
        """Put a line in the place of the bar."""
        self._progress.remove_task(self._bars.pop(k))
        if solution.certificate is not None:
            self._worst = max(self._worst, solution.certificate.relative_gap)
        self._reach(k, 1.0)
        if self._lines:
            compiling, self._watch = self._watch.compile_seconds, Stopwatch()  # what no line has told yet
            told = summary(solution, self._tol, compiling)
            self._console.print(Text(f"{self._before}{self._names[k]}: {told}"), soft_wrap=True)

    def _reach(self, k: int, share: float) -> None:
        self._shares[k] = share
        worst = f"{self._worst:.1e}" if self._worst else "?"
        self._progress.update(self._all, completed=sum(self._shares), gap=worst)


class Tally(_Bars):
    """Draws how many of so many are done, and the time that is left; nothing where there is no terminal."""

    def __init__(self, name: str, console: Console | None = None) -> None:
        super().__init__(console, progress.MofNCompleteColumn())
        self._task = self._progress.add_task(name, visible=False)

    def begin(self, total: int) -> None:
        """So many are to do now."""
        self._progress.reset(self._task, total=total, visible=True)

    def see(self, done: int) -> None:
        """So many of them are done."""
        self._progress.update(self._task, completed=done)


def summary(solution: Solution, tol: float, compile_seconds: float = 0.0) -> str:
    """The gap, whether it is certified, and the one that was asked for, rounds, solver, time; and if it was missed, why."""
    gap = math.inf if solution.certificate is None else solution.certificate.relative_gap
    is_certified = solution.certificate is not None and solution.certificate.is_certified
    proved = f"gap {gap:.1e} {'' if is_certified else 'not '}certified"
    rounds = "1 round" if solution.n_iter == 1 else f"{solution.n_iter} rounds"
    solver = solution.solver.partition(":")[0]
    missed = "" if solution.status is Status.SOLVED else f" {solution.status}"
    took = seconds_in_words(solution.trace[-1].seconds, compile_seconds)
    return f"{proved}, {tol:g} asked for, {rounds} of {solver}, {took}.{missed}"
