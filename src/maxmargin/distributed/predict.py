"""Lazy predictions: a Dask collection in, a Dask collection out, nothing computed."""

from typing import Any

import dask
import dask.array as da
import numpy as np

from maxmargin.core import products
from maxmargin.distributed.inputs import as_array, is_dask_array, is_dask_frame, is_files, paths_of, row_blocks
from maxmargin.distributed.partition import widened
from maxmargin.errors import InvalidInputError
from maxmargin.io import read_data
from maxmargin.typing import Floats


def lazy_rows(X: Any, d: int) -> Any:
    """X as a Dask array of row blocks with d features; None where X is no collection of Dask's and no list of files."""
    if is_files(X):
        parts = [dask.delayed(_features)(path, d) for path in paths_of(X)]
        X = da.concatenate([da.from_delayed(part, (np.nan, d), dtype=np.float64) for part in parts])
    elif is_dask_frame(X):
        X = as_array(X)
    elif not is_dask_array(X):
        return None
    if row_blocks(X).shape[1] != d:
        raise InvalidInputError(f"X has {X.shape[1]} features, but LinearSVC is expecting {d} features as input.")
    return row_blocks(X)


def _features(path: str, d: int) -> Any:
    return read_data(path, n_features=d, zero_based=False).X


def scores_of(X: Any, coef: Floats, intercept: Floats) -> Floats:
    """F of each row; one column a class for more than two."""
    X = X.to_numpy() if hasattr(X, "to_numpy") else X
    F = np.asarray(products.scores(widened(X, coef.shape[1]), coef.T) + intercept)
    return F.ravel() if len(intercept) == 1 else F
