"""What all estimators share: checks of parameters, and one `fit`, which leaves an estimator unchanged if it fails.

validate → pose binary problems → solve (several in threads, or on joblib's backend) → store
"""

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from numbers import Real
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from maxmargin.core import L1, L2, Bias, Candidate, Problem, Regularization, Solution, Status
from maxmargin.core.certificate.optimum_ball import optimum_balls
from maxmargin.core.losses import TRAINABLE, loss_from_name
from maxmargin.errors import InvalidInputError
from maxmargin.estimators import training_data
from maxmargin.estimators.multiclass.at_once import MOST_SAMPLES, solved_at_once
from maxmargin.estimators.multiclass.one_vs_one import opponents
from maxmargin.estimators.multiclass.per_problem import Train, going_on, solve_several, store_solutions
from maxmargin.estimators.progress.callbacks import WATCHER, Digits, TakesCallbacks, check_verbose, warn_of_gap, watching
from maxmargin.estimators.ramp_loss import EXACT, OF_RAMP, last_steps, ramp_trainer, store_outliers
from maxmargin.estimators.shown import ShownInNotebooks
from maxmargin.estimators.training_data import Fingerprint, checked_input, class_factors, costs
from maxmargin.kernel_matrix.matrix import KernelMatrix
from maxmargin.kernels import Kernel, Linear, Precomputed, kernel_from_name
from maxmargin.solvers import Auto, Budget, Event, Solver, solve, solver_from_name
from maxmargin.solvers.linear.rows import PIECE_VALUES
from maxmargin.threads import begun, usable_threads
from maxmargin.typing import Floats, Indices, Matrix


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


