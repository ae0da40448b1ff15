"""Rows of a kernel matrix that are kept within a stated memory."""

from typing import Any

import numpy as np

from maxmargin.typing import Block, Indices


class KeptRows:
    """At most max_bytes of rows K[i, :] of n samples, those used longest ago giving way first.

    The memory is reserved once; the fewer samples there are, the more of their rows it holds.
    """

    def __init__(self, n: int, dtype: Any, max_bytes: int) -> None:
        room = min(n * n, max_bytes // np.dtype(dtype).itemsize)
        self.memory: Block = np.empty(room // n * n, dtype=dtype)
        self.time = 0
        self.clear(n)

    def clear(self, n: int) -> None:
        """Forget all rows; from now on there are n samples."""
        capacity = min(n, self.memory.size // max(n, 1))
        self.rows: Block = self.memory[: capacity * n].reshape(capacity, n)
        self.owner: Indices = np.full(capacity, -1)
        self.used: Indices = np.zeros(capacity, dtype=np.int64)
        self.slot: Indices = np.full(n, -1)

    def find(self, i: Indices) -> Indices:
        """Where the rows of samples i are, −1 where they are not; marks them as used."""
        slots: Indices = self.slot[i]
        self.time += 1
        self.used[slots[slots >= 0]] = self.time
        return slots

    def reserve(self, i: Indices) -> Indices:
        """Places for new rows of these samples, −1 for those that find none."""
        # unused places first, then those used longest ago, but none that was used in this round
        order = np.lexsort((self.used, self.owner >= 0))
        order = order[(self.owner[order] < 0) | (self.used[order] < self.time)][: len(i)]
        evicted = self.owner[order]
        self.slot[evicted[evicted >= 0]] = -1
        taken = i[: len(order)]
        self.owner[order], self.slot[taken], self.used[order] = taken, order, self.time
        return np.concatenate((order, np.full(len(i) - len(order), -1)))

    def restrict(self, kept: Indices) -> None:
        """Keep only these columns, in this order, and the rows of these samples."""
        position = np.full(len(self.slot), -1)
        position[kept] = np.arange(len(kept))
        rows, owner, used = self.rows, self.owner, self.used
        self.clear(len(kept))
        alive = np.flatnonzero((owner >= 0) & (position[owner] >= 0))[: len(self.owner)]
        for new, old in enumerate(alive):
            # the new row is at or before the old one, and shorter: nothing is lost unread
            np.take(rows[old], kept, out=self.rows[new], mode="clip")
        new_places = np.arange(len(alive))
        self.owner[new_places], self.used[new_places] = position[owner[alive]], used[alive]
        self.slot[self.owner[new_places]] = new_places
