"""Level lines and regions of a function on a grid."""

from collections.abc import Iterator

import numpy as np

from maxmargin.typing import Flags, Floats


def level_segments(x: Floats, y: Floats, values: Floats, level: float) -> Floats:
    """The line {values = level} as short segments (k, 2, 2): marching squares; `values` is (len(y), len(x)).

    A saddle is settled by the mean of its four corners.

    Examples
    --------
    >>> x = np.array([0.0, 1.0])
    >>> level_segments(x, x, np.array([[0.0, 1.0], [0.0, 1.0]]), 0.5).tolist()
    [[[0.5, 0.0], [0.5, 1.0]]]
    """
    v = values - level
    a, b, c, d = v[:-1, :-1], v[:-1, 1:], v[1:, 1:], v[1:, :-1]  # around the cell
    x0, x1 = np.broadcast_to(x[:-1], a.shape), np.broadcast_to(x[1:], a.shape)
    y0, y1 = np.broadcast_to(y[:-1, None], a.shape), np.broadcast_to(y[1:, None], a.shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        sides = np.stack(  # where the line meets the lower, right, upper and left side
            [
                np.stack([x0 + (x1 - x0) * (a / (a - b)), y0], axis=-1),
                np.stack([x1, y0 + (y1 - y0) * (b / (b - c))], axis=-1),
                np.stack([x0 + (x1 - x0) * (d / (d - c)), y1], axis=-1),
                np.stack([x0, y0 + (y1 - y0) * (a / (a - d))], axis=-1),
            ]
        )
    up = np.stack([a > 0, b > 0, c > 0, d > 0])
    meets = up != np.roll(up, -1, axis=0)
    two = meets.sum(axis=0) == 2
    rank = np.argsort(~meets, axis=0, kind="stable")
    found = [_pick(sides, rank[0], rank[1], two)]
    saddle = meets.all(axis=0)
    if saddle.any():
        joined = (a + b + c + d > 0) == up[0]
        for first, second in (
            (np.where(joined, 0, 0), np.where(joined, 1, 3)),
            (np.where(joined, 2, 1), np.where(joined, 3, 2)),
        ):
            found.append(_pick(sides, first, second, saddle))
    return np.concatenate(found)


def runs(flags: Flags) -> Iterator[tuple[int, int, int]]:
    """(row, first, last + 1) of each run of true cells in each row.

    Examples
    --------
    >>> list(runs(np.array([[True, True, False], [False, False, True]])))
    [(0, 0, 2), (1, 2, 3)]
    """
    for row, line in enumerate(flags):
        edges = np.flatnonzero(np.diff(np.concatenate([[False], line, [False]]).astype(np.int8)))
        for first, last in edges.reshape(-1, 2).tolist():
            yield row, first, last


def _pick(sides: Floats, first: Floats, second: Floats, where: Flags) -> Floats:
    at = np.nonzero(where)
    return np.stack([sides[first[at], at[0], at[1]], sides[second[at], at[0], at[1]]], axis=1)
