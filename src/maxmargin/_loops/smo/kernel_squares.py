"""The square of a working set from that of the last one, and rows of fewer columns; compiled."""

from maxmargin._loops.jit import loop

SIDE = 32
"""Of the small squares that are mirrored at a time, so that both stay in the fast cache."""


@loop
def take_square(K, old, begin, end, out):
    """out[r, k] = K[old[r], old[k]] for begin ≤ r < end."""
    for r in range(begin, end):
        row, target = K[old[r]], out[r]
        for k in range(old.shape[0]):
            target[k] = row[old[k]]


@loop
def mirror(K, stay, size, begin, end):
    """K[r, k] = K[k, r] for begin ≤ r < end ≤ stay ≤ k < size."""
    for top in range(begin, end, SIDE):
        for left in range(stay, size, SIDE):
            for r in range(top, min(top + SIDE, end)):
                for k in range(left, min(left + SIDE, size)):
                    K[r, k] = K[k, r]


@loop
def keep_columns(rows, which, kept, memory):
    """The columns `kept` of some rows, row after row in `memory`, which may be that of the rows: both lists rise."""
    count = kept.shape[0]
    for r in range(which.shape[0]):
        row, target = rows[which[r]], memory[r * count : (r + 1) * count]
        for k in range(count):
            target[k] = row[kept[k]]
