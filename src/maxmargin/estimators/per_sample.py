"""What a fitted classifier makes of each training sample: the numbers that pictures and reports are made of."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_array

from maxmargin.core import Candidate, Certificate, Problem, certify, make_feasible
from maxmargin.core.certificate.parts import ABSENT, group_of_each
from maxmargin.core.certificate.scores import scores as scores_of
from maxmargin.core.products import dense_rows
from maxmargin.errors import InvalidInputError
from maxmargin.estimators.inspect import stored_problems
from maxmargin.estimators.stochastic.partial_fit import StreamLearner
from maxmargin.estimators.training_data import READABLE
from maxmargin.estimators.wrapped import Wrapped, column_names, opened, unwrapped
from maxmargin.kernels import Precomputed
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
    estimator, X = opened(estimator, X, y)
    if isinstance(estimator, StreamLearner) and not hasattr(estimator, "certificate_"):
        return _without_objective(estimator, X, y)
    stored = stored_problems(estimator, X, y, sample_weight)
    found: list[Anatomy] = []
    with one_blas_thread():
        outliers = getattr(estimator, "outliers_", ())  # of the ramp loss, in a tuple where there are several problems
        left_out = outliers if isinstance(outliers, tuple) and outliers else [outliers] * len(stored.problems)
        for (own, other), (problem, candidate), gone in zip(estimator._sides(), stored.problems, left_out, strict=True):
            scores = scores_of(problem, candidate, stored.tol or 0.0)
            certificate = replace(certify(problem, candidate, scores, tol=stored.tol), data=stored.data)
            rows, alpha = problem.row(np.arange(problem.n)), candidate.beta * problem.y + 0.0  # no −0
            about = (problem, candidate, certificate, np.flatnonzero(np.isin(rows, gone)))
            found.append(Anatomy(str(own), str(other), rows, problem.y, scores.values + candidate.b, alpha, *about))
    return found


def _without_objective(estimator: Any, X: Any, y: Any) -> list[Anatomy]:
    """Perceptrons, and what a stream has taught: decision values, and mistakes where they are kept."""
    X, y, classes = estimator._checked(X), np.asarray(y), np.asarray(estimator.classes_)
    if y.shape != (X.shape[0],) or not np.isin(y, classes).all():
        wanted = f"one label of {classes.tolist()} for each of the {X.shape[0]} samples"
        raise InvalidInputError(f"y must hold {wanted}, got {y.shape} values of {np.unique(y).tolist()[:10]}.")
    scores, n = estimator._scores(X), X.shape[0]
    signs = estimator._signs(np.searchsorted(classes, y))
    is_training = hasattr(estimator, "dual_coef_") and X.shape == estimator.shape_fit_
    alphas = estimator._spread(np.abs(estimator.dual_coef_), n) if is_training else [None] * len(signs)
    return [
        Anatomy(str(own), str(other), np.arange(n), sign, F, alpha)
        for (own, other), sign, F, alpha in zip(estimator._sides(), signs, scores.T, alphas, strict=True)
    ]


class Subject:
    """What pictures and reports are about: a fitted model with its training data, and what it makes of them.

    Attributes
    ----------
    estimator, steps
        The machine, and in words what stands before it in a pipeline; "" where it stands alone.
    sample_weight, feature_names, leave_one_out
        As they were given; names are those of the columns that the machine sees. A report sets the last one, where it was run.
    given, X, n
        The samples as the machine sees them; as an array or CSR; their number.
    plane
        Where a boundary can be drawn: two features that X has as it was given, else two that the machine sees; or None.
    labels, predicted, is_wrong
        The numbers of the classes of the samples, and of those that are predicted; where they differ.
    classes
        The names of the classes.
    parts, worst_first
        What the model makes of the samples, problem by problem; the one with the largest gap first.
    is_binary, is_precomputed, has_certificate, has_margin
        Whether there are two classes; whether X is a Gram matrix, which has no features; whether there is an objective to
        certify; whether F = ±1 means something: a perceptron has no margin.
    """

    def __init__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None, feature_names: Any = None) -> None:
        """Gather everything; the cost is that of predicting the training set twice."""
        whole = unwrapped(estimator)
        self.estimator, self.given, self.sample_weight = whole.machine, whole.saw(X, y), sample_weight
        self.leave_one_out: Any = None
        self.steps, estimator = whole.words, whole.machine
        self.parts = anatomies(estimator, self.given, y, sample_weight)
        self.X: Any = check_array(self.given, **READABLE)
        self.n, d = map(int, self.X.shape)
        names = whole.feature_names(feature_names, X)
        if names is not None and len(names) != d:
            raise InvalidInputError(f"{d} feature names are needed, got {len(names)}.")
        self.feature_names = None if names is None else [str(name) for name in names]
        self.labels = np.searchsorted(estimator.classes_, np.asarray(y))
        self.predicted = np.searchsorted(estimator.classes_, estimator.predict(self.given))
        self.is_wrong = np.asarray(self.predicted != self.labels)
        self.classes = [str(name) for name in np.asarray(estimator.classes_).tolist()]
        self.is_binary = len(self.parts) == 1
        self.is_precomputed = isinstance(getattr(estimator, "kernel_", None), Precomputed)
        self.has_certificate = all(part.certificate is not None for part in self.parts)
        self.has_margin = not hasattr(estimator, "n_updates_")
        self.plane = None if self.is_precomputed else _plane(self, whole, X, feature_names)
        self.worst_first = sorted(self.parts, key=lambda part: -part.certificate.relative_gap if part.certificate else 0.0)

    def feature_name(self, j: int) -> str:
        """What a feature is called."""
        return f"feature {j}" if self.feature_names is None else self.feature_names[j]


class Plane(NamedTuple):
    """Two features, and how the machine sees points of them.

    Attributes
    ----------
    subject : Subject
    points : array (n, 2)
        The samples.
    names : pair of str
    given
        The samples as they were given: a data frame has column names, which a grid needs too.
    sees : callable
        From such rows to those of the machine.
    """

    subject: Subject
    points: Floats
    names: tuple[str, str]
    given: Any
    sees: Callable[[Any], Any]

    def response(self, low: Floats, high: Floats, resolution: int) -> tuple[Floats, Floats, Floats]:
        """(x₀, x₁, F) on a grid; of more than two classes the number of the predicted one."""
        xx0, xx1, rows = grid_over(low, high, resolution)
        columns = getattr(self.given, "columns", None)
        seen = self.sees(rows if columns is None else type(self.given)(dict(zip(columns, rows.T, strict=True))))
        estimator, is_binary = self.subject.estimator, self.subject.is_binary
        found = estimator.decision_function(seen) if is_binary else np.searchsorted(estimator.classes_, estimator.predict(seen))
        return xx0, xx1, np.asarray(found, dtype=np.float64).reshape(xx0.shape)


def _plane(subject: Subject, whole: Wrapped, X: Any, feature_names: Any) -> Plane | None:
    """The user's two features, of numbers; or two that the machine sees."""
    if subject.steps:
        try:
            points = dense_rows(check_array(X, **READABLE))
        except (ValueError, TypeError):  # texts, missing values
            points = np.empty((0, 0))
        if points.shape[1] == 2:
            names = column_names(feature_names if np.size(feature_names) == 2 else None, X)
            return Plane(subject, points, (str(names[0]), str(names[1])), X, whole.sees)
    if subject.X.shape[1] != 2:
        return None
    names = subject.feature_name(0), subject.feature_name(1)
    return Plane(subject, dense_rows(subject.X), names, subject.given, lambda rows: rows)


