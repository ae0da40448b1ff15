"""What `fit` and `predict` take: Dask arrays, Dask dataframes, lists of files, and ordinary arrays; and what is known of them.

For `fit` each becomes a list of partitions, for `predict` a Dask array; nothing is computed. Where a partition is loaded it is
checked, and the driver learns of it (`Survey`) what it has to know without the samples.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import dask
import dask.array as da
import numpy as np
import scipy.sparse as sp
from distributed.client import futures_of
from sklearn.utils import assert_all_finite, check_array, check_consistent_length
from sklearn.utils.multiclass import check_classification_targets

from maxmargin.core import products
from maxmargin.distributed.tuning import TUNING
from maxmargin.errors import InvalidInputError
from maxmargin.estimators.training_data import READABLE, check_each_class, check_magnitude, encoded
from maxmargin.io import read_data
from maxmargin.typing import Floats, Matrix


class Samples(NamedTuple):
    """The rows of a partition, their labels and their weights (None: 1 each)."""

    X: Any
    y: Any
    weights: Any = None
    names: tuple[str, ...] | None = None


Source = Samples | Callable[[], Samples]
"""Where a partition comes from: the samples, or what can be called for them again and again, on any worker."""


@dataclass(frozen=True)
class Partitions:
    """The partitions of one fit, as delayed `Samples`."""

    parts: list[Any]
    n_bytes: float | None  # about how much they take in memory; None: Dask has to measure that; NaN: unknown
    n_features: int | None = None

    def size(self) -> float:
        """About the bytes of all partitions; where that cannot be told from their shapes, Dask measures it."""
        if self.n_bytes is not None:
            return self.n_bytes
        return float(sum(dask.compute(*(dask.delayed(bytes_of)(part) for part in self.parts))))

    @property
    def are_persisted(self) -> bool:
        """Whether the workers of a cluster hold them already."""
        return bool(futures_of(self.parts[0]))

    def sources(self) -> list[Source]:
        """Each partition as something that any thread can compute for itself."""
        alone = [dask.optimize(part)[0] for part in self.parts]  # each without the tasks of the others
        return [partial(dask.get, dict(part.dask), part.key) for part in alone]

    def computed(self) -> list[Source]:
        """All partitions, computed in threads of this process."""
        try:
            return list(dask.compute(*self.parts, scheduler="threads"))
        except Exception:  # which of them was it?
            return self.sources()


def bytes_of(samples: Samples) -> int:
    """What the rows of a partition take as float64, or as they are if they are sparse."""
    X = samples.X
    return int(X.data.nbytes + X.indices.nbytes if sp.issparse(X) else 8 * np.prod(X.shape))


def partitions_of(X: Any, y: Any, sample_weight: Any) -> Partitions:
    """Read what was passed to `fit`; nothing is computed."""
    if is_dask_frame(X):
        return _of_frame(X, y, sample_weight)
    if isinstance(X, da.Array):
        return _of_array(X, y, sample_weight)
    if paths := paths_of(X):
        return _of_files(paths, y, sample_weight)
    if dask.is_dask_collection(y):
        raise InvalidInputError("y is a Dask collection but X is none. Pass both of them so, or neither.")
    if y is None:
        raise InvalidInputError("y is None; labels are needed, unless X is a list of files.")
    X = X if hasattr(X, "shape") else np.asarray(X)
    names = tuple(map(str, X.columns)) if hasattr(X, "columns") else None
    only = dask.delayed(Samples(X, y, sample_weight, names), pure=False, traverse=False)
    return Partitions([only], float(getattr(X, "nbytes", 0)))


def is_dask_frame(X: Any) -> bool:
    """Whether it is a Dask dataframe or series."""
    return dask.is_dask_collection(X) and hasattr(X, "to_dask_array")


def paths_of(X: Any) -> list[str]:
    """Of one path or a list of paths that list; an empty one of anything else."""
    several = X if isinstance(X, list | tuple) else [X]
    are_paths = all(isinstance(path, str | os.PathLike) for path in several)
    return [os.fspath(path) for path in several] if are_paths else []


def as_array(frame: Any) -> Any:
    """A Dask dataframe or series as a Dask array whose blocks are what they were."""
    shape = (np.nan, len(frame.columns)) if frame.ndim == 2 else (np.nan,)
    return da.concatenate([da.from_delayed(part, shape, dtype=np.float64) for part in frame.to_delayed()])


def row_blocks(X: Any) -> Any:
    """A Dask array cut along its rows only."""
    if X.ndim != 2:
        raise InvalidInputError(f"X must have two dimensions, got {X.ndim}.")
    return X.rechunk({1: -1})


def _of_array(X: Any, y: Any, sample_weight: Any, names: tuple[str, ...] | None = None) -> Partitions:
    X = row_blocks(X)
    y, rows = _aligned("y", y, X), X.to_delayed()[:, 0]
    weights = [None] * len(rows) if sample_weight is None else _aligned("sample_weight", sample_weight, X)
    parts = [dask.delayed(Samples)(*part, names) for part in zip(rows, y, weights, strict=True)]
    is_measured = isinstance(X._meta, np.ndarray) and not np.isnan(X.nbytes)
    d = None if np.isnan(X.shape[1]) else int(X.shape[1])
    return Partitions(parts, float(X.nbytes) if is_measured else None, d)


def _aligned(name: str, column: Any, X: Any) -> Any:
    """The parts of y or of the weights that belong to the blocks of X."""
    column = as_array(column) if is_dask_frame(column) else column
    if not isinstance(column, da.Array):
        kind = type(column).__name__
        raise InvalidInputError(f"X is a Dask collection, so {name} must be one too (or a column's name), got {kind}.")
    are_known = not (np.isnan(X.shape[0]) or np.isnan(column.shape[0]))
    if are_known and column.shape[0] != X.shape[0]:
        raise InvalidInputError(f"X has {X.shape[0]} samples but {name} has {column.shape[0]}.")
    if are_known and column.chunks[0] != X.chunks[0]:
        column = column.rechunk({0: X.chunks[0]})
    if column.numblocks[0] != X.numblocks[0]:
        counts = f"X has {X.numblocks[0]} partitions but {name} has {column.numblocks[0]}"
        raise InvalidInputError(f"{counts}, of unknown sizes. Repartition one, or call compute_chunk_sizes() on both.")
    return column.to_delayed().ravel()


def _of_frame(X: Any, y: Any, sample_weight: Any) -> Partitions:
    names = [name for name in (y, sample_weight) if isinstance(name, str)]
    missing = [name for name in names if name not in X.columns]
    if missing:
        raise InvalidInputError(f"There is no column {missing[0]!r} in X; its columns are {list(X.columns)[:20]}.")
    y, sample_weight = (X[column] if isinstance(column, str) else column for column in (y, sample_weight))
    features = X.drop(columns=names) if names else X
    return _of_array(as_array(features), y, sample_weight, tuple(map(str, features.columns)))


def _of_files(paths: list[str], y: Any, sample_weight: Any) -> Partitions:
    if y is not None and not isinstance(y, str | int):
        raise InvalidInputError(f"X is a list of files, so y is None or the name of a column, got {type(y).__name__}.")
    weights = [None] * len(paths) if sample_weight is None else sample_weight
    if not isinstance(weights, list | tuple) or len(weights) != len(paths):
        raise InvalidInputError(f"X is a list of {len(paths)} files, so sample_weight is a list of as many arrays.")
    are_here = all(os.path.exists(path) for path in paths)  # and not where only the workers see them
    size = TUNING.unpacked * sum(os.path.getsize(path) for path in paths) if are_here else np.nan
    return Partitions([dask.delayed(from_file)(path, y, one) for path, one in zip(paths, weights, strict=True)], size)


def lazy_rows(X: Any, d: int) -> Any:
    """X as a Dask array of row blocks with d features; None where X is no collection of Dask's and no list of files."""
    if paths := paths_of(X):
        parts = [dask.delayed(read_data)(path, n_features=d, zero_based=False).X for path in paths]
        X = da.concatenate([da.from_delayed(part, (np.nan, d), dtype=np.float64) for part in parts])
    elif is_dask_frame(X):
        X = as_array(X)
    elif not isinstance(X, da.Array):
        return None
    if row_blocks(X).shape[1] != d:
        raise InvalidInputError(f"X has {X.shape[1]} features, but LinearSVC is expecting {d} features as input.")
    return row_blocks(X)


