"""The kernel matrix of one data set: where solvers find values of K.

A tile is a block of K of at most 512 × 1024 values. Rows are "ready for tiles" once they are shifted, cast and, where that pays,
packed as lists of their non-zero entries. Certificates and predictions sum such tiles too (`expansion`).
"""

import threading
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from maxmargin.errors import InvalidInputError
from maxmargin.kernel_matrix.kept_rows import KeptRows
from maxmargin.kernel_matrix.tiles import PREPARED_BYTES, Centre, PackedRows, centre_of, prepared, suits
from maxmargin.kernels import tiles
from maxmargin.kernels.base import Kernel
from maxmargin.kernels.inner import DENSE_FRACTION
from maxmargin.kernels.parameters import check_number
from maxmargin.kernels.precomputed import Precomputed
from maxmargin.kernels.tiles import FLOAT32, FLOAT64, TILE_COLUMNS, TILE_ROWS, as_indices, as_matrix, is_sparse
from maxmargin.threads import together
from maxmargin.typing import Block, Floats, Indices, Matrix


class KernelMatrix:
    """K[i, j] = k(x_i, x_j) of the samples of one data set; recently used rows may be kept.

    Parameters
    ----------
    kernel : Kernel
        With its parameters resolved.
    X : dense or CSR of shape (n_all, d)
        The data.
    max_bytes : int
        What the kept rows may take. 0 keeps nothing.
    dtype : float32 or float64, optional
        Of the values. Default: that of ``kernel.block``.
    rows : integer array, optional
        The rows of X that are the samples; by default all. Indices below count within them.
    n_threads : int
        Threads for values. They do not change the bits.
    shared : KernelMatrix, optional
        One on all rows of the same X, which holds its rows ready for tiles, once for all problems and threads.

    Attributes
    ----------
    n : int
        Number of samples.
    dtype : numpy.dtype
    hits, misses : int
        Rows that calls of `rows` found kept, and rows that they computed.
    values : int
        How many kernel values were computed.

    Notes
    -----
    Values are made tile by tile (512 × 1024 of them at most). Tiles depend on the samples alone, and each entry of a sum
    belongs to one of them: the same bits for any number of threads. The rows used longest ago make room first. The memory is
    allocated at first use, and that of one copy of the rows, ready for tiles. One thread at a time may call `rows`, `add` and
    `restrict`.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.kernels import KernelMatrix
    >>> from maxmargin.kernels import Linear
    >>> K = KernelMatrix(Linear(), np.array([[1.0], [2.0], [3.0]]), max_bytes=2 * 3 * 8)
    >>> K.rows([0, 2])
    array([[1., 2., 3.],
           [3., 6., 9.]])
    >>> K.rows([2]), K.hits, K.misses, K.nbytes
    (array([[3., 6., 9.]]), 1, 2, 48)
    """

    def __init__(
        self,
        kernel: Kernel,
        X: Matrix,
        max_bytes: int = 0,
        dtype: Any = None,
        rows: Any = None,
        *,
        n_threads: int = 1,
        shared: "KernelMatrix | None" = None,
    ) -> None:
        self.kernel, self.X, self.n_threads = kernel, as_matrix(X), n_threads
        self.samples: Indices | None = None if rows is None else as_indices(rows)
        kernel.require_resolved()
        self.dtype = kernel.default_dtype(self.X, self.X) if dtype is None else tiles.check_dtype(dtype)
        self.max_bytes = int(check_number("max_bytes", max_bytes))
        if self.max_bytes < 0:
            raise InvalidInputError(f"max_bytes={max_bytes!r} is negative. Pass a number of bytes ≥ 0; 0 keeps nothing.")
        self.shared = shared if shared is not None and shared.is_on(self.X, kernel) else None
        self.hits = self.misses = self.values = 0
        self._lock = threading.Lock()
        self._packed: PackedRows | None = None
        self._side: Any = None
        self._tiles: list[Any] | None = None
        self.clear()

    def __reduce__(self) -> tuple[Any, ...]:
        return KernelMatrix, (self.kernel, self.X, self.max_bytes, self.dtype, self.samples)

    @property
    def n(self) -> int:
        """Number of samples."""
        return int(self.X.shape[0]) if self.samples is None else len(self.samples)

    def restrict(self, kept: Indices) -> None:
        """Keep only these of the samples, and of the kept rows their part."""
        self.samples = kept if self.samples is None else self.samples[kept]
        self._side, self._tiles = None if self._side is None else self._side[kept], None
        if self._cache is not None:
            self._cache.restrict(kept)

    def reset(self, rows: Indices) -> None:
        """Let these rows of X be the samples, and forget all kept rows."""
        self.samples, self._side, self._tiles = rows, None, None
        if self._cache is not None:
            self._cache.clear(self.n)

    # ------------------------------------------------------------------ values

    def block(self, i: Indices, j: Indices, out: Block | None = None) -> Block:
        """K[i, j], in `out` where that is given."""
        out = np.empty((len(i), len(j)), dtype=self.dtype) if out is None else out
        left, right = self._left(i), self.side[j]
        self.values += out.size
        step = max(1, TILE_ROWS * TILE_COLUMNS // max(len(j), 1))

        def work(start: int, _: Block) -> None:
            at = slice(start, start + step)
            self._fill(left[at], right, out[at], i[at], j)

        self._share(range(0, len(i), step), work)
        return out

    def whole(self) -> Block | None:
        """K in float64; None where a tile needs differences of rows. `sum_errors` bounds what its values do to sums."""
        X, kernel = self._rows(None), self.kernel
        shift = kernel.shift_of(X)
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            right = kernel.side(kernel.reference(self._data, self.samples), FLOAT64, shift)
            left = right if kernel.sees_values_only else X
            out, step = np.empty((self.n, self.n)), max(1, TILE_ROWS * TILE_COLUMNS // self.n)
            for start in range(0, self.n, step):
                if not kernel.join(left[start : start + step], right, out[start : start + step]):
                    return None
        self.values, self._sides = self.values + out.size, (left, right)
        return out

    def sum_errors(self, K: Block, sizes: Floats, terms: int) -> Floats:
        """Of each sample a bound of the error of any sum of `terms` values of `whole`, times weights of at most these sizes."""
        left, right = self._sides
        weights = self.kernel.error_weights(right, sizes)
        total = None if weights is None else np.abs(K) @ weights
        return self.kernel.error(left, right, slice(None), sizes, total, terms)

    def diag(self, i: Indices | None = None) -> Block:
        """K[j, j] of samples i, or of all."""
        if self.kernel.constant_length is not None:
            return np.full(self.n if i is None else len(i), self.kernel.constant_length**2, dtype=self.dtype)
        rows = self.samples if i is None else i if self.samples is None else self.samples[i]
        if isinstance(self.kernel, Precomputed):
            return self.kernel.diag(self.X, dtype=self.dtype)[slice(None) if rows is None else rows]
        return self.kernel.diag(tiles.take(self.X, rows), dtype=self.dtype)

    def rows(self, indices: Any) -> Block:
        """Return K[indices, :] as a new array of shape (len(indices), n)."""
        wanted = np.arange(self.n)[as_indices(indices)]
        distinct = np.unique(wanted)
        slots, new = self._places(distinct, keep=True)
        is_missing = slots < 0
        is_missing[new] = True
        self.misses += int(is_missing.sum())
        self.hits += len(wanted) - int(is_missing.sum())
        out, missing = np.empty((len(distinct), self.n), dtype=self.dtype), np.flatnonzero(is_missing)

        def store(at: slice, columns: slice, tile: Block) -> None:
            out[missing[at], columns] = tile

        self._each_tile(distinct[missing], store)
        if self._cache is not None:
            out[~is_missing] = self._cache.rows[slots[~is_missing]]
            self._cache.rows[slots[new]] = out[new]
        return out[np.searchsorted(distinct, wanted)]

    get = rows

    def add(self, i: Indices, weights: Floats, out: Floats, keep: Any) -> None:
        """out += weights @ K[i, :]; rows i[keep] that had to be computed are kept as far as there is room."""
        from maxmargin._loops.smo.pair_steps import add_rows

        slots, new = self._places(i, keep)
        found, rest = np.flatnonzero(slots >= 0), np.flatnonzero(slots < 0)
        if len(found):
            assert self._cache is not None
            kept, places = self._cache.rows, slots[new]

            def store(at: slice, columns: slice, tile: Block) -> None:
                kept[places[at], columns] = tile

            self._each_tile(i[new], store)
            arguments = (kept, slots[found], weights[found], out)
            self._share(
                range(0, self.n, TILE_COLUMNS), lambda start, _: add_rows(*arguments, start, min(start + TILE_COLUMNS, self.n))
            )
        scaled = weights[rest].astype(self.dtype)
        # as the columns of sums; fewer would leave many of the 64 columns of a chunk empty
        if len(rest) >= TILE_ROWS and suits(self.kernel, self.dtype, self.side):
            self.values += len(rest) * self.n
            columns, parts = self.side[i[rest]], self.tiles

            def add_sums(start: int, _: Block) -> None:
                parts[start // TILE_COLUMNS].add_sums(columns, scaled[np.newaxis], out[np.newaxis, start : start + TILE_COLUMNS])

            self._share(range(0, self.n, TILE_COLUMNS), add_sums)
            return

        def add_tile(at: slice, columns: slice, tile: Block) -> None:
            out[columns] += scaled[at] @ tile

        self._each_tile(i[rest], add_tile)

    # ------------------------------------------------------------------ rows ready for tiles

    def is_on(self, X: Matrix, kernel: Kernel) -> bool:
        """Whether this is the matrix of all rows of dense data, so that other problems on them may share what it holds."""
        return self.X is X and self.kernel == kernel and self.samples is None and not is_sparse(X)

    @cached_property
    def centre(self) -> Centre:
        """The common shift of all rows, and whether their zeros are left out."""
        return centre_of(self.kernel, tiles.some_rows(self._data)) if self.shared is None else self.shared.centre

    @property
    def packed(self) -> PackedRows:
        """The float32 rows of all samples with their zeros left out; made once, whichever thread asks first."""
        if self.shared is not None:
            return self.shared.packed if self.samples is None else self.shared.packed[self.samples]
        with self._lock:
            if self._packed is None:
                self._packed = prepared(self.kernel, self._rows(None), FLOAT32, self.centre)
            return self._packed

    @property
    def side(self) -> Any:
        """All samples, as the right side of tiles."""
        if self._side is None:
            with np.errstate(over="ignore", invalid="ignore", under="ignore"):
                if self.dtype == FLOAT32 and self.centre.is_packed:
                    self._side = self.packed
                else:
                    rows = self.kernel.reference(self._data, self.samples)
                    self._side = prepared(self.kernel, rows, self.dtype, self.centre)
        return self._side

    @property
    def are_rows_cheap(self) -> bool:
        """Whether rows are better computed again than kept."""
        return isinstance(self.side, PackedRows) and self.side.is_cheap

    @property
    def tiles(self) -> list[Any]:
        """The samples as the columns of tiles."""
        if self._tiles is None:
            self._tiles = [self.side[start : start + TILE_COLUMNS] for start in range(0, self.n, TILE_COLUMNS)]
        return self._tiles

    @cached_property
    def _data(self) -> Matrix:
        """X, made dense in float32 where that is small and not mostly zeros."""
        X = self.X
        size = X.shape[0] * X.shape[1]
        is_filled = is_sparse(X) and X.nnz >= DENSE_FRACTION**2 * size and FLOAT32.itemsize * size <= PREPARED_BYTES
        if self.dtype != FLOAT32 or not self.kernel.sees_values_only or not is_filled:
            return X
        return X.astype(np.float32).toarray()

    def _rows(self, i: Indices | None) -> Matrix:
        """Rows of the data, those of samples i or of all."""
        if i is None:
            return self._data if self.samples is None else self._data[self.samples]
        return self._data[i if self.samples is None else self.samples[i]]

    def _left(self, i: Indices) -> Any:
        """Samples i as the left side of tiles."""
        return self.side[i] if self.kernel.sees_values_only else self._rows(i)

    def _each_tile(self, i: Indices, use: Callable[[slice, slice, Block], None]) -> None:
        """Fill tiles of K[i, :] one after the other, and use (rows, columns, values) of each."""
        self.values += len(i) * self.n
        _ = self.tiles  # before the threads need them
        chunks = [slice(start, min(start + TILE_ROWS, len(i))) for start in range(0, len(i), TILE_ROWS)]
        lefts = [self._left(i[at]) for at in chunks]

        def work(start: int, buffer: Block) -> None:
            columns = slice(start, min(start + TILE_COLUMNS, self.n))
            right, j = self.tiles[start // TILE_COLUMNS], np.arange(start, columns.stop)
            for at, left in zip(chunks, lefts, strict=True):
                tile = buffer[: (at.stop - at.start) * len(j)].reshape(-1, len(j))  # contiguous, as BLAS wants it
                self._fill(left, right, tile, i[at], j)
                use(at, columns, tile)

        self._share(range(0, self.n if len(i) else 0, TILE_COLUMNS), work, TILE_COLUMNS * min(len(i), TILE_ROWS))

    def _fill(self, left: Any, right: Any, tile: Block, i: Indices, j: Indices) -> None:
        """One tile; by `kernel.block` where this precision is too coarse."""
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            if self.kernel.join(left, right, tile):
                return
        columns = j if self.samples is None else self.samples[j]
        self.kernel.block(self._rows(i), self.kernel.reference(self._data, columns), tile, dtype=self.dtype)

    def _share(self, starts: range, work: Callable[[int, Block], None], size: int = 0) -> None:
        """Do the work of all starts, each thread with a buffer: whichever is free takes the next."""
        left = iter(starts)

        def part() -> None:
            buffer = np.empty(size, dtype=self.dtype)
            for start in left:
                work(start, buffer)

        together([part] * min(self.n_threads, len(starts)), self.n_threads)

    # ------------------------------------------------------------------ rows that are kept

    @property
    def nbytes(self) -> int:
        """Bytes of memory held for rows; never more than max_bytes."""
        return 0 if self._cache is None else self._cache.memory.nbytes

    def clear(self) -> None:
        """Forget all rows and give the memory back."""
        self._cache: KeptRows | None = None

    def _places(self, i: Indices, keep: Any) -> tuple[Indices, Indices]:
        """Where the rows of samples i are, −1 where nowhere, and which of i[keep] have a place that is still to be filled."""
        if self._cache is None:
            if not self.max_bytes or not len(i):
                return np.full(len(i), -1), np.empty(0, dtype=np.intp)
            self._cache = KeptRows(self.n, self.dtype, self.max_bytes)
        slots = self._cache.find(i)
        new = np.flatnonzero((slots < 0) & keep)
        slots[new] = self._cache.reserve(i[new])
        return slots, new[slots[new] >= 0]
