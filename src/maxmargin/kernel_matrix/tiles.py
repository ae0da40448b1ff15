"""Tiles of kernel values: their sides, with zeros left out where that pays, and sums of their values with error bounds."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from maxmargin.errors import NotSupportedError
from maxmargin.kernels.base import Kernel
from maxmargin.kernels.rbf import RBF, ScaledRows, is_compiled
from maxmargin.kernels.tiles import FLOAT32, FLOAT64, TILE_BYTES, TILE_COLUMNS, cut, some_rows
from maxmargin.rounding import UNIT, sum_above
from maxmargin.typing import Block, Floats, Indices, Matrix

if TYPE_CHECKING:
    from maxmargin.kernel_matrix.expansion import Expansion

ENTRY_COST, ROW_COST = 1.7, 16
"""Time of one entry in units of one feature of a matrix product, and of the exp of one value (benchmark kernel)."""

SUM_TERMS = 128
"""float32 values that are summed before the sum goes on in float64: their number is part of the error bound."""

MOST_FEATURES = 2**16
"""Features are numbered in 16 bits."""


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
    if centre.is_packed:
        assert isinstance(kernel, RBF)
        return PackedRows.of(X, kernel, centre, dtype)
    return kernel.side(X, dtype, centre.shift)


def fill(kernel: Kernel, left: Any, right: Any, out: Block) -> bool:
    """Fill one tile from its prepared sides; False, with nothing claimed, where out.dtype is too coarse for it."""
    if not isinstance(left, PackedRows):
        return kernel.join(left, right, out)
    if not suits(kernel, out.dtype, left, right):
        return False
    left.fill(right, out)
    return True


def suits(kernel: Kernel, dtype: np.dtype[Any], *sides: Any) -> bool:
    """Whether these are packed rows, for which a precision is fine enough: their sums need no tile."""
    return isinstance(kernel, RBF) and isinstance(sides[0], PackedRows) and kernel.suits(dtype, *sides)


def ready(right: Any) -> Any:
    """A right side with nothing left to prepare: several threads may use it."""
    if isinstance(right, PackedRows):
        _ = right.padded
    return right


class Tile(NamedTuple):
    """Prepared columns z_start … z_stop."""

    start: int
    stop: int
    side: Any


class Bounded(NamedTuple):
    """Sums of shape (n_groups, r, n_x) with |sums[g, r, i] − exact| ≤ error[g, i]: a worst case, +∞ where there is none."""

    sums: Floats
    error: Floats


class Entries(NamedTuple):
    """u of some rows where it is not 0: those of row i stand at start[i] … start[i + 1]."""

    start: Indices
    feature: Any
    value: Block
    width: int


@dataclass(frozen=True)
class PackedRows(ScaledRows):
    """Some rows of a list of entries, as either side of a tile."""

    entries: Entries
    at: Indices

    @classmethod
    def of(cls, X: Matrix, kernel: RBF, centre: Centre, dtype: np.dtype[Any]) -> "PackedRows":
        """All rows of X: 2 bytes and one number for each entry."""
        from maxmargin._loops.rbf.packed import list_entries

        n, d = X.shape
        step = max(1, TILE_BYTES // (FLOAT64.itemsize * d))
        squares, start = np.empty(n), np.zeros(n + 1, dtype=np.int64)
        features, values, count = [np.empty(0, np.uint16)], [np.empty(0, dtype)], 0
        for first in range(0, n, step):
            side = kernel.side(X[first : first + step], dtype, centre.shift)
            feature, value = np.empty(side.rows.size + 1, np.uint16), np.empty(side.rows.size + 1, dtype)
            ends = start[first + 1 : first + 1 + len(side.rows)]
            found = list_entries(side.rows, feature, value, ends)
            ends += count
            count += found
            squares[first : first + step] = side.squares
            features.append(feature[:found].copy())
            values.append(value[:found].copy())
        return cls(squares, Entries(start, np.concatenate(features), np.concatenate(values), d), np.arange(n))

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""
        return len(self.at), self.entries.width

    @property
    def is_cheap(self) -> bool:
        """Whether a value is computed about as fast as it is read from memory: rows with few entries."""
        return len(self.entries.value) <= 2 * ROW_COST * (len(self.entries.start) - 1)

    def __getitem__(self, rows: Any) -> "PackedRows":
        return PackedRows(self.squares[rows], self.entries, self.at[rows])

    def together(self) -> "PackedRows":
        """The same rows with their entries side by side: for a side that is read often."""
        from maxmargin._loops.rbf.packed import copy_entries

        start, feature, value, width = self.entries
        new_start = np.zeros(len(self.at) + 1, dtype=np.int64)
        np.cumsum(start[self.at + 1] - start[self.at], out=new_start[1:])
        new = Entries(new_start, np.empty(new_start[-1], feature.dtype), np.empty(new_start[-1], value.dtype), width)
        copy_entries(start, feature, value, self.at, *new[:3])
        return PackedRows(self.squares, new, np.arange(len(self.at)))

    @cached_property
    def own(self) -> Block:
        """The squares in the precision of the values."""
        return self.squares.astype(self.dtype)

    @cached_property
    def table(self) -> Block:
        """The rows as columns: (chunks, features, 64), made when first needed."""
        from maxmargin._loops.rbf.gathered_sums import WIDE
        from maxmargin._loops.rbf.packed import lay_out

        table = _aligned_zeros((-(-len(self.at) // WIDE), self.entries.width, WIDE), self.dtype)
        lay_out(*self.entries[:3], self.at, table)
        return table

    @cached_property
    def padded(self) -> Block:
        """The squares, chunk by chunk, as the table's columns."""
        padded = np.zeros((self.table.shape[0], self.table.shape[2]), dtype=self.dtype)
        padded.reshape(-1)[: len(self.own)] = self.own
        return padded

    @property
    def dtype(self) -> Any:
        """The precision of the values."""
        return self.entries.value.dtype

    @cached_property
    def terms(self) -> int:
        """How many products an exponent sums at most, and the two squares."""
        start = self.entries.start
        return int((start[self.at + 1] - start[self.at]).max(initial=0)) + 2

    def fill(self, columns: "PackedRows", out: Block) -> None:
        """The kernel between these rows and others, as columns."""
        from maxmargin._loops.rbf.packed import fill_values

        values = out if out.flags.c_contiguous else np.empty(out.shape, dtype=out.dtype)
        fill_values(*self._joined_with(columns), values)
        if values is not out:
            out[...] = values

    def add_sums(
        self,
        columns: "PackedRows",
        weights: Block | None = None,
        out: Floats | None = None,
        column_weights: Block | None = None,
        row_out: Floats | None = None,
    ) -> None:
        """Add the same values, each computed once and none kept: out_k += Σ_r weights_r K_rk, where there are weights,
        and row_out[s, r] += Σ_k column_weights[s, k] K_rk.
        """
        from maxmargin._loops.rbf.packed import sum_values

        size, dtype = columns.padded.size, self.dtype
        over_columns = np.zeros((0 if column_weights is None else len(column_weights), size), dtype=dtype)
        if column_weights is not None:
            over_columns[:, : column_weights.shape[1]] = column_weights
        over_rows = np.empty(0, dtype=dtype) if weights is None else weights.astype(dtype, copy=False)
        row_out = np.empty((0, 0)) if row_out is None else row_out
        sum_values(*self._joined_with(columns), over_rows, np.empty(0) if out is None else out, over_columns, row_out)

    def _joined_with(self, columns: "PackedRows") -> tuple[Any, ...]:
        from maxmargin._loops.rbf.gathered_sums import WIDE
        from maxmargin._loops.rbf.packed import TALL

        block = _aligned_zeros((TALL, WIDE), self.dtype)
        return *self.entries[:3], self.at, self.own, columns.table, columns.padded, block


