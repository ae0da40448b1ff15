"""The driver of a distributed fit: all binary problems in step, one round for all of them, until each is certified."""

from collections.abc import Callable, Sequence

import numpy as np

from maxmargin.core import Bias, Problem, Solution, Status, loss_from_name
from maxmargin.distributed.cocoa import cocoa
from maxmargin.distributed.newton import near, newton
from maxmargin.distributed.one_problem import Course, Record, Stop, Task, until_done
from maxmargin.distributed.workers.block import Part, Plan
from maxmargin.distributed.workers.messages import Command, Sums
from maxmargin.distributed.workers.steps import MOST_FACTORED
from maxmargin.distributed.workers.threads import Crew
from maxmargin.solvers import Event, solve
from maxmargin.solvers.base import Clock
from maxmargin.solvers.interrupts import deferred_interrupt
from maxmargin.solvers.linear.proximal_newton import (
    FEWEST_SAMPLES,
    FIRST_PART,
    MOST_SAMPLES,
    PER_FEATURE,
    ProximalNewton,
)
from maxmargin.threads import one_blas_thread
from maxmargin.typing import Floats

SEVERAL, PART_BYTES = 16, 32 * 2**20
"""The part of the samples that the driver looks at first: so many times that of one machine, within these bytes."""

ROUGH = 1e-2
"""The gap to which it solves that part."""

Watcher = Callable[[int, Event], bool]
"""Hears of each round of each problem; True asks that problem to stop."""


def run(crew: Crew, plan: Plan, tasks: Sequence[Task], clock: Clock, watch: Watcher) -> tuple[list[Solution], int]:
    """(A solution of each binary problem, how often dual variables were lost). Ctrl-C ends all of them with the best so far."""
    with one_blas_thread():  # the vectors are short, and the blocks need the other threads
        return _run(crew, plan, tasks, clock, watch)


def _run(crew: Crew, plan: Plan, tasks: Sequence[Task], clock: Clock, watch: Watcher) -> tuple[list[Solution], int]:
    records = [Record(task, clock) for task in tasks]
    solutions: list[Solution | None] = [None] * len(tasks)
    courses: dict[int, Course[Solution]] = {}
    pending: dict[int, Command] = {}
    is_over = False

    def go_on(k: int, sums: Sums | None = None, stop: Stop | None = None) -> None:
        try:
            pending[k] = courses[k].throw(stop) if stop is not None else courses[k].send(sums)  # type: ignore[arg-type]
        except StopIteration as end:
            solutions[k] = end.value
            pending.pop(k, None)

    def stop_all(status: Status) -> None:
        for k in list(pending):
            go_on(k, stop=Stop(status))

    try:
        starts = _starts(crew, plan, tasks)
    except KeyboardInterrupt:
        starts, is_over = [None] * len(tasks), True
    for k, (record, start) in enumerate(zip(records, starts, strict=True)):
        courses[k] = _course(record, start)
        go_on(k)
    if is_over:
        stop_all(Status.INTERRUPTED)
    while pending:
        try:
            spent = None if is_over else clock.spent()
            if spent is not None:
                is_over = True
                stop_all(spent)
                continue
            sums = crew.ask(pending)
            with deferred_interrupt():  # what the blocks have done is not lost half-way
                clock.rounds += 1
                for k in list(pending):
                    go_on(k, sums[k])
                    if _look(k, records[k], clock, watch) and k in pending and not is_over:
                        go_on(k, stop=Stop(Status.STOPPED))
        except KeyboardInterrupt:
            if is_over:
                raise
            is_over = True
            stop_all(Status.INTERRUPTED)
    return [solution for solution in solutions if solution is not None], sum(record.n_lost for record in records)


def _look(k: int, record: Record, clock: Clock, watch: Watcher) -> bool:
    """Tell who watches; True: they have seen enough."""
    certificate, record.fresh = record.fresh, None
    gap = record.gap if certificate is None else certificate.relative_gap
    return watch(k, Event(clock.seconds, clock.rounds, gap, certificate))


def _course(record: Record, start: tuple[Floats, float] | None) -> Course[Solution]:
    task = record.task
    n, d = task.n_samples, task.n_features
    if d > MOST_FACTORED:
        why = f"{n} samples with {d} features on {task.n_blocks} blocks: each improves its own dual variables"
        return until_done(record, cocoa(record), why)
    why = f"{n} samples but only {d} features on {task.n_blocks} blocks: sums of d × d equations"
    if start is None:
        w = np.zeros(d + 1)
        w[d] = task.first_bias()
        return until_done(record, newton(record, w, 1.0, 0.5, is_near=False), why)
    w, level = start
    return until_done(record, newton(record, w, near(level), 0.5 * level, is_near=True), why)


def _starts(crew: Crew, plan: Plan, tasks: Sequence[Task]) -> list[tuple[Floats, float] | None]:
    """Weights to begin with, from a random part of the samples that the driver solves itself; None where that is not worth it."""
    n, d = tasks[0].n_samples, tasks[0].n_features
    first = max(min(max(n // FIRST_PART, FEWEST_SAMPLES), MOST_SAMPLES), PER_FEATURE * d)
    per_row = 12 * tasks[0].most_values * tasks[0].n_blocks // n + 1
    size = min(SEVERAL * first, n // 4, PART_BYTES // per_row)
    if d > MOST_FACTORED or size < first:
        return [None] * len(tasks)
    part = crew.part(size / n, tasks[0].seed, d)
    crew.n_bytes += part.cost.nbytes + (
        part.X.data.nbytes + part.X.indices.nbytes if hasattr(part.X, "indices") else part.X.nbytes
    )
    return [_start(part, plan, positive, task.seed) for positive, task in zip(plan.positives, tasks, strict=True)]


def _start(part: Part, plan: Plan, positive: int, seed: int) -> tuple[Floats, float] | None:
    y = np.where(part.labels == positive, 1.0, -1.0)
    if len(np.unique(y)) < 2:
        return None
    bias: Bias = plan.bias
    problem = Problem(part.X, y, cost=part.cost, loss=loss_from_name(plan.loss), bias=bias)
    found = solve(problem, ProximalNewton(seed), tol=ROUGH)
    theta = np.abs(found.beta) / part.cost
    used = theta[theta > 0]
    level = float(np.minimum(used, 1.0).mean()) if len(used) else 1.0
    return np.append(found.w, found.b / (bias.scale or 1.0)), level
