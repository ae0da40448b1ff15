"""The L1 problem with a smooth loss: what `PrimalCD` solves once (squared hinge) or again and again (hinge).

    min_w  Σ_k price_k |w_k| + Σ_j c_j ψ_j(z_j),     −ψ_j'(z) = θ_j = clip(θ⁰_j + σ(1 − z), 0, top),     z_j = y_j ⟨w, x̃_j⟩

squared hinge: θ⁰ = 0, σ = 2, top = ∞. Hinge: top = 1 and a round of the proximal method of multipliers (Rockafellar, 1976), after
which θ⁰ moves to θ. Sweeps of coordinate descent find which weights there are; a Newton step on these weights alone, their signs
kept, goes the rest of the way.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.linalg

from maxmargin.rounding import UNIT
from maxmargin.solvers.l1.columns import Columns
from maxmargin.solvers.l1.tuning import TUNING
from maxmargin.typing import Floats, Indices


@dataclass
class SmoothedL1:
    """The present weights with their signed scores z; `centre` is θ⁰."""

    columns: Columns
    y: Floats
    cost: Floats
    top: float
    sigma: float
    centre: Floats
    w: Floats
    z: Floats
    square: Floats
    rng: Any
    visited: Indices = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    @property
    def theta(self) -> Floats:
        """θ of each sample; c θ is its dual variable α."""
        return np.clip(self.centre + self.sigma * (1.0 - self.z), 0.0, self.top)

    def slopes(self) -> Floats:
        """Σ_j c_j θ_j y_j x̃_jk: minus the loss's slope along each column."""
        return self.columns.sums(self.cost * self.theta * self.y)

    def choose(self, u: Floats) -> None:
        """Visit the columns with a weight and those about to get one, given their slopes."""
        self.visited = np.flatnonzero((self.w != 0.0) | (np.abs(u) >= TUNING.near * self.columns.price))

    def sweep(self) -> None:
        """Visit each chosen column once, in a random order."""
        from maxmargin._loops.l1.primal_cd import sweep_csc, sweep_dense

        columns = self.columns
        order = self.rng.permutation(self.visited)
        (sweep_csc if columns.is_sparse else sweep_dense)(
            *columns.arrays, self.y, self.cost, self.centre, self.sigma, self.top, columns.price, self.square,
            order, self.w, self.z,
        )  # fmt: skip

    @property
    def sweep_work(self) -> float:
        """Entries that a sweep passes over: each column twice, for the slope and for the step."""
        columns = self.columns
        if columns.is_sparse:
            return 2.0 * float(np.diff(columns.matrix.indptr)[self.visited].sum())
        return 2.0 * len(self.visited) * len(self.y)

    @property
    def newton_work(self) -> float:
        """Work of a Newton step, in entries that a loop passes over."""
        v = self.centre + self.sigma * (1.0 - self.z)
        used, bent = np.count_nonzero(self.w), np.count_nonzero((v > 0.0) & (v < self.top))
        return 0.0 if used > TUNING.factored else (used * used * bent + used**3 / 3.0) / TUNING.blas

    def value(self, w: Floats, z: Floats) -> float:
        """The smooth objective: ψ = (clip(v)² + 2 clip(v)(v − clip(v)))/2σ with v = θ⁰ + σ(1 − z), up to a constant."""
        v = self.centre + self.sigma * (1.0 - z)
        theta = np.clip(v, 0.0, self.top)
        losses = theta * (v - 0.5 * theta) / self.sigma
        return float(self.columns.price @ np.abs(w) + self.cost @ losses)

    def newton_step(self) -> bool:
        """A step on the weights that are not zero; one that would change its sign stops at zero. False: nothing gained."""
        price = self.columns.price
        used = np.flatnonzero((self.w != 0.0) | (price == 0.0))
        if len(used) == 0 or len(used) > TUNING.factored:
            return False
        v = self.centre + self.sigma * (1.0 - self.z)
        bent = np.flatnonzero((v > 0.0) & (v < self.top))
        A: Any = self.columns.take(used)
        part = A[bent]
        part = np.asarray(part.toarray() if self.columns.is_sparse else part, dtype=np.float64)
        H = (part.T * (self.sigma * self.cost[bent])) @ part
        g = price[used] * np.sign(self.w[used]) - A.T @ (self.cost * np.clip(v, 0.0, self.top) * self.y)
        # each weight in the unit in which its curvature is 1, were all samples bent
        unit = 1.0 / np.sqrt(np.maximum(self.sigma * self.square[used], np.finfo(float).tiny))
        H *= unit * unit[:, None]
        # with more weights than bent samples H is singular: a step is long then, not infinite
        H[np.diag_indices(len(used))] += len(used) * np.finfo(float).eps
        factor, info = scipy.linalg.lapack.dpotrf(H, overwrite_a=True)
        if info != 0:
            return False
        step = -unit * scipy.linalg.lapack.dpotrs(factor, unit * g)[0]
        return bool(np.isfinite(step).all()) and self._search(used, step, A)

    def _search(self, used: Indices, step: Floats, A: Any) -> bool:
        """Take the whole step with what changes its sign cut off at zero; else as far as the first change of a sign."""
        from maxmargin._loops.l1.primal_cd import DRAWN_BACK

        old, price = self.w[used], self.columns.price[used]
        new = old + step
        crosses = (price > 0.0) & (new * old <= 0.0)
        if self._moves(used, np.where(crosses, 0.0, new), A):
            return True
        shares = np.where(crosses, old / np.where(crosses, -step, 1.0), 1.0)
        t = float(shares.min(initial=1.0))
        for _ in range(DRAWN_BACK):
            new = old + t * step
            new[crosses & (shares <= t)] = 0.0
            if self._moves(used, new, A):
                return True
            t *= 0.5
        return False

    def _moves(self, used: Indices, new: Floats, A: Any) -> bool:
        """Take new weights if the objective is lower there, or the same but for rounding."""
        w = self.w.copy()
        w[used] = new
        z = self.z + self.y * (A @ (new - self.w[used]))
        is_lower = self.value(w, z) < self.value(self.w, self.z) * (1.0 + 2.0 * UNIT)  # the slopes may still gain
        if is_lower:
            self.w, self.z = w, z
        return is_lower
