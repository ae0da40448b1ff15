"""The groups of complementary slackness: outside the margin, on it, inside it or wrong."""

from typing import NamedTuple

import numpy as np

from maxmargin.core.losses import Loss
from maxmargin.typing import Floats, Indices

OUTSIDE, ON, INSIDE, ABSENT = range(4)
"""The groups: α = 0, 0 < α < c, α = c; and a sample without cost, which has no α."""


class Groups(NamedTuple):
    """How many samples lie outside the margin (α = 0), on it (0 < α < c), and inside or wrong (α = c)."""

    outside: int
    on: int
    inside: int


def group_of_each(loss: Loss, cost: Floats, alpha: Floats) -> Indices:
    """The group of each sample by its α: `OUTSIDE` the margin, `ON` it, `INSIDE` it or wrong, or `ABSENT`."""
    group = np.full(len(cost), ABSENT, dtype=np.intp)
    on = slice(None) if (cost > 0).all() else np.flatnonzero(cost > 0)
    upper = loss.upper(cost[on])
    inside = np.isfinite(upper) & (alpha[on] >= upper * (1 - 1e-12))
    if np.isinf(upper).all() and not np.isinf(cost).any():
        inside = alpha[on] > 0  # squared hinge: a positive α is a positive slack
    group[on] = np.where(alpha[on] <= 0, OUTSIDE, np.where(inside, INSIDE, ON))
    return group


def count_groups(loss: Loss, cost: Floats, alpha: Floats) -> Groups:
    """Count the samples outside, on and inside the margin by their α."""
    count = np.bincount(group_of_each(loss, cost, alpha), minlength=4)
    return Groups(int(count[OUTSIDE]), int(count[ON]), int(count[INSIDE]))