class Classifier(ShownInNotebooks, TakesCallbacks, ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """Abstract base of all estimators; its class attributes are the values of parameters that an estimator lacks.

    The parameters of an estimator are the fields of a dataclass, so that its `__init__` need not be written.
    """

    C: Any = np.inf
    loss: Any = "hinge"
    penalty: Any = "l2"
    class_weight: Any = None
    cache_size: Any = "auto"
    solver: Any = "auto"
    n_starts: Any = 1
    warm_start: Any = False
    n_jobs: Any = None
    random_state: Any = None
    verbose: Any = False

    _budget = staticmethod(budget_from)
    _rounds: str = "max_iter"
    """The parameter that limits the rounds of the solver."""
    _is_pairwise: bool
    """Whether several classes are told apart one-vs-one; else one-vs-rest."""
    _may_be_solved_at_once: bool = False
    """Whether small problems may be solved together (hinge only; see `at_once`)."""
    _takes_backends: bool = False
    """Whether several problems may go to joblib's backend."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on samples X and labels y.

        Parameters
        ----------
        X : array-like or sparse matrix (n_samples, n_features)
            CSR is used as it is, other formats are converted; for ``kernel="precomputed"`` the (n, n) Gram matrix.
        y : array-like (n_samples,)
            Labels of any kind, at least two different ones.
        sample_weight : array-like (n_samples,), optional
            0 leaves a sample out; a negative weight, or a class without any weight, is an error.
        """
        with unchanged_by_errors(self):
            was_interrupted = self._fit(*self._validated(X, y, sample_weight))
        if was_interrupted:
            raise KeyboardInterrupt
        return self

    def _validated(self, X: Any, y: Any, sample_weight: Any) -> tuple[Matrix, Indices, Floats]:
        """Rows, labels 0 … k − 1 of `classes_`, weights ≥ 0."""
        X, y = checked_input(self, X, y)
        X = training_data.checked_rows(X)
        self.classes_, labels = training_data.encoded(y)
        return X, labels, training_data.checked_weights(sample_weight, X, labels, self.classes_)

    def _fit(self, X: Matrix, labels: Indices, weights: Floats) -> bool:
        """Train on validated input and store a model, even if interrupted; returns whether it was."""
        threads, seed, tol = usable_threads(self.n_jobs), seed_from(self.random_state), self._checked_tol()
        fingerprint = begun(partial(Fingerprint.of, X, labels, weights), threads if X.size >= 2 * PIECE_VALUES else 1)
        solver = self._solver(seed, threads if len(self._opponents()) == 1 else 1)
        share = partial(self._share, tol)
        is_watched = self.verbose or getattr(self, "_skl_callbacks", None) or WATCHER.get() is not None
        watched = watching(self, X, labels, weights, tol, self._problem_names()) if is_watched else nullcontext()
        with watched as watch:
            size = X.shape[0] / (len(self.classes_) / 2 if self._is_pairwise else 1)  # about the samples of each problem
            is_small = self._may_be_solved_at_once and (size <= MOST_SAMPLES or not sp.issparse(X))
            at_once = solved_at_once(self, X, labels, weights, tol) if is_small else None
            if at_once is not None and at_once.is_over:
                problems, solutions = [], at_once.solutions
                if watch is not None:
                    watch.saw(solutions, share)
            else:
                problems = self._problems(X, labels, weights)
                warm = self._warm_starts(problems, labels) if at_once is None else at_once.solutions
                given = enumerate(zip(problems, warm, strict=True))
                ways = [(going_on(last, self._trainer(k, seed)), own, last) for k, (own, last) in given]
                train = [partial(way, own, solver, tol=tol, warm=last) for way, own, last in ways]
                solutions = solve_several(self, problems, train, self._allowance(problems[0]), threads, watch, share)
            self._keep(X, labels, weights, fingerprint())
            self._store(X, labels, problems, solutions)
            if at_once is not None and not problems:
                self._balls = at_once.balls
        self._warn(solutions, tol)
        return any(solution.status is Status.INTERRUPTED for solution in solutions)

    def _checked_tol(self) -> float:
        """The tolerance; parameters that no other object checks are checked here."""
        check_choice("loss", self.loss, TRAINABLE)
        check_choice("penalty", self.penalty, ("l2", "l1"))
        check_flag("warm_start", self.warm_start)
        if self.verbose is not False:
            check_verbose(self.verbose)
        check_integer("n_starts", self.n_starts)
        return check_tol(self.tol)

    def _warn(self, solutions: list[Any], tol: float) -> None:
        """Say which gaps are above the one that was asked for."""
        silent = (Status.SOLVED, Status.INTERRUPTED, Status.STOPPED, *((Status.ITERATION_BUDGET,) if self.tol is None else ()))
        for solution in solutions:
            if solution.status not in silent:
                warn_of_gap(type(self).__name__, solution.status, solution.certificate, tol, self._rounds)

    # -- problems ------------------------------------------------------------------------------------------------

    def _problems(self, X: Matrix, labels: Indices, weights: Floats, kernel: Kernel | None = None) -> list[Problem]:
        """The binary problems of validated data, all with one resolved kernel: by default that of the parameters."""
        kernel = self._resolved_kernel(X, weights) if kernel is None else kernel
        trade_off, loss = self._trade_off(), loss_from_name(self.loss)
        penalty, bias = L1() if self.penalty == "l1" else L2(), self._bias()
        factors = class_factors(self.class_weight, self.classes_, labels, weights)[labels]
        shared = None if isinstance(kernel, Linear) else KernelMatrix(kernel, X)
        problems: list[Problem] = []
        for i, j in self._opponents():
            is_whole = j is None or len(self.classes_) == 2
            own: Any = slice(None) if is_whole else np.flatnonzero((labels == i) | (labels == j))
            is_new = not (is_whole and problems)  # else all problems have the same samples
            cost = costs(trade_off, weights[own], factors[own], self.penalty) if is_new else problems[0].cost
            y, rows = np.where(labels[own] == i, 1.0, -1.0), None if is_whole else own
            problems.append(Problem(X, y, cost, loss, penalty, kernel, bias, rows, shared=shared))
        return problems

    def _binary_problem(self, what: str, X: Any, y: Any, sample_weight: Any) -> Problem:
        """The problem of two classes that was asked for, from data as they are given."""
        X, labels, weights = self._validated(X, y, sample_weight)
        if len(self.classes_) != 2:
            raise InvalidInputError(f"{what} two classes, got {len(self.classes_)}: {self.classes_}.")
        return self._problems(X, labels, weights)[0]

    def _opponents(self) -> list[tuple[int, int | None]]:
        """The positive and the negative class of each binary problem; None is all others."""
        n = len(self.classes_)
        if n == 2:
            return [(1, 0)]
        return [*opponents(n)] if self._is_pairwise else [(k, None) for k in range(n)]

    def _sides(self) -> list[tuple[Any, Any]]:
        """The labels of the two sides of each problem."""
        names = self.classes_.tolist()
        return [(names[i], "the rest" if j is None else names[j]) for i, j in self._opponents()]

    def _problem_names(self) -> list[str]:
        return [f"{positive} against {negative}" for positive, negative in self._sides()]

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
        """The solver that the parameters ask for; the exact search of the ramp chooses its own."""
        return solver_from_name("auto" if self.solver == EXACT else self.solver, seed=seed, n_threads=n_threads)

    def _trainer(self, k: int, seed: int) -> Train:
        """What solves problem k."""
        if self.loss == "ramp":
            return ramp_trainer(self.solver, self.n_starts, seed)
        if self.solver == EXACT or self.n_starts > 1:
            asked = "solver='exact'" if self.solver == EXACT else f"n_starts={self.n_starts}"
            raise InvalidInputError(f"{asked} is for loss='ramp'; {self.loss!r} is convex and has no other optimum.")
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

    def _warm_starts(self, problems: list[Problem], labels: Indices) -> list[Candidate | None]:
        """The last fit's solutions, if the data have the same shape and labels."""
        last = self.__dict__.get("_last_fit") if self.warm_start else None
        if last is None or self.shape_fit_ != problems[0].X.shape or not np.array_equal(last, labels):
            return [None] * len(problems)
        return [*self._stored(labels)]

    # -- store ---------------------------------------------------------------------------------------------------

    def _keep(self, X: Matrix, labels: Indices, weights: Floats, fingerprint: Fingerprint | None) -> None:
        """Keep what is known of the data."""
        self.class_weight_ = class_factors(self.class_weight, self.classes_, labels, weights)
        self.shape_fit_, self.fingerprint_ = X.shape, fingerprint

    def _store(self, X: Matrix, labels: Indices, problems: list[Problem], solutions: list[Solution]) -> None:
        """Store the results; `problems` is empty if they were solved at once."""
        self.intercept_ = np.array([solution.b for solution in solutions])
        self._balls = optimum_balls(problems, solutions) if problems else []
        self._last_fit = labels if self.warm_start else None
        for name in OF_RAMP:
            self.__dict__.pop(name, None)
        if self.loss == "ramp":
            store_outliers(self, problems, solutions)
        store_solutions(self, solutions)

    @abstractmethod
    def _stored(self, labels: Indices) -> list[Candidate]:
        """The model of each binary problem as it is stored."""

    def _spread(self, coefficients: Floats, n: int) -> Floats:
        """Coefficients of the samples `support_`, one column each, with zeros for all others of n."""
        full = np.zeros((len(coefficients), n))
        full[:, self.support_] = coefficients
        return full

    def _candidates(self, X: Matrix, labels: Indices, weights: Floats) -> list[tuple[Problem, Candidate]]:
        """Each binary problem with the model as it is stored: what `certify` judges."""
        problems = self._problems(X, labels, weights, getattr(self, "kernel_", None))
        if self.loss == "ramp":
            problems = last_steps(problems, self.outliers_)
        return list(zip(problems, self._stored(labels), strict=True))

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
