"""The Newton equations of an interior point of the L1 problem.

    A Δw + D Δα = right,     Δw = ρ + Θ Δu,   Δu = AᵀΔα,     D and Θ diagonal

and Σ y_j Δα_j = −imbalance for the weight of a free bias, which has no Θ. With few columns they are solved for Δw,

    (Θ⁻¹ + Aᵀ D⁻¹ A) Δw = Θ⁻¹ρ + Aᵀ D⁻¹ right,

and otherwise for Δα, (A Θ Aᵀ + D) Δα = right − Aρ, by conjugate gradients. These are preconditioned with the same matrix made of
the columns that weigh most, Θ_k Σ_j a_jk²/D_j, the others by their diagonal (Gondzio, Comput. Optim. Appl. 2012).
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from maxmargin.solvers.l1.columns import Columns
from maxmargin.typing import Floats


@dataclass(frozen=True)
class L1InteriorTuning:
    """Numbers of the interior point and its equations."""

    most_factored: int = 1500
    """Columns, or samples, of a factored matrix; 1500³/3 multiplications take some 50 ms."""
    least_weight: float = 1e-2
    """Weight of a column from which on it takes part in the preconditioner; chosen on `farm_ads`."""
    most_iterations: int = 100
    """Conjugate gradients for one right side, at most; some 20 are usual on `farm_ads` and `webkb4`."""
    dense_speed: int = 20
    """Multiplications of a dense product in the time in which a loop passes over one entry."""
    overhead: float = 3e6
    """Entries that a loop passes over while the calls of one step are made: 1 ms with dense data, 4 ms with sparse ones."""
    first_products: float = 1e3
    """Products of the start, in units of the mean α times the margin 1. With 1 badly scaled tables take twice as many steps."""
    short_of: float = 0.95
    """Share of the way to the boundary that a step may go (Mehrotra, SIAM J. Optim. 1992, has 0.9 to 1)."""
    patience: int = 20
    """Steps or rounds in which the gap must fall by a tenth."""
    usual_steps: int = 30
    """Steps of a usual problem: 10 to 45 on the tables of the benchmark, whatever their units and costs."""
    close: float = 1e-7
    """Gap at which the interior point gives way: the corner is known by then, and its arithmetic wears out."""

    def dense_work(self, multiplications: float) -> float:
        """Entries that a loop passes over in the time of a dense product."""
        return multiplications / self.dense_speed


L1_EQUATIONS = L1InteriorTuning()


def work_of(columns: Columns) -> float:
    """What making, factoring and solving the equations of one point costs, in entries passed over."""
    n, d, n_values = len(columns.cost), len(columns.price), columns.n_values
    size = min(n, d, L1_EQUATIONS.most_factored)
    products = n_values * size + size**3 / 3.0
    if not _is_narrow(columns):
        usual = 3.0 * L1_EQUATIONS.most_iterations / 5.0
        made = min(1.0, size / d) * n_values * size + size**3 / 3.0
        return L1_EQUATIONS.overhead + L1_EQUATIONS.dense_work(made + usual * size**2) + 4.0 * usual * n_values
    return L1_EQUATIONS.overhead + L1_EQUATIONS.dense_work(products) + 8.0 * n_values


def _is_narrow(columns: Columns) -> bool:
    """Whether the columns are so few that Δw is solved for."""
    return len(columns.price) <= min(len(columns.cost), L1_EQUATIONS.most_factored)


class Answer(NamedTuple):
    """Δw with the weight of a free bias, Δα, and Δu."""

    w: Floats
    alpha: Floats
    u: Floats


@dataclass
class Equations:
    """The equations of one point, factored."""

    columns: Columns
    theta: Floats  # 0 for a free bias
    D: Floats
    factor: "Factor"
    part: Any = None  # (n, columns of the preconditioner) D̃^−½ A Θ^½; None where Δw is solved for
    root: Any = None  # D̃^−½
    of_bias: Any = None  # the answer for `right` = y

    @classmethod
    def of(cls, columns: Columns, theta: Floats, D: Floats) -> "Equations":
        """Make and factor them; θ of a free bias is not read."""
        n, d = len(D), len(theta)
        theta = np.where(columns.price > 0.0, theta, 0.0)
        if _is_narrow(columns):
            part = _scaled(columns.take(np.arange(d)), 1.0 / np.sqrt(D), np.ones(d))
            return cls(columns, theta, D, Factor.of(_dense(part.T @ part), _inverse(theta)))
        weight = theta * columns.squares(1.0 / D)
        chosen = np.flatnonzero(weight >= L1_EQUATIONS.least_weight)
        most = d if n <= L1_EQUATIONS.most_factored else L1_EQUATIONS.most_factored
        if len(chosen) > most:
            chosen = np.sort(np.argpartition(-weight, most)[:most])
        rest = theta.copy()
        rest[chosen] = 0.0
        root = 1.0 / np.sqrt(D + columns.square_scores(rest))
        part = _scaled(columns.take(chosen), root, np.sqrt(theta[chosen]))
        small = _dense(part.T @ part if len(chosen) <= n else part @ part.T)
        equations = cls(columns, theta, D, Factor.of(small, 1.0), part, root)
        if columns.is_free:
            ones = columns.block(np.arange(n), np.array([d - 1]))[:, 0]
            equations.of_bias = equations._conjugate_gradients(ones, 1e-6 / np.sqrt(D))
        return equations

    def solve(self, rho: Floats, right: Floats, imbalance: float, slack: Floats) -> Answer:
        """The answer; by conjugate gradients, `right` may be missed by `slack`."""
        columns, theta = self.columns, self.theta
        if self.part is None:
            inverse = _inverse(theta)
            goal = inverse * rho + columns.sums(right / self.D)
            goal[-1] += imbalance
            w = self.factor.solve(goal)
            w = w + self.factor.solve(goal - inverse * w - columns.sums(columns.scores(w) / self.D))  # refined once
            return Answer(w, (right - columns.scores(w)) / self.D, inverse * (w - rho))
        alpha = self._conjugate_gradients(right - columns.scores(np.where(theta > 0.0, rho, 0.0)), slack)
        u, b = columns.sums(alpha), 0.0
        if columns.is_free:
            of_bias = columns.sums(self.of_bias)
            b = float((u[-1] + imbalance) / of_bias[-1])
            alpha, u = alpha - b * self.of_bias, u - b * of_bias
        w = rho + theta * u
        if columns.is_free:
            w[-1] = b
        return Answer(w, alpha, u)

    def _conjugate_gradients(self, right: Floats, slack: Floats) -> Floats:
        x, r = np.zeros(len(right)), right.copy()
        z = self._nearly(r)
        way, size = z, float(r @ z)
        for _ in range(L1_EQUATIONS.most_iterations):
            image = self.columns.scores(self.theta * self.columns.sums(way)) + self.D * way
            curvature = float(way @ image)
            if not (size > 0.0 and curvature > 0.0):  # nothing is left, or rounding is all that is
                break
            step = size / curvature
            x += step * way
            r -= step * image
            if not (np.abs(r) > slack).any():
                break
            z = self._nearly(r)
            size, last = float(r @ z), size
            way = z + (size / last) * way
        return x

    def _nearly(self, r: Floats) -> Floats:
        """The preconditioner's answer."""
        r = r * self.root
        if self.part.shape[1] <= self.part.shape[0]:
            return np.asarray(self.root * (r - self.part @ self.factor.solve(self.part.T @ r)))
        return np.asarray(self.root * self.factor.solve(r))


