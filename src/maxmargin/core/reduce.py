"""The one place where objects become the arrays of a cone program, and its solution a dual point again.

A `Problem` becomes a cone program

    min_x  ½xᵀPx + qᵀx     s.t.  Ax + s = b,   s = 0 in the first rows,   s ≥ 0 in the others

in its primal form (variables w, b, ξ) or its dual form (variables α, u), in units that suit an interior-point method: features
centred where a free bias allows it and divided by their length, the largest cost 1. The features Φ are the data themselves, or
a factor of the Gram matrix, K = ΦΦᵀ.

    primal   min ½‖w‖² + τb + cᵀξ     s.t.  y_j(⟨w, Φ_j⟩ + b) + ξ_j ≥ r_j,   ξ ≥ 0
    dual     min ½‖u‖² − rᵀα          s.t.  u = ΦᵀYα,   yᵀα = τ (free bias),   0 ≤ α ≤ c

The hard margin is posed as the distance between the two hulls, which is feasible whether the classes can be separated or not:

    primal   min ½‖w‖² − t       s.t.  y_j(⟨w, Φ_j⟩ + b) ≥ t
    dual     min ½‖u‖²           s.t.  u = ΦᵀYα,   Σα = 1,   yᵀα = 0 (free bias),   α ≥ 0
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from maxmargin.core.candidate import bias_totals, memberships
from maxmargin.core.problem import Problem
from maxmargin.typing import Floats, Indices, Matrix

MAX_FACTOR = 4000
"""Wide data are replaced by a factor of their Gram matrix up to this many samples."""


@dataclass(frozen=True)
class ConeProgram:
    """The arrays of one cone program; `beta` turns its solution (x, z) into the signed dual of all samples."""

    P: Any
    q: Floats
    A: Any
    b: Floats
    n_equalities: int
    beta: Callable[[Floats, Floats], Floats]


@dataclass(frozen=True)
class Units:
    """What the program calls 1: a length of the feature space and, for a soft margin, a dual variable."""

    length: float
    alpha: float


def units_of(problem: Problem, beta: Floats) -> Units:
    """Units in which a program's own rough answer is of order one: they suit it better than those of the data did.

    Hard margin: β holds hull weights and the length is the distance of the hulls. Soft margin: the largest α.
    """
    w = problem.combine(beta)
    distance = float(np.sqrt(max(problem.norm2(w, problem.decision(w)), 0.0)))
    if problem.is_hard:
        return Units(distance, 1.0)
    return Units(to_features(problem).unit, float(np.abs(beta).max(initial=0.0)))


@dataclass(frozen=True)
class Features:
    """Φ/unit with K = ΦΦᵀ for the samples that count, dense or CSR, and their labels."""

    Phi: Matrix
    y: Floats
    unit: float


def to_hulls(problem: Problem) -> tuple[Floats, Indices]:
    """(V, group) of the hard margin as the nearest points of hulls: min ½‖Σ α_j v_j‖², each group's α summing to one.

    Two groups, the classes, where the bias is free; else one. All samples must count.
    """
    Phi = to_features(problem, 1.0).Phi
    Phi = Phi.toarray() if sp.issparse(Phi) else Phi
    group = (problem.y < 0).astype(np.intp) if problem.bias.is_free else np.zeros(problem.n, dtype=np.intp)
    return Phi * problem.y[:, None], group


def to_features(problem: Problem, unit: float | None = None) -> Features:
    """Rows whose inner products are the kernel's: the data where they are narrow, else a factor of the n × n Gram matrix.

    A penalised bias becomes a constant feature; with a free one the rows are centred (not if they are sparse).
    `unit` is the length to divide by: by default a typical length of a row.
    """
    on = problem.present
    n, d = len(on), problem.X.shape[1]
    if keeps_columns(problem):
        Phi: Any = problem.X[problem.row(on)].astype(np.float64)
        is_sparse = sp.issparse(Phi) and Phi.nnz < 0.3 * n * d
        Phi = sp.csr_array(Phi) if is_sparse else np.asarray(Phi.toarray() if sp.issparse(Phi) else Phi)
        if problem.bias.kind == "penalized":
            constant: Any = np.full((n, 1), problem.bias.scale)
            Phi = sp.hstack([Phi, constant], format="csr") if is_sparse else np.hstack([Phi, constant])
        elif problem.bias.is_free and _is_balanced(problem) and not is_sparse:  # Σβ = 0 does not see a shift
            Phi = Phi - Phi.mean(axis=0)
    else:
        K = problem.gram(on, on)
        if problem.bias.kind == "penalized":
            K += problem.bias.scale**2
        elif problem.bias.is_free and _is_balanced(problem):
            means = K.mean(axis=0)
            K += means.mean() - means[:, None] - means[None, :]
        Phi, is_sparse = _factor(0.5 * (K + K.T)), False
    if unit is None:
        unit = _typical(np.sqrt(Phi.multiply(Phi).sum(1)) if is_sparse else np.linalg.norm(Phi, axis=1))
    return Features(Phi / unit, problem.y[on], unit)


def keeps_columns(problem: Problem) -> bool:
    """Whether the features are the data's own columns, so that a vector over them is the weights w."""
    n = len(problem.present)
    return problem.is_linear and (problem.X.shape[1] <= n or n > MAX_FACTOR)


def has_primal(problem: Problem) -> bool:
    """Whether `to_primal` can pose the problem: a slack ξ costs u ξ or ξ²/2δ, not first the one and then the other."""
    cost = problem.cost[problem.present]
    is_endless = np.isinf(problem.loss.upper(cost)).all()
    return bool(problem.is_hard or is_endless or not problem.loss.dual_diagonal(cost).any())