def from_file(path: str, target: str | int | None = None, weights: Any = None) -> Samples:
    """Read a data file; svmlight files count their features from 1 on."""
    data = read_data(path, target=target, zero_based=False)
    if data.y is None:
        raise InvalidInputError(f"{path}: there are no labels in it. Name their column as y.")
    return Samples(data.X, data.y, weights, data.feature_names)


def checked(source: Source, number: int) -> Samples:
    """Load a partition and check it; errors say which one it is."""
    try:
        X, y, weights, names = source() if callable(source) else source
        X, y = check_array(X, **READABLE, ensure_min_samples=0), np.asarray(y).ravel()
        weights = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=np.float64).ravel()
        check_consistent_length(X, y, weights)
        assert_all_finite(weights, input_name="sample_weight")
        check_magnitude(X)
        if len(y):
            check_classification_targets(y)
        if (weights < 0).any():
            raise InvalidInputError(f"Negative values in sample_weight: {float(weights.min())!r}. Use 0 to leave a sample out.")
    except Exception as error:
        raise InvalidInputError(f"Partition {number} cannot be used: {type(error).__name__}: {error}") from error
    return Samples(X, y, weights, names)


def widened(X: Matrix, d: int) -> Matrix:
    """A sparse matrix with d columns: svmlight files show only the columns that they use."""
    if sp.issparse(X) and X.shape[1] < d:
        return sp.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], d))
    return X


