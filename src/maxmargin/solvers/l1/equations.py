"""The Newton equations of an interior point of the L1 problem.

    A Δw + D Δα = right,     Δw = ρ + Θ Δu,   Δu = AᵀΔα,     A = (y_j x̃_jk / unit_k),   D and Θ diagonal

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
from maxmargin.solvers.l1.tuning import TUNING
from maxmargin.typing import Floats


def work_of(n: int, d: int, n_values: int) -> float:
    """What making, factoring and solving the equations of one point costs, in entries passed over."""
    size = min(n, d, TUNING.factored)
    made = n_values * (size if d <= min(n, TUNING.factored) else size * min(1.0, size / d)) / TUNING.blas
    solved = (
        8.0 * n_values
        if d <= min(n, TUNING.factored)
        else 3.0 * TUNING.usual_gradients * (4.0 * n_values + size**2 / TUNING.blas)
    )
    return TUNING.calls + made + size**3 / (3.0 * TUNING.blas) + solved


class Answer(NamedTuple):
    """Δw with the weight of a free bias, Δα, and Δu."""

    w: Floats
    alpha: Floats
    u: Floats


@dataclass
class Equations:
    """The equations of one point, factored."""

    columns: Columns
    y: Floats
    units: Floats
    theta: Floats  # 0 for a free bias
    D: Floats
    is_free: bool
    factor: "Factor"
    by_columns: bool
    part: Any = None  # (n, columns of the preconditioner) D̃^−½ A Θ^½
    root: Any = None  # D̃^−½
    of_bias: Any = None  # the answer for `right` = y

    @classmethod
    def of(cls, columns: Columns, y: Floats, units: Floats, price: Floats, theta: Floats, D: Floats) -> "Equations":
        """Make and factor them; θ of a free bias, whose price is 0, is not read."""
        n, is_free = len(y), bool(price[-1] == 0.0)
        theta = np.where(price > 0.0, theta, 0.0)
        if len(price) <= min(n, TUNING.factored):
            factor = Factor.of(_gram(columns.take(np.arange(len(price))), 1.0 / units, 1.0 / D), _inverse(theta))
            return cls(columns, y, units, theta, D, is_free, factor, True)
        weight = theta * columns.squares(1.0 / D) / units**2
        chosen = np.flatnonzero(weight >= TUNING.weighty)
        most = len(weight) if n <= TUNING.factored else TUNING.factored
        if len(chosen) > most:
            chosen = np.sort(np.argpartition(-weight, most)[:most])
        rest = theta / units**2
        rest[chosen] = 0.0
        root = 1.0 / np.sqrt(D + columns.square_scores(rest))
        part = _scaled(columns.take(chosen), y * root, np.sqrt(theta[chosen]) / units[chosen])
        small = part.T @ part if len(chosen) <= n else part @ part.T
        small = small.toarray() if sp.issparse(small) else small
        equations = cls(columns, y, units, theta, D, is_free, Factor.of(small, 1.0), False, part, root)
        if is_free:
            equations.of_bias = equations._conjugate_gradients(y, 1e-6 / np.sqrt(D))
        return equations

    def solve(self, rho: Floats, right: Floats, imbalance: float, slack: Floats) -> Answer:
        """The answer; by conjugate gradients, `right` may be missed by `slack`."""
        if self.by_columns:
            inverse = _inverse(self.theta)
            goal = inverse * rho + self._sums(right / self.D)
            if self.is_free:
                goal[-1] += imbalance
            w = self.factor.solve(goal)
            for _ in range(TUNING.refinements):
                w = w + self.factor.solve(goal - inverse * w - self._sums(self._scores(w) / self.D))
            return Answer(w, (right - self._scores(w)) / self.D, inverse * (w - rho))
        alpha = self._conjugate_gradients(right - self._scores(np.where(self.theta > 0.0, rho, 0.0)), slack)
        b = 0.0
        if self.is_free:
            b = float((self.y @ alpha + imbalance) / (self.y @ self.of_bias))
            alpha = alpha - b * self.of_bias
        u = self._sums(alpha)
        w = rho + self.theta * u
        if self.is_free:
            w[-1] = b
        return Answer(w, alpha, u)

    def _conjugate_gradients(self, right: Floats, slack: Floats) -> Floats:
        x, r = np.zeros(len(right)), right.copy()
        z = self._nearly(r)
        way, size = z, float(r @ z)
        for _ in range(TUNING.most_gradients):
            image = self._scores(self.theta * self._sums(way)) + self.D * way
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

    def _scores(self, w: Floats) -> Floats:
        return self.y * self.columns.all_scores(w / self.units)

    def _sums(self, alpha: Floats) -> Floats:
        return self.columns.sums(alpha * self.y) / self.units


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


def _gram(A: Any, of_columns: Floats, of_rows: Floats) -> Floats:
    """(A diag)ᵀ diag (A diag), dense."""
    part = _scaled(A, np.sqrt(of_rows), of_columns)
    product = part.T @ part
    return np.asarray(product.toarray() if sp.issparse(product) else product)


def _scaled(A: Any, rows: Floats, columns: Floats) -> Any:
    if sp.issparse(A):
        return sp.csc_array(sp.diags_array(rows) @ A @ sp.diags_array(columns))
    return A * rows[:, None] * columns
