"""Questions about an estimator and its data: certify, separability."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin.analysis.separability import Verdict
from maxmargin.analysis.separability import separability as _separability
from maxmargin.core import Candidate, Certificate, Problem
from maxmargin.core import certify as _certify
from maxmargin.errors import InvalidInputError
from maxmargin.estimators.base import Classifier
from maxmargin.estimators.hard_margin import HardMarginSVC
from maxmargin.estimators.one_vs_one import PerProblem
from maxmargin.threads import one_blas_thread


def certify(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> Certificate | PerProblem:
    """Judge a fitted estimator on its training data, from scratch, in float64.

    gap = P(w, b) − D(β) with w and `intercept_` as they are stored, and β from `dual_coef_`. X, y and the weights must be the
    training rows in their order. Cost: that of predicting the training set.

    Returns
    -------
    Certificate
        For more than two classes a tuple of them, one a pair, with `.worst`.

    Examples
    --------
    >>> from maxmargin import HardMarginSVC, certify
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> certify(HardMarginSVC().fit(X, y), X, y).relative_gap < 1e-12
    True
    """
    with one_blas_thread():
        certificates = [_certify(*pair) for pair in stored_problems(estimator, X, y, sample_weight)]
    if len(certificates) == 1:
        return certificates[0]
    return PerProblem.of(certificates, int(np.argmax([certificate.relative_gap for certificate in certificates])))


def stored_problems(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> list[tuple[Problem, Candidate]]:
    """Each binary problem of a fitted estimator with the model as it is stored; X and y must be its training data."""
    if not isinstance(estimator, Classifier):
        raise InvalidInputError(f"A fitted maxmargin estimator is needed, got {type(estimator).__name__}.")
    check_is_fitted(estimator, "certificate_")
    probe = type(estimator)(**estimator.get_params(deep=False))
    X, labels, weights = probe._validated(X, y, sample_weight)
    if X.shape != estimator.shape_fit_ or not np.array_equal(probe.classes_, estimator.classes_):
        raise InvalidInputError(
            f"The training data are needed: the model was fitted on shape {estimator.shape_fit_} and classes "
            f"{estimator.classes_}, got {X.shape} and {probe.classes_}."
        )
    return estimator._candidates(X, labels, weights)


def separability(
    X: Any,
    y: Any,
    *,
    kernel: Any = "linear",
    degree: int = 3,
    gamma: Any = "scale",
    coef0: float = 0.0,
    fit_intercept: bool = True,
) -> Verdict:
    """Can a hyperplane separate the two classes? A witness either way.

    Parameters
    ----------
    X, y
        Samples and their labels, of two classes.
    kernel, degree, gamma, coef0
        The space in which to look, as in `HardMarginSVC`.
    fit_intercept : bool
        False: only hyperplanes through the origin.

    Returns
    -------
    Separable, NotSeparable or Undecided
        Each with `check()`. `Separable` has w, b and the margin; `NotSeparable` has convex weights under which the classes
        have a common point; `Undecided` says how large a margin is still possible.

    Notes
    -----
    On linear data the answer is exact: its check runs in rational arithmetic wherever rounding could matter (for
    `NotSeparable`, as long as at most 130 samples carry weight). Cost: that of `HardMarginSVC.fit`, and a linear program on a
    few samples where the classes overlap.

    Examples
    --------
    >>> from maxmargin import separability
    >>> print(separability([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]))
    Separable: a hyperplane keeps every sample at least 0.5 away, on its right side.
    >>> witness = separability([[0.0], [1.0], [2.0]], [0, 1, 0])
    >>> witness.weights, bool(witness.check())
    (array([0.5, 1. , 0.5]), True)
    """
    model = HardMarginSVC(kernel=kernel, degree=degree, gamma=gamma, coef0=coef0, fit_intercept=fit_intercept)
    X, labels, weights = model._validated(X, y, None)
    if len(model.classes_) != 2:
        raise InvalidInputError(f"separability is asked of two classes, got {len(model.classes_)}: {model.classes_}.")
    return _separability(model._problems(X, labels, weights)[0])
