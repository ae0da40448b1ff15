"""What is known of the data without pulling them: a survey of each partition, and the facts that all of them make."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from maxmargin.core import products
from maxmargin.distributed.partition import Samples
from maxmargin.errors import InvalidInputError
from maxmargin.typing import Floats


class Survey(NamedTuple):
    """What the driver learns of a partition."""

    n: int
    n_features: int
    n_values: int  # stored
    is_sparse: bool
    labels: Any  # the different ones
    totals: Floats  # the weight of each
    squares: float  # Σ‖x‖² over the samples that weigh something
    n_present: int
    names: tuple[str, ...] | None


class Facts(NamedTuple):
    """What the surveys of all partitions say together."""

    n: int
    n_present: int
    n_features: int
    classes: Any
    totals: Floats  # the weight of each class
    mean_square: float
    n_values: int
    names: tuple[str, ...] | None


def survey(samples: Samples) -> Survey:
    """Count, weigh and measure a partition."""
    X, y, weights, names = samples
    labels, at = np.unique(y, return_inverse=True)
    totals = np.bincount(at.ravel(), weights=weights, minlength=len(labels)).astype(np.float64)
    present, is_sparse = weights > 0, sp.issparse(X)
    squares = float(products.squares(X)[present].sum())
    n_values = X.data.size if is_sparse else X.size
    n, d = X.shape
    return Survey(n, d, n_values, is_sparse, labels, totals, squares, int(present.sum()), names)


def facts_of(surveys: Sequence[Survey]) -> Facts:
    """Put the surveys together, and refuse what does not fit together."""
    filled = [one for one in surveys if one.n]
    if not filled:
        raise InvalidInputError("Found array with 0 samples: all partitions are empty, a minimum of 1 is required.")
    widths = {one.n_features for one in filled if not one.is_sparse}
    d = max(one.n_features for one in filled)
    if len(widths) > 1 or (widths and widths != {d}):
        numbers = [one.n_features for one in surveys]
        raise InvalidInputError(f"The partitions have different numbers of features: {sorted(set(numbers))}.")
    names = {one.names for one in surveys if one.names is not None}
    if len(names) > 1:
        first, second = sorted(names)[:2]
        raise InvalidInputError(f"The partitions have different columns: {first[:5]} and {second[:5]}, for instance.")
    kinds = {np.asarray(one.labels).dtype.kind in "OSU" for one in filled}
    if len(kinds) > 1:
        raise InvalidInputError("Some partitions have texts as labels, others numbers. Make them alike.")
    classes = np.unique(np.concatenate([one.labels for one in filled]))
    if len(classes) < 2:
        raise InvalidInputError(
            f"A classifier needs samples of at least two classes, got 1 class: {classes.tolist()[0]!r}."
        )
    totals = np.zeros(len(classes))
    for one in filled:
        totals[np.searchsorted(classes, one.labels)] += one.totals
    if not totals.any():
        raise InvalidInputError("Sample weights must contain at least one non-zero number.")
    if (totals <= 0).any():
        name = classes.tolist()[int(np.argmin(totals))]
        raise InvalidInputError(
            f"No sample of class {name!r} has a positive sample_weight; remove the class or weigh it."
        )
    n_present = sum(one.n_present for one in filled)
    mean_square = sum(one.squares for one in filled) / n_present
    return Facts(
        sum(one.n for one in filled),
        n_present,
        d,
        classes,
        totals,
        mean_square,
        sum(one.n_values for one in filled),
        next(iter(names), None),
    )
