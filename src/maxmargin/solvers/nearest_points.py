"""The nearest points of hulls by an active set: the arrays around the compiled loop."""

from dataclasses import dataclass

import numpy as np

from maxmargin.typing import Floats, Indices

STEPS = 200
"""Exchanges a compiled call may make: a few milliseconds, so that Ctrl-C and budgets are heard."""


@dataclass(frozen=True)
class NearestPoints:
    """Convex weights, and whether they are optimal to the tolerance."""

    alpha: Floats
    is_optimal: bool


def nearest_points(Q: Floats, group: Indices, start: Floats, tol: float, max_support: int) -> NearestPoints:
    """min ½αᵀQα with the α of each group summing to one, to (Qα)_j ≥ μ_g − tol·αᵀQα.

    Starts from the feasible weights `start`; gives up where more than `max_support` samples carry weight, or where rounding
    ends the progress. Cost: O(support² + n·support) an exchange.
    """
    from maxmargin._loops.nearest_points import OPTIMAL, UNFINISHED, append, exchange

    n_groups = int(group.max()) + 1
    capacity = min(len(Q), max_support) + 1
    Q = np.ascontiguousarray(Q)
    rho = max(float(np.mean(Q.diagonal())), np.finfo(np.float64).tiny)
    members, size = np.zeros(capacity, dtype=np.int64), np.zeros(1, dtype=np.int64)
    L = np.zeros((capacity, capacity))
    alpha = start.astype(np.float64)
    group = group.astype(np.int64)

    entering = np.flatnonzero(alpha)
    if not all(append(L, Q, group, rho, members, size, j) for j in entering[:capacity]) or len(entering) > capacity:
        alpha[:], size[0] = 0.0, 0
        for g in range(n_groups):
            first = int(np.flatnonzero(group == g)[0])
            append(L, Q, group, rho, members, size, first)
            alpha[first] = 1.0
    status = UNFINISHED
    for _ in range(100 * len(Q) // STEPS + 10):
        status = exchange(Q, group, n_groups, rho, tol, STEPS, alpha, members, size, L)
        if status != UNFINISHED:
            break
    return NearestPoints(alpha, status == OPTIMAL)
