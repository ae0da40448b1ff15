"""Slow, obvious twins: every number again, from its formula, one sample at a time and without rounding.

Floats are rational numbers, so sums and products of `Fraction` are exact: what is compared with them owes them nothing but its
own rounding. Kernel values are computed pair by pair in float64, or exactly where the kernel is linear.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations

import clarabel
import numpy as np
import scipy.sparse as sp
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from maxmargin.core import Hinge, SquaredHinge
from maxmargin.kernels import RBF, Custom, FeatureMap, Linear, Polynomial, Precomputed
from tests.kernels import twins


def dense(X):
    return np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)


def rows_of(problem):
    """The samples' rows, dense float64."""
    return dense(problem.X)[slice(None) if problem.rows is None else problem.rows]


def gram(problem):
    """K, one pair at a time."""
    X, kernel = rows_of(problem), problem.kernel
    match kernel:
        case Linear():
            return twins.linear(X, X)
        case Polynomial():
            return twins.polynomial(X, X, kernel.degree, kernel.gamma, kernel.coef0)
        case RBF():
            return twins.rbf(X, X, kernel.gamma)
        case Precomputed():
            return X[:, slice(None) if problem.rows is None else problem.rows]
        case FeatureMap():
            return twins.linear(dense(kernel.function(X)), dense(kernel.function(X)))
        case Custom():
            return twins.gram(lambda u, v: float(np.squeeze(kernel.function(u[None], v[None]))), X, X)
    raise AssertionError(kernel)


# -- the certificate -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Judgement:
    primal: float
    dual: float
    gap: float
    violation: float
    margin: float
    distance: float
    size: float
    """Sum of the sizes of all terms: rounding is measured by it."""
    reach: float = 0.0
    """The largest |y_j F_j|/‖w‖ of a term, by which the rounding of the margin is measured."""
    is_zero: bool = False
    """‖w‖ is nothing but rounding beside its terms, so that the margin means nothing."""


def exact(values):
    return [Fraction(float(v)) for v in values]


