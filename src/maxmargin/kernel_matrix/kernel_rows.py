"""Rows of one training set's Gram matrix, kept within a budget of memory."""

from collections import OrderedDict
from typing import Any

import numpy as np

from maxmargin.errors import InvalidInputError
from maxmargin.kernel_matrix.tiles import TILE_Z, as_indices, as_matrix, row_width, rows_that_fit
from maxmargin.kernels.base import Kernel
from maxmargin.kernels.parameters import check_number
from maxmargin.typing import Block, Indices, Matrix


class KernelRows:
    """Rows K[i, :] of the Gram matrix of a training set, the recently used ones kept.

    Parameters
    ----------
    kernel : Kernel
        With its parameters resolved.
    X : dense or CSR of shape (n_all, d)
        The data; not copied.
    max_bytes : int
        What the kept rows may take. 0 keeps nothing.
    dtype : float32 or float64, optional
        Of the values. Default: that of ``kernel.block``.
    rows : integer array, optional
        The rows of X that make up the training set; by default all. Indices below count within it.

    Attributes
    ----------
    n : int
        Number of rows of the training set, and length of a row of K.
    dtype : numpy.dtype
    hits, misses : int
        How many rows were found, and how many had to be computed.

    Notes
    -----
    Missing rows are computed in one block. The rows used longest ago make room first. The memory is allocated once, at
    first use. One thread at a time.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.kernels import Linear
    >>> cache = KernelRows(Linear(), np.array([[1.0], [2.0], [3.0]]), max_bytes=2 * 3 * 8)
    >>> cache.get([0, 2])
    array([[1., 2., 3.],
           [3., 6., 9.]])
    >>> cache.get([2]), cache.hits, cache.misses, cache.nbytes
    (array([[3., 6., 9.]]), 1, 2, 48)
    """

    def __init__(self, kernel: Kernel, X: Matrix, max_bytes: int, dtype: Any = None, rows: Any = None) -> None:
        self.kernel = kernel
        self.X = as_matrix(X)
        self.rows: Indices | None = None if rows is None else np.arange(self.X.shape[0])[as_indices(rows)]
        self.n = self.X.shape[0] if self.rows is None else self.rows.size
        # an empty block knows the default dtype, and whether the kernel is resolved
        self.dtype = kernel.between(self.X, slice(0, 0), slice(0, 0), dtype=dtype).dtype
        self.max_bytes = int(check_number("max_bytes", max_bytes))
        if self.max_bytes < 0:
            raise InvalidInputError(
                f"max_bytes={max_bytes!r} is negative. Pass a number of bytes ≥ 0; 0 keeps nothing."
            )
        self.hits = 0
        self.misses = 0
        self._capacity = min(self.n, self.max_bytes // (max(self.n, 1) * self.dtype.itemsize))
        self._buffer: Block = np.empty((0, self.n), dtype=self.dtype)
        self._slot: OrderedDict[int, int] = OrderedDict()  # row -> place in the buffer, used longest ago first

    @property
    def nbytes(self) -> int:
        """Bytes of memory held for rows; never more than max_bytes."""
        return self._buffer.nbytes

    def get(self, indices: Any) -> Block:
        """Return K[indices, :] as a new array of shape (len(indices), n)."""
        wanted = np.arange(self.n)[as_indices(indices)]
        missing = [i for i in dict.fromkeys(wanted.tolist()) if i not in self._slot]
        self.misses += len(missing)
        self.hits += wanted.size - len(missing)
        fresh = self._compute(np.array(missing, dtype=np.intp))
        place = {i: k for k, i in enumerate(missing)}
        if len(missing) == wanted.size:
            result = fresh
        else:
            result = np.empty((wanted.size, self.n), dtype=self.dtype)
            for k, i in enumerate(wanted.tolist()):
                result[k] = fresh[place[i]] if i in place else self._buffer[self._slot[i]]
        self._keep(wanted.tolist(), place, fresh)
        return result

    def clear(self) -> None:
        """Forget all rows and give the memory back."""
        self._buffer = np.empty((0, self.n), dtype=self.dtype)
        self._slot.clear()

    def _compute(self, missing: Indices) -> Block:
        """K[missing, :]; a training set that is part of X is gathered piece by piece."""
        if self.rows is None:
            return self.kernel.between(self.X, missing, dtype=self.dtype)
        out = np.empty((missing.size, self.n), dtype=self.dtype)
        left = self.X[self.rows[missing]]
        step = rows_that_fit(row_width(self.X), TILE_Z)
        for start in range(0, self.n, step):
            right = self.kernel.reference(self.X, self.rows[start : start + step])
            out[:, start : start + step] = self.kernel.block(left, right, dtype=self.dtype)
        return out

    def _keep(self, wanted: list[int], place: dict[int, int], fresh: Block) -> None:
        """Mark the wanted rows as used, and keep the fresh ones in place of those used longest ago."""
        for i in wanted:
            if i in self._slot:
                self._slot.move_to_end(i)
        if not place or len(set(wanted)) > self._capacity:
            return
        if not self._buffer.size:
            self._buffer = np.empty((self._capacity, self.n), dtype=self.dtype)
        for i, k in place.items():
            slot = len(self._slot) if len(self._slot) < self._capacity else self._slot.popitem(last=False)[1]
            self._buffer[slot] = fresh[k]
            self._slot[i] = slot
