"""The driver of a distributed fit: all binary problems in step, one round for all of them, until each is certified."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from maxmargin.core import Problem, Solution, Status
from maxmargin.distributed.cocoa import cocoa
from maxmargin.distributed.course import Course, Stop, Task
from maxmargin.distributed.newton import newton
from maxmargin.distributed.partition import Samples
from maxmargin.distributed.tuning import TUNING
from maxmargin.distributed.workers.block import Command
from maxmargin.distributed.workers.threads import Crew
from maxmargin.solvers import Budget, Event, solve
from maxmargin.solvers.base import Clock, deferred_interrupt
from maxmargin.solvers.linear.normal_equations import TUNING as NEWTON
from maxmargin.solvers.linear.proximal_newton import ProximalNewton, first_size, level_of
from maxmargin.threads import one_blas_thread
from maxmargin.typing import Floats

Watcher = Callable[[int, Event], bool]
"""Hears of each round of each problem; True asks that problem to stop."""


def run(crew: Crew, tasks: Sequence[Task], clock: Clock, watch: Watcher) -> tuple[list[Solution], int]:
    """(A solution of each binary problem, how often dual variables were lost). Ctrl-C ends all of them with the best so far."""
    plan, facts = tasks[0].plan, tasks[0].facts
    courses, was_interrupted = [Course(task, clock) for task in tasks], False
    starts = [(np.zeros(plan.n_features + 1), 1.0)] * len(tasks)
    with one_blas_thread():  # the vectors are short, and the blocks need the other threads
        try:
            starts = starts if plan.is_wide else _starts(crew, tasks, clock)
        except KeyboardInterrupt:
            was_interrupted = True
        size = f"{facts.n_present} samples with {plan.n_features} features on {crew.n_blocks} blocks"
        for course, (w, level) in zip(courses, starts, strict=True):
            if plan.is_wide:
                course.begin(cocoa, f"{size}: each improves its own dual variables")
            else:
                course.begin(partial(newton, w=w, level=level), f"{size}: sums of d × d equations")
        solutions = Rounds(crew, courses, clock, watch).until_done(was_interrupted)
    return solutions, sum(course.n_lost for course in courses)


class Rounds:
    """The rounds of all courses, which have begun. Ctrl-C ends all of them with the best so far."""

    def __init__(self, crew: Crew, courses: Sequence[Course], clock: Clock, watch: Watcher) -> None:
        self.crew, self.courses, self.clock, self.watch = crew, courses, clock, watch
        self.pending: dict[int, Command] = {}
        self.solutions: dict[int, Solution] = {}
        self.is_over = False

    def until_done(self, was_interrupted: bool) -> list[Solution]:
        """A solution of each problem."""
        try:
            for k in range(len(self.courses)):
                self._listen(k)
            if was_interrupted:
                self._stop_all(Status.INTERRUPTED)
            while self.pending:
                try:
                    self._round()
                except KeyboardInterrupt:
                    if self.is_over:
                        raise
                    self._stop_all(Status.INTERRUPTED)
        finally:
            for k in set(range(len(self.courses))) - set(self.solutions):  # after an error
                self.courses[k].answers.put(SystemExit())
        return [self.solutions[k] for k in range(len(self.courses))]

    def _round(self) -> None:
        spent = None if self.is_over else self.clock.spent()
        if spent is not None:
            self._stop_all(spent)
            return
        sums = self.crew.ask(self.pending)
        with deferred_interrupt():  # what the blocks have done is not lost half-way
            self.clock.rounds += 1
            for k in list(self.pending):
                self._reply(k, sums[k])
                if self.watch(k, self.courses[k].event()) and k in self.pending and not self.is_over:
                    self._reply(k, Stop(Status.STOPPED))

    def _stop_all(self, status: Status) -> None:
        self.is_over = True
        for k in list(self.pending):
            self._reply(k, Stop(status))

    def _reply(self, k: int, answer: Any) -> None:
        self.courses[k].answers.put(answer)
        self._listen(k)

    def _listen(self, k: int) -> None:
        """Wait for the next command of a course, or for its end."""
        said = self.courses[k].said.get()
        if isinstance(said, tuple):
            self.pending[k] = said
            return
        self.pending.pop(k, None)
        if isinstance(said, BaseException):
            raise said
        self.solutions[k] = said


def _starts(crew: Crew, tasks: Sequence[Task], clock: Clock) -> list[tuple[Floats, float]]:
    """Weights to begin with, from a random part of the samples that the driver solves itself."""
    facts = tasks[0].facts
    per_row = 12 * facts.n_values // facts.n + 1
    size = min(first_size(facts.n, facts.n_features), facts.n // 4, TUNING.alone_bytes / 2 // per_row)
    part = crew.part(size / facts.n)
    return [_start(part, task, clock) for task in tasks]


def _start(part: Samples, task: Task, clock: Clock) -> tuple[Floats, float]:
    """(w̃, the mean θ of the support vectors) of a part of the samples."""
    plan, y = task.plan, np.where(part.y == task.positive, 1.0, -1.0)
    problem = Problem(part.X, y, cost=part.weights, loss=plan.loss, bias=plan.bias)
    budget = Budget(seconds=max(clock.seconds_left, 0.0))
    found = solve(problem, ProximalNewton(plan.seed), tol=NEWTON.rough, budget=budget)
    if found.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    return np.append(found.w, found.b / (plan.bias.scale or 1.0)), level_of(np.abs(found.beta) / part.weights)