def judge(problem, w, b, beta):
    """P − D by subtraction, in rational arithmetic: ½‖(w, b/s)‖² + Σ c ℓ(yF) − Σ(α − α²/4c) + ½‖(w(β), sΣβ)‖²."""
    squared, soft = isinstance(problem.loss, SquaredHinge), not problem.is_hard
    on = [j for j in range(problem.n) if problem.cost[j] > 0]
    y, beta, b, s = exact(problem.y), exact(beta), Fraction(float(b)), Fraction(problem.bias.scale)
    alpha = [p * q for p, q in zip(beta, y, strict=True)]
    if problem.is_linear:
        X, w = [exact(x) for x in rows_of(problem)], exact(w)
        u = [sum(beta[j] * X[j][k] for j in range(problem.n)) for k in range(len(w))]
        f = [sum(p * q for p, q in zip(w, x, strict=True)) for x in X]
        norms = [sum(p * p for p in v) for v in (w, u, [p - q for p, q in zip(w, u, strict=True)])]
    else:
        K, w = [exact(row) for row in gram(problem)], exact(w)
        f = [sum(p * q for p, q in zip(w, row, strict=True)) for row in K]
        norms = [_quadratic(K, v) for v in (w, beta, [p - q for p, q in zip(w, beta, strict=True)])]
    norm = float(norms[0]) ** 0.5
    z = {j: y[j] * (f[j] + b) for j in on}
    closest = min(z.values())
    margin = float(closest) / norm if norm else np.nan
    reach = float(max(abs(f[j]) for j in on) + abs(b)) / norm if norm else np.inf
    unit = Fraction(1)
    if not soft:
        if closest <= 0:
            return Judgement(np.inf, 0.0, np.inf, np.inf, margin, np.nan, 1.0)
        unit = closest
        z = {j: v / unit for j, v in z.items()}
        if problem.is_linear:
            norms[2] = sum((p / unit - q) ** 2 for p, q in zip(w, u, strict=True))
        else:
            norms[2] = _quadratic(K, [p / unit - q for p, q in zip(w, beta, strict=True)])
    penalized = problem.bias.kind == "penalized"
    constant = (b / unit / s if penalized else Fraction(0), s * sum(beta))
    slack = {j: max(Fraction(0), 1 - z[j]) for j in on}
    cost = {j: Fraction(float(problem.cost[j])) if soft else Fraction(0) for j in on}
    loss = sum(cost[j] * slack[j] ** (2 if squared else 1) for j in on)
    conjugate = sum(alpha[j] ** 2 / (4 * cost[j]) for j in on) if squared and soft else Fraction(0)
    primal = (norms[0] / unit**2 + constant[0] ** 2) / 2 + loss
    dual = sum(alpha[j] for j in on) - conjugate - (norms[1] + constant[1] ** 2) / 2
    gap = primal - dual
    top = max(alpha[j] for j in on)
    violations = [_violation(1 - z[j], alpha[j], cost[j], top, squared, soft) for j in on]
    weight = {j: max(cost[j], alpha[j]) for j in on}
    spread = sum(weight[j] * (1 + (abs(f[j]) + abs(b)) / unit) ** (2 if squared else 1) for j in on)
    size = abs(primal) + sum(abs(alpha[j]) for j in on) + conjugate + norms[1] + constant[1] ** 2 + spread
    is_zero = not any(w)
    if not problem.is_linear:
        is_zero = norms[0] <= Fraction(1, 10**6) * _quadratic([[abs(k) for k in row] for row in K], [abs(p) for p in w])
        size += sum(_quadratic([[abs(k) for k in row] for row in K], [abs(p) for p in v]) for v in (w, beta)) / unit**2
    distance = float(norms[2] + ((constant[0] - constant[1]) ** 2 if penalized else 0)) ** 0.5
    return Judgement(
        float(primal), float(dual), float(gap), float(max(violations)), margin, distance, float(size), reach, is_zero
    )


def _quadratic(K, v):
    """vᵀKv."""
    used = [i for i in range(len(v)) if v[i]]
    return sum((v[i] * v[j] * K[i][j] for i in used for j in used), Fraction(0))


def _violation(m, alpha, cost, top, squared, soft):
    """max(min([m]₊, 1 − α/c), min([−m]₊, α/c)); squared hinge |[m]₊ − α/2c|; hard: α relative to the largest."""
    below, above = max(m, 0), max(-m, 0)
    if not soft:
        return max(below, min(above, alpha / top if top else 0))
    if squared:
        return abs(below - alpha / (2 * cost))
    return max(min(below, 1 - alpha / cost), min(above, alpha / cost))


# -- the optimum -----------------------------------------------------------------------------------------------------


def solve_qp(problem):
    """α of the textbook's dual QP, min ½αᵀQα − Σα s.t. 0 ≤ α ≤ c, yᵀα = 0, in units of the largest cost."""
    on = np.flatnonzero(problem.cost > 0)
    y, K = problem.y[on], gram(problem)[np.ix_(on, on)] + problem.bias.scale**2
    unit = 1.0 / float(K.diagonal().mean()) if problem.is_hard else float(problem.cost[on].max())
    upper = problem.cost[on] / unit
    Q = unit * np.outer(y, y) * K
    squared = isinstance(problem.loss, SquaredHinge)
    if not isinstance(problem.loss, Hinge) and not problem.is_hard:
        Q[np.diag_indices(len(on))] += 0.5 / upper if squared else problem.loss.dual_diagonal(upper)
    A, b, cones = [-np.eye(len(on))], [np.zeros(len(on))], [clarabel.NonnegativeConeT(len(on))]
    if not squared and not problem.is_hard:
        A, b, cones = [*A, np.eye(len(on))], [*b, upper], [*cones, clarabel.NonnegativeConeT(len(on))]
    if problem.bias.is_free:
        A, b, cones = [*A, y[None]], [*b, np.zeros(1)], [*cones, clarabel.ZeroConeT(1)]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    P, A = sp.csc_matrix(np.triu(0.5 * (Q + Q.T))), sp.csc_matrix(np.vstack(A))
    found = clarabel.DefaultSolver(P, -np.ones(len(on)), A, np.concatenate(b), cones, settings).solve()
    alpha = np.zeros(problem.n)
    alpha[on] = np.maximum(np.asarray(found.x), 0.0) * unit
    return alpha


