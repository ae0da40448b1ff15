"""One partition: where its samples come from, what is checked of them, and what is known of it without them."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils import assert_all_finite, check_array, check_consistent_length
from sklearn.utils.multiclass import check_classification_targets

from maxmargin.core import products
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
