"""Questions about an estimator and its data: certify, separability."""

import warnings
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from maxmargin import core
from maxmargin.analysis import separability as decision
from maxmargin.core import Candidate, Certificate, Problem
from maxmargin.core.certificate.certify import QUESTION
from maxmargin.errors import InvalidInputError, NotSupportedError
from maxmargin.estimators.base import check_tol
from maxmargin.estimators.multiclass.crammer_singer import refuse_joint
from maxmargin.estimators.multiclass.per_problem import Certificates, PerProblem, largest_gap
from maxmargin.estimators.svc import HardMarginSVC
from maxmargin.estimators.training_data import Fingerprint
from maxmargin.estimators.wrapped import opened
from maxmargin.threads import one_blas_thread


def certify(estimator: Any, X: Any, y: Any, sample_weight: Any = None, *, tol: float | None = None) -> Certificate | PerProblem:
    """Judge a fitted estimator on its training data, from scratch.

    gap = P(w, b) − D(β) with w and `intercept_` as they are stored, and β from `dual_coef_`. Cost: that of predicting the
    training set.

    Parameters
    ----------
    estimator
        A fitted classifier of this library with an objective, or a Pipeline, a search or a FrozenEstimator that holds one: its
        machine is judged, on the rows that the steps before it make of X.
    X, y, sample_weight
        Its training data, in their order. The numbers are true of whatever data are given; where these are not those of the
        fit, `Certificate.data` says in which way.
    tol : float, optional
        The relative gap to ask for; by default that of the estimator.

    Returns
    -------
    Certificate
        For more than two classes a tuple of them, one a binary problem, with `.worst`.

    Examples
    --------
    >>> from maxmargin import HardMarginSVC, certify
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> certify(HardMarginSVC().fit(X, y), X, y).relative_gap < 1e-12
    True
    """
    with one_blas_thread():
        stored = stored_problems(estimator, X, y, sample_weight, takes_joint=True)
        asked = stored.tol if tol is None else check_tol(tol)
        certificates = [replace(core.certify(*pair, tol=asked), data=stored.data) for pair in stored.problems]
    return Certificates.of(certificates, largest_gap(certificates))  # type: ignore[no-any-return]


class Stored(NamedTuple):
    """Each binary problem of a fitted estimator with the model as it is stored; what its data are; the gap it asks for."""

    problems: list[tuple[Problem, Candidate]]
    data: str | None
    tol: float | None

    def warn_of_other_data(self) -> None:
        """For answers that have no place for it: say that these are not the training data, where that is known."""
        if self.data not in (None, QUESTION):
            warnings.warn(f"{self.data} Give the data of the fit, in their order.", stacklevel=3)


def stored_problems(estimator: Any, X: Any, y: Any, sample_weight: Any = None, *, takes_joint: bool = False) -> Stored:
    """What `certify` judges: binary problems, or joint ones if it `takes_joint`. X and y must have the training data's shape."""
    estimator, X = opened(estimator, X, y)
    if not hasattr(estimator, "certificate_"):
        raise NotSupportedError(estimator._why_uncertified())
    if not takes_joint:
        refuse_joint(estimator, "What is asked for")
    probe = type(estimator)(**estimator.get_params(deep=False))
    X, y, weights = probe._validated(X, y, sample_weight)
    known, found = ((one.shape_fit_ if one is estimator else X.shape, getattr(one, "classes_", ())) for one in (estimator, probe))
    if known[0] != found[0] or not np.array_equal(known[1], found[1]):
        fitted, given = (f"{shape}" + (f" and classes {classes}" if len(classes) else "") for shape, classes in (known, found))
        raise InvalidInputError(f"The training data are needed, of shape {fitted}; got {given}.")
    problems = estimator._candidates(X, y, weights)
    own = Fingerprint.of(X, y, weights)
    data = own.told_from(getattr(estimator, "fingerprint_", None)) if own else QUESTION
    return Stored(problems, data, None if estimator.tol is None else float(estimator.tol))


def separability(
    X: Any, y: Any, *, kernel: Any = "linear", degree: int = 3, gamma: Any = "scale", coef0: float = 0, fit_intercept: bool = True
) -> decision.Verdict:
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
        have a common point (without an intercept: Σ p_j y_j x_j = 0); `Undecided` says how large a margin is still possible.

    Notes
    -----
    On linear data the answer is exact: its check runs in rational arithmetic wherever rounding could matter (for
    `NotSeparable`, as long as at most 130 samples carry weight). Equal samples with opposite labels are found in one pass over
    the data. Otherwise the cost is that of `HardMarginSVC.fit`, and a linear program on a few samples where the classes overlap.

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
    return decision.separability(model._binary_problem("separability is asked of", X, y, None))
