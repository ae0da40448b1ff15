"""What all estimators share: validation of the input, and a `fit` that loses nothing when it fails."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, validate_data

from maxmargin.core import Candidate, Problem
from maxmargin.errors import InvalidInputError
from maxmargin.estimators.fingerprint import Fingerprint
from maxmargin.estimators.progress.callbacks import TakesCallbacks
from maxmargin.kernels.tiles import distinct
from maxmargin.solvers import Budget
from maxmargin.solvers.linear.rows import WORTH_A_THREAD
from maxmargin.threads import begun, usable_threads
from maxmargin.typing import Floats, Indices, Matrix

SMALLEST, LARGEST = 1e-140, 1e140
"""Beyond these the squares of the values leave float64."""


def budget_from(max_iter: int, max_seconds: float | None, cache_size: str | float = "auto") -> Budget:
    """Budgets from scikit-learn's spellings: −1 and None are no limit, `cache_size` is in megabytes."""
    if not isinstance(max_iter, int | np.integer) or isinstance(max_iter, bool) or max_iter < -1:
        raise InvalidInputError(f"max_iter must be an integer ≥ −1 (−1: no limit), got {max_iter!r}.")
    if max_seconds is not None and not (_is_number(max_seconds) and max_seconds > 0):
        raise InvalidInputError(f"max_seconds must be a positive number or None (no limit), got {max_seconds!r}.")
    if cache_size != "auto" and not (_is_number(cache_size) and 0 < float(cache_size) < np.inf):
        raise InvalidInputError(f'cache_size must be "auto" or a positive number of megabytes, got {cache_size!r}.')
    limits: dict[str, Any] = {} if cache_size == "auto" else {"bytes": int(float(cache_size) * 2**20)}
    return Budget(iterations=None if max_iter == -1 else int(max_iter), seconds=max_seconds, **limits)


@contextmanager
def unchanged_by_errors(estimator: Any) -> Iterator[None]:
    """Whatever is raised in the block, the estimator then is what it was before."""
    before = estimator.__dict__.copy()
    try:
        yield
    except BaseException:
        estimator.__dict__.clear()
        estimator.__dict__.update(before)
        raise


class Classifier(TakesCallbacks, ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """Abstract base: validates, encodes labels, and leaves the estimator as it was when `fit` raises an error."""

    _budget = staticmethod(budget_from)

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
            X, labels, weights = self._validated(X, y, sample_weight)
            is_large = (X.nnz if sp.issparse(X) else X.size) >= WORTH_A_THREAD
            threads = usable_threads(getattr(self, "n_jobs", None)) if is_large else 1
            fingerprint = begun(partial(Fingerprint.of, X, labels, weights), threads)
            was_interrupted = self._fit(X, labels, weights)
            self.fingerprint_ = fingerprint()
        if was_interrupted:
            raise KeyboardInterrupt
        return self

    @abstractmethod
    def _fit(self, X: Matrix, labels: Indices, weights: Floats) -> bool:
        """Train on validated input (labels 0 … k − 1 of `classes_`, weights ≥ 0); True: interrupted, but with a model."""

    @abstractmethod
    def _candidates(self, X: Matrix, labels: Indices, weights: Floats) -> list[tuple[Problem, Candidate]]:
        """Each binary problem with the model as it is stored: what `certify` judges."""

    def _why_uncertified(self) -> str:
        """Why a fitted model has no `certificate_`, and what to do."""
        return (
            f"This {type(self).__name__} carries no certificate: it was not trained here, and the file that it comes from keeps "
            "no trade-off to judge it by. Fit it on its training data to get one."
        )

    def _validated(self, X: Any, y: Any, sample_weight: Any) -> tuple[Matrix, Indices, Floats]:
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=(np.float64, np.float32), accept_large_sparse=True, y_numeric=False
        )
        check_classification_targets(y)
        X = distinct(X) if sp.issparse(X) else X
        check_magnitude(X)
        classes = np.unique(y)
        if len(classes) < 2:
            raise InvalidInputError(
                f"A classifier needs samples of at least two classes, got 1 class: {classes.tolist()[0]!r}."
            )
        labels = np.searchsorted(classes, y)  # many times faster than asking `unique` for the inverse, which sorts
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
        if (weights < 0).any():
            raise InvalidInputError(
                f"Negative values in sample_weight: {float(weights.min())!r}. Use 0 to leave a sample out."
            )
        if not weights.any():
            raise InvalidInputError("Sample weights must contain at least one non-zero number.")
        total = np.bincount(labels, weights=weights, minlength=len(classes))
        if (total <= 0).any():
            name = classes.tolist()[int(np.argmin(total))]
            raise InvalidInputError(
                f"No sample of class {name!r} has a positive sample_weight; remove the class or weigh it."
            )
        self.classes_ = classes
        return X, labels.astype(np.intp, copy=False), weights


def check_magnitude(X: Matrix) -> None:
    """Refuse data whose squares would overflow, or all vanish, in float64."""
    values = X.data if sp.issparse(X) else X
    if values.size == 0 or _has_harmless_squares(values):
        return
    largest = max(float(values.max()), -float(values.min()))
    if largest > LARGEST:
        raise InvalidInputError(f"The largest value of X is {largest:.2g}; its square overflows. Scale the features.")
    if 0 < largest < SMALLEST:
        raise InvalidInputError(f"The largest value of X is {largest:.2g}; its square vanishes. Scale the features.")


def _has_harmless_squares(values: Floats) -> bool:
    """Whether Σ x², one fast pass, already shows that no square overflows and not all vanish."""
    if not (values.flags.c_contiguous or values.flags.f_contiguous):
        return False
    flat = values.ravel(order="K")
    with np.errstate(over="ignore"):
        total = np.einsum("i,i->", flat, flat)  # not BLAS, whose threads would wait for one another on a busy machine
        return bool(SMALLEST**2 * flat.size <= total <= LARGEST**2)


def check_tol(tol: Any) -> float:
    """A tolerance is a number ≥ 0."""
    if not (_is_number(tol) and 0 <= tol < np.inf):
        raise InvalidInputError(f"tol is the relative gap to reach and must be a number ≥ 0, got {tol!r}.")
    return float(tol)


def check_flag(name: str, value: Any) -> bool:
    """A parameter that is true or false."""
    if not isinstance(value, bool | np.bool_):
        raise InvalidInputError(f"{name} must be True or False, got {value!r}.")
    return bool(value)


def check_choice(name: str, value: Any, choices: tuple[Any, ...]) -> None:
    """A parameter that takes one of a few values."""
    if not any(value is choice or (isinstance(value, str) and value == choice) for choice in choices):
        raise InvalidInputError(f"{name} must be one of {choices}, got {value!r}.")


def _is_number(value: Any) -> bool:
    if not isinstance(value, int | float | np.number) or isinstance(value, bool):
        return False
    try:
        return not math.isnan(value)
    except (OverflowError, TypeError):  # an int beyond float64, a complex number
        return False
