"""The square of a working set from that of the last one; compiled."""

from maxmargin._loops.jit import loop
from maxmargin._loops.smo.pair_steps import CHUNK


@loop
def take_square(K, old, out):
    """out[r, k] = K[old[r], old[k]]."""
    for r in range(old.shape[0]):
        row, target = K[old[r]], out[r]
        for k in range(old.shape[0]):
            target[k] = row[old[k]]


@loop
def mirror(K, stay, size):
    """K[r, k] = K[k, r] for r < stay ≤ k < size, in small squares: both stay in the fast cache."""
    for top in range(0, stay, CHUNK):
        for left in range(stay, size, CHUNK):
            for r in range(top, min(top + CHUNK, stay)):
                for k in range(left, min(left + CHUNK, size)):
                    K[r, k] = K[k, r]
