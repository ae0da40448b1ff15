"""The course of one binary problem: what is known of it, and when it ends.

A course is a generator: it yields a command for all blocks and is sent their sums, so that the courses of several classes can
share each round. Whoever runs them throws `Stop` into a course whose time is over; it then has its last weights judged and ends.
"""

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from maxmargin.core import Bias, Certificate, Solution, Status
from maxmargin.core.losses import Hinge, Loss
from maxmargin.core.solution import TracePoint
from maxmargin.distributed.certificate import Dual, judge
from maxmargin.distributed.workers.messages import Command, Sums
from maxmargin.solvers.base import Clock
from maxmargin.typing import Floats

T = TypeVar("T")
Course = Generator[Command, Sums, T]
"""Yields commands, is sent sums, returns something."""

NEARBY = np.concatenate(([0.0], *((d, -d) for d in (3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3))))
"""A free bias that was only kept up to date is compared with others so far from it, in margins."""


class Stop(Exception):  # noqa: N818
    """Thrown into a course that shall end with what it has."""

    def __init__(self, status: Status) -> None:
        super().__init__(status)
        self.status = status


@dataclass(frozen=True)
class Task:
    """A binary problem without its samples: what the driver knows of it."""

    loss: Loss
    bias: Bias
    n_features: int
    n_samples: int
    n_blocks: int
    cost_plus: float  # the costs of the positives, and of the negatives
    cost_minus: float
    mean_square: float  # of the samples' lengths
    most_values: int  # stored in one block
    is_kept: bool
    tol: float
    seed: int

    @property
    def mean_cost(self) -> float:
        """The mean over the samples that count."""
        return (self.cost_plus + self.cost_minus) / self.n_samples

    def first_bias(self) -> float:
        """The best free bias where all scores are zero."""
        if not self.bias.is_free:
            return 0.0
        if isinstance(self.loss, Hinge):
            return float(np.sign(self.cost_plus - self.cost_minus))
        return (self.cost_plus - self.cost_minus) / (self.cost_plus + self.cost_minus)


@dataclass
class Record:
    """The best model so far, and the road there."""

    task: Task
    clock: Clock
    gap: float = np.inf  # the last estimate
    fresh: Certificate | None = None  # a certificate since the last look
    best: tuple[Floats, float, Certificate] | None = None
    trace: list[TracePoint] = field(default_factory=list)
    route: list[str] = field(default_factory=list)
    present: tuple[Floats, Floats, Dual] | None = None  # what would be judged now: w, biases, dual
    n_lost: int = 0  # how often a block had lost its dual variables

    @property
    def last_gap(self) -> float:
        """The relative gap that was certified last."""
        return self.trace[-1].relative_gap if self.trace else np.inf

    @property
    def best_gap(self) -> float:
        """The smallest certified relative gap so far."""
        return np.inf if self.best is None else self.best[2].relative_gap

    def judge(self) -> Course[bool]:
        """Certify the present weights; True where the tolerance is met."""
        assert self.present is not None
        w, biases, dual = self.present
        b, certificate = yield from judge(w, biases, dual, self.task.bias, self.task.tol)
        if certificate is None:
            self.n_lost += 1
            return False
        self.fresh = certificate
        self.trace.append(
            TracePoint(
                self.clock.seconds, self.clock.rounds, certificate.primal, certificate.dual, certificate.relative_gap
            )
        )
        if certificate.relative_gap < self.best_gap:
            self.best = (w.copy(), b, certificate)
        return certificate.relative_gap <= self.task.tol

    def solution(self, status: Status, why: str) -> Solution:
        """What is handed back."""
        assert self.best is not None
        w, b, certificate = self.best
        return Solution(
            w=w,
            b=b,
            beta=np.empty(0),
            status=Status.SOLVED if certificate.relative_gap <= self.task.tol else status,
            n_iter=self.clock.rounds,
            solver=f"{', then '.join(self.route)}: {why}",
            trace=tuple(self.trace),
            certificate=certificate,
        )


def until_done(record: Record, method: Course[Status], why: str) -> Course[Solution]:
    """Run a method to its end, or to the moment when it is stopped; the last word is a certificate."""
    try:
        status = yield from method
    except Stop as stop:
        status = stop.status
        if record.present is not None:
            yield from record.judge()
    if record.best_gap > 1.0:  # w = 0 is better than that, or nothing was judged yet
        task = record.task
        record.present = (np.zeros(task.n_features), np.array([task.first_bias()]), Dual(0.0, 0.0))
        yield from record.judge()
    return record.solution(status, why)


def ending(record: Record) -> Status:
    """How a method that makes no more progress has ended."""
    if record.best_gap <= record.task.tol:
        return Status.SOLVED
    return Status.ALMOST if record.best_gap <= 10 * record.task.tol else Status.UNREACHED