def solve_l1(problem):
    """(w, b, value, α) of min ‖(w, b/s)‖₁ + Σ c ξ or Σ c ξ², a linear or quadratic program in w⁺, w⁻, b, ξ.

    In units in which the largest entry of the data is 1: a program's tolerances are absolute.
    """
    X, y, c, s = rows_of(problem), problem.y, problem.cost, problem.bias.scale
    X = np.hstack([X, np.full((len(X), 1), s)]) if s else X
    unit = float(np.abs(X).max()) or 1.0
    (n, d), bias = X.shape, np.ones((len(X), 1 if problem.bias.is_free else 0))
    A = -np.hstack([y[:, None] * X / unit, -y[:, None] * X / unit, y[:, None] * bias, np.eye(n)])
    is_squared = isinstance(problem.loss, SquaredHinge)
    objective = np.concatenate([np.ones(2 * d), np.zeros(bias.shape[1]), np.zeros(n) if is_squared else c * unit])
    if is_squared:
        x, alpha = _quadratic_program(objective, A, np.concatenate([np.zeros(len(objective) - n), 2 * c * unit]), d, n)
    else:
        bounds = [(0, None)] * (2 * d) + [(None, None)] * bias.shape[1] + [(0, None)] * n
        options = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
        found = linprog(objective, A_ub=A, b_ub=-np.ones(n), bounds=bounds, method="highs", options=options)
        x, alpha = found.x, -found.ineqlin.marginals
    w = (x[:d] - x[d : 2 * d]) / unit
    b = float(x[2 * d]) if problem.bias.is_free else float(s * w[-1]) if s else 0.0
    slack = np.maximum(0.0, 1.0 - y * (X @ w + (b if problem.bias.is_free else 0.0)))
    value = float(np.abs(w).sum() + c @ (slack**2 if is_squared else slack))
    return (w[:-1] if s else w), b, value, alpha / unit


def _quadratic_program(q, A, diagonal, d, n):
    """(x, multipliers) of min ½xᵀDx + qᵀx s.t. Ax ≤ −1, all of x but a free bias ≥ 0."""
    signs = -np.eye(len(q))
    signs = np.delete(signs, range(2 * d, len(q) - n), axis=0)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    rows, right = sp.csc_matrix(np.vstack([A, signs])), np.concatenate([-np.ones(n), np.zeros(len(signs))])
    cones = [clarabel.NonnegativeConeT(n + len(signs))]
    found = clarabel.DefaultSolver(sp.csc_matrix(np.diag(diagonal)), q, rows, right, cones, settings).solve()
    return np.asarray(found.x), np.asarray(found.z)[:n]


def solve_ramp_milp(problem):
    """The least ‖(w, b/s)‖₁ + Σ c min(1, ξ): a mixed-integer program with u_j = 1 where sample j is given up, by HiGHS."""
    X, y, c, s = rows_of(problem), problem.y, problem.cost, problem.bias.scale
    X = np.hstack([X, np.full((len(X), 1), s)]) if s else X
    bias = np.ones((len(X), 1 if problem.bias.is_free else 0))
    (n, d), total = X.shape, float(c.sum())  # w = 0, b = 0 costs Σc, so ‖w‖₁ ≤ Σc
    reach = total * np.abs(X).max(axis=1)
    big = 1.0 + reach + (1.0 + reach.max()) * problem.bias.is_free
    signed = y[:, None] * X
    A = np.hstack([signed, -signed, y[:, None] * bias, np.eye(n), np.diag(big)])
    objective = np.concatenate([np.ones(2 * d), np.zeros(bias.shape[1]), c, c])
    free = slice(2 * d, 2 * d + bias.shape[1])
    lower, upper = np.zeros(len(objective)), np.full(len(objective), np.inf)
    lower[free], upper[-n:] = -np.inf, 1.0
    integrality = np.concatenate([np.zeros(len(objective) - n), np.ones(n)])
    found = milp(
        objective, constraints=LinearConstraint(A, lb=1.0), bounds=Bounds(lower, upper), integrality=integrality,
        options={"mip_rel_gap": 1e-9},
    )  # fmt: skip
    return float(found.fun)


