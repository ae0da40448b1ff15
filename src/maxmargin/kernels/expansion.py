"""Sums of kernel values against fixed rows: what a fitted model computes for each new sample."""

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from maxmargin.errors import InvalidInputError, NotSupportedError
from maxmargin.kernels.base import Kernel
from maxmargin.kernels.inner import DENSE_FRACTION
from maxmargin.kernels.packed import PackedRows
from maxmargin.kernels.tiles import (
    EPS32,
    FLOAT32,
    FLOAT64,
    TILE_BYTES,
    TILE_X,
    as_matrix,
    cut,
    is_sparse,
    row_width,
    rows_that_fit,
    sum_error,
)
from maxmargin.threads import one_blas_thread, together
from maxmargin.typing import Block, Floats, Indices, Matrix

TILE_COLUMNS = 1024
# 512 × 1024 float32 values are 2 MB: they stay in the cache of one core from the product to the sum.

PREPARED_BYTES = 256 << 20
# Rows z are prepared (cast, shifted, made dense) once and kept while they take no more than this, else tile by tile.

FEWEST_ROWS = 16
# Sparse rows x are made dense if at least so many fit into a tile.

FEWEST_SHARED = 64
# Rows that are worth a thread.

FEW_VALUES = 1 << 18
# Up to so many the kernel may sum by itself: setting tiles up would cost more than their values.

FEWEST_VALUES = 1 << 17
# Kernel values that are worth a second thread.

MOST_SUMS = 2
# Up to so many sums of the same values are made as these are; more by one matrix product.

SMALLEST32 = 1e-37
# Values below it may vanish in float32.

MAX_BOUND = 0.01
# Relative errors of float32 beyond it are of no use.

SHIFT_ROWS = 256
# So many rows, evenly spaced, tell the kernel where the data are.


class Tile(NamedTuple):
    """Prepared columns z_start … z_stop."""

    start: int
    stop: int
    side: Any


