"""Sums of kernel values against fixed rows: what a fitted model computes for each new sample."""

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any

import numpy as np

from maxmargin.kernel_matrix.matrix import PREPARED_BYTES, KernelMatrix
from maxmargin.kernel_matrix.tiles import (
    MOST_FEATURES,
    ROW_COST,
    Bounded,
    Centre,
    PackedRows,
    Tile,
    TileSums,
    centre_of,
    fill,
    prepared,
    ready,
    suits,
)
from maxmargin.kernels.base import Kernel
from maxmargin.kernels.inner import DENSE_FRACTION
from maxmargin.kernels.tiles import (
    FLOAT32,
    FLOAT64,
    TILE_COLUMNS,
    TILE_ROWS,
    as_matrix,
    cut,
    is_sparse,
    row_width,
    rows_that_fit,
    some_rows,
)
from maxmargin.rounding import sum_above
from maxmargin.threads import in_pieces, one_blas_thread, together
from maxmargin.typing import Floats, Indices, Matrix

FEW_PRODUCTS = TILE_ROWS * TILE_COLUMNS * ROW_COST
"""Products of two features (an exp counts as ROW_COST of them) up to which one loop over differences is faster than tiles: as
much as the exp of one tile."""


class Expansion:
    """F_gr(x) = Σ_j A_rj k(x, z_j) over the j of each group g: prepared once, evaluated for many x.

    Parameters
    ----------
    kernel : Kernel
        With its parameters resolved.
    Z : Matrix
        Of n rows, as ``kernel.reference`` gives them.
    A : array of shape (r, n)
        The coefficients.
    groups : integer array, optional
        How many consecutive rows of Z belong to each group; by default all to one.
    like : KernelMatrix, optional
        One whose shift is taken, so that its packed rows can be evaluated.

    Notes
    -----
    Work is done in tiles of 512 × 1024 values, each of which is summed as soon as it is there: memory is about 10 MB a thread
    beside the result and the prepared Z (at most 256 MB, left out of pickles). A tile is worked on by one thread, so that the
    bits do not depend on how many there are.

    Precision. `bounded` returns a worst-case bound with the sums. With u the unit roundoff of the arithmetic, an RBF value from
    norms errs by a relative 2(d + 14)u(a + a') + 8u, a = γ‖x − μ‖² and a' = γ‖z − μ‖²; from differences of the rows by
    (d + 4)u·γ‖x − z‖² + 8u, which is used for tiles where the first would be coarse. Kernels of the inner product err by about
    degree · (d + 5)u · (γ‖x‖‖z‖ + |c₀|)^degree. A user's functions and precomputed values are exact by definition: only their
    sums round, in float64.

    Examples
    --------
    >>> from maxmargin.kernels import RBF
    >>> Z = np.array([[0.0], [1.0]])
    >>> Expansion(RBF(gamma=1.0), Z, np.array([[2.0, -1.0]]))(Z).ravel().round(4)
    array([ 1.6321, -0.2642])
    """

    def __init__(self, kernel: Kernel, Z: Matrix, A: Floats, groups: Any = None, like: KernelMatrix | None = None) -> None:
        self.kernel, self.A, self.like = kernel, A, like
        self.Z = as_matrix(Z, "Z")
        counts = [self.Z.shape[0]] if groups is None else groups
        self.ends: Indices = np.concatenate([[0], np.cumsum(counts)]).astype(np.intp)
        self.is_dense = not is_sparse(self.Z) or (kernel.sees_values_only and _is_better_dense(self.Z))
        self._cached: dict[np.dtype[Any], list[Tile]] = {}

    @cached_property
    def centre(self) -> Centre:
        """The common shift of all rows, and whether their zeros are left out."""
        if self.like is not None:
            return self.like.centre
        some = some_rows(self.Z)
        return centre_of(self.kernel, _dense(some) if self.is_dense else some)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "centre"} | {
            "_cached": {},
            "like": None,
        }

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Expansion) or (self.kernel, self.Z.shape) != (other.kernel, other.Z.shape):
            return False
        is_same_z = (self.Z != other.Z).nnz == 0 if is_sparse(self.Z) else np.array_equal(self.Z, other.Z)
        return bool(is_same_z) and np.array_equal(self.A, other.A) and np.array_equal(self.ends, other.ends)

    __hash__ = None  # type: ignore[assignment]

    @property
    def is_single(self) -> bool:
        """Whether sums in float32 have a bound: `bounded`."""
        return self.kernel.is_bounded_in_float32

    def __call__(self, X: Matrix, n_threads: int = 1, dtype: Any = None) -> Floats:
        """Return F, an array of shape (n_groups, r, n_x); in float32 if X and Z are and no dtype is asked for."""
        if dtype is None:
            is_single = self.kernel.sees_values_only and X.dtype == FLOAT32 and self.Z.dtype == FLOAT32
            dtype = FLOAT32 if is_single else FLOAT64
        return self._evaluate(X, n_threads, np.dtype(dtype)).sums

    def is_small(self, X: Matrix) -> bool:
        """Whether values by differences are so few that they are faster than tiles, and in float64."""
        return self.kernel.has_differences and X.shape[0] * self.Z.shape[0] * (X.shape[1] + ROW_COST) <= FEW_PRODUCTS

    def bounded(
        self, X: Matrix | PackedRows, dtype: Any = FLOAT64, n_threads: int = 1, *, by_differences: bool = False
    ) -> Bounded:
        """Return F with a bound of its error; X may be packed rows with the same shift. Tiles for which dtype is too coarse are
        done in float64, and those that even this is too coarse for, or all on request, by differences of the rows.

        Raises
        ------
        NotSupportedError
            If rows that are packed need more than float32.
        """
        return self._evaluate(X, n_threads, np.dtype(dtype), is_bounded=True, by_differences=by_differences)

    def fine(self, X: Matrix, n_threads: int = 1) -> Bounded:
        """Return one sum, as exactly as the kernel can: by differences of rows, or in twice the working precision."""
        if self.kernel.has_differences:
            return self.bounded(X, FLOAT64, n_threads, by_differences=True)
        X = as_matrix(X)
        pieces = in_pieces(lambda begin, end: self.kernel.fine_sums(cut(X, begin, end), self.Z, self.A[0]), X.shape[0], n_threads)
        sums, error = (np.concatenate(parts) for parts in zip(*pieces, strict=True))
        return Bounded(sums[np.newaxis, np.newaxis], error[np.newaxis])

    @property
    def has_fine(self) -> bool:
        """Whether `fine` is finer than float64, and its rows fit into memory."""
        if len(self.ends) != 2 or len(self.A) != 1:
            return False
        fits = FLOAT64.itemsize * self.Z.shape[0] * self.Z.shape[1] <= PREPARED_BYTES
        return self.kernel.has_differences or (self.kernel.has_fine_sums and fits)

    def at_own_rows(self, n_threads: int = 1) -> Bounded | None:
        """Return F in float64 at the rows z themselves, one sum only: each value is computed once for both of its rows.

        None where a tile needs more than float64. The bits do not depend on the threads: each tile has sums of its own.
        """
        if len(self.ends) != 2 or len(self.A) != 1 or not self.kernel.sees_values_only:
            return None
        with one_blas_thread(), np.errstate(over="ignore", invalid="ignore", under="ignore"):
            tiles = list(self.tiles(FLOAT64))
            sums, is_fine = np.zeros((len(tiles), self.A.shape[1])), [True] * len(tiles)
            left = iter(range(len(tiles)))

            def work() -> None:
                for i in left:  # whichever thread is free takes the next
                    is_fine[i] = all(self._add_own(tiles[i], other, sums[i]) for other in tiles[i:])

            together([work] * min(n_threads, len(tiles)), n_threads)
            if not all(is_fine):
                return None
            error = np.zeros(self.A.shape[1])
            for tile in tiles:
                for other in tiles:
                    sizes = np.abs(self.A[0, other.start : other.stop])
                    error[tile.start : tile.stop] += self.kernel.error(
                        tile.side, other.side, slice(None), sizes, None, self.A.shape[1]
                    )
        return Bounded(sums.sum(axis=0)[np.newaxis, np.newaxis], error[np.newaxis] * (1.0 + 1e-9))

    def _add_own(self, own: Tile, other: Tile, sums: Floats) -> bool:
        """Add the values between the rows of two tiles to the sums of both; False if they cannot be had in float64."""
        weights, rows, columns = self.A[0], slice(own.start, own.stop), slice(other.start, other.stop)
        is_same = other is own
        if suits(self.kernel, FLOAT64, own.side, other.side):
            left = own.side.together()
            mirrored = (None, None) if is_same else (weights[rows], sums[columns])
            left.add_sums(other.side, *mirrored, weights[np.newaxis, columns], sums[np.newaxis, rows])
            return True
        values = np.empty((own.stop - own.start, other.stop - other.start))
        if not fill(self.kernel, own.side, other.side, values):
            return False
        sums[rows] += values @ weights[columns]
        if not is_same:
            sums[columns] += weights[rows] @ values
        return True

    def _evaluate(
        self,
        X: Matrix | PackedRows,
        n_threads: int,
        dtype: np.dtype[Any],
        *,
        is_bounded: bool = False,
        by_differences: bool = False,
    ) -> Bounded:
        is_packed = isinstance(X, PackedRows)
        if not is_packed:
            X = as_matrix(X)
            self.kernel._check_pair(X, self.Z)
        n, d = X.shape
        out = Bounded(np.zeros((len(self.ends) - 1, len(self.A), n)), np.zeros((len(self.ends) - 1, n)))
        if out.sums.size == 0 or self.Z.shape[0] == 0:
            return out
        if dtype == FLOAT64 and not is_packed and self.is_small(X):
            self._sum_small(X, out)
            return out
        becomes_dense = not is_packed and self.becomes_dense(X)
        tall = TILE_ROWS * max(1, TILE_COLUMNS // self.Z.shape[0])  # few columns leave room for more rows
        step = rows_that_fit(d if is_packed or becomes_dense else row_width(X), tall)
        if n > TILE_ROWS:  # few rows shall not leave a thread without work
            step = min(step, -(-n // 4))
        starts = iter(range(0, n, step))

        def work() -> None:
            adder = TileSums(self, dtype, step, is_bounded, by_differences)
            for start in starts:  # whichever thread is free takes the next
                part = X[start : start + step] if is_packed else cut(X, start, start + step)
                at = slice(start, start + step)
                adder.add(_dense(part) if becomes_dense else part, out.sums[:, :, at], out.error[:, at])

        with one_blas_thread():
            if not by_differences:
                self.tiles(dtype)  # before the threads need them
            together([work] * min(n_threads, -(-n // step)), n_threads)
        return out

    def _sum_small(self, X: Matrix, out: Bounded) -> None:
        """Fill all sums by differences, on one thread; some rows at a time, whose values stay in the cache."""
        groups = list(self.parts(Tile(0, self.Z.shape[0], None)))
        for first in range(0, X.shape[0], TILE_ROWS):
            rows = cut(X, first, first + TILE_ROWS)
            values = np.empty((self.Z.shape[0], rows.shape[0]))
            self.kernel.fill_differences(self.Z, rows, values)
            for g, start, stop in groups:
                np.matmul(self.A[:, start:stop], values[start:stop], out=out.sums[g, :, first : first + TILE_ROWS])
        for g, start, stop in groups:
            total = sum_above(np.abs(self.A[:, start:stop]).max(axis=0))
            out.error[g] = self.kernel.difference_error(X.shape[1], total, total, stop - start)

    # ------------------------------------------------------------------ sides of tiles

    def becomes_dense(self, X: Matrix) -> bool:
        """Whether rows x are worked on as dense ones."""
        if not self.kernel.sees_values_only:
            return False
        return self.is_dense or X.shape[1] <= MOST_FEATURES

    def tiles(self, dtype: np.dtype[Any]) -> Iterable[Tile]:
        """The columns as the kernel wants them in this arithmetic; made once if there is room."""
        width = self.Z.shape[1] + 2 if self.is_dense else row_width(self.Z)
        if width * self.Z.shape[0] * dtype.itemsize > PREPARED_BYTES:
            return self._make_tiles(dtype)
        if dtype not in self._cached:
            self._cached[dtype] = list(self._make_tiles(dtype))
        return self._cached[dtype]

    def _make_tiles(self, dtype: np.dtype[Any]) -> Iterator[Tile]:
        for start, stop, _ in self.spans():
            yield Tile(start, stop, self.side_of(start, stop, dtype))

    def spans(self) -> Iterator[Tile]:
        """The columns of each tile, not prepared."""
        step = rows_that_fit(int(self.Z.shape[1]) if self.is_dense else row_width(self.Z), TILE_COLUMNS)
        for start in range(0, self.Z.shape[0], step):
            yield Tile(start, min(start + step, self.Z.shape[0]), None)

    def side_of(self, start: int, stop: int, dtype: np.dtype[Any]) -> Any:
        """Columns start … stop, prepared."""
        rows = cut(self.Z, start, stop)
        return ready(prepared(self.kernel, _dense(rows) if self.is_dense else rows, dtype, self.centre))

    def parts(self, tile: Tile) -> Iterator[tuple[int, int, int]]:
        """(group, start, stop) of the columns of each group that a tile holds."""
        first = int(np.searchsorted(self.ends, tile.start, side="right")) - 1
        for g in range(first, len(self.ends) - 1):
            start, stop = max(tile.start, int(self.ends[g])), min(tile.stop, int(self.ends[g + 1]))
            if start < stop:
                yield g, start, stop


def _dense(X: Matrix) -> Matrix:
    return X.toarray() if is_sparse(X) else X


def _is_better_dense(Z: Matrix) -> bool:
    """Whether one product with dense rows is faster than with sparse ones, and there is room for them."""
    size = Z.shape[0] * Z.shape[1]
    return bool(2 * Z.nnz >= DENSE_FRACTION * size and FLOAT64.itemsize * size <= PREPARED_BYTES)