def widest_hyperplane(X, y, has_bias=True):
    """(w, b) of the hard margin by trying every set of samples that could lie on the margin."""
    n, d = X.shape
    best, best_norm = None, np.inf
    for size in range(1, d + 2):
        for S in map(list, combinations(range(n), size)):
            # the shortest w with ⟨w, x_j⟩ + b = y_j on S
            A = np.hstack([X[S], np.ones((size, 1))]) if has_bias else X[S]
            free = d + int(has_bias)
            H = np.diag([1.0] * d + [0.0] * int(has_bias))
            system = np.block([[H, A.T], [A, np.zeros((size, size))]])
            v = np.linalg.lstsq(system, np.concatenate([np.zeros(free), y[S]]), rcond=None)[0][:free]
            w, b = v[:d], float(v[d]) if has_bias else 0.0
            if (y * (X @ w + b) >= 1 - 1e-9).all() and w @ w < best_norm:
                best, best_norm = (w, b), float(w @ w)
    return best


def nearest_point(V, group):
    """The shortest Σ α_j v_j with the α of each group summing to one, by trying every support."""
    n, best, unit = len(V), None, np.abs(V).max() or 1.0
    V = V / unit
    groups = sorted(set(group.tolist()))
    for size in range(len(groups), min(n, V.shape[1] + len(groups)) + 1):
        for S in map(list, combinations(range(n), size)):
            E = np.array([[float(group[j] == g) for j in S] for g in groups])
            if not E.any(axis=1).all():
                continue
            system = np.block([[V[S] @ V[S].T, E.T], [E, np.zeros((len(groups), len(groups)))]])
            right = np.concatenate([np.zeros(size), np.ones(len(groups))])
            alpha = np.linalg.lstsq(system, right, rcond=None)[0][:size]
            if alpha.min() >= -1e-12 and np.allclose(E @ alpha, 1.0):
                u = alpha @ V[S]
                if best is None or u @ u < best @ best:
                    best = u
    return best * unit


# -- learning step by step: the pseudo-code of the sources, one line of it a line here -----------------------------------


def numbers(X, is_exact):
    """Rows as lists of fractions, or of floats."""
    return [exact(x) if is_exact else [float(v) for v in x] for x in dense(X)]


def dot(u, v):
    return sum(p * q for p, q in zip(u, v, strict=True))


def perceptron(X, y, order, is_exact=True):
    """[COR]: (w, mistakes, versions): w after the given visits, the samples of the mistakes, w after each visit."""
    X, y = numbers(X, is_exact), [int(v) for v in y]
    w, mistakes, versions = [0 * X[0][0]] * len(X[0]), [], []
    for i in order:
        if y[i] * dot(w, X[i]) <= 0:
            w = [a + y[i] * b for a, b in zip(w, X[i], strict=True)]
            mistakes.append(int(i))
        versions.append(w)
    return w, mistakes, versions


def dual_perceptron(K, y, order):
    """[COR], dual: (α, mistakes) after the given visits."""
    K, y = [exact(row) for row in K], [int(v) for v in y]
    alpha, mistakes = [0] * len(y), []
    for i in order:
        if y[i] * sum(alpha[j] * y[j] * K[j][i] for j in range(len(y)) if alpha[j]) <= 0:
            alpha[i] += 1
            mistakes.append(int(i))
    return alpha, mistakes


