"""One partition: where its samples come from, what is checked of them, and what is known of it without them."""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets

from maxmargin.errors import InvalidInputError, MaxMarginError
from maxmargin.estimators.base import check_magnitude
from maxmargin.typing import Matrix


class Samples(NamedTuple):
    """The rows of a partition, their labels and their weights (None: 1 each)."""

    X: Any
    y: Any
    weights: Any = None
    names: tuple[str, ...] | None = None


class Source(ABC):
    """Where a partition comes from; it can be asked again and again, on any worker."""

    @abstractmethod
    def load(self) -> Samples:
        """Read or compute the samples."""


@dataclass(frozen=True)
class Held(Source):
    """A partition that is in memory already."""

    samples: Samples

    def load(self) -> Samples:
        """As it is."""
        return self.samples


@dataclass(frozen=True)
class File(Source):
    """A data file, read where it is needed; svmlight files count their features from 1 on."""

    path: str
    target: str | int | None = None
    weights: Any = None

    def load(self) -> Samples:
        """Read it."""
        from maxmargin.io import read_data

        data = read_data(self.path, target=self.target, zero_based=False)
        if data.y is None:
            raise InvalidInputError(f"{self.path}: there are no labels in it. Name their column as y.")
        return Samples(data.X, data.y, self.weights, data.feature_names)

    def features(self, d: int) -> Any:
        """The samples alone, with d features."""
        from maxmargin.io import read_data

        return read_data(self.path, target=self.target, n_features=d, zero_based=False).X


@dataclass(frozen=True)
class Graph(Source):
    """The part of a Dask graph that makes a partition; computed in the thread that asks."""

    graph: Mapping[Hashable, Any]
    keys: tuple[Any, ...]  # of X, y and perhaps of the weights

    def load(self) -> Samples:
        """Compute it."""
        import dask

        return Samples(*dask.get(self.graph, list(self.keys)))


def checked(source: Source, number: int) -> Samples:
    """Load a partition and check it; errors say which one it is."""
    name = f"Partition {number}" + (f" ({source.path})" if isinstance(source, File) else "")
    try:
        X, y, weights, names = source.load()
        names = tuple(map(str, X.columns)) if hasattr(X, "columns") else names
        X = check_array(
            X,
            accept_sparse="csr",
            dtype=(np.float64, np.float32),
            accept_large_sparse=True,
            ensure_min_samples=0,
        )
        check_magnitude(X)
        y = np.asarray(y).ravel() if not hasattr(y, "to_numpy") else y.to_numpy().ravel()
        if len(y) != X.shape[0]:
            raise InvalidInputError(f"X has {X.shape[0]} samples but y has {len(y)} labels.")
        if len(y):
            check_classification_targets(y)
        weights = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=np.float64).ravel()
        if weights.shape != (len(y),) or not np.isfinite(weights).all():
            raise InvalidInputError(f"sample_weight must be {len(y)} finite numbers, got shape {weights.shape}.")
        if (weights < 0).any():
            raise InvalidInputError(
                f"Negative values in sample_weight: {float(weights.min())!r}. Use 0 to leave a sample out."
            )
    except Exception as error:
        kind = type(error) if isinstance(error, MaxMarginError) and len(error.args) == 1 else InvalidInputError
        raise kind(f"{name} cannot be used: {type(error).__name__}: {error}") from error
    return Samples(X, y, weights, names)


def widened(X: Matrix, d: int) -> Matrix:
    """A sparse matrix with d columns: svmlight files show only the columns that they use."""
    if sp.issparse(X) and X.shape[1] < d:
        return sp.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], d))
    return X
