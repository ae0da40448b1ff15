"""The decisions of a problem's left-out samples as intervals: from the theorems first, tighter on request.

    on shared equations   one linear system for all samples, then only what changes sides (`equations`): the hinge
    by any solver         the driver, warm-started: the hard margin, other losses, and what the equations could not decide

Every sample starts from the same full solution, so that neither the order nor the number of threads changes a bit.
"""

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from maxmargin.analysis.leave_one_out.equations import Ends, Equations, Goal, is_known
from maxmargin.analysis.leave_one_out.full import Full
from maxmargin.analysis.leave_one_out.theorems import is_outside, without_retraining
from maxmargin.core import Status, to_candidate
from maxmargin.solvers import Auto, Budget, solve
from maxmargin.threads import one_blas_thread, together
from maxmargin.typing import Flags, Floats, Indices


class BySolver:
    """The driver, warm-started, one sample at a time: slow, and good for every problem."""

    batch: int = 1

    def __init__(self, full: Full, tol: float) -> None:
        self.full, self.tol = full, tol

    def run(self, samples: Indices, brackets: Floats, goal: Goal, stop: Callable[[], bool]) -> Ends:
        """Each to the tolerance, unless a rougher one tells enough."""
        full, out = self.full, Ends.unknown(len(samples))
        for at, i in enumerate(samples):
            cost = full.problem.cost.copy()
            cost[i] = 0.0
            problem = replace(full.problem, cost=cost)
            warm = None if problem.is_hard else to_candidate(problem, full.beta)
            for tol in (1e-4, 1e-7, self.tol):
                solution = solve(problem, Auto(), tol=max(tol, self.tol), warm=warm, budget=Budget(stop=stop))
                if solution.status is Status.INTERRUPTED:
                    raise KeyboardInterrupt
                out.lower[at], out.upper[at] = (end[i] for end in Full.of(problem, solution).ends)
                if tol <= self.tol or is_known(out.lower[at], out.upper[at], goal):
                    break
                warm = solution
        return out


class LeftOut:
    """F₋ᵢ(xᵢ) ∈ [lower_i, upper_i] for each sample of one binary problem.

    Parameters
    ----------
    full : Full
        The problem on all samples, solved tightly.
    tol : float
        The relative gap to which a sample is retrained at most.
    max_bytes : int
        What the equations may take.

    Attributes
    ----------
    lower, upper : arrays (n,)
        Certified ends; both the same infinity where no sample of the class would be left.
    is_retrained : bool array (n,)
        Those that neither the theorems nor the equations of the full solution settled.
    is_solved_for : bool array (n,)
        Those that the theorems did not settle.

    Examples
    --------
    >>> from maxmargin.core import Problem
    >>> from maxmargin.solvers import solve
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> problem = Problem(X, y, cost=np.full(4, 10.0))
    >>> left_out = LeftOut(Full.of(problem, solve(problem, tol=1e-10)), tol=1e-10, max_bytes=2**20)
    >>> bool(left_out.lower[3] > 0), bool(left_out.lower[2] > 0)
    (True, False)
    >>> left_out.retrain(np.array([1, 2]), Goal(at_sign=False, width=1e-6))
    True
    >>> float(np.abs([left_out.lower[1:3], left_out.upper[1:3]]).max().round(4))
    0.0
    """

    def __init__(self, full: Full, *, tol: float, max_bytes: int) -> None:
        self.full, self.tol, self.max_bytes = full, tol, max_bytes
        bounds = without_retraining(full)
        self.lower, self.upper, self._brackets = bounds.lower, bounds.upper, bounds.brackets
        self.is_outside, self.alpha, self.xi = is_outside(full), full.alpha, full.xi
        self.is_retrained, self.is_solved_for, self._is_exhausted = np.zeros((3, full.problem.n), dtype=bool)
        self._solver = BySolver(full, tol)
        self._equations: Equations | None = None
        self._lock = threading.Lock()

    def retrain(self, samples: Indices, goal: Goal, n_threads: int = 1, done: Callable[[int], Any] = lambda more: None) -> bool:
        """Leave these samples out one by one until the goal is met or the tolerance is; False: interrupted.

        What is known by then is kept. `done` hears how many more samples are finished, in any thread; its True means stop.
        """
        n_asked = len(samples)
        samples = samples[~self.is_alone[samples] & (self.full.problem.cost[samples] > 0)]
        self.is_solved_for[samples] = True
        open_ones = samples[~self._meets(samples, goal)]
        untold = n_asked - len(open_ones)
        if len(open_ones) and self._equations is None and Equations.suits(self.full):
            self._equations = Equations(self.full, self.max_bytes, n_threads)
        turns = self._turns()
        while len(open_ones) and (way := next(turns, None)) is not None:
            if not self._work(way, open_ones, goal, n_threads, done):
                return False
            open_ones = open_ones[~self._meets(open_ones, goal)]
        return untold == 0 or done(untold) is not True

    def _turns(self) -> Iterator[Equations | BySolver]:
        """The equations, as long as samples that should have moved can join them, and then the solver."""
        if self._equations is not None:
            yield self._equations
            while self._equations.widen():
                yield self._equations
        yield self._solver

    @property
    def is_alone(self) -> Flags:
        """The only sample of its class."""
        return np.asarray(np.isinf(self.lower) & (self.lower == self.upper))

    def _meets(self, samples: Indices, goal: Goal) -> Flags:
        known = is_known(self.lower[samples], self.upper[samples], goal)
        # Of kernel sums nothing that comes later knows more digits; of linear ones the solver's certificate does.
        is_final = goal.at_rounding or not self.full.problem.is_linear
        return known | self._is_exhausted[samples] if is_final else known

    def _work(self, way: Equations | BySolver, samples: Indices, goal: Goal, n_threads: int, done: Callable[[int], Any]) -> bool:
        """Hand the samples out to threads in small batches; the intervals only ever shrink.

        A sample is finished when it meets the goal, when only rounding is left of its gap, or when the solver has tried.
        """
        starts = iter(range(0, len(samples), way.batch))
        stop, is_last = threading.Event(), way is self._solver

        def work() -> None:
            try:
                while not stop.is_set() and (start := next(starts, None)) is not None:
                    batch = samples[start : start + way.batch]
                    found = way.run(batch, self._brackets[batch], goal, stop.is_set)
                    with self._lock:
                        self.lower[batch] = np.fmax(self.lower[batch], found.lower)
                        self.upper[batch] = np.fmin(self.upper[batch], found.upper)
                        self.is_retrained[batch] |= is_last
                        self._is_exhausted[batch] |= found.is_exhausted
                        finished = len(batch) if is_last else int(self._meets(batch, goal).sum())
                        if done(finished) is True:
                            stop.set()
            except BaseException:
                stop.set()
                raise

        try:
            with one_blas_thread():
                together([work] * n_threads, n_threads)
        except KeyboardInterrupt:
            return False
        return not stop.is_set()