@dataclass(frozen=True)
class Factor:
    """A Cholesky factor of a positive definite matrix, in units in which its diagonal is 1."""

    L: Floats
    unit: Floats

    @classmethod
    def of(cls, matrix: Floats, diagonal: Any) -> "Factor":
        """Factor matrix + diag(diagonal), in place; with as much of a ridge as rounding asks for."""
        at = np.diag_indices(len(matrix))
        matrix[at] += diagonal
        largest = float(matrix[at].max(initial=0.0)) or 1.0
        unit = 1.0 / np.sqrt(np.maximum(matrix[at], np.finfo(float).tiny * largest))
        matrix = np.asfortranarray(matrix * unit * unit[:, None])
        ridge = np.finfo(float).eps
        while ridge < 1.0 and np.isfinite(matrix[at]).all():
            matrix[at] = 1.0 + ridge
            L, info = scipy.linalg.lapack.dpotrf(matrix, lower=1)
            if info == 0:
                return cls(L, unit)
            ridge *= 100.0
        return cls(np.full_like(matrix, np.nan), unit)

    def solve(self, right: Floats) -> Floats:
        """The answer; NaN where there was no factor."""
        if len(right) == 0:
            return right
        return np.asarray(self.unit * scipy.linalg.lapack.dpotrs(self.L, self.unit * right, lower=1)[0])


def _inverse(theta: Floats) -> Floats:
    """1/θ, and 0 for a free bias."""
    return np.divide(1.0, theta, out=np.zeros_like(theta), where=theta > 0.0)


def _dense(matrix: Any) -> Floats:
    return np.asarray(matrix.toarray() if sp.issparse(matrix) else matrix)


def _scaled(A: Any, rows: Floats, columns: Floats) -> Any:
    """diag(rows) A diag(columns)."""
    if sp.issparse(A):
        return sp.csc_array(sp.diags_array(rows) @ A @ sp.diags_array(columns))
    return A * rows[:, None] * columns
