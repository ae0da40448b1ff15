"""Points to compare a model with, found by Clarabel and HiGHS; they need not be optimal, only good.

A rival is any (w', b'): the optimum is at most P(w', b'), so a certificate that denies this is false.
"""

from fractions import Fraction
from typing import Any, NamedTuple

import clarabel
import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from tests.campaign.oracles import Machine, Point, Value


class Rival(NamedTuple):
    """A point, its value, and the dual variables that it came from, if any."""

    name: str
    point: Point
    b: Fraction
    value: Value
    beta: Any = None


def rivals(machine: Machine, w: Any, b: float, rows: Any) -> list[Rival]:
    """The stored w with the best b, w = 0, and the optimum by another program, if `rows` (X, or K, in doubles) are given."""
    found: list[Rival | None] = [
        _rival(machine, "the same w with the best b", w, b),
        None if machine.is_hard else _rival(machine, "w = 0", np.zeros_like(w), 0.0),
    ]
    if rows is None:
        return [rival for rival in found if rival is not None]
    try:
        solved = _l1(machine, rows) if machine.is_l1 else _l2(machine, rows)
    except (ValueError, ArithmeticError, np.linalg.LinAlgError):  # another program's trouble proves nothing
        solved = None
    if solved is not None and np.isfinite(solved[0]).all() and np.isfinite(solved[1]):
        found.append(_rival(machine, "another solver", *solved))
    return [rival for rival in found if rival is not None]


def _rival(machine: Machine, name: str, w: Any, b: float, beta: Any = None) -> Rival | None:
    point = machine.point(w)
    best = machine.best_bias(point, b)
    value = machine.primal(point, best)
    return None if value is None else Rival(name, point, best, value, beta)


def _l2(machine: Machine, rows: Any) -> tuple[Any, float, Any] | None:
    """(w, b, β) of the dual QP min ½αᵀQα − Σα, 0 ≤ α ≤ c, in units of the largest cost; rows about their mean if b is free."""
    on = machine.on
    y = machine.y[on]
    scale = machine.scale if machine.bias == "penalized" else 0.0
    is_linear = machine.X is not None
    if is_linear:
        used = rows[on]
        about = used - used.mean(axis=0) if machine.bias == "free" else used
        K = about @ about.T
    else:
        K = rows[np.ix_(on, on)]
    K = K + scale**2
    size = float(K.diagonal().mean()) or 1.0
    unit = 1.0 / size if machine.is_hard else float(machine.cost[on].max())
    upper = machine.cost[on] / unit
    Q = unit * np.outer(y, y) * K
    if machine.is_squared and not machine.is_hard:
        Q[np.diag_indices(len(on))] += 0.5 / upper
    if not np.isfinite(Q).all() or not np.isfinite(unit):
        return None
    bounds = [(-sp.identity(len(on)), np.zeros(len(on)))]
    if not machine.is_squared and not machine.is_hard:
        bounds.append((sp.identity(len(on)), upper))
    cones: list[Any] = [clarabel.NonnegativeConeT(len(on) * len(bounds))]
    if machine.bias == "free":
        bounds.append((sp.csr_matrix(y[None]), np.zeros(1)))
        cones.append(clarabel.ZeroConeT(1))
    x, _ = _cone(0.5 * (Q + Q.T), -np.ones(len(on)), bounds, cones)
    beta = np.zeros(len(machine.y))
    beta[on] = np.clip(x, 0.0, np.inf if machine.is_squared or machine.is_hard else upper) * unit * y
    w = beta[on] @ about if is_linear else beta
    return w, scale**2 * float(beta.sum()), beta


def _l1(machine: Machine, X: Any) -> tuple[Any, float] | None:
    """(w, b) of min Σ|w| + Σ c ξ (or c ξ²), a program in w⁺, w⁻, b, ξ with columns in units of their largest entry."""
    on = machine.on
    X, y, c = X[on], machine.y[on], machine.cost[on]
    is_free, s = machine.bias == "free", machine.scale if machine.bias == "penalized" else 0.0
    if is_free:
        middle = 0.5 * (X.min(axis=0) + X.max(axis=0))
        X = X - middle
    if s:
        X = np.hstack([X, np.full((len(X), 1), s)])
    units = np.where(np.abs(X).max(axis=0) > 0, np.abs(X).max(axis=0), 1.0)
    (n, d), signed = X.shape, y[:, None] * (X / units)
    price = 1.0 / units
    unit = float(c.max())
    A = -np.hstack([signed, -signed, y[:, None] * np.ones((n, int(is_free))), np.eye(n)])
    linear = np.concatenate([price, price, np.zeros(int(is_free)), np.zeros(n) if machine.is_squared else c])
    if machine.is_squared:
        keep = np.ones(len(linear), dtype=bool)
        keep[2 * d : 2 * d + int(is_free)] = False
        bounds = [
            (sp.csr_matrix(A), -np.ones(n)),
            (-sp.identity(len(linear), format="csr")[keep], np.zeros(keep.sum())),
        ]
        diagonal = np.concatenate([np.zeros(len(linear) - n), 2 * c / unit])
        x, _ = _cone(np.diag(diagonal), linear / unit, bounds, [clarabel.NonnegativeConeT(n + int(keep.sum()))])
    else:
        limits = [(0, None)] * (2 * d) + [(None, None)] * int(is_free) + [(0, None)] * n
        options = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
        answer = linprog(linear / unit, A_ub=A, b_ub=-np.ones(n), bounds=limits, method="highs", options=options)
        if answer.x is None:
            return None
        x = answer.x
    w = (x[:d] - x[d : 2 * d]) / units
    return (w[:-1], float(s * w[-1])) if s else (w, 0.0)


def _cone(P: Any, q: Any, bounds: list[tuple[Any, Any]], cones: list[Any]) -> tuple[Any, Any]:
    """(x, multipliers) of min ½xᵀPx + qᵀx subject to Ax ≤ b."""
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    A, b = sp.vstack([rows for rows, _ in bounds], format="csc"), np.concatenate([right for _, right in bounds])
    found = clarabel.DefaultSolver(sp.csc_matrix(np.triu(P)), q, A, b, cones, settings).solve()
    return np.asarray(found.x), np.asarray(found.z)