def grid_over(low: Floats, high: Floats, resolution: int) -> tuple[Floats, Floats, Floats]:
    """(x₀, x₁) of a grid in a plane, and its points as rows."""
    xx0, xx1 = np.meshgrid(*np.linspace(low, high, resolution).T)
    return xx0, xx1, np.column_stack([xx0.ravel(), xx1.ravel()])


def problem_names(estimator: Any) -> list[str]:
    """Which class against which, for each binary problem of a fitted classifier."""
    names: list[str] = estimator._problem_names()
    return names


def limits_of(points: Floats, pad: float = 0.08) -> tuple[Floats, Floats]:
    """(low, high) of both axes: the samples and a little more; an axis on which nothing differs gets ±1."""
    low, high = points.min(axis=0), points.max(axis=0)
    middle, is_wide = 0.5 * (low + high), high - low > 1e-12 * np.maximum(np.abs(high), 1.0)
    half = np.where(is_wide, (0.5 + pad) * (high - low), 1.0)
    return middle - half, middle + half


def strongest(parts: Sequence[Anatomy], n: int) -> tuple[Floats | None, Indices | None]:
    """(alpha, groups) of n training rows over all problems: the largest α, and the innermost KKT group.

    None for what the model does not have. A row that is absent from each problem is `ABSENT`.
    """
    alpha, severity = np.zeros(n), np.full(n, -1, dtype=np.intp)
    for part in parts:
        if part.alpha is None:
            return None, None
        alpha[part.rows] = np.maximum(alpha[part.rows], part.alpha)
        if (groups := part.groups) is not None:
            severity[part.rows] = np.maximum(severity[part.rows], np.where(groups == ABSENT, -1, groups))
    has_groups = all(part.problem is not None for part in parts)
    return alpha, np.where(severity < 0, ABSENT, severity) if has_groups else None
