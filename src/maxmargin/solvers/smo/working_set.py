"""The choice of a working set: who stays from the last one, and the samples that violate most."""

import numpy as np

from maxmargin.solvers.smo.working_kernel import CHUNK
from maxmargin.typing import Floats, Indices

FEW, WHOLE = 256, 4096
"""Up to so many active samples all of them are the working set: whoever they are, and if half of them are support vectors."""

MANY, WHOLE_BYTES, BET_BYTES = 65536, 2**27, 2**25
"""With more samples than this no step looks at all of them; the memory of rows for at most WHOLE samples, and for more."""

SIZE, SMALLEST, PART = 1536, 256, 16
"""Samples of a working set otherwise: a sixteenth of all samples, within bounds; half of them stay for the next round."""

ROUND_VALUES = 6e7
"""Kernel values that one round may need: more than 40 000 active samples are given smaller working sets."""


def bytes_for_rows(n: int, max_bytes: int) -> int:
    """What rows of K that are made one by one may take, for n samples: 0 where that is not worth while.

    Where the samples are many it is a bet on few support vectors: if it is lost, what was found is kept.
    """
    if n <= FEW or n > MANY:
        return 0
    return min(max_bytes, WHOLE_BYTES if n <= WHOLE else BET_BYTES)


def size_for(n: int, n_active: int, n_support: int, most_bytes: int, itemsize: int, growth: int = 0) -> int:
    """How many samples a working set has: all of them where they are few, else as many as a bounded round can treat.

    `growth` doubles it so many times, where small sets have proved slow.
    """
    room = max(CHUNK, int((most_bytes / itemsize) ** 0.5))
    whole = WHOLE if 2 * n_support >= n_active else FEW
    if n_active <= min(whole, room):
        return n_active
    usual = min(SIZE, max(SMALLEST, n // PART), max(2 * CHUNK, ROUND_VALUES // n_active))
    return int(min(usual * 2 ** min(growth, 4), n_active, WHOLE, room))


def choose(g: Floats, beta: Floats, lo: Floats, hi: Floats, last: Indices, size: int) -> tuple[Indices, int]:
    """The next working set, and how many at its head stay from the last one, `last`.

    Up to half of it stays: free samples first, then those that came last. The rest are the samples that most want to rise,
    and as many that most want to fall. O(n).
    """
    from maxmargin._loops.smo.largest_violations import largest

    is_free = (beta[last] > lo[last]) & (beta[last] < hi[last])
    stay = np.concatenate((last[is_free], last[~is_free][::-1]))[: size // 2]
    rise, fall = np.where(beta < hi, -g, -np.inf), np.where(beta > lo, g, -np.inf)
    rise[stay] = fall[stay] = -np.inf
    up = largest(rise, (size - len(stay)) // 2)
    fall[up] = -np.inf
    down = largest(fall, size - len(stay) - len(up))
    return np.concatenate((stay, up, down)), len(stay)
