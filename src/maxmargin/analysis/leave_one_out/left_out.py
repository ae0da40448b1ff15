"""The decisions of a problem's left-out samples as intervals: from the theorems first, tighter on request."""

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from maxmargin._loops.leave_one_out.fields import EXHAUSTED, ROUNDS
from maxmargin.analysis.leave_one_out.full import Full
from maxmargin.analysis.leave_one_out.on_equations import OnEquations
from maxmargin.analysis.leave_one_out.on_gram import OnGram
from maxmargin.analysis.leave_one_out.retrain import BySolver, Goal, OnRows, Retrainer
from maxmargin.analysis.leave_one_out.theorems import is_outside, without_retraining
from maxmargin.threads import one_blas_thread, together
from maxmargin.typing import Indices

TURNS = 3
"""So often the equations are asked, each time with those who moved the last time."""


class LeftOut:
    """F₋ᵢ(xᵢ) ∈ [lower_i, upper_i] for each sample of one binary problem.

    Parameters
    ----------
    full : Full
        The problem on all samples, solved tightly.
    tol : float
        The relative gap to which a sample is retrained at most.
    max_bytes : int
        What a Gram matrix may take.

    Attributes
    ----------
    lower, upper : arrays (n,)
        Certified ends; both the same infinity where no sample of the class would be left.
    is_retrained : bool array (n,)
        Whom neither the theorems nor the equations of the full solution settled.
    is_solved_for : bool array (n,)
        Whom the theorems did not settle.

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
        self.is_outside = is_outside(full)
        self.is_retrained, self.is_solved_for, self._is_exhausted = np.zeros((3, full.problem.n), dtype=bool)
        self._retrainers: list[Retrainer] = []
        self._lock = threading.Lock()

    def retrain(
        self, samples: Indices, goal: Goal, n_threads: int = 1, done: Callable[[int], Any] | None = None
    ) -> bool:
        """Leave these samples out one by one until the goal is met or the tolerance is; False: interrupted.

        What is known by then is kept. `done` hears how many more samples are finished, in any thread; its True means stop.
        """
        n_asked = len(samples)
        samples = samples[~self._is_alone(samples) & (self.full.problem.cost[samples] > 0)]
        self.is_solved_for[samples] = True
        if len(samples) and not self._retrainers:
            self._retrainers = self._choose(n_threads)
        open_ones = samples[~self._meets(samples, goal)]
        untold = n_asked - len(open_ones)

        def tell(more: int) -> Any:
            nonlocal untold
            more, untold = more + untold, 0
            return None if done is None else done(more)

        for retrainer in self._retrainers:
            if not len(open_ones):
                break
            retrainer.prepare()
            if not self._work(retrainer, open_ones, goal, n_threads, tell):
                return False
            open_ones = open_ones[~self._meets(open_ones, goal)]
        return untold == 0 or tell(0) is not True

    def _is_alone(self, samples: Indices) -> Any:
        return np.isinf(self.lower[samples]) & (self.lower[samples] == self.upper[samples])

    def _meets(self, samples: Indices, goal: Goal) -> Any:
        lower, upper = self.lower[samples], self.upper[samples]
        is_signed = goal.at_sign & ((lower > 0) | (upper <= 0))
        is_known = is_signed | (upper - lower <= goal.width)
        # Of kernel sums nobody who comes later knows more digits; of linear ones the solver's certificate does.
        is_final = goal.at_rounding or not self.full.problem.is_linear
        return is_known | self._is_exhausted[samples] if is_final else is_known

    def _choose(self, n_threads: int) -> list[Retrainer]:
        """The fast way, if one suits, and the slow one for what that leaves open."""
        slow = BySolver(self.full, self.tol)
        if OnGram.suits(self.full, self.max_bytes):
            return [OnGram(self.full, self.max_bytes, n_threads), slow]
        if not OnRows.suits(self.full, self.max_bytes):
            return [slow]
        equations = OnEquations(self.full, self.max_bytes, n_threads)
        return [*[equations] * TURNS, OnRows(self.full, equations.tableau), slow]

    def _work(
        self, retrainer: Retrainer, samples: Indices, goal: Goal, n_threads: int, tell: Callable[[int], Any]
    ) -> bool:
        """Hand the samples out to threads in small batches; the intervals only ever shrink.

        A sample is finished when it meets the goal, when only rounding is left of its gap, or when nobody comes after this
        retrainer.
        """
        state = {"next": 0}
        stop, is_last = threading.Event(), retrainer is self._retrainers[-1]

        def take() -> Indices:
            with self._lock:
                start = state["next"]
                state["next"] = min(start + retrainer.batch, len(samples))
                return samples[start : state["next"]]

        def work() -> None:
            try:
                while not stop.is_set() and len(batch := take()):
                    found = retrainer.run(batch, self._brackets[batch], goal, stop.is_set)
                    with self._lock:
                        self.lower[batch] = np.maximum(self.lower[batch], found[:, 0])
                        self.upper[batch] = np.minimum(self.upper[batch], found[:, 1])
                        self.is_retrained[batch] |= found[:, ROUNDS] > 0
                        self._is_exhausted[batch] |= found[:, EXHAUSTED] > 0
                        finished = len(batch) if is_last else int(self._meets(batch, goal).sum())
                        if tell(finished) is True:
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
