"""One-vs-rest: each class against all others; for two classes one problem. The largest decision wins."""

from typing import Any

import numpy as np

from maxmargin.core import Candidate, products
from maxmargin.estimators.multiclass.classifier import Classifier
from maxmargin.estimators.multiclass.one_vs_one import Vote
from maxmargin.typing import Floats, Indices, Matrix


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

    def _signs(self, labels: Indices) -> list[Floats]:
        """Labels ±1 of each binary problem."""
        return [np.where(labels == positive, 1.0, -1.0) for positive, _ in self._opponents()]

    def _vectors(self, n: int) -> Floats:
        """The vector of each problem in the feature space, where there were n training samples."""
        return products.dense_rows(self.coef_)

    def _stored(self, labels: Indices) -> list[Candidate]:
        vectors, betas = self._vectors(len(labels)), self._spread(self.dual_coef_, len(labels))
        return [Candidate(*each) for each in zip(vectors, self.intercept_.tolist(), betas, strict=True)]

    def decision_function(self, X: Any) -> Floats:
        """F(x): positive for ``classes_[1]``; one column a class for more than two.

        Cost: O(nnz) for a linear kernel, else (samples × support vectors) kernel values, in tiles and threads.
        """
        return self._shaped(self._scores(self._checked(X)))

    def predict(self, X: Any) -> Any:
        """The labels: F > 0 gives ``classes_[1]``, F = 0 ``classes_[0]``; for more classes the largest F, the first of equals."""
        return labels_from(self.decision_function(X), self.classes_)

    def _scores(self, X: Matrix) -> Floats:
        """F of each problem, (n, n_problems), from checked rows."""
        return np.asarray(products.scores(X, products.dense_rows(self.coef_).T) + self.intercept_)

    def _shaped(self, scores: Floats) -> Floats:
        return scores.ravel() if len(self.classes_) == 2 else scores
