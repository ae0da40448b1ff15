"""`leave_one_out`: from an estimator and data to labels with their proofs."""

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from maxmargin._loops.compile_time import Stopwatch
from maxmargin.analysis import leave_one_out as analysis
from maxmargin.analysis.leave_one_out import Full, Goal, LeftOut, XiAlpha
from maxmargin.analysis.leave_one_out.full import TUNING
from maxmargin.core import Status
from maxmargin.estimators.base import check_choice, check_flag, check_tol
from maxmargin.estimators.leave_one_out.machine import Machine, middle
from maxmargin.estimators.leave_one_out.result import ErrorRange, LeaveOneOut, SettledBy
from maxmargin.estimators.multiclass.parallel import jobs_elsewhere, map_elsewhere
from maxmargin.estimators.progress.callbacks import check_verbose
from maxmargin.estimators.wrapped import Wrapped, unwrapped
from maxmargin.threads import one_blas_thread, usable_threads
from maxmargin.typing import Flags, Floats, Indices


class Progress(NamedTuple):
    """What an observer sees: samples done of those that the theorems left open, seconds so far, and seconds to come."""

    done: int
    total: int
    seconds: float
    eta: float


Observer = Callable[[Progress], object]
"""Called after each batch; returning True ends the work with what is known."""


def leave_one_out(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    resolve: str | None = None,
    refit_steps: bool = False,
    decision_values: bool = False,
    tol: float = 1e-10,
    n_jobs: int | None = None,
    verbose: int = False,
    observe: Observer | None = None,
) -> LeaveOneOut:
    r"""The label that each sample gets from the machine trained without it: exact, at the price of a few retrainings.

        F₋ᵢ = the machine of   min ½‖w‖² + Σ_{j ≠ i} c_j ℓ(y_j F_j)        label of x_i = sign F₋ᵢ(x_i)

    Sample i gets cost 0. Costs that depend on the samples (C/n, λ, balanced class weights) stay as all n samples make them, or
    become what a fit on the others makes them: see `resolve`. Where the best bias is an interval its middle is meant, F = 0
    predicts ``classes_[0]``, and where only one class would be left, that class is predicted. Theorems settle most samples (see
    `SettledBy`), the equations of the full solution most others; the rest is retrained from the full solution until the duality
    gap proves their label. No label is guessed: what the tolerance cannot settle is marked ``UNDECIDABLE``.

    Parameters
    ----------
    estimator : LinearSVC, SVC or HardMarginSVC
        Fitted on these data or not; a fit serves as a start. It is not changed. Its budgets are not used: the machines
        that are meant are the exact ones. In a Pipeline, a search or a FrozenEstimator samples are left out of the machine at
        its end (see `refit_steps`); parameters that a search has chosen stay.
    X, y, sample_weight
        As for `fit`. The error is weighted.
    resolve : {"once", "each"}
        When ``Regularization.mean``, ``tikhonov`` and ``pegasos``, and ``class_weight="balanced"``, become costs. "once": on all
        n samples, and they stay; so does ``gamma="scale"``. "each": for each left-out sample on the others, as
        ``cross_val_predict(estimator, X, y, cv=LeaveOneOut())`` does. The two are the same for a C that is a number (the sum of
        slacks) without balanced weights. "each" refuses ``gamma="scale"``, which would be another kernel for each sample, unless
        `refit_steps` is True. By default "once", and "each" where `refit_steps` is True.
    refit_steps : bool
        False: exact for the machine. The steps before it in a pipeline stay as they were fitted (if they were not, copies are,
        on all rows), so that a scaler has seen the left-out sample; the result says so. True: each sample is left out of the
        steps too, and of what ``resolve="each"`` is about, ``gamma="scale"`` included. That costs n fits of the whole pipeline.
    decision_values : bool
        Also go on with every sample until its decision value is known to 1e-6.
    tol : float
        The relative gap to which a sample is retrained at most.
    n_jobs : int or None
        Threads; None takes as many as BLAS may use. The result does not depend on it. Retraining goes to joblib's backend
        instead where one is chosen that shares no memory (``joblib.parallel_config("dask")``).
    verbose : bool or int
        Show a bar with the time that is left on stderr; levels above 0 show the same.
    observe : callable, optional
        Called with a `Progress` (done, total, seconds, eta) after each batch; returning True ends it early.

    Returns
    -------
    LeaveOneOut
        With Ctrl-C: what is known by then, its status INTERRUPTED.

    Notes
    -----
    Cost: a fit to a gap at which a typical decision value is certain to 0.01, one pass over the data for the theorems, and for
    each open sample another. The samples inside their box are solved for together, once: |F|³ multiplications. Memory: O(n + d) a
    thread beside the data, and the matrix of those equations; kernel machines hold the rows of the Gram matrix of their samples.
    Where `cache_size` has no room for them, the samples are retrained instead. ``resolve="each"`` does this once for each
    different weight (of each class, for balanced weights or one-vs-one).

    Examples
    --------
    >>> from maxmargin import SVC, leave_one_out
    >>> X, y = [[0.0], [1.0], [1.9], [3.0], [4.0], [5.0]], [0, 0, 0, 1, 1, 1]
    >>> result = leave_one_out(SVC(C=10.0, kernel="linear"), X, y)
    >>> result.error, result.n_retrained
    (0.0, 0)
    """
    watch = Stopwatch()
    check_flag("decision_values", decision_values)
    check_verbose(verbose)
    whole = unwrapped(estimator)
    if check_flag("refit_steps", refit_steps):
        check_choice("resolve", resolve, (None, "each"))
    machine = Machine.of(whole.machine, whole.prepared(X, y), y, sample_weight)
    run = Run(machine, n_jobs, watch, observe)
    one_by_one = refitted(machine, whole, X, y, sample_weight) if refit_steps else None
    found = run.result(resolve or ("each" if refit_steps else "once"), decision_values, check_tol(tol), verbose, one_by_one)
    return replace(found, steps=whole.told(refit_steps, bool(whole.steps) and machine.has_rows_of(whole.machine)))


