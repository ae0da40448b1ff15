"""Where the rows of dense data are, and whether most of their entries are there."""

import os
from typing import Any, NamedTuple

import numpy as np

from maxmargin.kernel_matrix.tiles import FLOAT32, FLOAT64
from maxmargin.typing import Block, Floats, Matrix

SHIFT_ROWS = 256
# The shift only has to be near the data: the mean of so many rows, evenly spaced, is.

VALUE_ROWS = 64
# So many rows tell which value a feature has mostly.

USUAL = 0.25
# The share of rows that makes a value worth shifting to. Of one feature, no row is more than twice as far from it as the
# farthest is from the mean.

ENTRY_COST, ROW_COST = 1.7, 16
# Time of one entry in units of one feature of a matrix product, and what the product and its tile cost beside the features.

MOST_EXPONENT = 1e6
# Larger γ‖x − μ‖² are left to matrix products.

MOST_FEATURES = 2**16
# Features are numbered in 16 bits.


class Centre(NamedTuple):
    """The shift μ of all rows, and whether few enough of their entries x − μ differ from 0."""

    shift: Block
    is_packed: bool = False


def mean_of(rows: Matrix, dtype: Any = None) -> Block:
    """The mean of some evenly spaced rows, of the data's own precision, so that float32 rows minus the shift are float32."""
    mean: Floats = rows[:: -(-rows.shape[0] // SHIFT_ROWS)].mean(axis=0, dtype=FLOAT64)
    return mean.astype(np.result_type(rows.dtype if dtype is None else dtype, FLOAT32))


def centre_of(rows: Matrix, gamma: float) -> Centre:
    """μ: of each feature the value of most rows, where there is one, else the mean; and if leaving zeros out is worth while.

    The value is looked for at the lower end and in the middle: a value that most rows have is their median.
    """
    mean = mean_of(rows)
    if os.environ.get("MAXMARGIN_JIT", "1") == "0" or not 0 < rows.shape[1] <= MOST_FEATURES:
        return Centre(mean)
    some = rows[:: -(-rows.shape[0] // VALUE_ROWS)]
    middle = len(some) // 2
    shift, share = mean.copy(), np.full(len(mean), USUAL)
    for value in np.partition(some, (0, middle), axis=0)[[0, middle]]:
        found = (some == value).mean(axis=0)
        shift, share = np.where(found > share, value, shift).astype(mean.dtype), np.maximum(found, share)
    entries = np.count_nonzero(some != shift) / len(some)
    is_cheap = ENTRY_COST * entries <= rows.shape[1] + ROW_COST
    with np.errstate(over="ignore", invalid="ignore"):
        is_near = gamma * np.square(some - shift, dtype=FLOAT64).sum(axis=1).max() <= MOST_EXPONENT
    return Centre(shift, is_packed=True) if is_cheap and is_near else Centre(mean)


def shifted(X: Matrix, shift: Block, dtype: np.dtype[Any], spare: int = 0) -> Block:
    """X − shift with room for so many more columns."""
    rows = np.empty((X.shape[0], X.shape[1] + spare), dtype=dtype)
    # float64 data are shifted in float64 even if the result is float32
    kind = np.result_type(X.dtype, shift.dtype, dtype)
    np.subtract(X, shift, out=rows[:, : X.shape[1]], dtype=kind, casting="same_kind")
    return rows
