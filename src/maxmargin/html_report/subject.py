"""What a report is about, gathered once."""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array

from maxmargin.errors import InvalidInputError
from maxmargin.estimators import LeaveOneOut
from maxmargin.estimators.per_sample import Anatomy, anatomies
from maxmargin.kernels import Precomputed
from maxmargin.typing import Flags, Floats, Indices, Matrix


@dataclass(frozen=True, eq=False)
class Subject:
    """A fitted model with its training data, and what it makes of them."""

    estimator: Any
    X: Matrix
    given: Any
    labels: Indices
    predicted: Indices
    sample_weight: Floats | None
    parts: list[Anatomy]
    feature_names: list[str] | None
    leave_one_out: LeaveOneOut | None

    @classmethod
    def of(
        cls, estimator: Any, X: Any, y: Any, sample_weight: Any, feature_names: Any, leave_one_out: LeaveOneOut | None
    ) -> "Subject":
        """Gather everything; the cost is that of predicting the training set twice."""
        parts = anatomies(estimator, X, y, sample_weight)
        rows = check_array(X, accept_sparse="csr", dtype=(np.float64, np.float32), accept_large_sparse=True)
        names = getattr(estimator, "feature_names_in_", None) if feature_names is None else feature_names
        if names is not None and len(names) != rows.shape[1]:
            raise InvalidInputError(f"{rows.shape[1]} feature names are needed, got {len(names)}.")
        if leave_one_out is not None and len(leave_one_out.predictions) != rows.shape[0]:
            raise InvalidInputError(
                f"leave_one_out must be a result of these {rows.shape[0]} samples, got one of "
                f"{len(leave_one_out.predictions)} samples."
            )
        return cls(
            estimator=estimator,
            X=rows,
            given=X,
            labels=np.searchsorted(estimator.classes_, np.asarray(y)),
            predicted=np.searchsorted(estimator.classes_, estimator.predict(X)),
            sample_weight=None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64),
            parts=parts,
            feature_names=None if names is None else [str(name) for name in names],
            leave_one_out=leave_one_out,
        )

    @property
    def n(self) -> int:
        """Samples."""
        return int(self.X.shape[0])

    @property
    def is_wrong(self) -> Flags:
        """Which samples are training errors."""
        return np.asarray(self.predicted != self.labels)

    @cached_property
    def classes(self) -> list[str]:
        """The names of the classes."""
        return [str(name) for name in np.asarray(self.estimator.classes_).tolist()]

    @property
    def is_binary(self) -> bool:
        """Whether there are two classes."""
        return len(self.parts) == 1

    @property
    def is_precomputed(self) -> bool:
        """Whether X is a Gram matrix, which has no features."""
        return isinstance(getattr(self.estimator, "kernel_", None), Precomputed)

    @property
    def has_certificate(self) -> bool:
        """Whether there is an objective to certify."""
        return all(part.certificate is not None for part in self.parts)

    @property
    def has_margin(self) -> bool:
        """Whether F = ±1 means something: a perceptron has no margin."""
        return not hasattr(self.estimator, "n_updates_")

    @cached_property
    def worst_first(self) -> list[Anatomy]:
        """The problems, the one with the largest gap first."""
        return sorted(self.parts, key=lambda part: -part.certificate.relative_gap if part.certificate else 0.0)

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