def refitted(machine: Machine, whole: Wrapped, X: Any, y: Any, sample_weight: Any) -> Iterator[tuple[Machine, Indices]]:
    """The machine, for the samples without weight, and then one for each other sample, behind steps that have not seen it."""
    yield machine, np.flatnonzero(machine.weights == 0)
    for i in np.flatnonzero(machine.weights).tolist():
        try:
            without = Machine.of(machine.probe, whole.prepared_without(i, X, y), y, sample_weight, without=i)
        except KeyboardInterrupt:  # in a step: what is known by then is kept
            return
        yield without, np.array([i])


class Run:
    """What is known of every left-out decision, (n_problems, n), and how: solve, apply the theorems, leave out what they do not
    decide. `betas` are the dual variables that another run may start from.
    """

    def __init__(self, machine: Machine, n_jobs: int | None, watch: Stopwatch, observe: Observer | None = None) -> None:
        n_jobs = machine.probe.n_jobs if n_jobs is None else n_jobs
        self.machine, self.rows, shape = machine, machine.rows, (len(machine.problems), machine.X.shape[0])
        self.n_threads, self.watch, self.observe = usable_threads(n_jobs), watch, observe
        self.was_stopped, self.fit_seconds, self.betas = False, 0.0, machine.betas
        self.lower, self.upper = np.full(shape, -np.inf), np.full(shape, np.inf)
        self.is_retrained, self.is_solved_for, self.is_alone = np.zeros((3, *shape), dtype=bool)
        self.is_outside = np.ones(shape, dtype=bool)
        self.alpha, self.xi = np.full((2, *shape), np.nan)
        self.estimates: tuple[XiAlpha, ...] = ()

    def result(
        self, resolve: str, decision_values: bool, tol: float, verbose: int,
        one_by_one: Iterator[tuple[Machine, Indices]] | None = None,
    ) -> LeaveOneOut:  # fmt: skip
        """All of it, with what was found; `one_by_one` has the machines of `refitted`, the first of which gives the estimates."""
        status, self.is_one_by_one = Status.INTERRUPTED, one_by_one is not None
        with one_blas_thread(), _tally(bool(verbose)) as self.tally:
            if self.is_one_by_one:
                self._count(len(self.machine.labels))
            for part, samples in one_by_one or self.machine.groups(resolve):
                if not self._begin(part, samples, tol) or not self._settle(decision_values):
                    break
                if self.is_one_by_one:
                    self.estimates = self.estimates or self._estimates([(one.alpha, one.xi) for one in self.left])
                    if self._add(len(samples)):
                        break
            else:
                is_complete = not self.is_one_by_one or self._done == self._total
                status = Status.SOLVED if is_complete else Status.INTERRUPTED
        return self._told(Status.STOPPED if self.was_stopped else status, resolve, decision_values)

    def _begin(self, part: Machine, samples: Indices, tol: float) -> bool:
        """Solve the problems of a group and take over what they tell of its samples; False: interrupted."""
        began = self.watch.seconds
        solutions = replace(part, betas=self.betas).solve(self.n_threads)
        self.betas = [solution.beta for solution in solutions]
        self.fit_seconds += self.watch.seconds - began
        self.is_meant = np.isin(np.arange(self.lower.shape[1]), samples)
        self.left = [
            LeftOut(Full.of(problem, solution, self.n_threads), tol=tol, max_bytes=self.machine.max_bytes)
            for problem, solution in zip(part.problems, solutions, strict=True)
        ]
        for k, one in enumerate(self.left):
            others = np.setdiff1d(samples, self.rows[k])
            if len(others):
                ends = one.full.elsewhere(part.X, others, self.n_threads)
                self.lower[k, others], self.upper[k, others] = ends
            self._read(k)
        return all(solution.status is not Status.INTERRUPTED for solution in solutions)

    def _read(self, k: int) -> None:
        """Take over what problem k knows by now."""
        own = self.is_meant[self.rows[k]]
        for name in ("lower", "upper", "is_retrained", "is_solved_for", "is_alone", "is_outside", "alpha", "xi"):
            getattr(self, name)[k, self.rows[k][own]] = getattr(self.left[k], name)[own]

    def _settle(self, decision_values: bool) -> bool:
        """Leave samples out until every label is certain, or the tolerance is reached; False: interrupted."""
        rule = self.machine.rule
        for goal in rule.goals:
            if not self._leave_out(rule.open_entries(self.lower, self.upper, goal), goal):
                return False
        everything = np.ones(self.lower.shape, dtype=bool)
        return not decision_values or self._leave_out(everything, Goal(False, TUNING.value_width, at_rounding=True))

    def _leave_out(self, entries: Flags, goal: Goal) -> bool:
        """Leave out the marked samples of each problem."""
        with np.errstate(invalid="ignore"):
            entries = entries & self.is_meant & ~(self.upper - self.lower <= goal.width)
        chosen = [np.flatnonzero(entries[k, rows]) for k, rows in enumerate(self.rows)]
        if not self.is_one_by_one:
            self._count(sum(map(len, chosen)))
        for k, samples in enumerate(chosen):
            if len(samples):
                is_complete = self._leave_out_of(self.left[k], samples, goal)
                self._read(k)
                if not is_complete or self.was_stopped:
                    return False
        return True

    def _leave_out_of(self, one: LeftOut, samples: Indices, goal: Goal) -> bool:
        """In threads, or on a backend of joblib's: each of its workers takes a part of the samples."""
        n_jobs = jobs_elsewhere()
        if not n_jobs:
            return one.retrain(samples, goal, self.n_threads, self._tell)
        parts = np.array_split(samples, min(n_jobs, len(samples)))
        found = map_elsewhere(_left_out, [(one.full, one.tol, one.max_bytes, part, goal) for part in parts])
        for part, ends_and_marks in zip(parts, found, strict=True):
            one.lower[part], one.upper[part], is_retrained = ends_and_marks
            one.is_retrained[part] |= is_retrained
            one.is_solved_for[part] = True
            self._tell(len(part))
        return True

    def _count(self, total: int) -> None:
        self._done, self._total, self._since = 0, total, self.watch.seconds
        if self.tally is not None:
            self.tally.begin(total)

    def _tell(self, more: int) -> bool:
        """What is done of a batch; where samples come one by one, they are added as a whole."""
        return self.was_stopped if self.is_one_by_one else self._add(more)

    def _add(self, more: int) -> bool:
        self._done += more
        now = self.watch.seconds
        pace = (now - self._since) / max(self._done, 1)
        if self.tally is not None:
            self.tally.see(self._done)
        if self.observe is not None:
            left = pace * max(self._total - self._done, 0)
            self.was_stopped |= self.observe(Progress(self._done, self._total, now, left)) is True
        return self.was_stopped

    def _told(self, status: Status, resolve: str, decision_values: bool) -> LeaveOneOut:
        """What was found, in words and in scikit-learn's layout."""
        weights, classes = self.machine.weights, self.machine.probe.classes_
        winner, is_certain = self.machine.rule.label(self.lower, self.upper)
        is_wrong = winner != self.machine.labels
        settled = np.full(len(weights), SettledBy.BALL, dtype=object)
        retrained = self.is_retrained.any(axis=0)
        settled[is_wrong] = SettledBy.TRAINING_ERROR
        settled[self.is_outside.all(axis=0)] = SettledBy.OUTSIDE
        settled[self.is_solved_for.any(axis=0)] = SettledBy.EQUATIONS
        settled[retrained] = SettledBy.RETRAINED
        settled[self.is_alone.any(axis=0)] = SettledBy.LAST_OF_ITS_CLASS
        settled[~is_certain] = SettledBy.UNDECIDABLE if status is Status.SOLVED else SettledBy.INTERRUPTED
        settled[weights == 0] = SettledBy.ABSENT

        def share(mask: Flags) -> float:
            return float(weights[mask].sum()) / float(weights.sum())

        def shaped(values: Floats) -> Floats:
            return values[0] if len(values) == 1 else values.T

        known = [(self.alpha[k, rows], self.xi[k, rows]) for k, rows in enumerate(self.rows)]
        estimates = self.estimates or self._estimates(known)
        return LeaveOneOut(
            predictions=classes[winner],
            error=share(is_wrong),
            error_range=ErrorRange(share(is_wrong & is_certain), share(is_wrong | ~is_certain)),
            is_certain=is_certain,
            settled_by=settled,
            retrained=np.flatnonzero(retrained),
            lower=shaped(self.lower),
            upper=shaped(self.upper),
            decision_values=shaped(middle(self.lower, self.upper)) if decision_values else None,
            xi_alpha=estimates[0] if len(estimates) == 1 else estimates,
            seconds=self.watch.seconds,
            compile_seconds=self.watch.compile_seconds,
            fit_seconds=self.fit_seconds,
            status=Status.STALLED if status is Status.SOLVED and not is_certain.all() else status,
            resolve=resolve,
        )

    def _estimates(self, known: list[tuple[Floats, Floats]]) -> tuple[XiAlpha, ...]:
        """ξα of each problem, from the α and ξ of its samples."""
        parts = zip(self.left, self.rows, known, strict=True)
        return tuple(analysis.xi_alpha(one.full, self.machine.weights[rows], *pair) for one, rows, pair in parts)


def _tally(is_shown: bool) -> Any:
    """The bar of a run, or None."""
    if not is_shown:
        return nullcontext()
    from maxmargin.estimators.progress.display import Tally

    return Tally("leave-one-out")


def _left_out(full: Full, tol: float, max_bytes: int, samples: Indices, goal: Goal) -> tuple[Floats, Floats, Flags]:
    """The ends of some samples, and which were retrained: in another process."""
    one = LeftOut(full, tol=tol, max_bytes=max_bytes)
    one.retrain(samples, goal)
    return one.lower[samples], one.upper[samples], one.is_retrained[samples]
