"""`leave_one_out` and `xi_alpha`: from an estimator and data to labels with their proofs."""

import time
from typing import Any, NamedTuple

import numpy as np

from maxmargin.analysis import leave_one_out as analysis
from maxmargin.analysis.leave_one_out import Full, LeftOut, XiAlpha
from maxmargin.core import Solution, Status
from maxmargin.errors import NotSupportedError
from maxmargin.estimators.base import Classifier, check_flag, check_tol
from maxmargin.estimators.inspect import stored_problems
from maxmargin.estimators.kernel_machine import KernelClassifier
from maxmargin.estimators.linear import LinearSVC
from maxmargin.estimators.loo.case import Case
from maxmargin.estimators.loo.decisions import middle
from maxmargin.estimators.loo.result import ErrorRange, LeaveOneOut, SettledBy
from maxmargin.estimators.loo.work import Observer, Work
from maxmargin.threads import one_blas_thread, usable_threads


def leave_one_out(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    decision_values: bool = False,
    tol: float = 1e-10,
    n_jobs: int | None = None,
    verbose: bool = False,
    observe: Observer | None = None,
) -> LeaveOneOut:
    r"""The label that each sample gets from the machine trained without it: exact, at the price of a few retrainings.

        F₋ᵢ = the machine of   min ½‖w‖² + Σ_{j ≠ i} c_j ℓ(y_j F_j)        label of x_i = sign F₋ᵢ(x_i)

    Sample i gets cost 0; all costs, class weights and kernel parameters stay as all n samples make them. Where the best bias is
    an interval its middle is meant, F = 0 predicts ``classes_[0]``, and where only one class would be left, that class is
    predicted. Theorems settle most samples (see `SettledBy`), the equations of the full solution most others; the rest is
    retrained from the full solution until the duality gap proves their label. No label is guessed: what the tolerance cannot
    settle is marked ``UNDECIDABLE``.

    Parameters
    ----------
    estimator : LinearSVC, SVC or HardMarginSVC
        Fitted on these data or not; a fit serves as a start. It is not changed. Its budgets are not used: the machines
        that are meant are the exact ones.
    X, y, sample_weight
        As for `fit`. The error is weighted.
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
    `cache_size` has no room for them, the samples are retrained instead.

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
    return run(case, started, decision_values, check_tol(tol), n_jobs, verbose, observe).result


class Run(NamedTuple):
    """The result, and the solutions that the next one may start from."""

    result: LeaveOneOut
    solutions: list[Solution]


def run(
    case: Case,
    started: float,
    decision_values: bool,
    tol: float,
    n_jobs: int | None,
    verbose: bool,
    observe: Observer | None,
) -> Run:
    """Solve, apply the theorems, retrain what they leave open."""
    n_threads = usable_threads(case.probe.n_jobs if n_jobs is None and hasattr(case.probe, "n_jobs") else n_jobs)
    with one_blas_thread():
        solutions = case.solve(n_threads)
        fit_seconds = time.perf_counter() - started
        left = [
            LeftOut(Full.of(problem, solution, n_threads), tol=tol, max_bytes=case.max_bytes)
            for problem, solution in zip(case.problems, solutions, strict=True)
        ]
        work = Work(case, left, n_threads, started, observe)
        was_interrupted = any(solution.status is Status.INTERRUPTED for solution in solutions)
        if verbose:
            from maxmargin.estimators.display import Tally

            with Tally("leave-one-out") as tally:
                work.tally = tally
                is_complete = not was_interrupted and work.all(decision_values)
        else:
            is_complete = not was_interrupted and work.all(decision_values)
    status = Status.SOLVED if is_complete else Status.STOPPED if work.was_stopped else Status.INTERRUPTED
    return Run(_result(work, status, decision_values, started, fit_seconds), solutions)


def _result(work: Work, status: Status, decision_values: bool, started: float, fit_seconds: float) -> LeaveOneOut:
    case, n = work.case, work.case.X.shape[0]
    winner, is_certain = case.rule.label(work.lower, work.upper)
    is_certain = np.asarray(is_certain, dtype=bool)
    is_wrong = winner != case.labels
    total = float(case.weights.sum())
    surely, maybe = (
        float(case.weights[mask].sum()) / total for mask in (is_wrong & is_certain, is_wrong | ~is_certain)
    )
    settled = np.full(n, SettledBy.BALL, dtype=object)
    inside = np.zeros((len(work.left), n), dtype=bool)
    is_retrained, is_solved_for, is_alone, is_outside = inside.copy(), inside.copy(), inside.copy(), ~inside
    for k, one in enumerate(work.left):
        rows = case.rows[k]
        is_retrained[k, rows], is_outside[k, rows] = one.is_retrained, one.is_outside
        is_solved_for[k, rows] = one.is_solved_for
        is_alone[k, rows] = np.isinf(one.lower) & (one.lower == one.upper)
    retrained = is_retrained.any(axis=0)
    settled[is_wrong] = SettledBy.TRAINING_ERROR
    settled[is_outside.all(axis=0)] = SettledBy.OUTSIDE
    settled[is_solved_for.any(axis=0)] = SettledBy.EQUATIONS
    settled[retrained] = SettledBy.RETRAINED
    settled[is_alone.any(axis=0)] = SettledBy.LAST_OF_ITS_CLASS
    settled[~is_certain] = SettledBy.UNDECIDABLE if status is Status.SOLVED else SettledBy.INTERRUPTED
    settled[case.weights == 0] = SettledBy.ABSENT
    estimates = tuple(
        analysis.xi_alpha(one.full, case.weights[rows]) for one, rows in zip(work.left, case.rows, strict=True)
    )
    is_one = len(work.left) == 1
    values = middle(work.lower, work.upper)
    return LeaveOneOut(
        predictions=case.probe.classes_[winner],
        error=float(case.weights[is_wrong].sum()) / total,
        error_range=ErrorRange(surely, maybe),
        is_certain=is_certain,
        settled_by=settled,
        retrained=np.flatnonzero(retrained),
        lower=work.lower[0] if is_one else work.lower.T,
        upper=work.upper[0] if is_one else work.upper.T,
        decision_values=(values[0] if is_one else values.T) if decision_values else None,
        xi_alpha=estimates[0] if is_one else estimates,
        seconds=time.perf_counter() - started,
        fit_seconds=fit_seconds,
        status=Status.STALLED if status is Status.SOLVED and not is_certain.all() else status,
    )


def xi_alpha(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> XiAlpha | tuple[XiAlpha, ...]:
    """Estimates of the leave-one-out error, recall and precision from one fitted model, without retraining.

    2α_iR² + ξ_i < 1 says that sample i would be classified correctly without itself; counting all others gives pessimistic
    estimates. With a free bias this is an estimate and no theorem: `leave_one_out` is exact.

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
    ξα estimates: error ≤ 100.00%, recall ≥ 0.00%, precision ≥ 0.00%
    """
    if isinstance(estimator, Classifier) and not isinstance(estimator, LinearSVC | KernelClassifier):
        raise NotSupportedError(f"xi_alpha takes LinearSVC, SVC and HardMarginSVC, got {type(estimator).__name__}.")
    found = stored_problems(estimator, X, y, sample_weight)
    case = Case.of(estimator, X, y, sample_weight)
    with one_blas_thread():
        estimates = tuple(
            analysis.xi_alpha(Full.of(problem, candidate), case.weights[rows])
            for (problem, candidate), rows in zip(found, case.rows, strict=True)
        )
    return estimates[0] if len(estimates) == 1 else estimates
