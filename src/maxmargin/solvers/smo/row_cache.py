"""Kernel rows worth keeping, within a stated memory."""

from typing import Any

import numpy as np

from maxmargin.typing import Block, Indices


class RowCache:
    """At most max_bytes of rows K[i, active], those used longest ago giving way first.

    Samples are numbered by their position among the active ones. The memory is reserved once; the shorter the rows become,
    the more of them it holds.
    """

    def __init__(self, n: int, dtype: Any, max_bytes: int) -> None:
        self.memory: Block = np.empty(max_bytes // np.dtype(dtype).itemsize, dtype=dtype)
        self.time = 0
        self.clear(n)

    def clear(self, n: int) -> None:
        """Forget all rows; from now on there are n samples."""
        capacity = min(n, self.memory.size // max(n, 1))
        self.rows: Block = self.memory[: capacity * n].reshape(capacity, n)
        self.owner: Indices = np.full(capacity, -1)
        self.used: Indices = np.zeros(capacity, dtype=np.int64)
        self.slot: Indices = np.full(n, -1)

    def find(self, samples: Indices) -> Indices:
        """Where the samples' rows are, −1 where they are not; marks them as used."""
        slots: Indices = self.slot[samples]
        self.time += 1
        self.used[slots[slots >= 0]] = self.time
        return slots

    def reserve(self, samples: Indices) -> Indices:
        """Places for new rows of these samples, −1 for those that find none."""
        # unused places first, then those used longest ago, but none that was used in this round
        order = np.lexsort((self.used, self.owner >= 0))
        order = order[(self.owner[order] < 0) | (self.used[order] < self.time)][: len(samples)]
        evicted = self.owner[order]
        self.slot[evicted[evicted >= 0]] = -1
        taken = samples[: len(order)]
        self.owner[order], self.slot[taken], self.used[order] = taken, order, self.time
        places = np.full(len(samples), -1)
        places[: len(order)] = order
        return places

    def restrict(self, kept: Indices) -> None:
        """Keep only these columns, in this order, and the rows of these samples."""
        from maxmargin._loops.smo.kernel_squares import keep_columns

        position = np.full(len(self.slot), -1)
        position[kept] = np.arange(len(kept))
        rows, owner, used = self.rows, self.owner, self.used
        self.clear(len(kept))
        alive = np.flatnonzero((owner >= 0) & (position[owner] >= 0))[: len(self.owner)]
        # the new row is at or before the old one, and shorter: nothing is overwritten unread
        keep_columns(rows, alive, kept, self.memory)
        new = np.arange(len(alive))
        self.owner[new], self.used[new] = position[owner[alive]], used[alive]
        self.slot[self.owner[new]] = new
