"""`leave_one_out` and `xi_alpha`: from an estimator and data to labels with their proofs."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from maxmargin.analysis import leave_one_out as analysis
from maxmargin.analysis.leave_one_out import Full, LeftOut, XiAlpha
from maxmargin.core import Status
from maxmargin.errors import NotSupportedError
from maxmargin.estimators.base import Classifier, check_flag, check_tol
from maxmargin.estimators.inspect import stored_problems
from maxmargin.estimators.leave_one_out.case import Case
from maxmargin.estimators.leave_one_out.decisions import middle
from maxmargin.estimators.leave_one_out.meaning import groups_of
from maxmargin.estimators.leave_one_out.result import ErrorRange, LeaveOneOut, SettledBy
from maxmargin.estimators.leave_one_out.work import Observer, Work
from maxmargin.estimators.linear import LinearSVC
from maxmargin.estimators.svc import KernelClassifier
from maxmargin.threads import one_blas_thread, usable_threads
from maxmargin.typing import Floats


def leave_one_out(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    resolve: str = "once",
    decision_values: bool = False,
    tol: float = 1e-10,
    n_jobs: int | None = None,
    verbose: bool = False,
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
        that are meant are the exact ones.
    X, y, sample_weight
        As for `fit`. The error is weighted.
    resolve : {"once", "each"}
        When ``Regularization.mean``, ``tikhonov`` and ``pegasos``, and ``class_weight="balanced"``, become costs. "once": on all
        n samples, and they stay; so does ``gamma="scale"``. "each": for each left-out sample on the others, as
        ``cross_val_predict(estimator, X, y, cv=LeaveOneOut())`` does. The two are the same for a C that is a number (the sum of
        slacks) without balanced weights. "each" refuses ``gamma="scale"``, which would be another kernel for each sample.
    decision_values : bool
        Also go on with every sample until its decision value is known to 1e-6.
    tol : float
        The relative gap to which a sample is retrained at most.
    n_jobs : int or None
        Threads; None takes as many as BLAS may use. The result does not depend on it. Retraining goes to joblib's backend
        instead where one is chosen that shares no memory (``joblib.parallel_config("dask")``).
    verbose : bool
        Show a bar with the time that is left on stderr.
    observe : callable, optional
        Called with a `Progress` (done, total, seconds, eta) after each batch; returning True ends it early.

    Returns
    -------
    LeaveOneOut
        With Ctrl-C: what is known by then, its status INTERRUPTED.

    Notes
    -----
    Cost: a fit to a gap at which a typical decision value is certain to 0.01, one pass over the data for the theorems, and for
    each open sample another. The samples inside their box, up to 2500, are solved for together, once: |F|³ multiplications.
    Memory: O(n + d) a thread beside the data, and the matrix of those equations; kernel machines hold their Gram matrix. Where
    `cache_size` has no room for them, the samples are retrained instead. ``resolve="each"`` does this once for each different
    weight (of each class, for balanced weights or one-vs-one).

    Examples
    --------
    >>> from maxmargin import SVC, leave_one_out
    >>> X, y = [[0.0], [1.0], [1.9], [3.0], [4.0], [5.0]], [0, 0, 0, 1, 1, 1]
    >>> result = leave_one_out(SVC(C=10.0, kernel="linear"), X, y)
    >>> result.error, result.n_retrained
    (0.0, 2)
    """
    started = time.perf_counter()
    check_flag("decision_values", decision_values)
    check_flag("verbose", verbose)
    case = Case.of(estimator, X, y, sample_weight)
    return run(case, resolve, started, decision_values, check_tol(tol), n_jobs, verbose, observe).result


class Run(NamedTuple):
    """The result, and the dual variables that the next one may start from."""

    result: LeaveOneOut
    betas: list[Floats]


def run(
    case: Case,
    resolve: str,
    started: float,
    decision_values: bool,
    tol: float,
    n_jobs: int | None,
    verbose: bool,
    observe: Observer | None,
) -> Run:
    """Solve, apply the theorems, retrain what they leave open."""
    n_threads = usable_threads(case.probe.n_jobs if n_jobs is None and hasattr(case.probe, "n_jobs") else n_jobs)
    found, status, betas = Findings(case), Status.SOLVED, list[Floats]()
    with one_blas_thread(), _tally(verbose) as tally:
        for group in groups_of(case, resolve):
            part = replace(case, problems=group.problems)
            part = part.from_betas(betas) if betas else part
            began = time.perf_counter()
            solutions = part.solve(n_threads)
            betas = [solution.beta for solution in solutions]
            found.fit_seconds += time.perf_counter() - began
            left = [
                LeftOut(Full.of(problem, solution, n_threads), tol=tol, max_bytes=case.max_bytes)
                for problem, solution in zip(part.problems, solutions, strict=True)
            ]
            work = Work(part, left, group.samples, n_threads, started, observe)
            work.tally = tally
            was_interrupted = any(solution.status is Status.INTERRUPTED for solution in solutions)
            is_complete = not was_interrupted and work.all(decision_values)
            found.take(work)
            if not is_complete:
                status = Status.STOPPED if work.was_stopped else Status.INTERRUPTED
                break
    return Run(_result(case, found, status, resolve, decision_values, started), betas)


@contextmanager
def _tally(is_shown: bool) -> Iterator[Any]:
    """The bar of a run, or None."""
    if not is_shown:
        yield None
        return
    from maxmargin.estimators.progress.display import Tally

    with Tally("leave-one-out") as tally:
        yield tally


