"""The rows of a linear problem as the loops want them, with products that run on two threads.

The rows are cut into fixed ranges; each range is one task, and sums over ranges are taken in a fixed order, so the bits do not
depend on the number of threads.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.core.problem import Problem
from maxmargin.typing import Floats, Indices, Matrix

RANGE_VALUES = 4_000_000
"""Values of a dense block that is converted or scaled at a time: 32 MB."""

SPARSE_BELOW = 0.3
"""Dense data with fewer non-zeros than this share are worth a CSR copy where many passes are to come."""


@dataclass(frozen=True)
class Rows:
    """(indptr, indices, data) of a CSR matrix with unsigned indices, or one C-contiguous dense matrix."""

    arrays: tuple[Any, ...]
    shape: tuple[int, int]

    @classmethod
    def of(cls, problem: Problem) -> "Rows":
        """The rows of a problem's samples; CSR and C-contiguous data are not copied."""
        X = problem.X if problem.rows is None else problem.X[problem.rows]
        if sp.issparse(X):
            # Unsigned indices spare the loops the test for counting from the end.
            indices = X.indices.view(f"u{X.indices.dtype.itemsize}")
            return cls((X.indptr.astype(np.int64), indices, X.data), X.shape)
        return cls((np.ascontiguousarray(X),), X.shape)

    @property
    def is_sparse(self) -> bool:
        """Whether the loops for CSR rows apply."""
        return len(self.arrays) == 3

    @property
    def n_values(self) -> int:
        """Stored values."""
        return int(self.arrays[-1].size)

    def take(self, rows: Indices) -> Matrix:
        """Some rows as a matrix that SciPy or NumPy can multiply with."""
        if not self.is_sparse:
            return self.arrays[0][rows]
        indptr, indices, data = self.arrays
        signed = indices.view(f"i{indices.dtype.itemsize}")
        return sp.csr_array((data, signed, indptr.astype(signed.dtype)), shape=self.shape)[rows]

    def squares(self) -> Floats:
        """‖x_j‖² of each row, in float64."""
        if not self.is_sparse:
            return np.asarray(np.einsum("ij,ij->i", self.arrays[0], self.arrays[0], dtype=np.float64))
        from maxmargin._loops.csr import squares_csr

        out = np.empty(self.shape[0])
        squares_csr(self.arrays[0], self.arrays[2], out)
        return out

    def scores(self, w: Floats, pool: ThreadPoolExecutor) -> Floats:
        """⟨w, x_j⟩ of each row."""
        out = np.empty(self.shape[0])
        if self.is_sparse:
            from maxmargin._loops.csr import scores_csr

            _each(pool, lambda begin, end: scores_csr(*self.arrays, w, begin, end, out), self._ranges())
        else:
            X = self.arrays[0]

            def dense(begin: int, end: int) -> None:
                out[begin:end] = X[begin:end].astype(np.float64, copy=False) @ w

            _each(pool, dense, self._ranges())
        return out

    def combine(self, beta: Floats, pool: ThreadPoolExecutor) -> Floats:
        """Σ β_j x_j."""
        parts = np.zeros((len(self._ranges()), self.shape[1]))

        def part(begin: int, end: int, out: Floats) -> None:
            if self.is_sparse:
                from maxmargin._loops.csr import combine_csr

                combine_csr(*self.arrays, beta, begin, end, out)
            else:
                out[:] = beta[begin:end] @ self.arrays[0][begin:end].astype(np.float64, copy=False)

        list(pool.map(lambda task: part(task[0][0], task[0][1], task[1]), zip(self._ranges(), parts, strict=True)))
        return np.asarray(parts.sum(axis=0))

    def gram(self, q: Floats, floor: float, pool: ThreadPoolExecutor) -> Floats:
        """Σ q_j x_j x_jᵀ over the rows with q_j > floor; only the lower half is filled for sparse rows."""
        d = self.shape[1]
        halves = [(0, self.shape[0] // 2), (self.shape[0] // 2, self.shape[0])]

        def part(begin: int, end: int) -> Floats:
            out = np.zeros((d, d))
            if self.is_sparse:
                from maxmargin._loops.csr import gram_csr

                gram_csr(*self.arrays, q, floor, begin, end, out)
                return out
            rows = begin + np.flatnonzero(q[begin:end] > floor)
            step = max(1, RANGE_VALUES // d)
            for start in range(0, len(rows), step):
                chosen = rows[start : start + step]
                scaled = self.arrays[0][chosen] * np.sqrt(q[chosen])[:, None]
                out += scaled.T @ scaled
            return out

        first, second = pool.map(lambda task: part(*task), halves)
        return np.asarray(first + second)

    def _ranges(self) -> list[tuple[int, int]]:
        n, d = self.shape
        count = 2 if self.is_sparse else max(2, -(-n * d // RANGE_VALUES))
        edges = np.linspace(0, n, count + 1).astype(int)
        return [(int(begin), int(end)) for begin, end in pairwise(edges)]


def _each(pool: ThreadPoolExecutor, task: Callable[[int, int], None], ranges: list[tuple[int, int]]) -> None:
    list(pool.map(lambda bounds: task(*bounds), ranges))
