"""What a report is about, gathered once."""

import hashlib
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array

from maxmargin.errors import InvalidInputError
from maxmargin.estimators import LeaveOneOut
from maxmargin.estimators.per_sample import anatomies
from maxmargin.kernels import Precomputed


class Subject:
    """A fitted model with its training data, and what it makes of them.

    Attributes
    ----------
    estimator, given, sample_weight, feature_names, leave_one_out
        As they were given; `given` is X.
    X, n
        The samples as an array or CSR, and their number.
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

    def __init__(
        self, estimator: Any, X: Any, y: Any, sample_weight: Any, feature_names: Any, leave_one_out: LeaveOneOut | None
    ) -> None:
        """Gather everything; the cost is that of predicting the training set twice."""
        self.estimator, self.given, self.leave_one_out = estimator, X, leave_one_out
        self.parts = anatomies(estimator, X, y, sample_weight)
        self.X: Any = check_array(X, accept_sparse="csr", dtype=(np.float64, np.float32), accept_large_sparse=True)
        self.n, d = map(int, self.X.shape)
        names = getattr(estimator, "feature_names_in_", None) if feature_names is None else feature_names
        if names is not None and len(names) != d:
            raise InvalidInputError(f"{d} feature names are needed, got {len(names)}.")
        self.feature_names = None if names is None else [str(name) for name in names]
        if leave_one_out is not None and len(leave_one_out.predictions) != self.n:
            raise InvalidInputError(
                f"leave_one_out must be a result of these {self.n} samples, got one of "
                f"{len(leave_one_out.predictions)} samples."
            )
        self.labels = np.searchsorted(estimator.classes_, np.asarray(y))
        self.predicted = np.searchsorted(estimator.classes_, estimator.predict(X))
        self.is_wrong = np.asarray(self.predicted != self.labels)
        self.sample_weight = sample_weight
        self.classes = [str(name) for name in np.asarray(estimator.classes_).tolist()]
        self.is_binary = len(self.parts) == 1
        self.is_precomputed = isinstance(getattr(estimator, "kernel_", None), Precomputed)
        self.has_certificate = all(part.certificate is not None for part in self.parts)
        self.has_margin = not hasattr(estimator, "n_updates_")
        self.worst_first = sorted(
            self.parts, key=lambda part: -part.certificate.relative_gap if part.certificate else 0.0
        )

    def feature_name(self, j: int) -> str:
        """What a feature is called."""
        return f"feature {j}" if self.feature_names is None else self.feature_names[j]

    def fingerprint(self) -> str:
        """SHA-256 of shape, type and values of X (CSR: data, indices, indptr) and of the labels' numbers."""
        digest = hashlib.sha256(f"{self.X.shape} {self.X.dtype}".encode())
        arrays = [self.X.data, self.X.indices, self.X.indptr] if sp.issparse(self.X) else [self.X]
        for array in [*arrays, self.labels.astype(np.int64)]:
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()