def sgd(X, y, lam, draws, is_exact=True):
    """[UML 15.5]: (the iterates w¹ … wᵀ, the steps with a violation); the output of the box is the iterates' mean."""
    X, y, lam = numbers(X, is_exact), [int(v) for v in y], Fraction(lam) if is_exact else lam
    theta, iterates, violations = [0 * X[0][0]] * len(X[0]), [], []
    for t, i in enumerate(draws, start=1):
        w = [a / (lam * t) for a in theta]
        iterates.append(w)
        if y[i] * dot(w, X[i]) < 1:
            theta = [a + y[i] * b for a, b in zip(theta, X[i], strict=True)]
            violations.append(t)
    return iterates, violations


def pegasos(X, y, lam, batches, is_exact=True, radius=None):
    """[NYU]: (the iterates w_1 … w_{T+1}, the violators of each step); batches and the projection as in the Pegasos paper."""
    X, y, lam = numbers(X, is_exact), [int(v) for v in y], Fraction(lam) if is_exact else lam
    w = [0 * X[0][0]] * len(X[0])
    iterates, violations = [w], []
    for t, batch in enumerate(batches, start=1):
        eta = 1 / (t * lam)
        wrong = [int(i) for i in batch if y[i] * dot(w, X[i]) < 1]
        w = [(1 - eta * lam) * a + eta * sum(y[i] * X[i][k] for i in wrong) / len(batch) for k, a in enumerate(w)]
        if radius is not None and dot(w, w) > radius**2:
            w = [a * radius / dot(w, w) ** 0.5 for a in w]
        iterates.append(w)
        violations.append(wrong)
    return iterates, violations


def subgradient_descent(X, y, lam, etas):
    """[NYU]: the iterates of w ← w − η(λw − mean of y_j x_j over y_j⟨w, x_j⟩ < 1), from w = 0."""
    X, w = dense(X), np.zeros(X.shape[1])
    iterates = [w]
    for eta in etas:
        wrong = y * (X @ w) < 1
        w = w - eta * (lam * w - (y[wrong] @ X[wrong]) / len(y))
        iterates.append(w)
    return iterates


# -- leave-one-out: n honest retrainings -------------------------------------------------------------------------------


def best_biases(f, y, cost):
    """The ends of argmin_b Σ c max(0, 1 − y(f + b)), by trying every kink."""
    kinks = sorted(y - f)
    values = [float(cost @ np.maximum(0.0, 1.0 - y * (f + b))) for b in kinks]
    flat = [b for b, value in zip(kinks, values, strict=True) if value <= min(values) + 1e-10 * float(cost.sum())]
    return flat[0], flat[-1]


def left_out_decision(problem, i):
    """F₋ᵢ(xᵢ): cost 0 for sample i, the dual QP of the others, the middle of the best biases; ∓∞ if its class is gone."""
    cost = problem.cost.copy()
    cost[i] = 0.0
    on = np.flatnonzero(cost > 0)
    if len(set(problem.y[on])) == 1:
        return np.inf * problem.y[on[0]]
    smaller = replace(problem, cost=cost)
    beta = solve_qp(smaller) * problem.y
    f = gram(problem) @ beta + problem.bias.scale**2 * beta.sum()
    if not problem.bias.is_free:
        return f[i]
    if problem.is_hard:
        return f[i] - 0.5 * (f[on][problem.y[on] > 0].min() + f[on][problem.y[on] < 0].max())
    if isinstance(problem.loss, SquaredHinge):  # α = 2cξ tells the slack of every support vector
        alpha = beta * problem.y
        used = alpha > 1e-6 * alpha.max()
        return f[i] + float(np.mean((problem.y - beta / (2 * np.where(used, cost, 1.0)) - f)[used]))
    return f[i] + sum(best_biases(f[on], problem.y[on], cost[on])) / 2
