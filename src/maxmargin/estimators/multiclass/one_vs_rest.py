"""One-vs-rest: a vector of the feature space and a bias for each class (one of them for two classes), and their predictions."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from maxmargin.core import products
from maxmargin.estimators.base import Classifier
from maxmargin.kernels import Kernel, Linear, Precomputed, kernel_from_name
from maxmargin.typing import Floats, Indices, Matrix

PREDICT_BYTES = 32 * 2**20


def signs_of(labels: Indices, n_classes: int) -> list[Floats]:
    """Labels ±1 of each binary problem: ``classes_[1]`` against the other, or each class against the rest."""
    positives = [1] if n_classes == 2 else range(n_classes)
    return [np.where(labels == positive, 1.0, -1.0) for positive in positives]


class OneVsRest(Classifier):
    """Abstract base of the classifiers with a kernel that tell each class from the rest."""

    kernel: Any
    degree: Any
    gamma: Any
    coef0: Any

    def _resolved_kernel(self, X: Matrix, weights: Floats) -> Kernel:
        kernel = kernel_from_name(self.kernel, degree=self.degree, gamma=self.gamma, coef0=self.coef0)
        kernel.check_input(X)
        return kernel.resolve(X, sample_weight=weights)

    def _problem_names(self) -> list[str]:
        n_problems = 1 if len(self.classes_) == 2 else len(self.classes_)
        return [f"{name} against the rest" for name in self.classes_[:n_problems].tolist()]

    def _store_vectors(
        self, X: Matrix, kernel: Kernel, vectors: Floats, biases: Floats, used: Indices, *, keep: bool = False
    ) -> None:
        """Keep the weights of a linear kernel; of every other (or to `keep` them) the samples `used`, with coefficients."""
        self.kernel_ = kernel
        self.intercept_ = biases
        self.support_ = used.astype(np.int32)
        self.shape_fit_ = X.shape
        is_linear = isinstance(kernel, Linear)
        self._weights = vectors if is_linear else None
        self._coefficients = None if is_linear else vectors[:, used]
        self.__dict__.pop("support_vectors_", None)
        if keep or not is_linear:
            self.support_vectors_ = np.empty((0, 0)) if isinstance(kernel, Precomputed) else X[used]
            self._reference = kernel.reference(X, used)

    @property
    def coef_(self) -> Floats:
        """The weights of the features; linear kernels only."""
        check_is_fitted(self, "intercept_")
        if self._weights is None:
            raise AttributeError("coef_ exists for the linear kernel only; other kernels have dual_coef_.")
        return self._weights

    def decision_function(self, X: Any) -> Floats:
        """F(x): positive for ``classes_[1]``; one column a class for more than two.

        Cost: O(nnz) for a linear kernel, (samples × support vectors) kernel values otherwise, in blocks of 32 MB.
        """
        scores = self._scores(self._checked(X))
        return scores.ravel() if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> Any:
        """The labels: F > 0 gives ``classes_[1]``, F = 0 ``classes_[0]``; for more classes the largest F, the first of equals."""
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)]

    def _scores(self, X: Matrix) -> Floats:
        if self._weights is not None:
            return np.asarray(products.scores(X, self._weights.T) + self.intercept_)
        out = np.empty((X.shape[0], len(self.intercept_)))
        step = max(1, PREDICT_BYTES // (8 * max(len(self.support_), 1)))
        for start in range(0, X.shape[0], step):
            block = X[start : start + step]
            out[start : start + step] = (
                self.kernel_.block(block, self._reference, dtype=np.float64) @ self._coefficients.T  # type: ignore[union-attr]
            )
        return np.asarray(out + self.intercept_)

    def _checked(self, X: Any) -> Matrix:
        check_is_fitted(self, "intercept_")
        return validate_data(
            self, X, reset=False, accept_sparse="csr", dtype=(np.float64, np.float32), accept_large_sparse=True
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        is_precomputed = self.kernel == "precomputed" or isinstance(self.kernel, Precomputed)
        tags.input_tags.pairwise = is_precomputed
        tags.input_tags.sparse = not is_precomputed
        return tags
