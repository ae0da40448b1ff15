"""The nearest points of hulls by an active set, compiled.

    min ½αᵀQα     s.t.  Σ_{j in group g} α_j = 1 for each group,   α ≥ 0

Wolfe's algorithm (1976) for several groups. The active set S keeps L Lᵀ = M = Q_SS + ρEEᵀ (E: group indicators), grown by a row
when a sample enters and rotated when one leaves, both in O(|S|²). The minimum over the affine hulls of S is

    α_S = M⁻¹Eλ,   (EᵀM⁻¹E) λ = 1,   μ = λ − ρ        and optimality is (Qα)_j ≥ μ_g for every j in group g
"""

import numpy as np

from maxmargin._loops.jit import loop

UNFINISHED, OPTIMAL, STUCK, FULL = 0, 1, 2, 3


@loop
def exchange(Q, group, n_groups, rho, tol, max_steps, alpha, members, size, L):  # type: ignore[no-untyped-def]
    """Make up to `max_steps` exchanges. Changes alpha (n), members (capacity), size (1) and L in place; returns a status."""
    n = Q.shape[0]
    capacity = members.shape[0]
    target = np.empty(capacity)
    solved = np.empty((n_groups, capacity))
    mu = np.empty(n_groups)
    gradient = np.empty(n)
    inside = np.zeros(n, dtype=np.bool_)
    best = np.inf
    for k in range(size[0]):
        inside[members[k]] = True
    for _ in range(max_steps):
        while True:  # towards the minimum on S, dropping what reaches zero
            s = size[0]
            if s == 0 or not minimum(L, group, members, s, n_groups, rho, solved, target, mu):
                return STUCK
            theta = 1.0
            for k in range(s):
                if target[k] <= 0.0:
                    now = alpha[members[k]]
                    theta = min(theta, now / (now - target[k])) if now > 0.0 else 0.0
            falls = False
            for k in range(s):
                if target[k] <= 0.0:
                    falls = True
            if not falls:
                for k in range(s):
                    alpha[members[k]] = target[k]
                break
            for k in range(s):
                j = members[k]
                moved = alpha[j] + theta * (target[k] - alpha[j])
                reaches_zero = target[k] <= 0.0 and (alpha[j] <= 0.0 or alpha[j] / (alpha[j] - target[k]) <= theta)
                alpha[j] = 0.0 if reaches_zero else max(moved, 0.0)
            for k in range(s - 1, -1, -1):
                if target[k] <= 0.0 and alpha[members[k]] == 0.0:
                    inside[members[k]] = False
                    remove(L, members, size, k)
        s = size[0]
        gradient[:] = 0.0
        for k in range(s):
            weight = alpha[members[k]]
            row = Q[members[k]]
            for j in range(n):
                gradient[j] += weight * row[j]
        value = 0.0
        for k in range(s):
            value += alpha[members[k]] * gradient[members[k]]
        if not value > 0.0 or value >= best:
            return STUCK
        best = value
        entering, worst = -1, 0.0
        for j in range(n):
            slack = gradient[j] - mu[group[j]]
            if slack < worst and not inside[j]:
                entering, worst = j, slack
        if entering < 0 or worst >= -tol * value:
            return OPTIMAL
        if s == capacity:
            return FULL
        if not append(L, Q, group, rho, members, size, entering):
            return STUCK
        inside[entering] = True
    return UNFINISHED


@loop
def append(L, Q, group, rho, members, size, j):  # type: ignore[no-untyped-def]
    """Take sample j into S; False where it depends on the members, to rounding."""
    s = size[0]
    diagonal = Q[j, j] + rho
    rest = diagonal
    for k in range(s):
        i = members[k]
        value = Q[j, i] + (rho if group[i] == group[j] else 0.0)
        for m in range(k):
            value -= L[s, m] * L[k, m]
        value /= L[k, k]
        L[s, k] = value
        rest -= value * value
    if not rest > 1e-13 * diagonal:
        return False
    L[s, s] = np.sqrt(rest)
    members[s] = j
    size[0] = s + 1
    return True


@loop
def remove(L, members, size, p):  # type: ignore[no-untyped-def]
    """Take the p-th member out of S: its row of L goes, and rotations make the rest triangular again."""
    s = size[0]
    for i in range(p, s - 1):
        members[i] = members[i + 1]
        for k in range(i + 2):
            L[i, k] = L[i + 1, k]
    for k in range(p, s - 1):
        a, b = L[k, k], L[k, k + 1]
        length = np.hypot(a, b)
        c, t = a / length, b / length
        for i in range(k, s - 1):
            x, z = L[i, k], L[i, k + 1]
            L[i, k] = c * x + t * z
            L[i, k + 1] = c * z - t * x
    size[0] = s - 1


@loop
def minimum(L, group, members, s, n_groups, rho, solved, target, mu):  # type: ignore[no-untyped-def]
    """Fill target with α_S = M⁻¹Eλ and mu with λ − ρ; False where a group has no member or the system is singular."""
    inner = np.zeros((n_groups, n_groups))
    for g in range(n_groups):
        x = solved[g]
        for k in range(s):
            value = 1.0 if group[members[k]] == g else 0.0
            for m in range(k):
                value -= L[k, m] * x[m]
            x[k] = value / L[k, k]
        for k in range(s - 1, -1, -1):
            x[k] /= L[k, k]
            for m in range(k):
                x[m] -= L[k, m] * x[k]
        for k in range(s):
            inner[g, group[members[k]]] += x[k]
    if n_groups == 1:
        if not inner[0, 0] > 0.0:
            return False
        mu[0] = 1.0 / inner[0, 0]
    else:
        determinant = inner[0, 0] * inner[1, 1] - inner[0, 1] * inner[1, 0]
        if not determinant > 0.0:
            return False
        mu[0] = (inner[1, 1] - inner[0, 1]) / determinant
        mu[1] = (inner[0, 0] - inner[1, 0]) / determinant
    for k in range(s):
        value = 0.0
        for g in range(n_groups):
            value += mu[g] * solved[g, k]
        target[k] = value
    for g in range(n_groups):
        mu[g] -= rho
    return True
