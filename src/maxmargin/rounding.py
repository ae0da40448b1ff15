"""What rounding can do, in the worst case (Higham, Accuracy and Stability of Numerical Algorithms, ch. 2–4).

A sum of k products, computed in any order, with or without fused operations, errs by at most γ_k Σ|x_i w_i|, where
γ_k = ku/(1 − ku) and u is the unit roundoff. Nothing here is an estimate: each function returns a bound.
"""

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from typing import Any

import numpy as np

from maxmargin.typing import Floats

UNIT = 2.0**-53
"""The unit roundoff u of float64."""

UNIT32 = 2.0**-24
"""The unit roundoff u of float32."""

SMALLEST = 2.0**-1022
"""The smallest normal float64: what one product loses at most where it underflows, even if a library made the processor flush
such numbers to 0."""


def gamma(k: Any, unit: float = UNIT) -> Any:
    """γ_k = ku/(1 − ku): the relative error of k roundings at most; +∞ where k is too large for a bound.

    Examples
    --------
    >>> gamma(1) > 2.0**-53, gamma(2.0**53)
    (True, inf)
    """
    if isinstance(k, int | float):
        one = k * unit * (1.0 + 4.0 * UNIT)
        return one / (1.0 - one) * (1.0 + 8.0 * UNIT) if one < 1.0 else math.inf
    ku = np.asarray(k, dtype=np.float64) * unit * (1.0 + 4.0 * UNIT)
    return np.where(ku < 1.0, ku / np.maximum(1.0 - ku, UNIT) * (1.0 + 8.0 * UNIT), np.inf)


def raised(value: Any, k: Any = 0) -> Any:
    """An upper bound of a non-negative number, or of each of an array, computed by k roundings more than this function makes."""
    bound = value * (1.0 + gamma(k + 4))
    return bound if isinstance(bound, np.ndarray) else float(bound)


def sum_above(terms: Floats) -> float:
    """An upper bound of the sum of non-negative numbers."""
    return float(raised(float(np.sum(terms)), len(terms)))


def exact_sum(terms: Floats) -> float:
    """Σ of the terms, rounded once."""
    return math.fsum(terms.tolist())


def length_above(vector: Floats) -> float:
    """An upper bound of ‖v‖; 0 for the zero vector."""
    if not vector.any():
        return 0.0
    return math.sqrt(raised(float(vector @ vector) + 2.0 * len(vector) * SMALLEST, len(vector) + 2)) * (1.0 + 4.0 * UNIT)


def shown_above(value: float, digits: int) -> str:
    """The value with so many digits, which read as a float64 is no smaller: for a sentence that says "at most".

    Examples
    --------
    >>> shown_above(0.000154, 2), shown_above(0.5, 2), shown_above(12345.0, 4)
    ('0.00016', '0.5', '1.235e+04')
    """
    return _shown(value, digits, ROUND_CEILING)


def shown_below(value: float, digits: int) -> str:
    """The value with so many digits, which read as a float64 is no larger: for a sentence that says "at least".

    Examples
    --------
    >>> shown_below(0.95, 6), shown_below(1 - 1e-9, 6)
    ('0.95', '0.999999')
    """
    return _shown(value, digits, ROUND_FLOOR)


def _shown(value: float, digits: int, rounding: str) -> str:
    if not math.isfinite(value):
        return f"{value}"
    exact = Context(prec=digits, rounding=rounding).create_decimal(repr(float(value)))
    return f"{float(exact):.{digits}g}"
