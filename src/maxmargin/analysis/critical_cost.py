"""The trade-off up to which the L1 penalty keeps all weights at zero.

With costs C s_j, w = 0 is optimal as long as some dual point of b alone lies in the cube ‖Σ α_j y_j x_j‖_∞ ≤ 1
(S± are the sums of s):

    hinge           no bias, or S₊ = S₋:   C = 1/‖Σ s_j y_j x_j‖_∞
                    free bias:             C = 1/min{‖Σ_minority s_j x_j − Σ_majority a_j x_j‖_∞ : 0 ≤ a ≤ s, Σa = S_minority}
    squared hinge   no or free bias:       C = 1/‖Σ 2s_j(1 − y_j b) y_j x_j‖_∞,    b = (S₊ − S₋)/(S₊ + S₋), or 0

A penalised bias of scale s may get a weight before any feature does; then s|Σα_j y_j| = 1. The linear program has a variable a
sample and a row a feature; features join as they are violated.
"""

import numpy as np
import scipy.sparse as sp

from maxmargin.core import Hinge, Problem, products

JOIN = 100
"""So many features join the program at a time."""


def critical_cost(problem: Problem) -> float:
    """The factor t such that w = 0 is optimal for the costs t · c exactly as long as t ≤ this; ∞ where no feature can help.

    Examples
    --------
    >>> X, y = np.array([[1.0, 0.0], [3.0, 1.0]]), np.array([-1.0, 1.0])
    >>> critical_cost(Problem(X, y, np.ones(2)))
    0.5
    """
    s, y, scale, is_free = problem.cost, problem.y, problem.bias.scale, problem.bias.is_free
    plus, minus = float(s[y > 0].sum()), float(s[y < 0].sum())
    excess, is_hinge = plus - minus, isinstance(problem.loss, Hinge)
    slope = 1.0 if is_hinge else 2.0  # of the loss at z = 0, where w = 0 and b = 0
    at_zero = _inverse(float(np.abs(products.combine(problem.X, slope * s * y, problem.rows)).max(initial=0.0)))
    b_leaves = 0.0 if is_free and excess else _inverse(slope * scale * abs(excess))
    if at_zero <= b_leaves:
        return at_zero
    if is_hinge:
        return _program(problem, 0.0 if is_free else 1.0 / scale)
    # α_j = 2 C s_j(1 − y_j b) at the best b. From where b leaves zero on C b = (C excess ∓ 1/(2 scale))/total (without the last
    # term where b is free), and Σ α_j y_j x_j = C rise + start is linear in C.
    total = plus + minus
    rise = products.combine(problem.X, 2.0 * s * (y - excess / total), problem.rows)
    start = products.combine(problem.X, s * (0.0 if is_free else np.sign(excess) / (scale * total)), problem.rows)
    meets = (1.0 - np.sign(rise) * start)[rise != 0.0] / np.abs(rise[rise != 0.0])
    return float(meets.min(initial=np.inf))


def _program(problem: Problem, more: float) -> float:
    """max t  s.t.  ‖t Σ_minority s_j x_j − Σ_majority a_j x_j‖_∞ ≤ 1,  0 ≤ a ≤ t s,  Σa = t S_minority + more."""
    from scipy.optimize import linprog

    s, y = problem.cost, problem.y
    minor = 1.0 if s[y > 0].sum() < s[y < 0].sum() else -1.0
    major = np.flatnonzero((y == -minor) & (s > 0))
    u = products.combine(problem.X, np.where(y == minor, s, 0.0), problem.rows)
    X = sp.csc_array(problem.X[problem.row(major)]).astype(np.float64)
    goal = np.concatenate([[-1.0], np.zeros(len(major))])
    sums = np.concatenate([[-float(s[y == minor].sum())], np.ones(len(major))])
    below = sp.hstack([sp.csc_array(-s[major][:, None]), sp.eye_array(len(major))], format="csr")  # a ≤ t s
    a, t = s[major] * (-sums[0] / float(s[major].sum())), 1.0
    chosen, is_bounded = np.empty(0, dtype=np.intp), False
    while True:
        apart = np.abs(t * u - X.T @ a)
        apart[chosen] = 0.0
        new = np.argsort(-apart, kind="stable")[:JOIN]
        new = new[apart[new] > (1.0 + 1e-9 if is_bounded else 0.0)]
        if len(new) == 0:
            return float(t) if is_bounded else np.inf
        chosen = np.concatenate([chosen, new])
        rows = sp.hstack([sp.csc_array(u[chosen][:, None]), -X[:, chosen].T], format="csr")
        most = np.concatenate([np.ones(2 * len(chosen)), np.zeros(len(major))])
        found = linprog(goal, sp.vstack([rows, -rows, below], format="csc"), most, sp.csr_array(sums[None]), [more]).x
        is_bounded = found is not None  # else these features cannot tell the classes apart
        if is_bounded:
            t, a = float(found[0]), found[1:]


def _inverse(value: float) -> float:
    return 1.0 / value if value > 0 else np.inf
