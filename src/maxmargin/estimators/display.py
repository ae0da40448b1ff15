"""What ``verbose=True`` shows on stderr: a bar for each problem being solved, a line for each that is."""

import math
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from maxmargin.core import Solution, Status
from maxmargin.solvers import Event


class Display:
    """An observer of one fit that draws bars on a terminal; where there is none it only writes the lines."""

    def __init__(self, estimator: str, names: Sequence[str], tol: float, console: Console | None = None) -> None:
        self._bar_names = [estimator] if len(names) == 1 else list(names)
        self._line_names = [estimator] if len(names) == 1 else [f"{estimator}, {name}" for name in names]
        self._tol = tol
        self._console = Console(stderr=True) if console is None else console
        self._bars: dict[int, TaskID] = {}
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=None),
            TextColumn(f"gap {{task.fields[gap]}}, goal {tol:g}, round {{task.fields[iteration]}}"),
            TimeElapsedColumn(),
            console=self._console,
            transient=True,
        )

    def __enter__(self) -> Self:
        if self._console.is_interactive:
            self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._console.is_interactive:
            self._progress.stop()

    def begin(self, k: int) -> None:
        """Show a bar."""
        self._bars[k] = self._progress.add_task(self._bar_names[k], total=1.0, gap="?", iteration=0)

    def see(self, k: int, event: Event, share: float) -> bool:
        """Move the bar; never asks to stop."""
        self._progress.update(self._bars[k], completed=share, iteration=event.iteration)
        if math.isfinite(event.relative_gap):  # else the last that was known stays
            self._progress.update(self._bars[k], gap=f"{event.relative_gap:.1e}")
        return False

    def end(self, k: int, solution: Solution) -> None:
        """Put a line in the place of the bar."""
        self._progress.remove_task(self._bars.pop(k))
        self._console.print(Text(f"{self._line_names[k]}: {summary(solution, self._tol)}"), soft_wrap=True)


class Tally:
    """Draws how many of so many are done, and the time that is left; nothing where there is no terminal."""

    def __init__(self, name: str, console: Console | None = None) -> None:
        self._name = name
        self._console = Console(stderr=True) if console is None else console
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=None),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=self._console,
            transient=True,
        )
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        if self._console.is_interactive:
            self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._console.is_interactive:
            self._progress.stop()

    def begin(self, total: int) -> None:
        """So many are to do now."""
        if self._task is not None:
            self._progress.remove_task(self._task)
        self._task = self._progress.add_task(self._name, total=total)

    def see(self, done: int) -> None:
        """So many of them are done."""
        if self._task is not None:
            self._progress.update(self._task, completed=done)


def summary(solution: Solution, tol: float) -> str:
    """The certified gap and the one that was asked for, rounds, solver, seconds; and if it was missed, why."""
    gap = math.inf if solution.certificate is None else solution.certificate.relative_gap
    proved = f"gap {gap:.1e} certified" if math.isfinite(gap) else "no gap certified"
    rounds = "1 round" if solution.n_iter == 1 else f"{solution.n_iter} rounds"
    solver = solution.solver.partition(":")[0]
    missed = "" if solution.status is Status.SOLVED else f" {solution.status}"
    return f"{proved}, {tol:g} asked for, {rounds} of {solver}, {solution.trace[-1].seconds:.2f} s.{missed}"
