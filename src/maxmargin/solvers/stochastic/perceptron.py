"""The perceptron: find w with y_j F_j > 0 for all samples, one mistake at a time.

    w ← 0;  for each sample j in turn:  if y_j⟨w, φ̃_j⟩ ≤ 0 then w ← w + y_j φ̃_j;   until an epoch makes no mistake

(Rosenblatt, 1958). φ̃_j has a constant feature behind it where there is a bias. On linear problems w is kept, with kernels the
number of mistakes at each sample: the updates are the same. At most (ρ/γ)² of them are made, ρ = max‖φ̃_j‖ and γ the largest
margin min_j y_j⟨u, φ̃_j⟩ of a unit vector u. The averaged and the voted form are those of Freund & Schapire (1999).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from maxmargin.core import Problem, Status
from maxmargin.solvers.base import Budget, Clock, Event, deferred_interrupt
from maxmargin.solvers.stochastic.samples import Samples, epochs_of
from maxmargin.threads import one_blas_thread
from maxmargin.typing import Floats, Indices


@dataclass
class Run:
    """A perceptron on its way: w (or, with a kernel, coefficients), and every mistake so far.

    `problem` is the hard margin whose constraints it tries to meet: infinite costs, no bias or a penalised one. Costs
    O(non-zeros) an epoch; with a kernel n values a mistake, and 256 a visit where n is large.

    Examples
    --------
    >>> from maxmargin.core import Bias
    >>> X, y = np.array([[1.0, 2.0], [2.0, -1.0], [-1.0, -1.0]]), np.array([1.0, 1.0, -1.0])
    >>> run = Run.start(Problem(X, y, np.full(3, np.inf), bias=Bias.none()), shuffle=False)
    >>> run.epoch(), run.epoch(), run.w[:-1], run.log[0]
    (2, 0, array([3., 1.]), array([0, 1]))
    """

    problem: Problem
    visits: Iterator[Indices]
    samples: Samples
    w: Floats
    u: Floats
    clock: int = 0
    epochs: int = 0
    last_mistakes: int = -1
    found: list[Indices] = field(default_factory=list)
    status: Status = Status.ITERATION_BUDGET
    certificate: None = None

    @classmethod
    def start(cls, problem: Problem, shuffle: bool, seed: int = 0) -> "Run":
        """w = 0; the samples are visited in a fresh order each epoch, or as they come."""
        samples, order = Samples.of(problem, Budget.bytes), "permuted" if shuffle else "given"
        visits = epochs_of(np.arange(problem.n), order, seed, samples.n_values if problem.is_linear else 0)
        return cls(problem, visits, samples, *np.zeros((2, samples.size)))

    @property
    def is_clean(self) -> bool:
        """Whether the last epoch made no mistake: then w separates the samples."""
        return self.last_mistakes == 0

    @property
    def log(self) -> Any:
        """Two rows: the sample and the time of each mistake, in order."""
        return np.concatenate([np.empty((2, 0), dtype=np.int64), *self.found], axis=1)

    def epoch(self, is_over: Callable[[], bool] = lambda: False) -> int:
        """Visit all samples once (or until `is_over` says so), and count the mistakes."""
        count = 0
        with deferred_interrupt() as was_interrupted:
            for visits in self.samples.cut(next(self.visits)):
                count += self.visit(visits)
                if was_interrupted() or is_over():
                    break
            else:
                self.last_mistakes = count
            self.epochs += 1
        return count

    def visit(self, visits: Indices) -> int:
        """Visit some samples in turn, and count the mistakes."""
        self.found.append(visit_samples(self.samples, self.problem.y, visits, self.clock, self.w, self.u))
        self.clock += len(visits)
        return len(self.found[-1][0])


def visit_samples(samples: Samples, signed: Floats, visits: Indices, clock: int, w: Floats, u: Floats) -> Indices:
    """Visit samples in turn after `clock` visits, changing w and u in place: the samples of the mistakes, and their times.

    `signed` is y times a sample's weight, which is the length of its update.
    """
    from maxmargin._loops.stochastic import visit

    before = w if samples.rows is not None else w.copy()
    found = np.empty((2, len(visits)), dtype=np.int64)
    count = visit(*samples.arrays(visits), signed, samples.scale, visits, clock, w, u, *found)
    samples.follow(before, w)
    return found[:, :count].copy()


def train(shuffle: bool, seed: int, problem: Problem, *_: Any, budget: Budget, observe: Any = None, **others: Any) -> Any:
    """Epochs until one is clean, or the budget, an observer or Ctrl-C ends it: a `Run`.

    It is called as `solve` is, but there is neither a solver to choose nor a gap: observers are told the share of mistakes.
    """
    run, clock = Run.start(problem, shuffle, seed), Clock(budget)
    try:
        with one_blas_thread():
            while not run.is_clean and clock.spent() is None:
                run.epoch(lambda: clock.seconds_left <= 0)
                clock.rounds += 1
                wrong = np.inf if run.last_mistakes < 0 else run.last_mistakes / problem.n
                if observe is not None and observe(Event(clock.seconds, run.epochs, wrong, None)):
                    break
        run.status = Status.SOLVED if run.is_clean else clock.spent() or Status.STOPPED
    except KeyboardInterrupt:
        run.status = Status.INTERRUPTED
    return run
