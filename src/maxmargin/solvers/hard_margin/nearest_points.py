"""The nearest points of hulls by an active set: the arrays around the compiled loop."""

from dataclasses import dataclass

import numpy as np

from maxmargin.solvers.base import Clock
from maxmargin.typing import Floats, Indices

EXCHANGES_A_CALL = 100
"""Exchanges a compiled call may make: some milliseconds, so that Ctrl-C and budgets are heard."""


@dataclass(frozen=True)
class NearestPoints:
    """Convex weights α, their point u = Σ α_j v_j, and whether they are optimal to the tolerance."""

    alpha: Floats
    u: Floats
    is_optimal: bool


def nearest_points(V: Floats, group: Indices, start: Floats, *, tol: float, max_support: int, clock: Clock) -> NearestPoints:
    """min ½‖Σ α_j v_j‖² with the α of each group summing to one, to ⟨v_j, u⟩ ≥ μ_g − tol·‖u‖².

    Starts from the feasible weights `start`; gives up where more than `max_support` samples carry weight, or where rounding
    ends the progress. Cost: O(support² + (support + n)·d) an exchange.
    """
    from maxmargin._loops.hard_margin.nearest_points import OPTIMAL, SHRUNK, UNFINISHED, append, exchange

    V = np.ascontiguousarray(V, dtype=np.float64)
    group = group.astype(np.int64)
    n_groups = int(group.max()) + 1
    capacity = min(len(V), max_support) + 1
    members, size = np.zeros(capacity, dtype=np.int64), np.zeros(1, dtype=np.int64)
    L, B = np.zeros((capacity, capacity)), np.zeros((capacity, V.shape[1] + n_groups))
    alpha, u = start.astype(np.float64), np.zeros(V.shape[1])

    def restart(samples: Indices, rho: float) -> bool:
        size[0] = 0
        return len(samples) < capacity and all(append(V, group, rho, members, size, L, B, j) for j in samples)

    def scale() -> float:
        point = alpha @ V
        return max(float(point @ point), np.finfo(np.float64).tiny)

    if not restart(np.flatnonzero(alpha), rho := scale()):
        first = np.array([np.flatnonzero(group == g)[0] for g in range(n_groups)])
        alpha[:] = 0.0
        alpha[first] = 1.0
        restart(first, rho := scale())
    status = UNFINISHED
    for _ in range(100 * len(V) // EXCHANGES_A_CALL + 100):
        status = exchange(V, group, n_groups, rho, tol, EXCHANGES_A_CALL, alpha, members, size, L, B, u)
        if status not in (UNFINISHED, SHRUNK) or clock.seconds_left <= 0:
            break
        if not restart(np.flatnonzero(alpha), rho := scale()):
            break
    return NearestPoints(alpha, u, status == OPTIMAL)
