"""The courses of all binary problems: what is known of each, when it ends, and the rounds in which they ask the blocks.

A course runs in a thread of its own, so that a method is written as on one machine: `ask` waits for the round that answers, and
there is one round for all courses. `Stop` is raised in a course whose time is over; it then has its last weights judged.
"""

from collections.abc import Callable, Sequence
from functools import partial
from queue import SimpleQueue
from threading import Thread
from typing import Any

import numpy as np

from maxmargin.core import Certificate, Hinge, Problem, Solution, Status, TracePoint
from maxmargin.distributed.certificate import Candidates, judge
from maxmargin.distributed.cocoa import cocoa
from maxmargin.distributed.newton import newton
from maxmargin.distributed.partition import Survey
from maxmargin.distributed.tuning import TUNING
from maxmargin.distributed.workers.block import Command, Plan, Site, Sums
from maxmargin.distributed.workers.threads import Crew
from maxmargin.solvers import Budget, solve
from maxmargin.solvers.base import DRIVER, Clock, Event, Observer, deferred_interrupt
from maxmargin.solvers.linear.normal_equations import TUNING as NEWTON
from maxmargin.solvers.linear.proximal_newton import ProximalNewton, first_size, level_of
from maxmargin.threads import one_blas_thread
from maxmargin.typing import Floats


class Stop(Exception):  # noqa: N818
    """Raised in a course that has to end with what it has; carries the status to end with."""


def no_alpha(site: Site) -> Floats:
    """α = 0."""
    return np.zeros(len(site.y))