def _aligned_zeros(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Block:
    """Zeros that begin with a line of the cache, as wide as a vector: one that straddles two lines takes twice the time."""
    from maxmargin._loops.rbf.gathered_sums import WIDE

    size = math.prod(shape) * dtype.itemsize
    memory = np.zeros(size + WIDE, dtype=np.uint8)
    first = -memory.ctypes.data % WIDE
    return memory[first : first + size].view(dtype).reshape(shape)


class TileSums:
    """One thread's buffers. Coefficients in float32 are divided by the largest, so that it holds them."""

    def __init__(self, expansion: "Expansion", dtype: np.dtype[Any], n_rows: int, is_bounded: bool, by_differences: bool) -> None:
        self.expansion, self.kernel = expansion, expansion.kernel
        self.is_bounded, self.by_differences = is_bounded, by_differences
        self.precisions = (dtype,) if dtype == FLOAT64 else (dtype, FLOAT64)
        largest = float(np.abs(expansion.A).max(initial=0.0)) or 1.0
        self.scale = 1.0 if dtype == FLOAT64 else largest
        self.A = expansion.A / self.scale
        self.sizes = np.abs(self.A).max(axis=0, initial=0.0)
        self._buffer = np.empty(n_rows * min(TILE_COLUMNS, expansion.Z.shape[0]), dtype=dtype)

    def add(self, rows: Matrix | PackedRows, sums: Floats, error: Floats) -> None:
        """Fill the sums of some rows x, and the bounds of their errors if these are wanted."""
        lefts: dict[np.dtype[Any], Any] = {}
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            tries = () if self.by_differences else self.precisions
            for tile in self.expansion.spans() if self.by_differences else self.expansion.tiles(self.precisions[0]):
                if not any(self._added(rows, lefts, tile, dtype, sums, error) for dtype in tries):
                    self._add_differences(rows, tile, sums, error)
            sums *= self.scale
            error *= self.scale * (1.0 + 16.0 * UNIT)
            error[np.isnan(sums).any(axis=1)] = np.inf

    def _added(
        self, rows: Matrix | PackedRows, lefts: dict[Any, Any], tile: Tile, dtype: Any, sums: Floats, error: Floats
    ) -> bool:
        """Add a tile in this precision; False, with nothing done, where it is too coarse."""
        kernel, n, is_prepared = self.kernel, sums.shape[2], dtype == self.precisions[0]
        if isinstance(rows, PackedRows) and not is_prepared:
            raise NotSupportedError("These packed rows need float64. Pass the rows themselves.")
        if dtype not in lefts:
            is_ready = isinstance(rows, PackedRows)
            lefts[dtype] = rows if is_ready else prepared(kernel, rows, dtype, self.expansion.centre)
        right = tile.side if is_prepared else self.expansion.side_of(tile.start, tile.stop, dtype)
        left, weights, sizes = lefts[dtype], self.A[:, tile.start : tile.stop], self.sizes[tile.start : tile.stop]
        extra = kernel.error_weights(right, sizes) if self.is_bounded else None
        if extra is not None:
            weights = np.vstack([weights, extra])
        weights = weights.astype(dtype)
        total = np.zeros((sums.shape[0], len(weights), n))
        if len(total) == 1 and len(weights) <= 2 and suits(kernel, dtype, left, right):
            left.add_sums(right, column_weights=weights, row_out=total[0])  # more sums are faster by one matrix product
        else:
            values = self._values(n, tile.stop - tile.start, dtype)
            if not fill(kernel, left, right, values):
                return False
            self._sum_up(tile, weights, values, total, has_sizes=extra is not None)
        sums += total[:, : sums.shape[1]]
        if self.is_bounded:
            for g, start, stop in self.expansion.parts(tile):
                at = slice(start - tile.start, stop - tile.start)
                size = total[g, -1] if extra is not None else None
                terms = SUM_TERMS if dtype == FLOAT32 else self.A.shape[1]
                error[g] += kernel.error(left, right, at, sizes[at], size, terms)
        return True

    def _add_differences(self, rows: Matrix | PackedRows, tile: Tile, sums: Floats, error: Floats) -> None:
        """Add a tile by differences of the rows as they came."""
        if isinstance(rows, PackedRows):
            raise NotSupportedError("These packed rows need float64. Pass the rows themselves.")
        values = self._values(sums.shape[2], tile.stop - tile.start, FLOAT64)
        self.kernel.fill_differences(rows, cut(self.expansion.Z, tile.start, tile.stop), values)
        weights, sizes = self.A[:, tile.start : tile.stop], self.sizes[tile.start : tile.stop]
        total = np.zeros((sums.shape[0], len(weights) + 1, sums.shape[2]))
        self._sum_up(tile, np.vstack([weights, sizes]), values, total, has_sizes=True)
        sums += total[:, :-1]
        if self.is_bounded:
            for g, start, stop in self.expansion.parts(tile):
                whole = sum_above(sizes[start - tile.start : stop - tile.start])
                error[g] += self.kernel.difference_error(rows.shape[1], whole, total[g, -1], self.A.shape[1])

    def _values(self, n: int, wide: int, dtype: Any) -> Block:
        if dtype != self._buffer.dtype:
            return np.empty((n, wide), dtype=dtype)
        return self._buffer[: n * wide].reshape(n, -1)

    def _sum_up(self, tile: Tile, weights: Block, values: Block, total: Floats, *, has_sizes: bool) -> None:
        """total[g] += weights valuesᵀ over the columns of each group; the last weights belong to |values|."""
        for g, start, stop in self.expansion.parts(tile):
            step = SUM_TERMS if self.is_bounded and values.dtype == FLOAT32 else stop - start
            for first in range(start - tile.start, stop - tile.start, step):
                at = slice(first, min(first + step, stop - tile.start))
                if has_sizes and not self.kernel.is_positive:
                    total[g, :-1] += _times(weights[:-1, at], values[:, at])
                    total[g, -1] += np.abs(values[:, at]) @ weights[-1, at]
                else:
                    total[g] += _times(weights[:, at], values[:, at])


def _times(A: Block, values: Block) -> Block:
    """A valuesᵀ; few rows one by one, which BLAS does faster."""
    if len(A) > 2:
        product: Block = A @ values.T
        return product
    return np.stack([values @ row for row in A])
