"""What a fitted classifier makes of each training sample: the numbers that pictures and reports are made of."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from maxmargin.core import Candidate, Certificate, Problem, make_feasible
from maxmargin.core import certify as _certify
from maxmargin.core.certificate.parts import ABSENT, group_of_each
from maxmargin.core.certificate.scores import scores as scores_of
from maxmargin.errors import InvalidInputError
from maxmargin.estimators.inspect import stored_problems
from maxmargin.estimators.stochastic.partial_fit import StreamLearner
from maxmargin.threads import one_blas_thread
from maxmargin.typing import Floats, Indices


@dataclass(frozen=True, eq=False)
class Anatomy:
    """One binary problem of a fitted classifier, sample by sample.

    Attributes
    ----------
    positive, negative : str
        The names of the two classes; "the rest" where there are more.
    rows : index array
        Which training rows the samples are.
    y, F : arrays
        Labels ±1 and decision values F = ⟨w, φ(x)⟩ + b.
    alpha : array or None
        Dual variables; of a perceptron η × its mistakes. A stream keeps none.
    problem, candidate, certificate
        What was solved, the model as it is stored, and its proof, recomputed here; None where nothing is minimised.
    outliers : index array
        The samples that the last convex step of the ramp loss leaves out: they have no cost in `problem`.
    """

    positive: str
    negative: str
    rows: Indices
    y: Floats
    F: Floats
    alpha: Floats | None
    problem: Problem | None = None
    candidate: Candidate | None = None
    certificate: Certificate | None = None
    outliers: Indices = field(default_factory=lambda: np.empty(0, dtype=np.intp))

    @property
    def name(self) -> str:
        """Which class against which."""
        return f"{self.positive} against {self.negative}"

    @property
    def margins(self) -> Floats:
        """z = yF: ≥ 1 outside the margin, ≤ 0 wrong."""
        return self.y * self.F

    @property
    def slacks(self) -> Floats:
        """ξ = max(0, 1 − yF)."""
        return np.maximum(0.0, 1.0 - self.margins)

    @property
    def present(self) -> Indices:
        """The samples that count, outliers included."""
        return np.arange(len(self.y)) if self.problem is None else np.union1d(self.problem.present, self.outliers)

    @property
    def groups(self) -> Indices | None:
        """The KKT group of each sample (`core.certificate.OUTSIDE`, …); None where there is no cost to compare α with."""
        if self.problem is None or self.alpha is None:
            return None
        beta = make_feasible(self.problem, self.alpha * self.y)  # as the certificate counts
        return group_of_each(self.problem.loss, self.problem.cost, beta * self.y)

    @property
    def norm(self) -> float:
        """‖w‖ in the feature space; NaN where it is not known."""
        if self.problem is None or self.candidate is None:
            return float("nan")
        return float(np.sqrt(max(self.problem.norm2(self.candidate.w, self.F - self.candidate.b), 0.0)))


def anatomies(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> list[Anatomy]:
    """Each binary problem of a fitted classifier, in scikit-learn's order; X, y and weights are its training data.

    Cost: that of predicting the training set once.
    """
    if isinstance(estimator, StreamLearner) and not hasattr(estimator, "certificate_"):
        return _without_objective(estimator, X, y)
    stored = stored_problems(estimator, X, y, sample_weight)
    found: list[Anatomy] = []
    with one_blas_thread():
        outliers = getattr(estimator, "outliers_", ())  # of the ramp loss, in a tuple where there are several problems
        left_out = outliers if isinstance(outliers, tuple) and outliers else [outliers] * len(stored.problems)
        for (own, other), (problem, candidate), gone in zip(estimator._sides(), stored.problems, left_out, strict=True):
            scores = scores_of(problem, candidate, stored.tol or 0.0)
            certificate = replace(_certify(problem, candidate, scores, tol=stored.tol), data=stored.data)
            rows, alpha = problem.row(np.arange(problem.n)), candidate.beta * problem.y + 0.0  # no −0
            about = (problem, candidate, certificate, np.flatnonzero(np.isin(rows, gone)))
            found.append(Anatomy(str(own), str(other), rows, problem.y, scores.values + candidate.b, alpha, *about))
    return found


def _without_objective(estimator: Any, X: Any, y: Any) -> list[Anatomy]:
    """Perceptrons, and what a stream has taught: decision values, and mistakes where they are kept."""
    X = estimator._checked(X)
    classes = np.asarray(estimator.classes_)
    y = np.asarray(y)
    if y.shape != (X.shape[0],) or not np.isin(y, classes).all():
        raise InvalidInputError(
            f"y must hold one label of {classes.tolist()} for each of the {X.shape[0]} samples, got {y.shape} values "
            f"of {np.unique(y).tolist()[:10]}."
        )
    scores, n = estimator._scores(X), X.shape[0]
    signs = estimator._signs(np.searchsorted(classes, y))
    is_training = hasattr(estimator, "dual_coef_") and X.shape == estimator.shape_fit_
    alphas = estimator._spread(np.abs(estimator.dual_coef_), n) if is_training else [None] * len(signs)
    return [
        Anatomy(str(own), str(other), np.arange(n), sign, F, alpha)
        for (own, other), sign, F, alpha in zip(estimator._sides(), signs, scores.T, alphas, strict=True)
    ]


def problem_names(estimator: Any) -> list[str]:
    """Which class against which, for each binary problem of a fitted classifier."""
    names: list[str] = estimator._problem_names()
    return names


def strongest(parts: Sequence[Anatomy], n: int) -> tuple[Floats | None, Indices | None]:
    """(alpha, groups) of n training rows over all problems: the largest α, and the innermost KKT group.

    None for what the model does not have. A row that is absent from each problem is `ABSENT`.
    """
    alpha = np.zeros(n)
    severity = np.full(n, -1, dtype=np.intp)
    for part in parts:
        if part.alpha is None:
            return None, None
        alpha[part.rows] = np.maximum(alpha[part.rows], part.alpha)
        if part.groups is not None:
            own = np.where(part.groups == ABSENT, -1, part.groups)
            severity[part.rows] = np.maximum(severity[part.rows], own)
    if any(part.problem is None for part in parts):
        return alpha, None
    return alpha, np.where(severity < 0, ABSENT, severity)
