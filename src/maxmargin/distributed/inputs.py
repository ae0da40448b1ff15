"""What `fit` takes: Dask arrays, Dask dataframes, lists of files, and ordinary arrays; each becomes a list of partitions."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from maxmargin.distributed.partition import File, Graph, Held, Samples, Source
from maxmargin.distributed.tuning import TUNING
from maxmargin.errors import InvalidInputError


@dataclass(frozen=True)
class Partitions:
    """The partitions of one fit: delayed parts of Dask collections, or sources that need no Dask."""

    sources: list[Source]
    delayed: list[tuple[Any, ...]]  # (X, y) or (X, y, weights) of each partition
    n_bytes: float | None  # about how much they take in memory; None: unknown
    n_features: int | None = None
    names: tuple[str, ...] | None = None

    @property
    def count(self) -> int:
        """How many partitions."""
        return len(self.sources) or len(self.delayed)

    @property
    def is_persisted(self) -> bool:
        """Whether the workers of a cluster hold them already."""
        from distributed.client import futures_of

        return bool(self.delayed) and bool(futures_of(list(self.delayed[0])))

    def lazy_sources(self) -> list[Source]:
        """Each partition as something that any thread can compute for itself."""
        if self.sources:
            return self.sources
        import dask

        found: list[Source] = []
        for parts in self.delayed:
            (optimised,) = dask.optimize(list(parts))
            graph: dict[Any, Any] = {}
            for part in optimised:
                graph.update(part.__dask_graph__())
            found.append(Graph(graph, tuple(part.key for part in optimised)))
        return found


def partitions_of(X: Any, y: Any, sample_weight: Any) -> Partitions:
    """Read what was passed to `fit`; nothing is computed."""
    if is_dask_frame(X):
        return _of_frame(X, y, sample_weight)
    if is_dask_array(X):
        return _of_array(X, y, sample_weight)
    if is_files(X):
        return _of_files(X, y, sample_weight)
    if is_dask_array(y) or is_dask_frame(y):
        raise InvalidInputError(
            "y is a Dask collection but X is none. Pass both of them as Dask collections, or neither."
        )
    if y is None:
        raise InvalidInputError("y is None; labels are needed, unless X is a list of files.")
    X = X if hasattr(X, "shape") else np.asarray(X)
    samples = Samples(X, np.asarray(y), sample_weight)
    return Partitions([Held(samples)], [], float(getattr(X, "nbytes", 0)))


def is_dask_array(X: Any) -> bool:
    """Whether it is a Dask array."""
    return type(X).__module__.startswith("dask.array")


def is_dask_frame(X: Any) -> bool:
    """Whether it is a Dask dataframe or series."""
    return type(X).__module__.startswith(("dask.dataframe", "dask_expr")) and hasattr(X, "to_delayed")


def is_files(X: Any) -> bool:
    """Whether it is one path or a list of paths."""
    if isinstance(X, str | os.PathLike):
        return True
    return isinstance(X, list | tuple) and bool(X) and all(isinstance(path, str | os.PathLike) for path in X)


def row_blocks(X: Any) -> Any:
    """A Dask array cut along its rows only."""
    if X.ndim != 2:
        raise InvalidInputError(f"X must have two dimensions, got {X.ndim}.")
    return X.rechunk({1: -1}) if X.numblocks[1] > 1 else X


def _of_array(X: Any, y: Any, sample_weight: Any) -> Partitions:
    X = row_blocks(X)
    columns = [X.to_delayed()[:, 0], _aligned("y", y, X)]
    if sample_weight is not None:
        columns.append(_aligned("sample_weight", sample_weight, X))
    nbytes = None if np.isnan(X.nbytes) or _is_sparse_meta(X) else float(X.nbytes)
    d = None if np.isnan(X.shape[1]) else int(X.shape[1])
    return Partitions([], list(zip(*columns, strict=True)), nbytes, d)


def _is_sparse_meta(X: Any) -> bool:
    return not isinstance(X._meta, np.ndarray)


def _aligned(name: str, column: Any, X: Any) -> Any:
    """The parts of y or of the weights that belong to the blocks of X."""
    if is_dask_frame(column):
        column = column.to_dask_array()
    if not is_dask_array(column):
        raise InvalidInputError(f"X is a Dask array, so {name} must be one too, got {type(column).__name__}.")
    if column.ndim == 2 and column.shape[1] == 1:
        column = column[:, 0]
    known = not (np.isnan(X.shape[0]) or np.isnan(column.shape[0]))
    if known and column.shape[0] != X.shape[0]:
        raise InvalidInputError(f"X has {X.shape[0]} samples but {name} has {column.shape[0]}.")
    if known and column.chunks[0] != X.chunks[0]:
        column = column.rechunk((X.chunks[0],))
    if column.numblocks[0] != X.numblocks[0]:
        raise InvalidInputError(
            f"X has {X.numblocks[0]} partitions but {name} has {column.numblocks[0]}, and their sizes are not known. "
            "Call compute_chunk_sizes() on both."
        )
    return column.to_delayed()


def _of_frame(X: Any, y: Any, sample_weight: Any) -> Partitions:
    names = [name for name in (y, sample_weight) if isinstance(name, str)]
    missing = [name for name in names if name not in X.columns]
    if missing:
        raise InvalidInputError(f"There is no column {missing[0]!r} in X; its columns are {list(X.columns)[:20]}.")
    features = X.drop(columns=names) if names else X
    columns = [features.to_delayed()]
    for name, column in (("y", y), ("sample_weight", sample_weight)):
        if column is None and name == "sample_weight":
            continue
        column = X[column] if isinstance(column, str) else column
        if not (is_dask_frame(column) or is_dask_array(column)):
            raise InvalidInputError(
                f"X is a Dask dataframe, so {name} must be the name of a column or a Dask series, got {type(column).__name__}."
            )
        parts = list(column.to_delayed().ravel() if is_dask_array(column) else column.to_delayed())
        if len(parts) != len(columns[0]):
            raise InvalidInputError(f"X has {len(columns[0])} partitions but {name} has {len(parts)}. Repartition one.")
        columns.append(parts)
    return Partitions(
        [], list(zip(*columns, strict=True)), None, len(features.columns), tuple(map(str, features.columns))
    )


def _of_files(X: Any, y: Any, sample_weight: Any) -> Partitions:
    paths = [os.fspath(path) for path in ([X] if isinstance(X, str | os.PathLike) else X)]
    if y is not None and not isinstance(y, str | int):
        raise InvalidInputError(
            f"X is a list of files, so y is None or the name of their labels' column, got {type(y).__name__}."
        )
    weights: Sequence[Any] = [None] * len(paths)
    if sample_weight is not None:
        if not isinstance(sample_weight, list | tuple) or len(sample_weight) != len(paths):
            raise InvalidInputError(f"X is a list of {len(paths)} files, so sample_weight is a list of as many arrays.")
        weights = sample_weight
    size: float | None = 0.0
    for path in paths:
        if size is not None and os.path.exists(path):
            size += os.path.getsize(path) * TUNING.unpacked
        else:
            size = None  # only the workers see them
    return Partitions([File(path, y, one) for path, one in zip(paths, weights, strict=True)], [], size)
