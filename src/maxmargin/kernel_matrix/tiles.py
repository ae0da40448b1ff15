"""The sides of tiles of kernel values, with zeros left out where that pays."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from maxmargin.kernels.base import Kernel
from maxmargin.kernels.inner import DENSE_FRACTION
from maxmargin.kernels.rbf import RBF, Side, is_compiled
from maxmargin.kernels.tiles import FLOAT32, FLOAT64, TILE_COLUMNS, cut, rows_that_fit, some_rows
from maxmargin.typing import Block, Floats, Indices, Matrix

ENTRY_COST, ROW_COST = 1.7, 16
"""Time of one entry in units of one feature of a matrix product, and of the exp of one value (benchmark kernel)."""

PREPARED_BYTES = 2**28
"""Bytes up to which rows are held ready for tiles, and sparse ones made dense: a quarter of the default budget."""

MOST_FEATURES = PREPARED_BYTES // (TILE_COLUMNS * FLOAT32.itemsize)
"""Features of which one tile's columns, as a table of float32, are within these bytes."""


class Centre(NamedTuple):
    """The shift μ of all rows, and whether few enough of their entries x − μ differ from 0."""

    shift: Block | None
    is_packed: bool = False


def centre_of(kernel: Kernel, rows: Matrix) -> Centre:
    """μ: of each feature the value of most rows; else, where leaving zeros out is not worth while, the mean.

    The value is looked for in the middle and at the lower end: a value that most rows have is their median.
    """
    mean = kernel.shift_of(rows)
    if mean is None or not isinstance(kernel, RBF) or not is_compiled() or not 0 < rows.shape[1] <= MOST_FEATURES:
        return Centre(mean)
    some = some_rows(rows)
    low, middle = np.partition(some, (0, len(some) // 2), axis=0)[[0, len(some) // 2]]
    is_lower = (some == low).sum(axis=0) > (some == middle).sum(axis=0)
    shift = np.where(is_lower, low, middle).astype(mean.dtype)
    entries = np.count_nonzero(some != shift) / len(some)
    if not ENTRY_COST * entries <= rows.shape[1] + ROW_COST:
        return Centre(mean)
    with np.errstate(over="ignore", invalid="ignore"):
        side = kernel.side(some, FLOAT64, shift)
        is_near = math.isfinite(side.largest) and kernel.suits(FLOAT64, side, side)
    return Centre(shift, is_packed=True) if is_near else Centre(mean)


def prepared(kernel: Kernel, X: Matrix, dtype: np.dtype[Any], centre: Centre) -> Any:
    """The rows of X as either side of a tile."""
    if not centre.is_packed:
        return kernel.side(X, dtype, centre.shift)
    step = rows_that_fit(X.shape[1], X.shape[0])
    parts = [PackedRows.of(kernel.side(cut(X, k, k + step), dtype, centre.shift)) for k in range(0, max(X.shape[0], 1), step)]
    if len(parts) == 1:
        return parts[0]
    squares, rows = np.concatenate([part.squares for part in parts]), sp.vstack([part.rows for part in parts], format="csr")
    return PackedRows(squares, rows, np.arange(len(squares)))


def suits(kernel: Kernel, dtype: np.dtype[Any], *sides: Any) -> bool:
    """Whether these are packed rows, for which a precision is fine enough: their sums need no tile."""
    return isinstance(kernel, RBF) and isinstance(sides[0], PackedRows) and kernel.suits(dtype, *sides)


def is_better_dense(Z: Matrix) -> bool:
    """Whether one product with dense rows is faster than with sparse ones, and there is room for them."""
    size = Z.shape[0] * Z.shape[1]
    return bool(2 * Z.nnz >= DENSE_FRACTION * size and FLOAT64.itemsize * size <= PREPARED_BYTES)


class Tile(NamedTuple):
    """Prepared columns z_start … z_stop."""

    start: int
    stop: int
    side: Any


class Bounded(NamedTuple):
    """Sums of shape (n_groups, r, n_x) with |sums[g, r, i] − exact| ≤ error[g, i]: a worst case, +∞ where there is none."""

    sums: Floats
    error: Floats


@dataclass(frozen=True)
class PackedRows(Side):
    """Some rows, `at`, of CSR rows with their zeros left out, which loops read against a table of columns."""

    at: Indices

    def __getitem__(self, at: Any) -> "PackedRows":
        return PackedRows(self.squares[at], self.rows, self.at[at])

    @classmethod
    def of(cls, side: Side) -> "PackedRows":
        """The same rows, which came dense."""
        from maxmargin._loops.rbf.packed import list_entries

        (n, d), size = side.rows.shape, side.rows.size + 1
        start, feature, value = np.zeros(n + 1, np.int64), np.empty(size, np.int32), np.empty(size, side.dtype)
        found = list_entries(side.rows, feature, value, start[1:])
        rows = sp.csr_array((value[:found].copy(), feature[:found].copy(), start), shape=(n, d))
        return cls(side.squares, rows, np.arange(n))

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""
        return len(self.at), self.rows.shape[1]

    @cached_property
    def terms(self) -> int:
        """How many products an exponent sums at most, and the two squares."""
        return int(np.diff(self.rows.indptr)[self.at].max(initial=0)) + 2

    @property
    def is_cheap(self) -> bool:
        """Whether a value is computed about as fast as it is read from memory: rows with few entries."""
        return bool(self.rows.nnz <= 2 * ROW_COST * self.rows.shape[0])

    @cached_property
    def table(self) -> Block:
        """The rows as columns: (chunks, features, 64), made when first needed."""
        from maxmargin._loops.rbf.packed import WIDE, lay_out

        n, d = self.shape
        table = _aligned_zeros((-(-n // WIDE), d, WIDE), self.dtype)
        lay_out(self.rows.indptr, self.rows.indices, self.rows.data, self.at, table)
        return table

    @cached_property
    def padded(self) -> Block:
        """The squares, chunk by chunk, as the table's columns."""
        return self._as_columns(self.own[np.newaxis]).reshape(self.table.shape[0], -1)

    def fill(self, right: Side, out: Block) -> None:
        """The kernel between these rows and others, as columns."""
        from maxmargin._loops.rbf.packed import fill_values

        assert isinstance(right, PackedRows)
        fill_values(*self._joined_with(right), out)

    def add_sums(self, right: "PackedRows", weights: Block, out: Floats) -> None:
        """out[s, i] += Σ_k weights[s, k] K_ik of the same values, each computed once and none kept."""
        from maxmargin._loops.rbf.packed import sum_values

        sum_values(*self._joined_with(right), right._as_columns(weights), out)

    def _joined_with(self, right: "PackedRows") -> tuple[Any, ...]:
        """What loops read of both sides, and room for some values."""
        from maxmargin._loops.rbf.packed import TALL, WIDE

        block = _aligned_zeros((TALL, WIDE), self.dtype)
        rows = self.rows
        return rows.indptr, rows.indices, rows.data, self.at, self.own, right.table, right.padded, block

    def _as_columns(self, values: Block) -> Block:
        """Rows of one number for each row of this side, in its precision, padded with zeros as its table is."""
        chunks, _, wide = self.table.shape
        padded = np.zeros((len(values), chunks * wide), dtype=self.dtype)
        padded[:, : values.shape[1]] = values
        return padded


def _aligned_zeros(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Block:
    """Zeros that begin with a line of the cache, as wide as a vector: one that straddles two lines takes twice the time."""
    from maxmargin._loops.rbf.packed import WIDE

    size = math.prod(shape) * dtype.itemsize
    memory = np.zeros(size + WIDE, dtype=np.uint8)
    first = -memory.ctypes.data % WIDE
    return memory[first : first + size].view(dtype).reshape(shape)
