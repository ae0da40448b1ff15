"""Kernel rows worth keeping, within a stated memory."""

from typing import Any

import numpy as np

from maxmargin.typing import Block, Indices

LARGEST = 4096
"""Rows kept at most: those of free samples, which are few; rows at a bound are computed once and thrown away."""


class RowCache:
    """At most max_bytes of rows K[i, active], those used longest ago giving way first.

    Samples are numbered by their position among the active ones. The memory is reserved once, and touched only as rows come.
    """

    def __init__(self, n: int, dtype: Any, max_bytes: int) -> None:
        capacity = int(min(LARGEST, n, max_bytes // max(1, n * np.dtype(dtype).itemsize)))
        self.rows: Block = np.empty((capacity, n if capacity else 0), dtype=dtype)
        self.owner = np.full(capacity, -1)
        self.used = np.zeros(capacity, dtype=np.int64)
        self.slot = np.full(n, -1)
        self.time = 0

    def find(self, samples: Indices) -> Indices:
        """Where the samples' rows are, −1 where they are not; marks them as used."""
        slots: Indices = self.slot[samples]
        self.time += 1
        self.used[slots[slots >= 0]] = self.time
        return slots

    def reserve(self, samples: Indices) -> Indices:
        """Places for new rows of these samples, −1 for those that find none."""
        places = np.full(len(samples), -1)
        # unused places first, then those used longest ago, but none that was used in this round
        order = np.lexsort((self.used, self.owner >= 0))
        order = order[(self.owner[order] < 0) | (self.used[order] < self.time)][: len(samples)]
        evicted = self.owner[order]
        self.slot[evicted[evicted >= 0]] = -1
        taken = samples[: len(order)]
        self.owner[order], self.slot[taken], self.used[order] = taken, order, self.time
        places[: len(order)] = order
        return places

    def restrict(self, kept: Indices) -> None:
        """Keep only these columns, in this order, and the rows of these samples."""
        position = np.full(len(self.slot), -1)
        position[kept] = np.arange(len(kept))
        for place in np.flatnonzero(self.owner >= 0):
            self.owner[place] = position[self.owner[place]]
            if self.owner[place] >= 0:
                self.rows[place, : len(kept)] = self.rows[place, kept]
        self.slot = np.full(len(kept), -1)
        full = np.flatnonzero(self.owner >= 0)
        self.slot[self.owner[full]] = full

    def clear(self, n: int) -> None:
        """Forget all rows; from now on there are n samples, no more than at the beginning."""
        self.owner[:] = -1
        self.slot = np.full(n, -1)