class Survey(NamedTuple):
    """What the driver learns of a partition, or of all of them."""

    n: int
    n_features: int
    n_values: int  # stored
    is_sparse: bool
    classes: Any  # the different labels
    totals: Floats  # the weight of each
    squares: float  # Σ‖x‖² over the samples that weigh something
    n_present: int
    names: tuple[str, ...] | None


def survey(samples: Samples) -> Survey:
    """Count, weigh and measure a partition."""
    X, y, weights, names = samples
    (n, d), (classes, at) = X.shape, np.unique(y, return_inverse=True)
    totals = np.bincount(at.ravel(), weights=weights, minlength=len(classes)).astype(np.float64)
    squares = float(products.squares(X)[weights > 0].sum())
    n_values, n_present = X.data.size if sp.issparse(X) else X.size, int((weights > 0).sum())
    return Survey(n, d, n_values, sp.issparse(X), classes, totals, squares, n_present, names)


def surveyed(surveys: Sequence[Survey]) -> Survey:
    """Put the surveys together, and refuse what does not fit together."""
    filled = [one for one in surveys if one.n]
    if not filled:
        raise InvalidInputError("Found array with 0 samples: all partitions are empty, a minimum of 1 is required.")
    d, widths = max(one.n_features for one in filled), {one.n_features for one in filled if not one.is_sparse}
    if widths - {d}:
        numbers = sorted({one.n_features for one in surveys})
        raise InvalidInputError(f"The partitions have different numbers of features: {numbers}.")
    names = {one.names for one in surveys if one.names is not None}
    if len(names) > 1:
        first, second = sorted(names)[:2]
        raise InvalidInputError(f"The partitions have different columns: {first[:5]} and {second[:5]}, for instance.")
    if len({np.asarray(one.classes).dtype.kind in "OSU" for one in filled}) > 1:
        raise InvalidInputError("Some partitions have texts as labels, others numbers. Make them alike.")
    classes, at = encoded(np.concatenate([one.classes for one in filled]))
    weights = np.concatenate([one.totals for one in filled])
    check_each_class(weights, at, classes)
    totals = np.bincount(at, weights=weights).astype(np.float64)
    n, _, n_values, _, _, _, squares, n_present, _ = zip(*filled, strict=True)
    return Survey(sum(n), d, sum(n_values), not widths, classes, totals, sum(squares), sum(n_present), next(iter(names), None))
