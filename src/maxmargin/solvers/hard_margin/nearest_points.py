"""The nearest points of hulls by an active set.

    min ½‖u‖²     s.t.  u = Σ_j α_j v_j,   Σ_{j in group g} α_j = 1 for each group,   α ≥ 0

Wolfe's algorithm (1976) for one or two groups. Each row v_j is thought to carry a coordinate √ρ more for its group; the active
rows S, as columns, are kept as QR (so RᵀR = V_S V_Sᵀ + ρEEᵀ is never formed, and its condition not squared), updated as rows
enter and leave. The minimum over the affine hulls of S is

    c = R⁻ᵀEλ,   (R⁻ᵀE)ᵀ(R⁻ᵀE) λ = 1,   α_S = R⁻¹c,   u = Qc

and it is optimal when ⟨v_j, u⟩ ≥ μ_g for every j in group g, μ_g being the value that the members of g share.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, qr, qr_delete, qr_insert
from scipy.linalg.lapack import dtrtrs

from maxmargin.solvers.base import Clock
from maxmargin.typing import Floats, Indices

DEPENDENT = 1e-13
"""Share of a row outside the span of the active ones that may be rounding."""


@dataclass(frozen=True)
class NearestPoints:
    """Convex weights α, their point u = Σ α_j v_j, and whether they are optimal to the tolerance."""

    alpha: Floats
    u: Floats
    is_optimal: bool


def nearest_points(V: Floats, group: Indices, start: Floats, *, tol: float, max_support: int, clock: Clock) -> NearestPoints:
    """min ½‖Σ α_j v_j‖² with the α of each group summing to one, to ⟨v_j, u⟩ ≥ μ_g − tol·‖u‖².

    Starts from the weights `start` ≥ 0, scaled to one in each group, or from the first row of each where that cannot be; gives
    up where more than `max_support` samples carry weight, or where rounding ends the progress.

    Cost: O(support² + (support + n)·d) an exchange.
    """
    E = np.eye(int(group.max()) + 1)[group]
    most = min(max_support, V.shape[1] + E.shape[1])
    first = np.zeros(len(V))
    first[np.argmax(E, axis=0)] = 1.0
    totals = E @ (start @ E)
    alpha = start / totals if totals.all() else first
    rho = _square(alpha @ V)
    rows, members, Q, R = _factor(V, E, rho, alpha)
    if len(members) > most or not np.abs(R.diagonal()).min() > DEPENDENT * np.abs(R).max():
        alpha, rho = first, _square(first @ V)
        rows, members, Q, R = _factor(V, E, rho, alpha)
    u, least = alpha @ V, np.inf
    while clock.seconds_left > 0:
        try:
            half = dtrtrs(R, E[members], trans=1)[0]
            c = half @ np.linalg.solve(half.T @ half, np.ones(E.shape[1]))
        except LinAlgError:  # a group without a member
            break
        target, now = dtrtrs(R, c)[0], alpha[members]
        falls = np.flatnonzero(target <= 0.0)
        if len(falls):  # towards the minimum, until the first of them reaches zero
            shares = now[falls] / np.maximum(now[falls] - target[falls], np.finfo(float).tiny)
            k = int(falls[np.argmin(shares)])
            alpha[members] = np.maximum(now + shares.min() * (target - now), 0.0)
            alpha[members[k]] = 0.0
            members = np.delete(members, k)
            Q, R = qr_delete(Q, R, k, which="col", check_finite=False)
            Q, R = Q[:, : len(members)], R[: len(members)]
            continue
        alpha[members], u = target, (Q @ c)[: V.shape[1]]
        value = float(u @ u)
        if not 0.0 < value < least:
            break
        least = value
        slack = V @ u
        slack -= E @ (E[members].T @ slack[members] / E[members].sum(axis=0))
        slack[members] = 0.0
        entering = int(np.argmin(slack))
        if slack[entering] >= -tol * value:
            return NearestPoints(alpha, u, is_optimal=True)
        if value < 1e-3 * rho:
            rho, least = value, np.inf
            rows, members, Q, R = _factor(V, E, rho, alpha)
        if len(members) == most:
            break
        try:
            Q, R = qr_insert(Q, R, rows[entering], len(members), which="col", rcond=DEPENDENT, check_finite=False)
        except LinAlgError:  # it depends on the members, to rounding
            break
        members = np.append(members, entering)
    return NearestPoints(alpha, u, is_optimal=False)


def _square(u: Floats) -> float:
    return max(float(u @ u), np.finfo(np.float64).tiny)


def _factor(V: Floats, E: Floats, rho: float, alpha: Floats) -> tuple[Floats, Indices, Floats, Floats]:
    """All rows with √ρ for their group, those with weight, and the Q and R of these."""
    rows, members = np.hstack([V, np.sqrt(rho) * E]), np.flatnonzero(alpha)
    return rows, members, *qr(rows[members].T, mode="economic")
