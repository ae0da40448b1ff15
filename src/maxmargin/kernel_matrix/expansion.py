"""Sums of kernel values against fixed rows: what a fitted model computes for each new sample."""

from collections.abc import Iterable, Iterator
from functools import cached_property, partial
from itertools import product
from typing import Any

import numpy as np

from maxmargin.errors import NotSupportedError
from maxmargin.kernel_matrix import tiles as sides
from maxmargin.kernel_matrix.matrix import KernelMatrix
from maxmargin.kernel_matrix.tiles import Bounded, PackedRows, Tile
from maxmargin.kernels import tiles
from maxmargin.kernels.base import Kernel
from maxmargin.kernels.tiles import FLOAT32, FLOAT64, TILE_COLUMNS, TILE_ROWS, as_matrix, cut, is_sparse
from maxmargin.rounding import UNIT, sum_above
from maxmargin.threads import in_pieces, one_blas_thread, together
from maxmargin.typing import Block, Floats, Indices, Matrix

FEW_PRODUCTS = TILE_ROWS * TILE_COLUMNS * sides.ROW_COST
"""Products of two features (an exp counts as ROW_COST of them) up to which one loop over differences is faster than tiles: as
much as the exp of one tile."""

SUM_TERMS = 128
"""float32 values that are summed before the sum goes on in float64: their number is part of the error bound."""


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
    >>> import numpy as np
    >>> from maxmargin.kernels import Expansion
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
        self.is_dense = not is_sparse(self.Z) or (kernel.sees_values_only and sides.is_better_dense(self.Z))
        self._cached: dict[np.dtype[Any], list[Tile]] = {}

    @cached_property
    def centre(self) -> sides.Centre:
        """The common shift of all rows, and whether their zeros are left out."""
        if self.like is not None:
            return self.like.centre
        some = tiles.some_rows(self.Z)
        return sides.centre_of(self.kernel, tiles.dense(some) if self.is_dense else some)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "centre"} | {"_cached": {}, "like": None}

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
        return self.kernel.has_differences and X.shape[0] * self.Z.shape[0] * (X.shape[1] + sides.ROW_COST) <= FEW_PRODUCTS

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
        fits = FLOAT64.itemsize * self.Z.shape[0] * self.Z.shape[1] <= sides.PREPARED_BYTES
        return self.kernel.has_differences or (self.kernel.has_fine_sums and fits)

    def at_own_rows(self, n_threads: int = 1) -> Bounded | None:
        """Return one sum in float64 at the rows z themselves: each value is computed once for both of its rows.

        None where a tile needs more than float64. The bits do not depend on the threads: each tile has sums of its own.
        """
        (weights,), parts = self.A, list(self.tiles(FLOAT64))
        sums, error = np.zeros((len(parts), len(weights))), np.zeros(len(weights))

        def work(k: int) -> bool:
            own, rows = parts[k].side, slice(parts[k].start, parts[k].stop)
            for start, stop, side in parts[k:]:
                values = np.empty((rows.stop - rows.start, stop - start))
                if not self.kernel.join(own, side, values):
                    return False
                sums[k, rows] += values @ weights[start:stop]
                if start > rows.start:
                    sums[k, start:stop] += weights[rows] @ values
            return True

        with one_blas_thread(), np.errstate(over="ignore", invalid="ignore", under="ignore"):
            if not all(together([partial(work, k) for k in range(len(parts))], n_threads)):
                return None
            for (first, last, own), (start, stop, side) in product(parts, parts):
                sizes = np.abs(weights[start:stop])
                error[first:last] += self.kernel.error(own, side, slice(None), sizes, None, len(weights))
        return Bounded(sums.sum(axis=0)[np.newaxis, np.newaxis], error[np.newaxis] * (1.0 + 1e-9))

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
            self._sum_small(X, out, is_bounded)
            return out
        becomes_dense = not is_packed and self.becomes_dense(X)
        tall = TILE_ROWS * max(1, TILE_COLUMNS // self.Z.shape[0])  # few columns leave room for more rows
        step = tiles.rows_that_fit(d if is_packed or becomes_dense else tiles.row_width(X), tall)
        if n > TILE_ROWS:  # few rows shall not leave a thread without work
            step = min(step, -(-n // 4))
        starts = iter(range(0, n, step))

        def work() -> None:
            adder = TileSums(self, dtype, step, is_bounded, by_differences)
            for start in starts:  # whichever thread is free takes the next
                part = X[start : start + step] if is_packed else cut(X, start, start + step)
                at = slice(start, start + step)
                adder.add(tiles.dense(part) if becomes_dense else part, out.sums[:, :, at], out.error[:, at])

        with one_blas_thread():
            if not by_differences:
                self.tiles(dtype)  # before the threads need them
            together([work] * min(n_threads, -(-n // step)), n_threads)
        return out

    def _sum_small(self, X: Matrix, out: Bounded, is_bounded: bool) -> None:
        """Fill all sums by differences, on one thread; the values take no more memory than those of one tile."""
        values = np.empty((X.shape[0], self.Z.shape[0]))
        self.kernel.fill_differences(X, self.Z, values)
        for g, start, stop in self.parts(Tile(0, self.Z.shape[0], None)):
            np.matmul(self.A[:, start:stop], values[:, start:stop].T, out=out.sums[g])
            if is_bounded:
                total = sum_above(np.abs(self.A[:, start:stop]).max(axis=0))
                out.error[g] = self.kernel.difference_error(X.shape[1], total, total, stop - start)

    # ------------------------------------------------------------------ sides of tiles

    def becomes_dense(self, X: Matrix) -> bool:
        """Whether rows x are worked on as dense ones."""
        if not self.kernel.sees_values_only:
            return False
        return self.is_dense or X.shape[1] <= sides.MOST_FEATURES

    def tiles(self, dtype: np.dtype[Any]) -> Iterable[Tile]:
        """The columns as the kernel wants them in this arithmetic; made once if there is room."""
        width = self.Z.shape[1] + 2 if self.is_dense else tiles.row_width(self.Z)
        made = (Tile(start, stop, self.side_of(start, stop, dtype)) for start, stop, _ in self.spans())
        if width * self.Z.shape[0] * dtype.itemsize > sides.PREPARED_BYTES:
            return made
        if dtype not in self._cached:
            self._cached[dtype] = list(made)
        return self._cached[dtype]

    def spans(self) -> Iterator[Tile]:
        """The columns of each tile, not prepared."""
        step = tiles.rows_that_fit(int(self.Z.shape[1]) if self.is_dense else tiles.row_width(self.Z), TILE_COLUMNS)
        for start in range(0, self.Z.shape[0], step):
            yield Tile(start, min(start + step, self.Z.shape[0]), None)

    def side_of(self, start: int, stop: int, dtype: np.dtype[Any]) -> Any:
        """Columns start … stop, prepared."""
        rows = cut(self.Z, start, stop)
        return sides.prepared(self.kernel, tiles.dense(rows) if self.is_dense else rows, dtype, self.centre)

    def parts(self, tile: Tile) -> Iterator[tuple[int, int, int]]:
        """(group, start, stop) of the columns of each group that a tile holds."""
        first = int(np.searchsorted(self.ends, tile.start, side="right")) - 1
        for g in range(first, len(self.ends) - 1):
            start, stop = max(tile.start, int(self.ends[g])), min(tile.stop, int(self.ends[g + 1]))
            if start < stop:
                yield g, start, stop


class TileSums:
    """One thread's buffers. Coefficients in float32 are divided by the largest, so that it holds them."""

    def __init__(self, expansion: Expansion, dtype: np.dtype[Any], n_rows: int, is_bounded: bool, by_differences: bool) -> None:
        self.expansion, self.kernel = expansion, expansion.kernel
        self.is_bounded = is_bounded
        self.precisions = () if by_differences else (dtype,) if dtype == FLOAT64 else (dtype, FLOAT64)
        largest = float(np.abs(expansion.A).max(initial=0.0)) or 1.0
        self.scale = 1.0 if dtype == FLOAT64 else largest
        self.A = expansion.A / self.scale
        self.sizes = np.abs(self.A).max(axis=0, initial=0.0)
        self._buffer = np.empty(n_rows * min(TILE_COLUMNS, expansion.Z.shape[0]), dtype=dtype)

    def add(self, rows: Matrix | PackedRows, sums: Floats, error: Floats) -> None:
        """Fill the sums of some rows x, and the bounds of their errors if these are wanted."""
        kernel, lefts = self.kernel, {}  # type: ignore[var-annotated]
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            for tile in self.expansion.tiles(self._buffer.dtype) if self.precisions else self.expansion.spans():
                left, right, values = self._filled(rows, lefts, tile)
                weights, sizes, extra = self.A[:, tile.start : tile.stop], self.sizes[tile.start : tile.stop], None
                if self.is_bounded:
                    extra = sizes if right is None else kernel.error_weights(right, sizes)
                if extra is not None:
                    weights = np.vstack([weights, extra])
                total = np.zeros((len(sums), len(weights), sums.shape[2]))
                if values is None:
                    left.add_sums(right, weights, total[0])
                else:
                    self._sum_up(tile, weights.astype(values.dtype), values, total, has_sizes=extra is not None)
                sums += total[:, : sums.shape[1]]
                if not self.is_bounded:
                    continue
                is_single = (left if values is None else values).dtype == FLOAT32
                for g, start, stop in self.expansion.parts(tile):
                    at, size = slice(start - tile.start, stop - tile.start), None if extra is None else total[g, -1]
                    if right is None:
                        error[g] += kernel.difference_error(rows.shape[1], sum_above(sizes[at]), size, self.A.shape[1])
                    else:
                        terms = SUM_TERMS if is_single else self.A.shape[1]
                        error[g] += kernel.error(left, right, at, sizes[at], size, terms)
            sums *= self.scale
            error *= self.scale * (1.0 + 16.0 * UNIT)
            error[np.isnan(sums).any(axis=1)] = np.inf

    def _filled(self, rows: Matrix | PackedRows, lefts: dict[Any, Any], tile: Tile) -> tuple[Any, Any, Block | None]:
        """A tile's sides in the first precision that is not too coarse for it, and its values: none where packed rows are summed
        without them. No sides where the values are by differences of the rows as they came.
        """
        kernel, shape = self.kernel, (rows.shape[0], tile.stop - tile.start)
        for dtype in self.precisions:
            is_first = dtype == self._buffer.dtype
            if isinstance(rows, PackedRows) and not is_first:
                break
            if dtype not in lefts:
                is_ready = isinstance(rows, PackedRows)
                lefts[dtype] = rows if is_ready else sides.prepared(kernel, rows, dtype, self.expansion.centre)
            left, right = lefts[dtype], tile.side if is_first else self.expansion.side_of(tile.start, tile.stop, dtype)
            if len(self.expansion.ends) == 2 and len(self.A) + self.is_bounded <= 2 and sides.suits(kernel, dtype, left, right):
                return left, right, None  # more sums are faster by one matrix product
            values = self._values(shape, dtype)
            if kernel.join(left, right, values):
                return left, right, values
        if isinstance(rows, PackedRows):
            raise NotSupportedError("These packed rows need float64. Pass the rows themselves.")
        values = self._values(shape, FLOAT64)
        kernel.fill_differences(rows, cut(self.expansion.Z, tile.start, tile.stop), values)
        return None, None, values

    def _values(self, shape: tuple[int, int], dtype: Any) -> Block:
        if dtype != self._buffer.dtype:
            return np.empty(shape, dtype=dtype)
        return self._buffer[: shape[0] * shape[1]].reshape(shape)

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
