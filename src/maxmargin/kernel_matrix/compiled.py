"""What a compiled loop needs to make one row of a kernel matrix by itself."""

from typing import Any, NamedTuple

import numpy as np

from maxmargin.typing import Block, Floats


class CompiledRows(NamedTuple):
    """k(x_i, x_k) = exp(⟨u_i, u_k⟩ − s_i − s_k): the u as the columns of T, the s as `squares`, in one precision.

    Both are padded with zeros: T to a multiple of 4 rows, and the samples to as many as asked for.
    """

    T: Block
    squares: Block

    @classmethod
    def of(cls, factor: float, rows: Block, squares: Floats, size: int) -> "CompiledRows":
        """Of samples as rows x, where u = factor · x; at least as many entries as there are samples."""
        n, d = rows.shape
        size = max(n, size)
        T = np.zeros((-(-d // 4) * 4, size), dtype=rows.dtype)
        T[:d, :n] = rows.T
        T *= rows.dtype.type(factor)
        s = np.zeros(size, dtype=rows.dtype)
        s[:n] = squares
        return cls(T, s)

    @classmethod
    def none(cls, dtype: Any) -> "CompiledRows":
        """For a loop that makes no rows."""
        return cls(np.empty((0, 0), dtype=dtype), np.empty(0, dtype=dtype))
