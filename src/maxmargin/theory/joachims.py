"""The leave-one-out algorithm of Joachims' lecture, as printed: a lemma that skips samples, and retraining for the rest.

    (R, α, ξ) = trainSVM(S)
    for each (x_i, y_i):  if ξ_i > 1: an error;  else if 2α_iR² + ξ_i < 1: correct;  else train without it and test

It is here to be compared. `leave_one_out` decides more samples without retraining, and each of its decisions is a theorem; the
lemma of this one is not, where the bias is free (see `docs/errata.md`).
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

import numpy as np

from maxmargin.errors import InvalidInputError
from maxmargin.estimators.inspect import stored_problems
from maxmargin.estimators.leave_one_out.estimates import xi_alpha
from maxmargin.rounding import raised
from maxmargin.typing import Flags, Floats, Indices

AT_THE_COST = 1e-9
"""Relative distance from C at which a multiplier counts as C, since a fit stops at a gap. It tells case 3 from case 2 only."""


class InfluenceCase(Enum):
    """Which step of the algorithm settles a sample; each value is its sentence."""

    NOT_SUPPORT = "Case 1: it is no support vector."
    LOW_INFLUENCE = "Case 2: a support vector of low influence."
    SMALL_ERROR = "Case 3: its multiplier is C, but its training error is small."
    TRAINING_ERROR = "A training error."
    RETRAINED = "The lemma says nothing, so the machine was trained without it."

    def __str__(self) -> str:
        return self.value


class InfluenceRow(NamedTuple):
    """A line of the lecture's table: the sample, 2αR² + ξ, the case, and whether its leave-one-out label is wrong."""

    sample: int
    number: float
    case: InfluenceCase
    is_error: bool


@dataclass(frozen=True, eq=False)
class JoachimsLeaveOneOut:
    """What the printed algorithm finds.

    Attributes
    ----------
    error : float
        The share of samples that it counts as leave-one-out errors.
    upper : float
        The share with 2α_iR² + ξ_i ≥ 1, which needs no retraining: what his experiment compares with the validation error.
    is_error : array of bool (n,)
        Which samples it counts.
    cases : array of InfluenceCase (n,)
        What settled each.
    alpha, xi, number : arrays (n,)
        The multiplier, the slack, and 2α_iR² + ξ_i.
    radius2 : float
        R².
    seconds : float
        Of everything: the fit, the lemma, the retrainings.
    """

    error: float
    upper: float
    is_error: Flags
    cases: Any
    alpha: Floats
    xi: Floats
    number: Floats
    radius2: float
    seconds: float

    @property
    def retrained(self) -> Indices:
        """The samples that the machine was trained without."""
        return np.flatnonzero(self.cases == InfluenceCase.RETRAINED)

    @property
    def share(self) -> float:
        """The share of samples that it retrained without: the middle column of his second table."""
        return len(self.retrained) / len(self.cases)

    def counts(self) -> dict[InfluenceCase, int]:
        """How many samples each case settled."""
        return {case: count for case in InfluenceCase if (count := int(np.sum(self.cases == case)))}

    def table(self) -> Iterator[InfluenceRow]:
        """His first table: 2αR² + ξ of each sample, and whether it is a leave-one-out error."""
        for i, (number, case, is_error) in enumerate(zip(self.number, self.cases, self.is_error, strict=True)):
            yield InfluenceRow(i, float(number), case, bool(is_error))

    def __str__(self) -> str:
        rows = [f"{count:>10} {case}" for case, count in self.counts().items()]
        head = f"{'samples':>10} {'retrained':>10} {'seconds':>9} {'error':>8} {'2αR² + ξ ≥ 1':>14}"
        line = f"{len(self.cases):>10} {self.share:>10.2%} {self.seconds:>9.3g} {self.error:>8.2%} {self.upper:>14.2%}"
        return "\n".join([head, line, "", *rows])


