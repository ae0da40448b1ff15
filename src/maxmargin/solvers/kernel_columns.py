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
from maxmargin.kernels import RBF, Sigmoid
from maxmargin.threads import together
from maxmargin.typing import Block, Floats, Indices, Matrix

TILE_ROWS, TILE_COLUMNS = 512, 1024
"""One tile: its rows and columns at most."""

DENSE_BYTES = 2**27
"""Sparse data that are no larger than this as dense float32 are made dense: a matrix product is faster."""


class KernelColumns:
    """The kernel between any samples and the active ones, in float32 or float64.

    Memory: a float32 copy of dense data (centred, which the RBF kernel does not see), a copy of the active rows, a tile for
    each thread.
    """

    def __init__(self, problem: Problem, dtype: Any, n_threads: int) -> None:
        self.kernel, self.dtype, self.n_threads = problem.kernel, np.dtype(dtype), n_threads
        self.X, self.rows = _prepared(problem, self.dtype)
        self.active: Indices = np.arange(problem.n)
        self.right: Matrix = np.empty(0)
        self.tiles = [np.empty(0, dtype=self.dtype)] * n_threads
        self.values = 0

    def restrict(self, active: Indices) -> None:
        """Let the columns be these samples."""
        self.active = active
        everything = self.rows is None and len(active) == self.X.shape[0]
        self.right = self.kernel.reference(self.X, None if everything else self._row(active))

    def block(self, samples: Indices, others: Indices) -> Block:
        """K[samples, others] as a new array; `others` are positions among the active samples."""
        out = np.empty((len(samples), len(others)), dtype=self.dtype)
        left, right = self._left(samples), self.right[others]
        self.values += out.size
        starts = range(0, len(samples), TILE_ROWS)

        def fill(start: int, thread: int) -> None:
            at = slice(start, start + TILE_ROWS)
            self.kernel.block(left[at], right, out[at], dtype=self.dtype)

        self._share(starts, fill)
        return out

    def add(self, samples: Indices, weights: Floats, out: Floats, store: Block, slots: Indices) -> None:
        """out += weights @ K[samples, active]; row r is also kept in store[slots[r]] where slots[r] ≥ 0."""
        from maxmargin._loops.smo import add_rows

        m = len(self.active)
        self.values += len(samples) * m
        chunks = [slice(s, s + TILE_ROWS) for s in range(0, len(samples), TILE_ROWS)]
        lefts = [self._left(samples[at]) for at in chunks]

        if not self.tiles[0].size:
            self.tiles = [np.empty(TILE_ROWS * TILE_COLUMNS, dtype=self.dtype) for _ in self.tiles]

        def fill(start: int, thread: int) -> None:
            stop = min(start + TILE_COLUMNS, m)
            right = self.right[start:stop]
            for at, left in zip(chunks, lefts, strict=True):
                # contiguous, as compiled loops make vectors of nothing else
                tile = self.tiles[thread][: left.shape[0] * (stop - start)].reshape(left.shape[0], -1)
                self.kernel.block(left, right, tile, dtype=self.dtype)
                add_rows(tile, np.arange(len(tile)), weights[at], out[start:stop], 0, stop - start)
                kept = np.flatnonzero(slots[at] >= 0)
                if len(kept):
                    store[slots[at][kept], start:stop] = tile[kept]

        self._share(range(0, m, TILE_COLUMNS), fill)

    def _share(self, starts: range, work: Callable[[int, int], None]) -> None:
        """Do the work of all starts, every n_threads-th on the same thread."""

        def part(thread: int) -> None:
            for start in starts[thread :: self.n_threads]:
                work(start, thread)

        together([partial(part, k) for k in range(min(self.n_threads, len(starts)))], self.n_threads)

    def _left(self, samples: Indices) -> Matrix:
        return self.X[self._row(samples)]

    def _row(self, samples: Indices) -> Indices:
        return samples if self.rows is None else self.rows[samples]


def precision_for(problem: Problem, tol: float, is_small: bool) -> Any:
    """float32 where kernel values are bounded and many, and the gap asked for leaves room for their rounding; else float64."""
    bounded = isinstance(problem.kernel, RBF | Sigmoid)
    return np.float32 if bounded and tol >= 1e-4 and not is_small else np.float64


def _prepared(problem: Problem, dtype: np.dtype[Any]) -> tuple[Matrix, Indices | None]:
    """The data as the tiles like them best, and which of their rows are the samples."""
    X, rows = problem.X, problem.rows
    if dtype != np.float32 or not isinstance(problem.kernel, RBF):
        return X, rows
    if sp.issparse(X):
        if 4 * X.shape[0] * X.shape[1] > DENSE_BYTES or X.nnz < 0.02 * X.shape[0] * X.shape[1]:
            return X, rows
        return X.astype(np.float32).toarray(), rows
    return np.subtract(X, X.mean(axis=0, dtype=np.float64), dtype=np.float64).astype(np.float32), rows