def to_primal(problem: Problem, units: Units | None = None) -> ConeProgram:
    """The cone program in the weights, in units of the data or in those given."""
    features = to_features(problem, None if units is None else units.length)
    y, (n, n_weights) = features.y, features.Phi.shape
    YPhi = sp.diags_array(y) @ sp.csr_array(features.Phi)
    bias_column = sp.csr_array(y[:, None] * memberships(problem))
    n_bias = bias_column.shape[1]
    if problem.is_hard:
        A = -sp.hstack([YPhi, bias_column, sp.csr_array(np.full((n, 1), -1.0))])
        P = _diagonal(np.ones(n_weights), np.zeros(n_bias + 1))
        q = np.concatenate([np.zeros(n_weights + n_bias), [-1.0]])
        return ConeProgram(P, q, sp.csc_array(A), np.zeros(n), 0, lambda x, z: _spread(problem, y * z[:n]))

    top, cost, total = _costs(problem, features.unit, units)
    length = min(1.0, top)  # small costs make short weights
    diagonal, upper = problem.loss.dual_diagonal(cost), problem.loss.upper(cost)
    is_squared = bool(diagonal.any())
    slack = sp.eye_array(n)
    A = -sp.block_array([[length * YPhi, bias_column, slack], [None, None, slack]])
    P = _diagonal(np.full(n_weights, length * (length / top)), np.zeros(n_bias), 1.0 / diagonal if is_squared else diagonal)
    q = np.concatenate([np.zeros(n_weights), total, np.zeros(n) if is_squared else upper])
    b = np.concatenate([-_targets(problem), np.zeros(n)])
    rescale = top / features.unit**2
    return ConeProgram(P, q, sp.csc_array(A), b, 0, lambda x, z: _spread(problem, y * z[:n] * rescale))


def to_dual(problem: Problem, units: Units | None = None) -> ConeProgram:
    """The cone program in the dual variables α and the vector u they make, in units of the data or in those given."""
    features = to_features(problem, None if units is None else units.length)
    y, (n, n_weights) = features.y, features.Phi.shape
    YPhi = sp.csr_array(sp.diags_array(y) @ sp.csr_array(features.Phi)).T
    above_zero = sp.hstack([-sp.eye_array(n), sp.csr_array((n, n_weights))])
    balance = [sp.csr_array(np.append(y * on, np.zeros(n_weights))[None, :]) for on in memberships(problem).T]
    if problem.is_hard:
        total = sp.csr_array(np.concatenate([np.ones(n), np.zeros(n_weights)])[None, :])
        A = sp.vstack([sp.hstack([YPhi, -sp.eye_array(n_weights)]), *balance, total, above_zero])
        n_equalities = n_weights + len(balance) + 1
        b = np.concatenate([np.zeros(n_equalities - 1), [1.0], np.zeros(n)])
        P = _diagonal(np.zeros(n), np.ones(n_weights))
        return ConeProgram(P, np.zeros(n + n_weights), sp.csc_array(A), b, n_equalities, lambda x, z: _spread(problem, y * x[:n]))

    top, cost, total = _costs(problem, features.unit, units)
    length = max(1.0, top)  # u grows with the costs
    upper = problem.loss.upper(cost)
    below_cost = [-above_zero] if np.isfinite(upper).all() else []
    A = sp.vstack([sp.hstack([YPhi, -sp.eye_array(n_weights) / length]), *balance, above_zero, *below_cost])
    n_equalities = n_weights + len(balance)
    b = np.concatenate([np.zeros(n_weights), total, np.zeros(n), upper if below_cost else []])
    P = _diagonal(problem.loss.dual_diagonal(cost), np.full(n_weights, top / length / length))
    q = np.concatenate([-_targets(problem), np.zeros(n_weights)])
    rescale = top / features.unit**2
    return ConeProgram(P, q, sp.csc_array(A), b, n_equalities, lambda x, z: _spread(problem, y * x[:n] * rescale))


def _costs(problem: Problem, length: float, units: Units | None) -> tuple[float, Floats, Floats]:
    """The program's unit of α times its length², and every cost and the total of each free bias in that unit."""
    cost = problem.cost[problem.present]
    alpha = float(cost.max()) if units is None else units.alpha
    return alpha * length**2, cost / alpha, bias_totals(problem) / alpha


def _is_balanced(problem: Problem) -> bool:
    """Whether Σβ = 0, so that a shift of all features changes nothing."""
    return problem.total == 0.0 and problem.groups is None


def _targets(problem: Problem) -> Floats:
    on = problem.present
    return np.ones(len(on)) if problem.target is None else problem.target[on]


def _factor(K: Floats) -> Floats:
    """Φ with ΦΦᵀ = K up to rounding, of full column rank: Cholesky with pivoting, which stops at the rank."""
    largest = float(K.diagonal().max(initial=0.0))
    tolerance = len(K) * np.finfo(np.float64).eps * max(largest, np.finfo(np.float64).tiny)
    U, pivots, rank, _ = scipy.linalg.lapack.dpstrf(K, tol=tolerance)
    Phi = np.zeros((len(K), max(rank, 1)))
    Phi[pivots - 1, :rank] = np.triu(U)[:rank].T
    return Phi


def _typical(lengths: Floats) -> float:
    """The root mean square, computed without overflow; 1 where all of them are zero."""
    largest = float(lengths.max())
    return float(np.sqrt(np.mean((lengths / largest) ** 2))) * largest if largest > 0 else 1.0


def _spread(problem: Problem, beta: Floats) -> Floats:
    full = np.zeros(problem.n)
    full[problem.present] = beta
    return full


def _diagonal(*parts: Floats) -> Any:
    return sp.csc_array(sp.diags_array(np.concatenate(parts)))
