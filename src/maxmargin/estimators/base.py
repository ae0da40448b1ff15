"""What all estimators share: checks of parameters, and one `fit`, which leaves an estimator unchanged if it fails.

validate → pose problems → solve (several in threads, or on joblib's backend) → store
"""

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from maxmargin.core import Bias, Candidate, Problem, Regularization, Solution, Status
from maxmargin.core.certificate.optimum_ball import optimum_balls
from maxmargin.core.losses import TRAINABLE
from maxmargin.errors import InvalidInputError
from maxmargin.estimators.multiclass.at_once import AtOnce
from maxmargin.estimators.multiclass.per_problem import Train, going_on, solve_several, store_solutions
from maxmargin.estimators.progress.callbacks import WATCHER, Digits, TakesCallbacks, check_verbose, warn_of_gap, watching
from maxmargin.estimators.shown import ShownInNotebooks
from maxmargin.estimators.training_data import Fingerprint, checked_input
from maxmargin.kernels import Kernel, Precomputed, kernel_from_name
from maxmargin.solvers import Auto, Budget, Event, Solver, solve, solver_from_name
from maxmargin.solvers.linear.rows import PIECE_VALUES
from maxmargin.threads import begun, usable_threads
from maxmargin.typing import Floats, Matrix


@contextmanager
def unchanged_by_errors(estimator: Any) -> Iterator[None]:
    """If an error is raised in the block, the estimator keeps its previous state."""
    before = estimator.__dict__.copy()
    try:
        yield
    except BaseException:
        estimator.__dict__ = before
        raise


def check(is_right: bool, name: str, value: Any, wanted: str) -> None:
    """Raise an error if a parameter does not have the wanted kind of value."""
    if not is_right:
        raise InvalidInputError(f"{name} must be {wanted}, got {value!r}.")


def check_tol(tol: Any) -> float:
    """A tolerance is a number ≥ 0."""
    check(is_number(tol) and 0 <= tol < np.inf, "tol is the relative gap to reach and", tol, "a number ≥ 0")
    return float(tol)


def check_flag(name: str, value: Any) -> bool:
    """A parameter that is true or false."""
    check(isinstance(value, bool | np.bool_), name, value, "True or False")
    return bool(value)


def check_integer(name: str, value: Any, least: int = 1, note: str = "") -> int:
    """Check a parameter that is a whole number."""
    is_integer = isinstance(value, int | np.integer) and not isinstance(value, bool)
    check(is_integer and value >= least, name, value, f"an integer ≥ {least}{note}".replace("≥ -", "≥ −"))
    return int(value)


def check_choice(name: str, value: Any, choices: tuple[Any, ...]) -> None:
    """A parameter that takes one of a few values."""
    is_one = any(value is choice or (isinstance(value, str) and value == choice) for choice in choices)
    check(is_one, name, value, f"one of {choices}")


def is_number(value: Any) -> bool:
    """Whether a parameter is a real number; NaN, and an int that float64 cannot hold, are none."""
    is_real = isinstance(value, Real) and not isinstance(value, bool)
    return is_real and (abs(value) <= sys.float_info.max or abs(value) == np.inf)


def budget_from(max_iter: Any, max_seconds: Any, cache_size: Any = "auto") -> Budget:
    """Budgets from scikit-learn's spellings: −1 and None are no limit, `cache_size` is in megabytes."""
    rounds = check_integer("max_iter", max_iter, least=-1, note=" (−1: no limit)")
    is_time = max_seconds is None or (is_number(max_seconds) and max_seconds > 0)
    check(is_time, "max_seconds", max_seconds, "a positive number or None (no limit)")
    is_size = cache_size == "auto" or (is_number(cache_size) and 0 < cache_size < np.inf)
    check(is_size, "cache_size", cache_size, '"auto" or a positive number of megabytes')
    n_bytes = Budget.bytes if cache_size == "auto" else int(float(cache_size) * 2**20)
    return Budget(iterations=None if rounds == -1 else rounds, seconds=max_seconds, bytes=n_bytes)


def seed_from(random_state: Any) -> int:
    """A seed of 31 bits; None is 0."""
    return 0 if random_state is None else int(check_random_state(random_state).randint(2**31 - 1))


def soft(C: Any) -> Regularization:
    """The trade-off of an estimator that has no hard margin."""
    trade_off = Regularization.of(C)
    if trade_off.is_hard:
        raise InvalidInputError(f"C={C!r} is the hard margin. Use HardMarginSVC(), or a finite C.")
    return trade_off


def bias_from(fit_intercept: Any, intercept_scaling: Any) -> Bias:
    """The bias that the two parameters of the linear machines mean.

    Examples
    --------
    >>> bias_from(True, None), bias_from(True, 2.0), bias_from(False, None)
    (Bias('free'), Bias('penalized', 2.0), Bias('none'))
    """
    fit_intercept = check_flag("fit_intercept", fit_intercept)
    if intercept_scaling is None:
        return Bias.free() if fit_intercept else Bias.none()
    if not fit_intercept:
        raise InvalidInputError(f"intercept_scaling={intercept_scaling!r} needs fit_intercept=True: there is no intercept.")
    return Bias.penalized(intercept_scaling)


