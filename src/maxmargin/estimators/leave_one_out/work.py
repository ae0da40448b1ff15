"""The intervals of all decisions of a classifier, made smaller where its labels ask for it."""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from maxmargin.analysis.leave_one_out import Full, LeftOut
from maxmargin.analysis.leave_one_out.equations import Goal
from maxmargin.analysis.leave_one_out.full import TUNING
from maxmargin.core import products
from maxmargin.estimators.leave_one_out.case import Case
from maxmargin.estimators.multiclass.backends import Elsewhere, elsewhere
from maxmargin.rounding import SMALLEST, gamma, length_above
from maxmargin.typing import Floats, Indices, Matrix


class Progress(NamedTuple):
    """What an observer sees: samples done of those that the theorems left open, seconds so far, and seconds to come."""

    done: int
    total: int
    seconds: float
    eta: float


Observer = Callable[[Progress], object]
"""Called after each batch; returning True ends the work with what is known."""


class Work:
    """The intervals of the decisions of some samples, made smaller where the label asks for it."""

    def __init__(
        self,
        case: Case,
        left: list[LeftOut],
        samples: Indices,
        n_threads: int,
        started: float,
        observe: Observer | None,
    ) -> None:
        self.case, self.left, self.samples = case, left, samples
        self.n_threads, self.started, self.observe = n_threads, started, observe
        self.is_meant = np.zeros(case.X.shape[0], dtype=bool)
        self.is_meant[samples] = True
        self.tally: Any = None
        self.was_stopped = False
        shape = (len(left), case.X.shape[0])
        self.lower, self.upper = np.empty(shape), np.empty(shape)
        for k, one in enumerate(left):
            others = np.setdiff1d(np.arange(shape[1]), case.rows[k])
            if len(others):
                self.lower[k, others], self.upper[k, others] = _elsewhere(one.full, case.X, others, n_threads)
            self.read(k)

    def read(self, k: int) -> None:
        """Take over what problem k knows by now."""
        self.lower[k, self.case.rows[k]], self.upper[k, self.case.rows[k]] = self.left[k].lower, self.left[k].upper

    def all(self, decision_values: bool) -> bool:
        """Retrain until every label is certain, or the tolerance is reached; False: interrupted."""
        rule = self.case.rule
        for turn in range(rule.wishes):
            wish = rule.wish(self.lower, self.upper, turn)
            if not self.retrain(wish.entries, Goal(wish.at_sign, wish.width)):
                return False
        everything = np.ones(self.lower.shape, dtype=bool)
        return not decision_values or self.retrain(everything, Goal(False, TUNING.value_width, at_rounding=True))

    def retrain(self, entries: Any, goal: Goal) -> bool:
        """Leave out the marked samples of each problem."""
        with np.errstate(invalid="ignore"):
            entries = entries & self.is_meant & ~(self.upper - self.lower <= goal.width)
        chosen = [np.flatnonzero(entries[k, rows]) for k, rows in enumerate(self.case.rows)]
        self._begin(sum(len(samples) for samples in chosen))
        backend = elsewhere()
        for k, samples in enumerate(chosen):
            if len(samples):
                if backend is None:
                    is_complete = self.left[k].retrain(samples, goal, self.n_threads, self._tell)
                else:
                    is_complete = self._retrain_elsewhere(backend, self.left[k], samples, goal)
                self.read(k)
                if not is_complete or self.was_stopped:
                    return False
        return True

    def _retrain_elsewhere(self, backend: Elsewhere, one: LeftOut, samples: Indices, goal: Goal) -> bool:
        """The same on a backend of joblib's: each of its workers takes a part of the samples."""
        parts = np.array_split(samples, min(backend.n_jobs, len(samples)))
        found = backend.map(_retrained, [(one.full, one.tol, one.max_bytes, part, goal) for part in parts])
        for part, intervals in zip(parts, found, strict=True):
            one.lower[part], one.upper[part] = intervals.lower, intervals.upper
            one.is_retrained[part] |= intervals.is_retrained
            self._tell(len(part))
        return not self.was_stopped

    def _begin(self, total: int) -> None:
        self._done, self._total, self._since = 0, total, time.perf_counter()
        if self.tally is not None:
            self.tally.begin(total)

    def _tell(self, more: int) -> bool:
        self._done += more
        now = time.perf_counter()
        pace = (now - self._since) / max(self._done, 1)
        news = Progress(self._done, self._total, now - self.started, pace * max(self._total - self._done, 0))
        if self.tally is not None:
            self.tally.see(news.done)
        if self.observe is not None and self.observe(news) is True:
            self.was_stopped = True
        return self.was_stopped


class _Intervals(NamedTuple):
    lower: Floats
    upper: Floats
    is_retrained: Any


def _retrained(full: Full, tol: float, max_bytes: int, samples: Indices, goal: Goal) -> _Intervals:
    """Leave some samples out, in another process."""
    one = LeftOut(full, tol=tol, max_bytes=max_bytes)
    one.retrain(samples, goal)
    return _Intervals(one.lower[samples], one.upper[samples], one.is_retrained[samples])


def _elsewhere(full: Full, X: Matrix, rows: Indices, n_threads: int) -> tuple[Floats, Floats]:
    """The ends of a pair's decision for samples of other classes, which it never saw anyway."""
    problem = full.problem
    if problem.is_linear:
        f, size = products.scores(X, full.w, rows), length_above(full.w)
        terms = np.broadcast_to(products.entries(X), X.shape[:1])[rows]
        lengths = products.lengths_above(X[rows])
        error = gamma(terms + 4) * lengths * size + (2.0 * terms + 2.0) * SMALLEST
    else:
        used = np.flatnonzero(full.w)
        bounded = problem.expansion(used, full.w[used]).bounded(X[rows], np.float64, n_threads)
        f, error = bounded.sums[0, 0], bounded.error[0]
        squares = np.asarray(problem.kernel.diag(X), dtype=np.float64)[rows]
        lengths = np.sqrt(np.maximum(squares, 0.0)) * (1.0 + 1e-9)  # k(x, x) rounds by far less
    return full.elsewhere(f, error, lengths)