def joachims_leave_one_out(estimator: Any, X: Any, y: Any, R: float | None = None) -> JoachimsLeaveOneOut:
    """Run the leave-one-out algorithm of the lecture as it is printed, its retrainings included.

    2α_iR² + ξ_i < 1 skips a sample: no support vector (case 1), one of low influence (case 2), or one with α_i = C and a small
    slack (case 3). With a free bias the lemma behind it can fail, so the error found can be too small; `leave_one_out` is exact.
    Cost: a fit, and one more for each sample with ξ_i ≤ 1 that the lemma leaves open.

    Parameters
    ----------
    estimator : LinearSVC, SVC or HardMarginSVC
        Its parameters are used; it stays as it is.
    X, y
        The samples S and their labels, of two classes. They are what the machine sees: no pipelines.
    R : float, optional
        A bound of ‖φ(x)‖; by default the largest one there is.

    Returns
    -------
    JoachimsLeaveOneOut

    Examples
    --------
    >>> from maxmargin import LinearSVC, theory
    >>> X, y = [[-2.0], [-1.0], [-0.5], [0.5], [1.0], [1.5]], [0, 0, 0, 1, 1, 0]
    >>> found = theory.joachims_leave_one_out(LinearSVC(C=0.1, tol=1e-9), X, y)
    >>> [f"{row.number:.2f} {row.case.name}" for row in found.table()][:3]
    ['0.00 NOT_SUPPORT', '0.00 NOT_SUPPORT', '0.81 SMALL_ERROR']
    >>> round(found.error, 3), round(found.share, 3)
    (0.333, 0.0)
    """
    started = time.perf_counter()
    labels = np.asarray(y)
    model = _trained(estimator, X, labels)
    if len(model.classes_) != 2:
        raise InvalidInputError(f"The algorithm is about two classes, got {len(model.classes_)}. Use leave_one_out.")
    found: Any = xi_alpha(model, X, labels)
    radius2 = found.radius2 if R is None else float(R) ** 2
    if not radius2 * (1.0 + 1e-12) >= found.radius2:
        raise InvalidInputError(f"R = {R!r} is no bound of ‖φ(x)‖, whose largest value is {raised(found.radius2**0.5, 2):.6g}.")
    number = 2.0 * found.alpha * radius2 + found.xi
    cases = _cases(stored_problems(model, X, labels).problems[0][0].cost, found.alpha, found.xi, number)
    is_error = cases == InfluenceCase.TRAINING_ERROR
    rows = X if hasattr(X, "shape") else np.asarray(X)
    rows = rows.tocsr() if hasattr(rows, "tocsr") else rows
    for i in np.flatnonzero(cases == InfluenceCase.RETRAINED):
        is_error[i] = _is_wrong_without(estimator, rows, labels, int(i))
    upper = float(np.mean(~(number < 1.0)))
    seconds = time.perf_counter() - started
    return JoachimsLeaveOneOut(float(is_error.mean()), upper, is_error, cases, found.alpha, found.xi, number, radius2, seconds)


def _cases(cost: Floats, alpha: Floats, xi: Floats, number: Floats) -> Any:
    """The case of each sample, in the order of the printed algorithm."""
    cases = np.full(len(alpha), InfluenceCase.RETRAINED, dtype=object)
    is_correct = number < 1.0
    cases[is_correct] = InfluenceCase.LOW_INFLUENCE
    cases[is_correct & (alpha == 0.0)] = InfluenceCase.NOT_SUPPORT
    cases[is_correct & (alpha >= cost * (1.0 - AT_THE_COST))] = InfluenceCase.SMALL_ERROR
    cases[xi > 1.0] = InfluenceCase.TRAINING_ERROR
    return cases


def _is_wrong_without(estimator: Any, X: Any, y: Any, i: int) -> bool:
    """Whether the machine that never saw sample i mislabels it; a class without another sample cannot be learnt."""
    others = np.delete(np.arange(len(y)), i)
    if len(np.unique(y[others])) < 2:
        return True
    return bool(_trained(estimator, X[others], y[others]).predict(X[[i]])[0] != y[i])


def _trained(estimator: Any, X: Any, y: Any) -> Any:
    """A machine with the estimator's parameters, trained on these samples."""
    return type(estimator)(**estimator.get_params(deep=False)).fit(X, y)
