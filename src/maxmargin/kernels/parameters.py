"""Parameters of kernels: their checks, and the widths that depend on the data."""

import math
import operator
from dataclasses import replace
from numbers import Real
from typing import Any, Self

import numpy as np

from maxmargin.errors import InvalidInputError
from maxmargin.kernels.base import Kernel
from maxmargin.kernels.tiles import (
    FLOAT64,
    TILE_COLUMNS,
    TILE_ROWS,
    as_matrix,
    cut,
    distinct,
    is_sparse,
    row_width,
    rows_that_fit,
)
from maxmargin.typing import Floats, Matrix


class WithGamma(Kernel):
    """Abstract base of the kernels that have a width γ, which may be left to the data."""

    gamma: float | str

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", check_gamma(self.gamma))

    @property
    def is_resolved(self) -> bool:
        """Whether gamma is a number."""
        return not isinstance(self.gamma, str)

    def resolve(self, X: Matrix, sample_weight: Any = None) -> Self:
        """Return the same kernel with gamma as a number.

        Parameters
        ----------
        X : dense or CSR of shape (n, d)
            The training data.
        sample_weight : array of shape (n,), optional
            Rows count with their weight, so that weight k is k copies. Without weights "scale" is scikit-learn's.
        """
        return replace(self, gamma=resolve_gamma(self.gamma, X, sample_weight))  # type: ignore[type-var]


def check_number(name: str, value: Any) -> float:
    """Return value as a finite float."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real) or not math.isfinite(value):
        raise InvalidInputError(f"{name}={value!r} is not a finite real number. Pass a float such as {name}=1.0.")
    return float(value)


def check_gamma(gamma: Any) -> float | str:
    """Return gamma as a float ≥ 0, or as one of the names "scale" and "auto"."""
    if isinstance(gamma, str) and gamma in ("scale", "auto"):
        return gamma
    if isinstance(gamma, str) or check_number("gamma", gamma) < 0:
        raise InvalidInputError(f"gamma={gamma!r} is no width of a kernel. Use 'scale', 'auto' or a number ≥ 0.")
    return float(gamma)


def check_degree(degree: Any) -> int:
    """Return degree as an int ≥ 0."""
    try:
        value = -1 if isinstance(degree, bool | np.bool_) else operator.index(degree)
    except TypeError:
        value = -1
    if value < 0:
        raise InvalidInputError(f"degree={degree!r} is not a whole number ≥ 0. Pass an int such as degree=3.")
    return value


def resolve_gamma(gamma: float | str, X: Any, sample_weight: Any = None) -> float:
    """Turn gamma into a number: "scale" is 1 / (d · variance of X), "auto" is 1 / d.

    The variance is taken over all entries of X, each row counted with its weight, so that weight k is k copies; entries
    that CSR does not store count as zeros. Data without variance give 1. Cost: two passes over X, tile by tile.

    Examples
    --------
    >>> import numpy as np
    >>> resolve_gamma("auto", np.eye(4)), resolve_gamma("scale", np.eye(2))
    (0.25, 2.0)
    """
    if not isinstance(gamma, str):
        return gamma
    X = as_matrix(X)
    n, d = X.shape
    if n == 0 or d == 0:
        raise InvalidInputError(f"gamma={gamma!r} needs data, got X of shape {X.shape}. Pass gamma as a number.")
    if gamma == "auto":
        return 1.0 / int(d)
    weight = _check_weight(sample_weight, n)
    with np.errstate(over="ignore", invalid="ignore"):  # in two passes around one entry: constant data give exactly 0
        origin = np.float64(X[int(weight.argmax()), 0])
        variance = _moment(X, weight, origin + _moment(X, weight, origin, 1), 2)
    if variance == 0.0:
        return 1.0
    if not math.isfinite(variance) or not math.isfinite(1.0 / (d * variance)):
        raise InvalidInputError(
            f"gamma='scale' is 1 / (d · variance), and the variance of X is {variance}. "
            "Replace NaN and infinities and scale the data, or pass gamma as a number."
        )
    return float(1.0 / (d * variance))


def _check_weight(sample_weight: Any, n: int) -> Floats:
    """Return one finite weight ≥ 0 for each of n rows, not all of them 0."""
    if sample_weight is None:
        return np.ones(n)
    weight: Floats = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (n,) or not np.isfinite(weight).all() or weight.min() < 0 or weight.max() == 0:
        raise InvalidInputError(
            f"sample_weight of shape {weight.shape} must have shape {(n,)}, finite weights ≥ 0, and one weight > 0. "
            "Pass one weight a row of X, and 0 for rows that should not count."
        )
    relative: Floats = weight / weight.max()  # a common factor does not matter, and cannot overflow now
    return relative


def _moment(X: Matrix, weight: Floats, origin: Any, power: int) -> Any:
    """The weighted mean of (x − origin)^power over all entries x, those that CSR does not store included; tile by tile."""
    if not is_sparse(X) and X.size <= TILE_ROWS * TILE_COLUMNS and weight.min() == weight.max():
        apart = np.subtract(X, origin, dtype=FLOAT64)
        return apart.mean() if power == 1 else np.square(apart).mean()
    moment, total = 0.0, X.shape[1] * weight.sum()
    step = rows_that_fit(2 * row_width(X), TILE_COLUMNS)
    for start in range(0, X.shape[0], step):
        tile, weights = cut(X, start, start + step), weight[start : start + step]
        if not weights.all():  # a row of weight 0 is absent, whatever it holds
            tile, weights = tile[weights > 0], weights[weights > 0]
        if is_sparse(tile):
            tile = distinct(tile)
            counts = np.diff(tile.indptr)
            moment += weights @ (X.shape[1] - counts) * (-origin) ** power / total
            tile, weights = tile.data[:, np.newaxis], np.repeat(weights, counts)
        moment += np.sum(weights[:, np.newaxis] * np.subtract(tile, origin, dtype=FLOAT64) ** power) / total
    return moment