class Course:
    """A binary problem without its samples, its best model so far, and the road there."""

    def __init__(self, plan: Plan, facts: Survey, positive: int, tol: float, clock: Clock) -> None:
        self.plan, self.facts, self.positive, self.tol, self.clock = plan, facts, positive, tol, clock
        cost = plan.cost * facts.totals
        self.costs = float(cost[positive]), float(cost.sum() - cost[positive])  # of the positives, of the negatives
        self.said: SimpleQueue[Any] = SimpleQueue()  # commands, and at the end a solution or an error
        self.answers: SimpleQueue[Any] = SimpleQueue()  # sums, or an exception to raise
        self.method: Any = None  # what is at work: it has a gap, about, and candidates
        self.gaps = [np.inf]  # the best estimate after each step
        self.fresh: Certificate | None = None  # a certificate since the last look
        self.best: tuple[Floats, float, Certificate] | None = None
        self.trace: list[TracePoint] = []
        self.route: list[str] = []
        self.n_lost = 0  # rounds in which a block had lost its dual variables

    def first_bias(self) -> float:
        """The best free bias where all scores are zero."""
        plus, minus = self.costs
        if not self.plan.bias.is_free:
            return 0.0
        return float(np.sign(plus - minus)) if isinstance(self.plan.loss, Hinge) else (plus - minus) / (plus + minus)

    def begin(self, method: Callable[["Course"], Status], why: str) -> None:
        """Run a method to its end, or to the moment when it is stopped, in another thread."""

        def work() -> None:
            self.answers.get()  # to the question when to begin
            try:
                self.said.put(self._until_done(method, why))
            except BaseException as error:
                self.said.put(error)

        Thread(target=work, name="maxmargin-course", daemon=True).start()

    def ask(self, *command: Any) -> Sums:
        """The sums over all blocks."""
        self.said.put(command)
        answer: Any = self.answers.get()
        if isinstance(answer, BaseException):
            raise answer
        self.n_lost += answer["lost"] > 0
        return answer  # type: ignore[no-any-return]

    def judge(self, candidates: Candidates | None = None) -> bool:
        """Certify what the method has, unless something else is given; True where the tolerance is met."""
        candidates = self.method.candidates() if candidates is None else candidates
        b, proof = judge(self.ask, candidates, self.plan.bias, self.tol)
        self.fresh, clock = proof, self.clock
        self.trace.append(TracePoint(clock.seconds, clock.rounds, proof.primal, proof.dual, proof.relative_gap))
        if proof.relative_gap < self.best_gap:
            self.best = (candidates.w, b, proof)
        return proof.relative_gap <= self.tol

    @property
    def best_gap(self) -> float:
        """The smallest certified relative gap so far."""
        return np.inf if self.best is None else self.best[2].relative_gap

    def is_stalled(self, gap: float) -> bool:
        """Whether the estimated gap has not fallen by a tenth in many steps, this one included."""
        self.gaps.append(min(gap, self.gaps[-1]))
        recent = max(DRIVER.window, len(self.gaps) // 2)
        return len(self.gaps) > recent and self.gaps[-1] > DRIVER.tenth * self.gaps[-1 - recent]

    def ending(self) -> Status:
        """How a method that makes no more progress has ended."""
        self.judge()
        return Status.ALMOST if self.best_gap <= 10 * self.tol else Status.UNREACHED

    def event(self) -> Event:
        """What observers are told."""
        proof, self.fresh = self.fresh, None
        estimate = np.inf if self.method is None else self.method.gap
        return Event(self.clock.seconds, self.clock.rounds, estimate if proof is None else proof.relative_gap, proof)

    def _until_done(self, method: Callable[["Course"], Status], why: str) -> Solution:
        """Run the method, certify what it found, and return that."""
        try:
            status = method(self)
        except Stop as stop:
            (status,) = stop.args
            if self.method is not None:
                self.judge()
        if self.best_gap > 1.0:  # w = 0 is better than that, or nothing was judged yet
            biases = np.array([self.first_bias()])
            self.judge(Candidates(np.zeros(self.plan.n_features), biases, (no_alpha,), np.zeros(2)))
        assert self.best is not None
        w, b, certificate = self.best
        return Solution(
            w=w,
            b=b,
            beta=np.empty(0),
            status=Status.SOLVED if certificate.relative_gap <= self.tol else status,
            n_iter=self.clock.rounds,
            solver=f"{', then '.join(self.route)}: {why}",
            trace=tuple(self.trace),
            certificate=certificate,
        )


def run(
    crew: Crew, plan: Plan, facts: Survey, tol: float, clock: Clock, observers: Sequence[Observer]
) -> tuple[list[Solution], int]:
    """(A solution of each binary problem, how often dual variables were lost). Ctrl-C ends all of them with the best so far."""
    courses, status = [Course(plan, facts, k, tol, clock) for k in plan.positives], None
    starts = [(np.zeros(plan.n_features + 1), 1.0)] * len(courses)
    with one_blas_thread():  # the vectors are short, and the blocks need the other threads
        try:
            starts = starts if plan.is_wide else _starts(crew, plan, facts, clock)
        except KeyboardInterrupt:
            status = Status.INTERRUPTED
        size = f"{facts.n_present} samples with {plan.n_features} features on {plan.n_blocks} blocks"
        for course, (w, level) in zip(courses, starts, strict=True):
            if plan.is_wide:
                course.begin(cocoa, f"{size}: each improves its own dual variables")
            else:
                course.begin(partial(newton, w=w, level=level), f"{size}: sums of d × d equations")
        solutions = Rounds(crew, courses, clock, observers).until_done(status)
    return solutions, sum(course.n_lost for course in courses)


class Rounds:
    """The rounds of all courses, which have begun. Ctrl-C ends all of them with the best so far."""

    def __init__(self, crew: Crew, courses: Sequence[Course], clock: Clock, observers: Sequence[Observer]) -> None:
        self.crew, self.courses, self.clock, self.observers = crew, courses, clock, observers
        self.pending: dict[int, Command] = {}
        self.solutions: dict[int, Solution] = {}
        self.is_over = False

    def until_done(self, status: Status | None) -> list[Solution]:
        """A solution of each problem; a status says that all of them have to end at once, and why."""
        try:
            self._reply(dict.fromkeys(range(len(self.courses))))
            while self.pending:
                status = status or (None if self.is_over else self.clock.spent())
                try:
                    self._round(status)
                    status = None
                except KeyboardInterrupt:
                    if self.is_over:
                        raise
                    status = Status.INTERRUPTED
        finally:
            for k in set(range(len(self.courses))) - set(self.solutions):  # after an error
                self.courses[k].answers.put(SystemExit())
        return [self.solutions[k] for k in range(len(self.courses))]

    def _round(self, status: Status | None) -> None:
        """Answer all courses, or tell them how they end; then the observers look, and may end some of them."""
        if status is not None:
            self.is_over = True
            self._reply({k: Stop(status) for k in self.pending})
            return
        sums = self.crew.ask(self.pending)
        with deferred_interrupt():  # what the blocks have done is not lost half-way
            self.clock.rounds += 1
            self._reply(sums)
            stopped = [k for k in sums if self.observers[k](self.courses[k].event()) and k in self.pending]
            self._reply({k: Stop(Status.STOPPED) for k in stopped if not self.is_over})

    def _reply(self, answers: dict[int, Any]) -> None:
        """Answer some courses, then wait for the next command of each, or for its end."""
        for k, answer in answers.items():
            self.courses[k].answers.put(answer)
        for k in answers:
            said = self.courses[k].said.get()
            self.pending.pop(k, None)
            if isinstance(said, BaseException):
                raise said
            into: dict[int, Any] = self.pending if isinstance(said, tuple) else self.solutions
            into[k] = said


def _starts(crew: Crew, plan: Plan, facts: Survey, clock: Clock) -> list[tuple[Floats, float]]:
    """(w̃, the mean θ of the support vectors) of each problem on a random part of the samples, which the driver solves itself."""
    per_row = 12 * facts.n_values // facts.n + 1
    size = min(first_size(facts.n, facts.n_features), facts.n // 4, TUNING.alone_bytes / 2 // per_row)
    part, starts = crew.part(size / facts.n), []
    for positive in plan.positives:
        y = np.where(part.y == positive, 1.0, -1.0)
        problem = Problem(part.X, y, cost=part.weights, loss=plan.loss, bias=plan.bias)
        budget = Budget(seconds=max(clock.seconds_left, 0.0))
        found = solve(problem, ProximalNewton(plan.seed), tol=NEWTON.rough, budget=budget)
        if found.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        w = np.append(found.w, found.b / (plan.bias.scale or 1.0))
        starts.append((w, level_of(np.abs(found.beta) / part.weights)))
    return starts
