"""Questions about an estimator and its data: certify, separability."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin.analysis.separability import Verdict
from maxmargin.analysis.separability import separability as _separability
from maxmargin.core import Bias, Certificate, Problem
from maxmargin.core import certify as _certify
from maxmargin.errors import InvalidInputError
from maxmargin.estimators.base import Classifier

from maxmargin.estimators.kernel_machine import KernelClassifier
from maxmargin.estimators.one_vs_one import PerProblem, pairs_of
from maxmargin.kernels import kernel_from_name


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
    if not isinstance(estimator, KernelClassifier):
        raise InvalidInputError(f"certify takes a fitted maxmargin estimator, got {type(estimator).__name__}.")
    check_is_fitted(estimator, "support_")
    probe = type(estimator)(**estimator.get_params(deep=False))
    X, labels, weights = probe._validated(X, y, sample_weight)
    if X.shape != estimator.shape_fit_ or not np.array_equal(probe.classes_, estimator.classes_):
        raise InvalidInputError(
            f"certify needs the training data: the model was fitted on shape {estimator.shape_fit_} and classes "
            f"{estimator.classes_}, got {X.shape} and {probe.classes_}."
        )
    certificates = [_certify(*pair) for pair in estimator._candidates(X, labels, weights)]
    if len(certificates) == 1:
        return certificates[0]
    return PerProblem.of(certificates, int(np.argmax([certificate.relative_gap for certificate in certificates])))


class _Reader(Classifier):
    """Validates data as an estimator does, without training anything."""

    def _fit(self, X: Any, labels: Any, weights: Any) -> None:
        raise NotImplementedError


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
    reader = _Reader()
    X, labels, _ = reader._validated(X, y, None)
    if len(reader.classes_) != 2:
        raise InvalidInputError(f"separability is asked of two classes, got {len(reader.classes_)}: {reader.classes_}.")
    named = kernel_from_name(kernel, degree=degree, gamma=gamma, coef0=coef0)
    named.check_input(X)
    pair = pairs_of(labels, 2)[0]
    bias = Bias.free() if fit_intercept else Bias.none()
    problem = Problem(X, pair.y, cost=np.full(len(pair.y), np.inf), kernel=named.resolve(X), bias=bias)
    return _separability(problem)


