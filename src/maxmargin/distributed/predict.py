"""Lazy predictions: a Dask collection in, a Dask collection out, nothing computed."""

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from maxmargin.core import products
from maxmargin.distributed.inputs import is_dask_array, is_dask_frame, is_files, row_blocks
from maxmargin.distributed.partition import File, widened
from maxmargin.errors import InvalidInputError
from maxmargin.estimators.multiclass.one_vs_rest import labels_from
from maxmargin.typing import Floats


def lazily(X: Any, function: Callable[[Any], Any], d: int, dtype: Any, n_columns: int | None) -> Any:
    """The function of each partition of X; None where X is no collection of Dask's and no list of files."""
    if is_dask_array(X):
        X = row_blocks(X)
        if X.shape[1] != d:
            raise InvalidInputError(f"X has {X.shape[1]} features, but LinearSVC is expecting {d} features as input.")
        if n_columns is None:
            return X.map_blocks(function, drop_axis=1, dtype=dtype, meta=np.empty(0, dtype))
        return X.map_blocks(function, chunks=(X.chunks[0], (n_columns,)), dtype=dtype, meta=np.empty((0, 0), dtype))
    if not is_dask_frame(X) and not is_files(X):
        return None
    from dask import delayed
    from dask.array import concatenate, from_delayed

    if is_files(X):
        paths = [X] if isinstance(X, str | os.PathLike) else X
        parts = [delayed(File(os.fspath(path)).features)(d) for path in paths]
    else:
        parts = list(X.to_delayed())
    shape = (np.nan,) if n_columns is None else (np.nan, n_columns)
    return concatenate([from_delayed(delayed(function)(part), shape, dtype=dtype) for part in parts])


def scores_of(X: Any, coef: Floats, intercept: Floats) -> Floats:
    """F of each row; one column a class for more than two."""
    X = X.to_numpy() if hasattr(X, "to_numpy") else X
    F = np.asarray(products.scores(widened(X, coef.shape[1]), coef.T) + intercept)
    return F.ravel() if len(intercept) == 1 else F


def predicted(X: Any, coef: Floats, intercept: Floats, classes: Any) -> Any:
    """The labels of each row."""
    return labels_from(scores_of(X, coef, intercept), classes)