class Findings:
    """What is known of each sample (the last axis) in each binary problem (the first)."""

    def __init__(self, case: Case) -> None:
        shape = (len(case.problems), case.X.shape[0])
        self.case, self.fit_seconds = case, 0.0
        self.lower, self.upper = np.full(shape, -np.inf), np.full(shape, np.inf)
        self.is_retrained, self.is_solved_for, self.is_alone = np.zeros((3, *shape), dtype=bool)
        self.is_outside = np.ones(shape, dtype=bool)
        self.alpha, self.xi = np.full((2, *shape), np.nan)
        self.radius2 = np.zeros(shape[0])

    def take(self, work: Work) -> None:
        """Take over what is known of the samples that a work was about."""
        self.lower[:, work.samples], self.upper[:, work.samples] = (
            work.lower[:, work.samples],
            work.upper[:, work.samples],
        )
        for k, one in enumerate(work.left):
            is_own = np.isin(self.case.rows[k], work.samples)
            rows = self.case.rows[k][is_own]
            self.is_retrained[k, rows], self.is_outside[k, rows] = one.is_retrained[is_own], one.is_outside[is_own]
            self.is_solved_for[k, rows] = one.is_solved_for[is_own]
            self.is_alone[k, rows] = (np.isinf(one.lower) & (one.lower == one.upper))[is_own]
            self.alpha[k, rows] = np.abs(one.full.beta)[is_own]
            self.xi[k, rows] = analysis.slacks(one.full)[is_own]
            self.radius2[k] = float(one.full.squares[one.full.problem.present].max())

    def estimates(self) -> tuple[XiAlpha, ...]:
        """The ξα estimates of each problem."""
        return tuple(
            analysis.estimated(
                problem.y, self.alpha[k, rows], self.xi[k, rows], float(self.radius2[k]),
                np.where(problem.cost > 0, self.case.weights[rows], 0.0),
            )
            for k, (problem, rows) in enumerate(zip(self.case.problems, self.case.rows, strict=True))
        )  # fmt: skip


def _result(
    case: Case, found: Findings, status: Status, resolve: str, decision_values: bool, started: float
) -> LeaveOneOut:
    winner, is_certain = case.rule.label(found.lower, found.upper)
    is_certain = np.asarray(is_certain, dtype=bool)
    is_wrong = winner != case.labels
    total = float(case.weights.sum())
    surely, maybe = (
        float(case.weights[mask].sum()) / total for mask in (is_wrong & is_certain, is_wrong | ~is_certain)
    )
    settled = np.full(case.X.shape[0], SettledBy.BALL, dtype=object)
    retrained = found.is_retrained.any(axis=0)
    settled[is_wrong] = SettledBy.TRAINING_ERROR
    settled[found.is_outside.all(axis=0)] = SettledBy.OUTSIDE
    settled[found.is_solved_for.any(axis=0)] = SettledBy.EQUATIONS
    settled[retrained] = SettledBy.RETRAINED
    settled[found.is_alone.any(axis=0)] = SettledBy.LAST_OF_ITS_CLASS
    settled[~is_certain] = SettledBy.UNDECIDABLE if status is Status.SOLVED else SettledBy.INTERRUPTED
    settled[case.weights == 0] = SettledBy.ABSENT
    estimates = found.estimates()
    is_one = len(estimates) == 1
    values = middle(found.lower, found.upper)
    return LeaveOneOut(
        predictions=case.probe.classes_[winner],
        error=float(case.weights[is_wrong].sum()) / total,
        error_range=ErrorRange(surely, maybe),
        is_certain=is_certain,
        settled_by=settled,
        retrained=np.flatnonzero(retrained),
        lower=found.lower[0] if is_one else found.lower.T,
        upper=found.upper[0] if is_one else found.upper.T,
        decision_values=(values[0] if is_one else values.T) if decision_values else None,
        xi_alpha=estimates[0] if is_one else estimates,
        seconds=time.perf_counter() - started,
        fit_seconds=found.fit_seconds,
        status=Status.STALLED if status is Status.SOLVED and not is_certain.all() else status,
        resolve=resolve,
    )


def xi_alpha(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> XiAlpha | tuple[XiAlpha, ...]:
    """Estimates of the leave-one-out error, recall and precision from one fitted model, without retraining.

    2α_iR² + ξ_i < 1 says that sample i would be classified correctly without itself; counting all others gives estimates that
    are pessimistic as a rule. Only without a free bias is this a theorem about the exact optimum; with one the exact error can
    be larger. `leave_one_out` is exact.

    Parameters
    ----------
    estimator : LinearSVC, SVC or HardMarginSVC
        Fitted.
    X, y, sample_weight
        Its training data.

    Returns
    -------
    XiAlpha
        error, recall, precision and a verdict for each sample; for more than two classes a tuple, one a binary problem. Cost:
        that of predicting the training set.

    Examples
    --------
    >>> from maxmargin import LinearSVC, xi_alpha
    >>> X, y = [[0.0], [0.2], [1.8], [2.0]], [0, 0, 1, 1]
    >>> print(xi_alpha(LinearSVC(C=0.1).fit(X, y), X, y))
    ξα estimates: error ≈ 100.00%, recall ≈ 0.00%, precision ≈ 0.00%
    """
    if isinstance(estimator, Classifier) and not isinstance(estimator, LinearSVC | KernelClassifier):
        raise NotSupportedError(f"xi_alpha takes LinearSVC, SVC and HardMarginSVC, got {type(estimator).__name__}.")
    stored = stored_problems(estimator, X, y, sample_weight)
    stored.warn_of_other_data()
    case = Case.of(estimator, X, y, sample_weight)
    with one_blas_thread():
        estimates = tuple(
            analysis.xi_alpha(Full.of(problem, candidate), case.weights[rows])
            for (problem, candidate), rows in zip(stored.problems, case.rows, strict=True)
        )
    return estimates[0] if len(estimates) == 1 else estimates
