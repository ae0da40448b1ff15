"""The nearest points of hulls by an active set, compiled.

    min ½‖u‖²     s.t.  u = Σ_j α_j v_j,   Σ_{j in group g} α_j = 1 for each group,   α ≥ 0

Wolfe's algorithm (1976) for one or two groups. Each row v_j is thought to carry a coordinate √ρ more for its group; the active
rows S are kept as L B with B orthonormal (so L Lᵀ = V_S V_Sᵀ + ρEEᵀ is never formed, and its condition not squared). A row
enters by Gram–Schmidt, done twice, and leaves by rotations. The minimum over the affine hulls of S is

    c = L⁻¹Eλ,   (L⁻¹E)ᵀ(L⁻¹E) λ = 1,   α_S = L⁻ᵀc,   u = Bᵀc

and it is optimal when ⟨v_j, u⟩ ≥ μ_g for every j in group g, μ_g being the value that the members of g share.
"""

import numpy as np

from maxmargin._loops.jit import loop

UNFINISHED, OPTIMAL, STUCK, FULL, SHRUNK = 0, 1, 2, 3, 4


@loop
def exchange(V, group, n_groups, rho, tol, max_steps, alpha, members, size, L, B, u):
    """Make up to `max_steps` exchanges. Changes alpha, members, size, L, B and u in place; returns a status."""
    n, d = V.shape
    capacity = members.shape[0]
    target = np.empty(capacity)
    solved = np.empty((n_groups, capacity))
    mu = np.empty(n_groups)
    inside = np.zeros(n, dtype=np.bool_)
    best = np.inf
    for k in range(size[0]):
        inside[members[k]] = True
    for _ in range(max_steps):
        while True:  # towards the minimum on S, dropping what reaches zero
            s = size[0]
            if s == 0 or not minimum(L, B, group, members, s, n_groups, d, solved, target, u):
                return STUCK
            theta, falls = 1.0, False
            for k in range(s):
                if target[k] <= 0.0:
                    falls = True
                    now = alpha[members[k]]
                    theta = min(theta, now / (now - target[k])) if now > 0.0 else 0.0
            if not falls:
                for k in range(s):
                    alpha[members[k]] = target[k]
                break
            for k in range(s):
                j = members[k]
                reaches_zero = target[k] <= 0.0 and (alpha[j] <= 0.0 or alpha[j] / (alpha[j] - target[k]) <= theta)
                alpha[j] = 0.0 if reaches_zero else max(alpha[j] + theta * (target[k] - alpha[j]), 0.0)
            for k in range(s - 1, -1, -1):
                if target[k] <= 0.0 and alpha[members[k]] == 0.0:
                    inside[members[k]] = False
                    remove(L, B, members, size, k)
        value = 0.0
        for k in range(d):
            value += u[k] * u[k]
        if not value > 0.0 or value >= best:
            return STUCK
        best = value
        shared_values(V, group, n_groups, members, size[0], u, mu)
        entering, worst = -1, 0.0
        for j in range(n):
            if not inside[j]:
                slack = -mu[group[j]]
                for k in range(d):
                    slack += V[j, k] * u[k]
                if slack < worst:
                    entering, worst = j, slack
        if entering < 0 or worst >= -tol * value:
            return OPTIMAL
        if value < 1e-3 * rho:
            return SHRUNK
        if size[0] == capacity:
            return FULL
        if not append(V, group, rho, members, size, L, B, entering):
            return STUCK
        inside[entering] = True
    return UNFINISHED


@loop
def append(V, group, rho, members, size, L, B, j):
    """Take row j into S by Gram–Schmidt, done twice; False where it depends on the members, to rounding."""
    s, d = size[0], V.shape[1]
    width = B.shape[1]
    square = rho
    for m in range(d):
        B[s, m] = V[j, m]
        square += V[j, m] * V[j, m]
    for m in range(d, width):
        B[s, m] = 0.0
    B[s, d + group[j]] = np.sqrt(rho)
    for k in range(s):
        L[s, k] = 0.0
    for _ in range(2):
        for k in range(s):
            part = 0.0
            for m in range(width):
                part += B[k, m] * B[s, m]
            L[s, k] += part
            for m in range(width):
                B[s, m] -= part * B[k, m]
    rest = 0.0
    for m in range(width):
        rest += B[s, m] * B[s, m]
    rest = np.sqrt(rest)
    if not rest > 1e-13 * np.sqrt(square):
        return False
    for m in range(width):
        B[s, m] /= rest
    L[s, s] = rest
    members[s] = j
    size[0] = s + 1
    return True


@loop
def remove(L, B, members, size, p):
    """Take the p-th member out of S: its row of L goes, and rotations make the rest triangular again."""
    s = size[0]
    for i in range(p, s - 1):
        members[i] = members[i + 1]
        for k in range(i + 2):
            L[i, k] = L[i + 1, k]
    for k in range(p, s - 1):
        x, z = L[k, k], L[k, k + 1]
        length = np.hypot(x, z)
        c, t = x / length, z / length
        for i in range(k, s - 1):
            x, z = L[i, k], L[i, k + 1]
            L[i, k] = c * x + t * z
            L[i, k + 1] = c * z - t * x
        for m in range(B.shape[1]):
            x, z = B[k, m], B[k + 1, m]
            B[k, m] = c * x + t * z
            B[k + 1, m] = c * z - t * x
    size[0] = s - 1


@loop
def minimum(L, B, group, members, s, n_groups, d, solved, target, u):
    """Fill target with α_S and u with its point; False where a group has no member or the system is singular."""
    inner = np.zeros((2, 2))
    lam = np.zeros(2)
    for g in range(n_groups):
        for k in range(s):
            value = 1.0 if group[members[k]] == g else 0.0
            for m in range(k):
                value -= L[k, m] * solved[g, m]
            solved[g, k] = value / L[k, k]
    for g in range(n_groups):
        for h in range(n_groups):
            for k in range(s):
                inner[g, h] += solved[g, k] * solved[h, k]
    if n_groups == 1:
        if not inner[0, 0] > 0.0:
            return False
        lam[0] = 1.0 / inner[0, 0]
    else:
        determinant = inner[0, 0] * inner[1, 1] - inner[0, 1] * inner[1, 0]
        if not determinant > 0.0:
            return False
        lam[0] = (inner[1, 1] - inner[0, 1]) / determinant
        lam[1] = (inner[0, 0] - inner[1, 0]) / determinant
    for m in range(d):
        u[m] = 0.0
    for k in range(s):
        value = 0.0
        for g in range(n_groups):
            value += lam[g] * solved[g, k]
        target[k] = value
        for m in range(d):
            u[m] += value * B[k, m]
    for k in range(s - 1, -1, -1):
        target[k] /= L[k, k]
        for m in range(k):
            target[m] -= L[k, m] * target[k]
    return True


@loop
def shared_values(V, group, n_groups, members, s, u, mu):
    """Fill mu with the mean of ⟨v_j, u⟩ over the members of each group."""
    for g in range(n_groups):
        total, count = 0.0, 0
        for k in range(s):
            j = members[k]
            if group[j] == g:
                count += 1
                for m in range(u.shape[0]):
                    total += V[j, m] * u[m]
        mu[g] = total / count
