"""Products with the columns of the active samples' kernel, made tile by tile and thrown away, on all cores.

    g[active] += Σ_r v_r K[r, active]

A tile (512 × 1024 values at most) is filled by one matrix product, used while it is still in the cache, and overwritten. Tiles
depend on the samples alone and each entry of g belongs to one of them: the same bits for any number of threads.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.core.problem import Problem
from maxmargin.kernel_matrix.compiled import CompiledRows
from maxmargin.kernel_matrix.packed import PackedRows
from maxmargin.kernels import RBF, Sigmoid
from maxmargin.solvers.smo.working_set import FEW, WHOLE
from maxmargin.threads import together
from maxmargin.typing import Block, Floats, Indices, Matrix

TILE_ROWS, TILE_COLUMNS, BLOCK_ROWS = 512, 1024, 128
"""One tile: its rows and columns at most; the rows of a block that one thread fills at a time."""

SHIFT_ROWS = 256
"""So many rows, evenly spaced, tell the kernel where the data are."""

DENSE_BYTES = 2**27
"""Sparse data that are no larger than this as dense float32 are made dense: a matrix product is faster."""


ROUGH, ROUGHEST = 1e-4, 3e-3
"""Relative gaps that float32 is good for at the end, and that it is good for on the way to a smaller one."""

NARROW = 64
"""With more features than this, a matrix product for many rows is worth waiting for."""


class KernelColumns:
    """The kernel between active samples, in float32 or float64; samples are numbered by their position among the active ones.

    Memory: a copy of the active rows in this precision, a tile for each thread.
    """

    def __init__(self, problem: Problem, dtype: Any, n_threads: int) -> None:
        self.kernel, self.dtype, self.n_threads = problem.kernel, np.dtype(dtype), n_threads
        self.X, self.rows = _prepared(problem, self.dtype)
        self.packed = problem.packed if self.dtype == np.float32 else None
        if problem.shared is not None and self.packed is not None:
            self.shared = problem.shared.centre
        else:
            some = self._row(np.arange(0, problem.n, -(-problem.n // SHIFT_ROWS)))
            self.shared = self.kernel.shared_by(self.X[some])
        self.active: Indices = np.empty(0, dtype=np.intp)
        self.right: Any = None
        self.columns: list[Any] = []
        self.tiles = [np.empty(0, dtype=self.dtype)] * n_threads
        self.values = 0

    def begin(self, samples: Indices) -> None:
        """Let these samples be the active ones."""
        if self.packed is not None:
            self._hold(samples, self.packed.part(samples))
            return
        everything = self.rows is None and len(samples) == self.X.shape[0]
        rows = self.kernel.reference(self.X, None if everything else self._row(samples))
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            self._hold(samples, self.kernel.side(rows, self.dtype, self.shared, is_right=True))

    def restrict(self, kept: Indices) -> None:
        """Keep only these of the active samples."""
        self._hold(self.active[kept], self.kernel.part(self.right, kept))

    def _hold(self, samples: Indices, right: Any) -> None:
        self.active, self.right = samples, right
        starts = range(0, len(samples), TILE_COLUMNS)
        self.columns = [self.kernel.part(right, slice(start, start + TILE_COLUMNS)) for start in starts]

    @property
    def are_rows_cheap(self) -> bool:
        """Whether rows are better computed again than kept."""
        return isinstance(self.right, PackedRows) and self.right.is_cheap

    def compiled(self, size: int) -> CompiledRows | None:
        """What a compiled loop needs to make rows K[i, active] one by one, padded to so many entries; None where that is dear."""
        return self.kernel.compiled(self.right, size) if self.X.shape[1] <= NARROW else None

    def block(self, some: Indices, others: Indices, out: Block) -> None:
        """K[some, others], in `out`."""
        left, right = self._left(some), self.kernel.ready(self.kernel.part(self.right, others))
        self.values += out.size

        def fill(start: int, thread: int) -> None:
            at = slice(start, start + BLOCK_ROWS)
            self._fill(self.kernel.part(left, at), right, out[at], some[at], others)

        self._share(range(0, len(some), BLOCK_ROWS), fill)

    def add(self, some: Indices, weights: Floats, out: Floats, store: Block, slots: Indices) -> None:
        """out += weights @ K[some, active]; row r is also kept in store[slots[r]] where slots[r] ≥ 0."""
        m, scaled = len(self.active), weights.astype(self.dtype)
        self.values += len(some) * m
        chunks = [slice(s, s + TILE_ROWS) for s in range(0, len(some), TILE_ROWS)]
        lefts = [self._left(some[at]) for at in chunks]

        def fill(start: int, thread: int) -> None:
            stop = min(start + TILE_COLUMNS, m)
            right, others = self.columns[start // TILE_COLUMNS], np.arange(start, stop)
            for at, left in zip(chunks, lefts, strict=True):
                if self.kernel.add_values(left, right, scaled[at], out[start:stop], store, slots[at], start):
                    continue
                # contiguous, as BLAS wants it
                tile = self._tile(thread)[: len(some[at]) * (stop - start)].reshape(len(some[at]), -1)
                self._fill(left, right, tile, some[at], others)
                out[start:stop] += scaled[at] @ tile
                kept = np.flatnonzero(slots[at] >= 0)
                if len(kept):
                    store[slots[at][kept], start:stop] = tile[kept]

        self._share(range(0, m, TILE_COLUMNS), fill)

    def _tile(self, thread: int) -> Block:
        """A thread's tile, made when first needed."""
        if not self.tiles[thread].size:
            self.tiles[thread] = np.empty(TILE_ROWS * TILE_COLUMNS, dtype=self.dtype)
        return self.tiles[thread]

    def _fill(self, left: Any, right: Any, tile: Block, some: Indices, others: Indices) -> None:
        """One tile; by the kernel's own care where this precision is too coarse."""
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            if self.kernel.join(left, right, tile, self.shared):
                return
        rows, columns = self._row(self.active[some]), self._row(self.active[others])
        self.kernel.block(self.X[rows], self.kernel.reference(self.X, columns), tile, dtype=self.dtype)

    def _left(self, some: Indices) -> Any:
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            if self.kernel.sees_values_only:
                return self.kernel.turned(self.kernel.part(self.right, some))
            rows = self.X[self._row(self.active[some])]
            return self.kernel.side(rows, self.dtype, self.shared, is_right=False)

    def _share(self, starts: range, work: Callable[[int, int], None]) -> None:
        """Do the work of all starts: whichever thread is free takes the next."""
        left = iter(starts)

        def part(thread: int) -> None:
            for start in left:
                work(start, thread)

        together([partial(part, k) for k in range(min(self.n_threads, len(starts)))], self.n_threads)

    def _row(self, samples: Indices) -> Indices:
        return samples if self.rows is None else self.rows[samples]


def precision_for(problem: Problem, tol: float, count: int) -> Any:
    """float32 or float64 for a gap and so many samples.

    float32 where kernel values are bounded and the samples not few; where they are many also on the way to a gap that leaves
    no room for its rounding.
    """
    is_bounded = isinstance(problem.kernel, RBF | Sigmoid)
    return np.float32 if is_bounded and count > (FEW if tol >= ROUGH else WHOLE) else np.float64


def _prepared(problem: Problem, dtype: np.dtype[Any]) -> tuple[Matrix, Indices | None]:
    """The data as the tiles like them best, and which of their rows are the samples."""
    X, rows = problem.X, problem.rows
    if dtype != np.float32 or not problem.kernel.sees_values_only or not sp.issparse(X):
        return X, rows
    size = X.shape[0] * X.shape[1]
    if 4 * size > DENSE_BYTES or X.nnz < 0.02 * size:
        return X, rows
    return X.astype(np.float32).toarray(), rows
