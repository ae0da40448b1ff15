"""Rows for RBF tiles with their zeros left out."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from maxmargin.kernel_matrix.centre import Centre, shifted
from maxmargin.kernel_matrix.compiled import CompiledRows
from maxmargin.typing import Block, Floats, Indices, Matrix

CHEAP = 32
# So many entries a row leave little time between two loads from memory.

PIECE_BYTES = 1 << 22
# Rows are shifted and listed in pieces of this size.

LINE_BYTES = 64
# Vectors that straddle the lines of the cache take twice the time.


class Entries(NamedTuple):
    """√(2γ)(x − μ) of rows x where it is not 0: those of row i stand at start[i] … start[i + 1]."""

    start: Indices
    feature: Any
    value: Block
    width: int


@dataclass(frozen=True)
class PackedRows:
    """Some rows of a list of entries, as either side of a tile; `squares` are their γ‖x − μ‖²."""

    entries: Entries
    at: Indices
    squares: Floats

    @classmethod
    def of(cls, X: Matrix, centre: Centre, gamma: float, dtype: np.dtype[Any]) -> "PackedRows":
        """All rows of X: 2 bytes and one number for each entry."""
        from maxmargin._loops.rbf.packed import list_entries

        n, d = X.shape
        step = max(1, PIECE_BYTES // (8 * d))
        squares, start = np.empty(n), np.zeros(n + 1, dtype=np.int64)
        features, values, count = [], [], 0
        feature, value = np.empty(min(step, n) * d + 1, np.uint16), np.empty(min(step, n) * d + 1, dtype)
        for first in range(0, n, step):
            rows = shifted(X[first : first + step], centre.shift, dtype)
            ends = start[first + 1 : first + 1 + len(rows)]
            found = list_entries(
                rows, dtype.type(math.sqrt(2 * gamma)), feature, value, ends, squares[first : first + step]
            )
            ends += count
            count += found
            features.append(feature[:found].copy())
            values.append(value[:found].copy())
        none = [np.empty(0, np.uint16)], [np.empty(0, dtype)]
        entries = Entries(start, np.concatenate(features or none[0]), np.concatenate(values or none[1]), d)
        return cls(entries, np.arange(n), squares)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""
        return len(self.at), self.entries.width

    @property
    def is_cheap(self) -> bool:
        """Whether a value is computed about as fast as it is read from memory."""
        return len(self.entries.value) <= CHEAP * (len(self.entries.start) - 1)

    def part(self, rows: Any) -> "PackedRows":
        """Some of these rows; their entries are not copied."""
        return PackedRows(self.entries, self.at[rows], self.squares[rows])

    def together(self) -> "PackedRows":
        """The same rows with their entries side by side, for who reads them often."""
        from maxmargin._loops.rbf.packed import copy_entries

        start, feature, value, width = self.entries
        new_start = np.zeros(len(self.at) + 1, dtype=np.int64)
        np.cumsum(start[self.at + 1] - start[self.at], out=new_start[1:])
        new = Entries(new_start, np.empty(new_start[-1], feature.dtype), np.empty(new_start[-1], value.dtype), width)
        copy_entries(start, feature, value, self.at, *new[:3])
        return PackedRows(new, np.arange(len(self.at)), self.squares)

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

    @cached_property
    def largest(self) -> float:
        """The largest of the squares; NaN where one of them is."""
        return float(self.squares.max(initial=0.0))

    @property
    def dtype(self) -> np.dtype[Any]:
        """The precision of the values."""
        return self.entries.value.dtype

    @cached_property
    def terms(self) -> int:
        """How many products are summed at most."""
        start = self.entries.start
        return int((start[self.at + 1] - start[self.at]).max(initial=0)) + 2

    @cached_property
    def typical(self) -> float:
        """The median of the squares."""
        return float(np.median(self.squares)) if len(self.squares) else 0.0

    def fill(self, columns: "PackedRows", out: Block) -> None:
        """The kernel between these rows and others, as columns."""
        from maxmargin._loops.rbf.packed import fill_values

        values = out if out.flags.c_contiguous else np.empty(out.shape, dtype=out.dtype)
        fill_values(*self._joined_with(columns), values)
        if values is not out:
            out[...] = values

    def add(self, columns: "PackedRows", weights: Block, out: Floats, store: Block, slots: Indices, begin: int) -> None:
        """out += weights @ the same values; those of row r are kept in store[slots[r], begin:] where slots[r] ≥ 0."""
        from maxmargin._loops.rbf.packed import add_values

        add_values(*self._joined_with(columns), weights, out, store, slots, begin)

    def sums(self, columns: "PackedRows", weights: Block, out: Floats) -> None:
        """out[s, r] += Σ_k weights[s, k] · the same values."""
        from maxmargin._loops.rbf.packed import sum_values

        padded = np.zeros((len(weights), columns.padded.size), dtype=weights.dtype)
        padded[:, : weights.shape[1]] = weights
        sum_values(*self._joined_with(columns), padded, out)

    def sums_both_ways(self, columns: "PackedRows", weights: Floats, their_weights: Floats) -> tuple[Floats, Floats]:
        """(Σ_k their_weights_k · value_rk for each row r, Σ_r weights_r · value_rk for each column k), in one pass."""
        from maxmargin._loops.rbf.packed import sum_values_both_ways

        padded = np.zeros((2, columns.padded.size))
        padded[0, : len(their_weights)] = their_weights
        out = np.zeros(len(weights))
        sum_values_both_ways(*self._joined_with(columns), weights, padded[0], out, padded[1])
        return out, padded[1, : len(their_weights)]

    def _joined_with(self, columns: "PackedRows") -> tuple[Any, ...]:
        from maxmargin._loops.rbf.gathered_sums import WIDE
        from maxmargin._loops.rbf.packed import TALL

        block = _aligned_zeros((TALL, WIDE), self.dtype)
        return *self.entries[:3], self.at, self.own, columns.table, columns.padded, block

    def compiled(self, size: int) -> CompiledRows:
        """What loops need to make single rows, padded to so many entries."""
        from maxmargin._loops.rbf.packed import lay_out

        width, size = -(-self.entries.width // 4) * 4, max(size, len(self.at))
        T, squares = np.zeros((width, size), dtype=self.dtype), np.zeros(size, dtype=self.dtype)
        lay_out(*self.entries[:3], self.at, T.reshape(1, width, size))
        squares[: len(self.at)] = self.own
        return CompiledRows(T, squares)


def _aligned_zeros(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Block:
    """Zeros that begin with a line of the cache."""
    size = math.prod(shape)
    memory = np.zeros(size * dtype.itemsize + LINE_BYTES, dtype=np.uint8)
    first = -memory.__array_interface__["data"][0] % LINE_BYTES
    return memory[first : first + size * dtype.itemsize].view(dtype).reshape(shape)
