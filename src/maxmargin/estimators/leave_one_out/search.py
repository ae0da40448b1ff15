"""LeaveOneOutSearch: choose C by exact leave-one-out, each C from the solution of the last."""

import time
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils.validation import check_is_fitted

from maxmargin.core import Regularization, Status
from maxmargin.errors import InvalidInputError
from maxmargin.estimators.base import check_flag, check_tol
from maxmargin.estimators.leave_one_out.machine import Machine
from maxmargin.estimators.leave_one_out.result import LeaveOneOut
from maxmargin.estimators.leave_one_out.run import Run


@dataclass(eq=False, repr=False)
class LeaveOneOutSearch(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Choose C by the exact leave-one-out error, as `GridSearchCV` would with `LeaveOneOut` and n fits for each C.

    Parameters
    ----------
    estimator : LinearSVC or SVC
        Its C is replaced.
    Cs : array-like of float or Regularization
        The candidates; a fit starts from the solution of the one before it, so list them in order.
    resolve : {"once", "each"}
        As for `leave_one_out`; "each" is what `GridSearchCV` means by C/n, λ and balanced class weights.
    tol : float
        As for `leave_one_out`.
    refit : bool
        Train `best_estimator_` on all samples.
    n_jobs : int or None
        Threads, as for `leave_one_out`.
    verbose : bool
        Show the progress of each candidate.

    Attributes
    ----------
    best_params_, best_score_, best_index_, best_estimator_
        As in `GridSearchCV`; the score is the accuracy, the first of equals wins.
    cv_results_ : dict
        params, param_C, mean_test_score, rank_test_score, mean_fit_time, and of leave-one-out: n_retrained, n_undecidable,
        xi_alpha_error, seconds.
    results_ : tuple of LeaveOneOut
        One for each C.

    Notes
    -----
    Cost: `leave_one_out` for each C, the fits warm-started. Ctrl-C keeps the results so far and raises KeyboardInterrupt.

    Examples
    --------
    >>> from maxmargin import LeaveOneOutSearch, LinearSVC
    >>> X, y = [[0.0], [1.1], [1.2], [2.9], [4.0], [1.5]], ["a", "a", "a", "b", "b", "b"]
    >>> search = LeaveOneOutSearch(LinearSVC(), Cs=[0.01, 1.0, 10.0]).fit(X, y)
    >>> search.best_params_, search.cv_results_["mean_test_score"].round(2)
    ({'C': 1.0}, array([0.  , 0.83, 0.83]))
    """

    estimator: Any
    Cs: Any = (0.01, 0.1, 1.0, 10.0, 100.0)
    _: KW_ONLY
    resolve: str = "once"
    tol: float = 1e-10
    refit: bool = True
    n_jobs: int | None = None
    verbose: bool = False

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Leave each sample out for each C, and train the best on all of them."""
        tol, verbose = check_tol(self.tol), check_flag("verbose", self.verbose)
        refit = check_flag("refit", self.refit)
        candidates = list(self.Cs)
        if not candidates:
            raise InvalidInputError("Cs is empty; give at least one C to choose from.")
        for C in candidates:
            Regularization.of(C)
        results: list[LeaveOneOut] = []
        run = None
        for C in candidates:
            started = time.perf_counter()
            machine = Machine.of(clone(self.estimator).set_params(C=C), X, y, sample_weight)
            run = Run(machine if run is None else replace(machine, betas=run.betas), self.n_jobs, started)
            results.append(run.result(self.resolve, False, tol, verbose))
            if results[-1].status is Status.INTERRUPTED:
                break
        self._store(candidates[: len(results)], results, machine)
        if results[-1].status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        if refit:
            self.best_estimator_ = clone(self.estimator).set_params(**self.best_params_)
            self.best_estimator_.fit(X, y, sample_weight)
            if hasattr(self.best_estimator_, "feature_names_in_"):
                self.feature_names_in_ = self.best_estimator_.feature_names_in_
        return self

    def _store(self, candidates: list[Any], results: list[LeaveOneOut], machine: Machine) -> None:
        scores = np.array([1.0 - result.error for result in results])
        estimates = [r.xi_alpha if isinstance(r.xi_alpha, tuple) else (r.xi_alpha,) for r in results]
        self.results_ = tuple(results)
        self.cv_results_ = {
            "params": [{"C": C} for C in candidates],
            "param_C": np.array(candidates, dtype=object),
            "mean_test_score": scores,
            "rank_test_score": np.array([1 + int((scores > score).sum()) for score in scores], dtype=np.int32),
            "mean_fit_time": np.array([result.fit_seconds for result in results]),
            "n_retrained": np.array([result.n_retrained for result in results]),
            "n_undecidable": np.array([int((~result.is_certain).sum()) for result in results]),
            "xi_alpha_error": np.array([max(one.error for one in several) for several in estimates]),
            "seconds": np.array([result.seconds for result in results]),
        }
        self.best_index_ = int(scores.argmax())
        self.best_score_ = float(scores[self.best_index_])
        self.best_params_ = {"C": candidates[self.best_index_]}
        self.classes_ = machine.probe.classes_
        self.n_features_in_ = machine.X.shape[1]

    def predict(self, X: Any) -> Any:
        """The labels that `best_estimator_` gives."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.predict(X)

    def decision_function(self, X: Any) -> Any:
        """The decision values of `best_estimator_`."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.decision_function(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = self.estimator.__sklearn_tags__().input_tags
        return tags
