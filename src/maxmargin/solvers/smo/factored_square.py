"""A symmetric positive matrix and its Cholesky factor in one square: K above the diagonal, L below.

Tiles depend on the size alone and each thread has tiles of its own: the same bits for any number of threads.
"""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from scipy.linalg import get_blas_funcs, get_lapack_funcs

from maxmargin.threads import together
from maxmargin.typing import Block, Floats

TILE = 512
"""Columns that are factored at a time, and rows of them that one thread treats at a time."""

RIDGE = {4: 1e-3, 8: 1e-9}
"""What is added to the diagonal before it is factored, as a share of its mean, by the bytes of a value: what rounding needs."""


class SharedSquare:
    """K (symmetric, C-contiguous, owned) as an operator, and after `factor` (K + ridge)⁻¹ as another.

    A product costs n² reads of half the matrix, a solution as many, a factor n³/3 operations.
    """

    def __init__(self, K: Block, n_threads: int) -> None:
        self.K, self.n_threads, self.is_factored = K, n_threads, False
        self.diagonal = K.diagonal().astype(np.float64)
        self.scale = np.maximum(self.diagonal, 1e-12 * float(self.diagonal.mean()) + np.finfo(float).tiny)
        self._middle = int(len(K) * (1.0 - 0.5**0.5))  # the rows above it have half of the triangle
        self._sums = np.empty((2, len(K)))
        self._solve = get_blas_funcs("trsv", (K,))

    def times(self, v: Floats) -> Floats:
        """Kv; overwritten by the next call."""
        from maxmargin._loops.smo.symmetric import add_symmetric

        self._sums[:] = 0.0
        cuts = ((0, self._middle), (self._middle, len(self.K)))
        parts = [
            partial(add_symmetric, self.K, self.diagonal, v, *cut, out)
            for cut, out in zip(cuts, self._sums, strict=True)
        ]
        together(parts, self.n_threads)
        self._sums[0] += self._sums[1]
        return np.asarray(self._sums[0])

    def solve(self, v: Floats) -> Floats:
        """(K + ridge)⁻¹v about, in the precision of K; v over the diagonal without a factor."""
        if not self.is_factored:
            return np.asarray(v / self.scale)
        half = self._solve(self.K.T, v.astype(self.K.dtype), lower=0, trans=1)
        return np.asarray(self._solve(self.K.T, half, lower=0, trans=0), dtype=np.float64)

    def factor(self) -> Iterator[None]:
        """Put the factor below the diagonal; stops to breathe. Without one where K is not positive enough."""
        K, n = self.K, len(self.K)
        potrf, trtri = get_lapack_funcs(("potrf", "trtri"), (K,))
        K.reshape(-1)[:: n + 1] += K.dtype.type(RIDGE[K.itemsize] * float(self.diagonal.mean()))
        for begin in range(0, n, TILE):
            end = min(begin + TILE, n)
            left = K[begin:end, :begin]
            corner, is_bad = potrf(K[begin:end, begin:end] - left @ left.T, lower=1, clean=1)
            if is_bad:
                return
            self._share(end, partial(_finish, K, begin, end, trtri(corner, lower=1)[0]))
            below = np.tril_indices(end - begin)
            K[begin:end, begin:end][below] = corner[below]
            yield
        self.is_factored = True

    def _share(self, first: int, work: Callable[[slice], None]) -> None:
        """Do the work of all tiles of rows from the first row on."""
        tiles = [slice(at, min(at + TILE, len(self.K))) for at in range(first, len(self.K), TILE)]

        def part(thread: int) -> None:
            for tile in tiles[thread :: self.n_threads]:
                work(tile)

        together([partial(part, k) for k in range(min(self.n_threads, len(tiles)))], self.n_threads)


def _finish(K: Block, begin: int, end: int, inverse: Block, rows: slice) -> None:
    """Rows of L in the columns begin … end, whose corner has this inverse."""
    K[rows, begin:end] = (K[rows, begin:end] - K[rows, :begin] @ K[begin:end, :begin].T) @ inverse.T