class Rough(NamedTuple):
    """Sums in float32 arithmetic, of shape (n_groups, r, n_x), and what their errors depend on.

    |error of sums[g, r, i]| ≤ relative[g, i] · sizes[g, i], where `sizes` is Σ_j max_r|A_rj| k(x_i, z_j) over the group, and
    `relative` bounds the relative error of each term; it is 0 where float64 had to be used.
    """

    sums: Floats
    sizes: Floats
    relative: Floats


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

    Notes
    -----
    Work is done in tiles of 512 × 1024 values, each of which is summed as soon as it is there: memory is about 10 MB a thread
    beside the result and the prepared Z (at most 256 MB, left out of pickles). A tile is worked on by one thread, so that the
    bits do not depend on how many there are.

    Precision. In float64 an RBF value errs by about ε · γ(‖x − μ‖² + ‖z − μ‖²), others by a few ε. In float32, with u = 6e-8,

        |error of F_gr(x)| ≤ u · ((16√d + 12)(a + a') + 270) · Σ_j |A_rj| k(x, z_j),     a = γ‖x − μ‖², a' = max_j γ‖z_j − μ‖²

    for the RBF kernel (see `sum_error` for what is assumed), and mostly a hundredth of that; for kernels of the inner product
    u · (8√d + 270) · degree · Σ_j |A_rj| (γ‖x‖‖z_j‖ + |c₀|)^degree. Where u·a exceeds 5e-6, or a value overflows float32, a
    tile is done in float64. A user's functions and precomputed values are summed in float64.

    Examples
    --------
    >>> from maxmargin.kernels import RBF
    >>> Z = np.array([[0.0], [1.0]])
    >>> Expansion(RBF(gamma=1.0), Z, np.array([[2.0, -1.0]]))(Z).ravel().round(4)
    array([ 1.6321, -0.2642])
    """

    def __init__(self, kernel: Kernel, Z: Matrix, A: Floats, groups: Any = None) -> None:
        self.kernel, self.A = kernel, A
        self.Z = as_matrix(Z, "Z")
        counts = [self.Z.shape[0]] if groups is None else groups
        self.ends: Indices = np.concatenate([[0], np.cumsum(counts)]).astype(np.intp)
        self.is_dense = not is_sparse(self.Z) or (kernel.sees_values_only and _is_better_dense(self.Z))
        self._cached: dict[np.dtype[Any], list[Tile]] = {}

    @cached_property
    def shared(self) -> Any:
        """What all tiles share."""
        every = -(-self.Z.shape[0] // SHIFT_ROWS) or 1
        return self.kernel.shared_by(_dense(self.Z[::every]) if self.is_dense else self.Z)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "shared"} | {"_cached": {}}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Expansion) or (self.kernel, self.Z.shape) != (other.kernel, other.Z.shape):
            return False
        is_same_z = (self.Z != other.Z).nnz == 0 if is_sparse(self.Z) else np.array_equal(self.Z, other.Z)
        return bool(is_same_z) and np.array_equal(self.A, other.A) and np.array_equal(self.ends, other.ends)

    __hash__ = None  # type: ignore[assignment]

    @property
    def has_bound(self) -> bool:
        """Whether the error of float32 sums can be bounded: `rough`."""
        return type(self.kernel)._float32_error is not Kernel._float32_error

    def __call__(self, X: Matrix, n_threads: int = 1, dtype: Any = None) -> Floats:
        """Return F, an array of shape (n_groups, r, n_x); in float32 if X and Z are and no dtype is asked for."""
        if dtype is None:
            is_single = self.kernel.sees_values_only and X.dtype == FLOAT32 and self.Z.dtype == FLOAT32
            dtype = FLOAT32 if is_single else FLOAT64
        return self._evaluate(X, n_threads, np.dtype(dtype), is_rough=False)

    def few(self, X: Matrix) -> Floats | None:
        """Return F in float64 where the values are so few that a loop of the kernel's own is faster than tiles, else None."""
        if (len(self.ends), len(self.A)) != (2, 1) or X.shape[0] * self.Z.shape[0] > FEW_VALUES:
            return None
        sums = self.kernel.few_sums(X, self.Z, self.A[0])
        return None if sums is None else sums[np.newaxis, np.newaxis]

    def rough(self, X: Matrix | PackedRows, n_threads: int = 1) -> Rough:
        """Return F by float32 arithmetic, with a bound of its errors; of packed rows with the same shift, too.

        Raises
        ------
        NotSupportedError
            If rows that are packed need float64.
        """
        both = self._evaluate(X, n_threads, FLOAT32, is_rough=True)
        return Rough(both[:, :-2], both[:, -2], both[:, -1])

    def _evaluate(self, X: Matrix | PackedRows, n_threads: int, dtype: np.dtype[Any], is_rough: bool) -> Floats:
        is_packed = isinstance(X, PackedRows)
        if not is_packed:
            X = as_matrix(X)
            self.kernel._check_pair(X, self.Z)
        n, d = X.shape
        out = np.zeros((len(self.ends) - 1, len(self.A) + 2 * is_rough, n))
        if out.size == 0 or self.Z.shape[0] == 0:
            return out
        if dtype == FLOAT64 and (few := self.few(X)) is not None:
            return few
        becomes_dense = not is_packed and self.becomes_dense(X)
        tall = TILE_X * max(1, TILE_COLUMNS // self.Z.shape[0])  # few columns leave room for more rows
        step = rows_that_fit(d if is_packed or becomes_dense else row_width(X), tall)
        if n * self.Z.shape[0] > FEWEST_VALUES:  # few rows shall not leave a thread without work
            step = min(step, max(FEWEST_SHARED, -(-n // 4)))
        starts = iter(range(0, n, step))

        def work() -> None:
            adder = _Adder(self, dtype, is_rough, step)
            for start in starts:  # whichever thread is free takes the next
                part = X.part(slice(start, start + step)) if is_packed else cut(X, start, start + step)
                adder.add(_dense(part) if becomes_dense else part, out[:, :, start : start + step])

        with one_blas_thread():
            self.tiles(dtype)  # before the threads need them
            together([work] * min(n_threads, -(-n // step)), n_threads)
        return out

    # ------------------------------------------------------------------ sides of tiles

    def becomes_dense(self, X: Matrix) -> bool:
        """Whether rows x are worked on as dense ones."""
        if not self.kernel.sees_values_only:
            return False
        return self.is_dense or FEWEST_ROWS * 8 * X.shape[1] <= TILE_BYTES

    def tiles(self, dtype: np.dtype[Any]) -> Iterable[Tile]:
        """The columns as the kernel wants them in this arithmetic; made once if there is room."""
        width = self.Z.shape[1] + 2 if self.is_dense else row_width(self.Z)
        if width * self.Z.shape[0] * dtype.itemsize > PREPARED_BYTES:
            return self._make_tiles(dtype)
        if dtype not in self._cached:
            self._cached[dtype] = list(self._make_tiles(dtype))
        return self._cached[dtype]

    def _make_tiles(self, dtype: np.dtype[Any]) -> Iterator[Tile]:
        step = rows_that_fit(int(self.Z.shape[1]) if self.is_dense else row_width(self.Z), TILE_COLUMNS)
        for start in range(0, self.Z.shape[0], step):
            rows = cut(self.Z, start, start + step)
            rows = _dense(rows) if self.is_dense else rows
            side = self.kernel.side(rows, dtype, self.shared, is_right=True)
            yield Tile(start, start + rows.shape[0], self.kernel.ready(side))

    def parts(self, tile: Tile) -> Iterator[tuple[int, int, int]]:
        """(group, start, stop) of the columns of each group that a tile holds."""
        first = int(np.searchsorted(self.ends, tile.start, side="right")) - 1
        for g in range(first, len(self.ends) - 1):
            start, stop = max(tile.start, int(self.ends[g])), min(tile.stop, int(self.ends[g + 1]))
            if start < stop:
                yield g, start, stop


class _Adder:
    """One thread's buffers. Coefficients are divided by the largest, so that float32 holds them."""

    def __init__(self, expansion: Expansion, dtype: np.dtype[Any], is_rough: bool, n_rows: int) -> None:
        self.expansion, self.dtype, self.is_rough = expansion, dtype, is_rough
        self.scale = float(np.abs(expansion.A).max(initial=0.0)) or 1.0
        self._buffer = np.empty(n_rows * min(TILE_COLUMNS, expansion.Z.shape[0]), dtype=dtype)
        self._A = self._coefficients(dtype)

    def add(self, rows: Matrix | PackedRows, sums: Floats) -> None:
        """Fill the sums of some rows x, and their bounds if these are wanted; in float64 where dtype is too coarse."""
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            if not self._filled(rows, sums):
                if isinstance(rows, PackedRows):
                    raise NotSupportedError("These packed rows need float64. Pass the rows themselves.")
                wide = _Adder(self.expansion, FLOAT64, is_rough=False, n_rows=sums.shape[2])
                if not wide._filled(rows, sums[:, : len(self.expansion.A)]):
                    raise InvalidInputError(
                        f"A value of {self.expansion.kernel!r} is not finite in float64. Scale the data."
                    )

    def _coefficients(self, dtype: np.dtype[Any]) -> Block:
        A = self.expansion.A / self.scale
        return (np.vstack([A, np.abs(A).max(axis=0)]) if self.is_rough else A).astype(dtype)

    def _filled(self, rows: Matrix | PackedRows, sums: Floats) -> bool:
        """Whether dtype was fine enough; nothing is written if not."""
        kernel, shared, n = self.expansion.kernel, self.expansion.shared, sums.shape[2]
        is_ready = isinstance(rows, PackedRows)
        left = rows if is_ready else kernel.side(rows, self.dtype, shared, is_right=False)
        total, error = np.zeros((sums.shape[0], len(self._A), n)), np.zeros(n)
        is_simple = len(total) == 1 and len(self._A) <= MOST_SUMS
        for tile in self.expansion.tiles(self.dtype):
            weights = self._A[:, tile.start : tile.stop]
            is_done = is_simple and kernel.sum_values(left, tile.side, weights, total[0])
            values = self._buffer[: 0 if is_done else n * (tile.stop - tile.start)].reshape(n, -1)
            if not is_done and not kernel.join(left, tile.side, values, shared):
                return False
            if self.is_rough and (relative := kernel._float32_error(left, tile.side)) is not None:
                error = np.maximum(error, relative)
            for g, start, stop in () if is_done else self.expansion.parts(tile):
                total[g] += _times(self._A[:, start:stop], values[:, start - tile.start : stop - tile.start])
        if self.is_rough:
            # their own rounding and exp(error) − 1 for error are the 2 %
            bound = 1.02 * (error + 0.5 * EPS32 * (sum_error(TILE_COLUMNS) + 2))
            if bound.max() > MAX_BOUND:
                return False
            total[:, -1] += SMALLEST32 * self.expansion.Z.shape[0] / bound
            sums[:, -1] = bound
        np.multiply(total, self.scale, out=sums[:, : len(self._A)])
        return True


def _times(A: Block, values: Block) -> Block:
    """A valuesᵀ; few rows one by one, which BLAS does faster."""
    if len(A) > 2:
        product: Block = A @ values.T
        return product
    return np.stack([values @ row for row in A])


def _dense(X: Matrix) -> Matrix:
    return X.toarray() if is_sparse(X) else X


def _is_better_dense(Z: Matrix) -> bool:
    """Whether one product with dense rows is faster than with sparse ones, and there is room for them."""
    size = Z.shape[0] * Z.shape[1]
    return bool(2 * Z.nnz >= DENSE_FRACTION * size and 8 * size <= PREPARED_BYTES)
