"""One-vs-rest: each class against all others; for two classes one problem. The largest decision wins."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin.core import Bias, Candidate, products
from maxmargin.estimators.base import Classifier, check_flag
from maxmargin.estimators.kernel_prediction import KernelParameters
from maxmargin.estimators.multiclass.one_vs_one import Vote
from maxmargin.kernel_matrix.expansion import Expansion
from maxmargin.kernels import Kernel, Linear, Precomputed
from maxmargin.threads import usable_threads
from maxmargin.typing import Floats, Indices, Matrix


def signs_of(labels: Indices, n_classes: int) -> list[Floats]:
    """Labels ±1 of each binary problem: ``classes_[1]`` against the other, or each class against the rest."""
    positives = [1] if n_classes == 2 else range(n_classes)
    return [np.where(labels == positive, 1.0, -1.0) for positive in positives]


def labels_from(scores: Floats, classes: Any) -> Any:
    """F > 0 gives ``classes[1]``, F = 0 ``classes[0]``; for more classes the largest F, the first of equals."""
    return classes[(scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)]


def largest(decisions: Floats, lower: Floats, upper: Floats) -> Vote:
    """The class of the largest decision, (n_classes, n); certain where its lower end is above all other upper ends."""
    samples = np.arange(lower.shape[1])
    winner = np.asarray(decisions.argmax(axis=0), dtype=np.intp)
    others = upper.copy()
    others[winner, samples] = -np.inf
    return Vote(winner, lower[winner, samples] > others.max(axis=0))


class OneVsRest(Classifier):
    """Abstract base of the classifiers that tell each class from the rest."""

    _is_pairwise = False
    dual_coef_: Floats
    _weights: Any
    _coefficients: Any

    def _spread(self, coefficients: Floats, n: int) -> Floats:
        """Coefficients of the samples `support_`, (n_problems, n_SV), with zeros for all others."""
        full = np.zeros((len(coefficients), n))
        full[:, self.support_] = coefficients
        return full

    @abstractmethod
    def _vectors(self, n: int) -> Floats:
        """The vector of each problem in the feature space, where there were n training samples."""

    def _stored(self, labels: Indices) -> list[Candidate]:
        n = len(labels)
        each = zip(self._vectors(n), self.intercept_.tolist(), self._spread(self.dual_coef_, n), strict=True)
        return [Candidate(w, b, beta) for w, b, beta in each]

    def decision_function(self, X: Any) -> Floats:
        """F(x): positive for ``classes_[1]``; one column a class for more than two.

        Cost: O(nnz) for a linear kernel, else (samples × support vectors) kernel values, in tiles and threads.
        """
        return self._shaped(self._scores(self._checked(X)))

    def predict(self, X: Any) -> Any:
        """The labels: F > 0 gives ``classes_[1]``, F = 0 ``classes_[0]``; for more classes the largest F, the first of equals."""
        return labels_from(self.decision_function(X), self.classes_)

    @abstractmethod
    def _scores(self, X: Matrix) -> Floats:
        """F of each problem, (n, n_problems), from checked rows."""

    def _shaped(self, scores: Floats) -> Floats:
        return scores.ravel() if len(self.classes_) == 2 else scores


@dataclass(eq=False, repr=False, kw_only=True)
class KernelOneVsRest(KernelParameters, OneVsRest):
    """Abstract base of those with a kernel: a vector of the feature space and a bias for each class."""

    n_jobs: int | None = None
    random_state: Any = None

    def _store_vectors(
        self, X: Matrix, kernel: Kernel, vectors: Floats, biases: Floats, used: Indices, *, keep: bool = False
    ) -> None:
        """Keep the weights of a linear kernel; of every other (or to `keep` them) the samples `used`, with coefficients."""
        self.kernel_ = kernel
        self.intercept_ = biases
        self.support_ = used.astype(np.int32)
        is_linear = isinstance(kernel, Linear)
        self._weights = vectors if is_linear else None
        self._coefficients = None if is_linear else vectors[:, used]
        self.__dict__.pop("support_vectors_", None)
        if keep or not is_linear:
            self.support_vectors_ = np.empty((0, 0)) if isinstance(kernel, Precomputed) else X[used]
            self._reference = kernel.reference(X, used)

    def _vectors(self, n: int) -> Floats:
        return np.asarray(self._weights) if self._coefficients is None else self._spread(self._coefficients, n)

    @property
    def coef_(self) -> Floats:
        """The weights of the features; linear kernels only."""
        check_is_fitted(self, "intercept_")
        if self._weights is None:
            raise AttributeError("coef_ exists for the linear kernel only; other kernels have dual_coef_.")
        return np.asarray(self._weights)

    def _scores(self, X: Matrix) -> Floats:
        if self._coefficients is None:
            return np.asarray(products.scores(X, self._weights.T) + self.intercept_)
        sums = Expansion(self.kernel_, self._reference, self._coefficients)(X, usable_threads(self.n_jobs), np.float64)
        return np.asarray(sums[0].T + self.intercept_)

    def _bias(self) -> Bias:
        """The weight of a constant feature, as far as there is one."""
        return Bias.penalized() if check_flag("fit_intercept", self.fit_intercept) else Bias.none()
