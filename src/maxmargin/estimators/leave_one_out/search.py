"""LeaveOneOutSearch: choose parameters by exact leave-one-out, each C from the solution of the last."""

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from maxmargin._loops.compile_time import Stopwatch
from maxmargin.core import Regularization, Status
from maxmargin.errors import InvalidInputError
from maxmargin.estimators.base import check_flag, check_tol
from maxmargin.estimators.leave_one_out.machine import Machine
from maxmargin.estimators.leave_one_out.result import LeaveOneOut
from maxmargin.estimators.leave_one_out.run import Run
from maxmargin.estimators.progress.callbacks import check_verbose
from maxmargin.estimators.wrapped import Wrapped, unwrapped


@dataclass(eq=False, repr=False)
class LeaveOneOutSearch(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Choose parameters by the exact leave-one-out error, as `GridSearchCV` would with `LeaveOneOut` and n fits for each choice.

    Parameters
    ----------
    estimator : LinearSVC or SVC
        Or a Pipeline that ends in one: samples are left out of the machine, its steps are fitted on all rows, as by
        ``leave_one_out(…, refit_steps=False)``, and `results_` say so.
    Cs : array-like of float or Regularization, optional
        Candidates for the machine's C alone; by default 0.01, 0.1, 1, 10 and 100 where there is no `param_grid`. A fit starts
        from the solution of the one before it, so list them in order.
    param_grid : dict or list of dicts, optional
        The candidates, as for `GridSearchCV`: names of parameters, such as "C", "gamma" or "svc__C", and their values. Fits that
        differ in C alone start from each other, in the order of the grid.
    resolve : {"once", "each"}
        As for `leave_one_out`; "each" is what `GridSearchCV` means by C/n, λ and balanced class weights.
    tol : float
        As for `leave_one_out`.
    refit : bool
        Train `best_estimator_` on all samples, its steps included.
    n_jobs : int or None
        Threads, as for `leave_one_out`.
    verbose : bool or int
        Show the progress of each candidate; levels above 0 show the same.

    Attributes
    ----------
    best_params_, best_score_, best_index_, best_estimator_
        As in `GridSearchCV`; the score is the accuracy, the first of equals wins.
    cv_results_ : dict
        params, one ``param_NAME`` for each name, mean_test_score, rank_test_score, mean_fit_time, and of leave-one-out:
        n_retrained, n_undecidable, xi_alpha_error, seconds.
    results_ : tuple of LeaveOneOut
        One for each candidate.

    Notes
    -----
    Cost: `leave_one_out` for each candidate, along C warm-started; the steps of a pipeline are fitted once for each choice of
    their own parameters. Ctrl-C keeps the results so far and raises KeyboardInterrupt.

    Examples
    --------
    >>> from maxmargin import LeaveOneOutSearch, LinearSVC
    >>> X, y = [[0.0], [1.1], [1.2], [2.9], [4.0], [1.5]], ["a", "a", "a", "b", "b", "b"]
    >>> search = LeaveOneOutSearch(LinearSVC(), Cs=[0.01, 1.0, 10.0]).fit(X, y)
    >>> search.best_params_, search.cv_results_["mean_test_score"].round(2)
    ({'C': 1.0}, array([0.  , 0.83, 0.83]))
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from maxmargin import SVC
    >>> grid = {"svc__C": [0.1, 1.0], "svc__gamma": [0.1, 1.0]}
    >>> LeaveOneOutSearch(make_pipeline(StandardScaler(), SVC()), param_grid=grid).fit(X, y).best_params_
    {'svc__C': 1.0, 'svc__gamma': 1.0}
    """

    estimator: Any
    Cs: Any = None
    _: KW_ONLY
    param_grid: Any = None
    resolve: str = "once"
    tol: float = 1e-10
    refit: bool = True
    n_jobs: int | None = None
    verbose: int = False

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Leave each sample out for each candidate, and train the best on all of them."""
        tol, verbose = check_tol(self.tol), check_verbose(self.verbose)
        refit = check_flag("refit", self.refit)
        whole = unwrapped(self.estimator)
        candidates = self._candidates(f"{whole.path}C")
        found: dict[int, LeaveOneOut] = {}
        for k, run in self._runs(whole, candidates, X, y, sample_weight):
            words = _with(whole, candidates[k]).told(False, are_these_rows=True)
            found[k] = replace(run.result(self.resolve, False, tol, verbose), steps=words)
            if found[k].status is Status.INTERRUPTED:
                break
        self._store({k: candidates[k] for k in sorted(found)}, found)
        self.classes_ = run.machine.probe.classes_
        if not whole.steps:
            self.n_features_in_ = run.machine.X.shape[1]
        if found[k].status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        if refit:
            self.best_estimator_ = _with(whole, self.best_params_).fit(X, y, sample_weight)
            for name in ("n_features_in_", "feature_names_in_"):
                if hasattr(self.best_estimator_, name):
                    setattr(self, name, getattr(self.best_estimator_, name))
        return self

    def _candidates(self, name_of_c: str) -> list[dict[str, Any]]:
        """The parameters to choose from, in the order of `GridSearchCV`."""
        from sklearn.model_selection import ParameterGrid

        if isinstance(self.Cs, Mapping) or (self.Cs is not None and self.param_grid is not None):
            raise InvalidInputError("Cs holds values of C alone; for other parameters give param_grid={...} instead of it.")
        Cs = list((0.01, 0.1, 1.0, 10.0, 100.0) if self.Cs is None else self.Cs)
        if self.param_grid is None and not Cs:
            raise InvalidInputError("Cs is empty; give at least one C to choose from.")
        candidates = list(ParameterGrid({name_of_c: Cs} if self.param_grid is None else self.param_grid))
        if not candidates:
            raise InvalidInputError("param_grid is empty; give at least one dict of values.")
        for candidate in candidates:
            if name_of_c in candidate:
                Regularization.of(candidate[name_of_c])
        return candidates

    def _runs(
        self, whole: Wrapped, candidates: list[dict[str, Any]], X: Any, y: Any, sample_weight: Any
    ) -> Iterator[tuple[int, Run]]:
        """Each candidate's number and its run: behind the same steps one after the other, and among those along C."""
        keys = [_shared(candidate, whole.path) for candidate in candidates]
        steps, rest = zip(*keys, strict=True)
        last, run = None, None
        for k in sorted(range(len(keys)), key=lambda k: (steps.index(steps[k]), rest.index(rest[k]), k)):
            watch, one = Stopwatch(), _with(whole, candidates[k])
            if last is None or keys[k][0] != last[0]:
                rows = one.prepared(X, y)
            machine = Machine.of(one.machine, rows, y, sample_weight)
            run = Run(replace(machine, betas=run.betas) if run is not None and keys[k] == last else machine, self.n_jobs, watch)
            last = keys[k]
            yield k, run

    def _store(self, candidates: dict[int, dict[str, Any]], found: dict[int, LeaveOneOut]) -> None:
        self.results_ = results = tuple(found[k] for k in candidates)
        params = list(candidates.values())
        scores = np.array([1.0 - result.error for result in results])
        estimates = [r.xi_alpha if isinstance(r.xi_alpha, tuple) else (r.xi_alpha,) for r in results]
        self.cv_results_ = {
            "params": params,
            **{f"param_{name}": _column(name, params) for name in sorted({name for one in params for name in one})},
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
        self.best_params_ = params[self.best_index_]

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
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags


def _with(whole: Wrapped, parameters: dict[str, Any]) -> Wrapped:
    """An unfitted copy with other parameters."""
    return unwrapped(clone(whole.outer).set_params(**clone(parameters, safe=False)))


def _shared(candidate: dict[str, Any], path: str) -> tuple[list[Any], list[Any]]:
    """What candidates behind the same steps have in common, and those that differ in C alone; a grid has each value once."""
    values = [(name, id(value)) for name, value in candidate.items()]
    return [one for one in values if not one[0].startswith(path)], [one for one in values if one[0] != f"{path}C"]


def _column(name: str, params: list[dict[str, Any]]) -> Any:
    """The values of a parameter; masked where a candidate has none."""
    column: Any = np.ma.MaskedArray(np.empty(len(params), dtype=object), mask=True)
    for k, one in enumerate(params):
        if name in one:
            column[k] = one[name]
    return column