class Machine(ShownInNotebooks, TakesCallbacks, BaseEstimator, ABC):  # type: ignore[misc]
    """Abstract base of all estimators; its class attributes are the values of parameters that an estimator lacks.

    The parameters of an estimator are the fields of a dataclass, so that its `__init__` need not be written. A kind of
    machine says how targets are validated, which problems it poses, and how it is stored; `y` below is what `_validated` has made
    of the targets.
    """

    C: Any = np.inf
    loss: Any = "hinge"
    penalty: Any = "l2"
    cache_size: Any = "auto"
    solver: Any = "auto"
    shrinking: Any = True
    warm_start: Any = False
    n_jobs: Any = None
    random_state: Any = None
    verbose: Any = False

    _budget = staticmethod(budget_from)
    _rounds: str = "max_iter"
    """The parameter that limits the rounds of the solver."""
    _losses: tuple[str, ...] = TRAINABLE
    _takes_backends: bool = False
    """Whether several problems may go to joblib's backend."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on samples X and labels y.

        Parameters
        ----------
        X : array-like or sparse matrix (n_samples, n_features)
            CSR is used as it is, other formats are converted; for ``kernel="precomputed"`` the (n, n) Gram matrix.
        y : array-like (n_samples,)
            Labels of any kind, at least two different ones; numbers for a regression.
        sample_weight : array-like (n_samples,), optional
            0 leaves a sample out; a negative weight, or a class without any weight, is an error.
        """
        with unchanged_by_errors(self):
            was_interrupted = self._fit(*self._validated(X, y, sample_weight))
        if was_interrupted:
            raise KeyboardInterrupt
        return self

    @abstractmethod
    def _validated(self, X: Any, y: Any, sample_weight: Any) -> tuple[Matrix, Any, Floats]:
        """Rows, what the problems need to know of the targets, weights ≥ 0."""

    def _fit(self, X: Matrix, y: Any, weights: Floats) -> bool:
        """Train on validated input and store a model, even if interrupted; returns whether it was."""
        threads, seed, tol = usable_threads(self.n_jobs), seed_from(self.random_state), self._checked_tol()
        fingerprint = begun(partial(Fingerprint.of, X, y, weights), threads if X.size >= 2 * PIECE_VALUES else 1)
        names = self._problem_names()
        solver = self._solver(seed, threads if len(names) == 1 else 1)
        share = partial(self._share, tol)
        is_watched = self.verbose or getattr(self, "_skl_callbacks", None) or WATCHER.get() is not None
        watched = watching(self, X, partial(self._as_given, y), weights, tol, names) if is_watched else nullcontext()
        with watched as watch:
            at_once = self._solved_at_once(X, y, weights, tol)
            if at_once is not None and at_once.is_over:
                problems, solutions = [], at_once.solutions
                if watch is not None:
                    watch.saw(solutions, share)
            else:
                problems = self._problems(X, y, weights)
                warm = self._warm_starts(problems, y) if at_once is None else at_once.solutions
                given = enumerate(zip(problems, warm, strict=True))
                ways = [(going_on(last, self._trainer(k, seed)), own, last) for k, (own, last) in given]
                train = [partial(way, own, solver, tol=tol, warm=last) for way, own, last in ways]
                solutions = solve_several(self, problems, train, self._allowance(problems[0]), threads, watch, share)
            self._keep(X, y, weights, fingerprint())
            self._store(X, y, problems, solutions)
            if at_once is not None and not problems:
                self._balls = at_once.balls
        self._warn(solutions, tol)
        return any(solution.status is Status.INTERRUPTED for solution in solutions)

    def _checked_tol(self) -> float:
        """The tolerance; parameters that no other object checks are checked here."""
        check_choice("loss", self.loss, self._losses)
        check_choice("penalty", self.penalty, ("l2", "l1"))
        check_flag("warm_start", self.warm_start)
        if self.verbose is not False:
            check_verbose(self.verbose)
        return check_tol(self.tol)

    def _warn(self, solutions: list[Any], tol: float) -> None:
        """Say which gaps are above the one that was asked for."""
        silent = (Status.SOLVED, Status.INTERRUPTED, Status.STOPPED, *((Status.ITERATION_BUDGET,) if self.tol is None else ()))
        for solution in solutions:
            if solution.status not in silent:
                warn_of_gap(type(self).__name__, solution.status, solution.certificate, tol, self._rounds)

    # -- problems ------------------------------------------------------------------------------------------------

    @abstractmethod
    def _problems(self, X: Matrix, y: Any, weights: Floats, kernel: Kernel | None = None) -> list[Problem]:
        """The problems of validated data, all with one resolved kernel: by default that of the parameters."""

    def _problem_names(self) -> list[str]:
        """A name for each problem."""
        return [type(self).__name__]

    def _as_given(self, y: Any) -> Any:
        """The targets as the user knows them."""
        return y

    def _solved_at_once(self, X: Matrix, y: Any, weights: Floats, tol: float) -> AtOnce | None:
        """The solutions of all problems, where these are small and easy enough to be solved together."""
        return None

    def _resolved_kernel(self, X: Matrix, weights: Floats) -> Kernel:
        """The kernel of the parameters, with numbers for what depends on the data."""
        kernel = kernel_from_name(self.kernel, degree=self.degree, gamma=self.gamma, coef0=self.coef0)
        kernel.check_input(X)
        return kernel.resolve(X, sample_weight=weights)

    def _trade_off(self) -> Regularization:
        return Regularization.of(self.C)

    def _bias(self) -> Bias:
        return Bias.free() if check_flag("fit_intercept", self.fit_intercept) else Bias.none()

    # -- solve ---------------------------------------------------------------------------------------------------

    def _solver(self, seed: int, n_threads: int) -> Solver | Auto:
        """The solver that the parameters ask for."""
        solver = solver_from_name(self._solver_name(), seed=seed, n_threads=n_threads)
        if check_flag("shrinking", self.shrinking) or not hasattr(solver, "shrinking"):
            return solver
        return replace(solver, shrinking=False)  # type: ignore[type-var]

    def _solver_name(self) -> Any:
        """The solver that was asked for."""
        return self.solver

    def _trainer(self, k: int, seed: int) -> Train:
        """What solves problem k."""
        return solve

    def _refuse(self, k: int, problem: Problem) -> None:
        """Raise an error if problem k cannot be solved; called before solving."""

    def _settled(self, k: int, problem: Problem, solution: Solution) -> Solution:
        """What is kept of a solution."""
        return solution

    def _allowance(self, problem: Problem) -> Budget:
        return budget_from(self.max_iter, self.max_seconds, self.cache_size)

    def _share(self, tol: float) -> Callable[[Event], float]:
        """A function from an event of the solver to the share of the fit that is done."""
        return Digits(tol).share

    def _warm_starts(self, problems: list[Problem], y: Any) -> list[Candidate | None]:
        """The last fit's solutions, if the data have the same shape and labels."""
        last = self.__dict__.get("_last_fit") if self.warm_start else None
        if last is None or self.shape_fit_ != problems[0].X.shape or not self._is_like(last, y):
            return [None] * len(problems)
        return [*self._stored(y)]

    def _is_like(self, last: Any, y: Any) -> bool:
        """Whether a model of the last fit's targets is a start for these."""
        return np.array_equal(last, y)

    # -- store ---------------------------------------------------------------------------------------------------

    def _keep(self, X: Matrix, y: Any, weights: Floats, fingerprint: Fingerprint | None) -> None:
        """Keep what is known of the data."""
        self.shape_fit_, self.fingerprint_ = X.shape, fingerprint

    def _store(self, X: Matrix, y: Any, problems: list[Problem], solutions: list[Solution]) -> None:
        """Store the results; `problems` is empty if they were solved at once."""
        self.intercept_ = np.array([solution.b for solution in solutions])
        self._balls = optimum_balls(problems, solutions) if problems else []
        self._last_fit = y if self.warm_start else None
        store_solutions(self, solutions)

    @abstractmethod
    def _stored(self, y: Any) -> list[Candidate]:
        """The model of each problem as it is stored."""

    def _spread(self, coefficients: Floats, n: int) -> Floats:
        """Coefficients of the samples `support_`, one column each, with zeros for all others of n."""
        full = np.zeros((len(coefficients), n))
        full[:, self.support_] = coefficients
        return full

    def _candidates(self, X: Matrix, y: Any, weights: Floats) -> list[tuple[Problem, Candidate]]:
        """Each problem with the model as it is stored: what `certify` judges."""
        problems = self._problems(X, y, weights, getattr(self, "kernel_", None))
        return list(zip(problems, self._stored(y), strict=True))

    def _why_uncertified(self) -> str:
        """Why a fitted model has no `certificate_`, and what to do."""
        name = type(self).__name__
        return f"This {name} carries no certificate: it was not trained here, and its file keeps no trade-off. Fit it to get one."

    def _checked(self, X: Any) -> Matrix:
        """Samples to predict, validated."""
        check_is_fitted(self, "intercept_")
        return checked_input(self, X, reset=False)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        kernel = getattr(self, "kernel", None)
        tags.input_tags.pairwise = kernel == "precomputed" or isinstance(kernel, Precomputed)
        tags.input_tags.sparse = True
        return tags

    def __dask_tokenize__(self) -> Any:
        """All that it holds: Dask would take a dataclass by its parameters, the same before and after a fit."""
        import cloudpickle  # type: ignore[import-untyped]  # Dask brings it

        return cloudpickle.dumps(self)
