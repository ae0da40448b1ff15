"""The kernel within one working set, and the pairs that are solved there."""

from dataclasses import dataclass, field

import numpy as np

from maxmargin.kernel_matrix.compiled import CompiledRows
from maxmargin.typing import Block, Floats, Indices

CHUNK = 64
"""The compiled loops look at so many samples at a time: the `CHUNK` of `_loops.smo`."""

INNER_WORK = 4e7
"""Entries that the pairs of one round may pass over: about 50 ms."""

INNER_STEPS = 500
"""Steps for each sample of the working set in one round: where that is not enough, the gap is looked at in between."""


def padded(size: int) -> int:
    """The next multiple of CHUNK."""
    return -(-size // CHUNK) * CHUNK


@dataclass
class WorkingKernel:
    """K of a working set, its size padded to whole chunks: all of it, or those of its rows that were needed so far.

    Row i stands in ``K[slot[i]]``; −1 where it is not there yet. `constant` and `delta` are what a penalised bias adds to all
    of K, and a squared loss to its diagonal.
    """

    K: Block
    slot: Indices
    diagonal: Block
    source: CompiledRows | None = None
    constant: float = 0.0
    delta: Block = field(default_factory=lambda: np.empty(0))
    used: int = 0
    is_full: bool = False

    @classmethod
    def nothing(cls) -> "WorkingKernel":
        """Of an empty set."""
        return cls.whole(np.empty((0, 0)))

    @classmethod
    def whole(cls, K: Block) -> "WorkingKernel":
        """With all rows there."""
        return cls(K, np.arange(len(K)), K.diagonal().copy(), used=len(K))

    @classmethod
    def by_rows(cls, source: CompiledRows, delta: Floats, constant: float, max_bytes: int) -> "WorkingKernel":
        """With no row there yet, and room for as many as the memory holds: at least two."""
        dtype, size = source.T.dtype, source.T.shape[1]
        capacity = min(size, max(2, max_bytes // (size * dtype.itemsize)))
        K = np.empty((capacity, size), dtype=dtype)
        K[0] = 0.0  # read, and multiplied by 0, before it is filled
        extra = np.zeros(size, dtype=dtype)
        extra[: len(delta)] = delta
        diagonal = extra + dtype.type(1.0 + constant)
        return cls(K, np.full(size, -1), diagonal, source, constant, extra)

    def solve(self, beta: Floats, lo: Floats, hi: Floats, g: Floats, is_free: bool, share: float) -> Floats:
        """β after pairs, or single steps where the bias is not free, until the violation is this share of what it was.

        Single steps crawl along what hardly bends, such as twins of both classes; where they did not end, pairs follow.
        """
        from maxmargin._loops.smo.pair_steps import IS_FULL, N_FIELDS, STEPS, USED, pair_steps, single_steps

        count, size, dtype = len(beta), self.K.shape[1], self.K.dtype
        wide = np.zeros((4, size))  # padded with entries that may not move
        wide[:, :count] = beta, lo, hi, g
        beta, lo, hi = wide[:3]
        gradient = wide[3].astype(dtype)
        rise, fall = (np.where(may, 0.0, -1e30).astype(dtype) for may in (beta < hi, beta > lo))
        eps = float(np.finfo(dtype).eps)
        source = CompiledRows.none(dtype) if self.source is None else self.source
        report = np.zeros(N_FIELDS)
        report[USED] = self.used
        most_steps = min(INNER_STEPS * size, int(INNER_WORK / size))
        for steps in (pair_steps,) if is_free else (single_steps, pair_steps):
            steps(
                self.K, self.slot, source.T, source.squares, self.delta.astype(dtype, copy=False),
                dtype.type(self.constant), self.diagonal, gradient, beta, lo, hi, rise, fall, 8.0 * eps, share,
                4.0 * eps * float(np.abs(gradient).max()), most_steps, report,
            )  # fmt: skip
            if report[STEPS] < most_steps:
                break
        self.used, self.is_full = int(report[USED]), bool(report[IS_FULL])
        return beta[:count]
