"""An interior-point method for several classes in one problem, with equations in the weights.

    min_W,u  ½ Σ_m ‖w_m‖² + Σ_j c_j (u_j − F_{y_j}(x_j))    s.t.  z_jm = u_j − e_jm − F_m(x_j) ≥ 0,  multipliers η_jm

Mehrotra's predictor and corrector (SIAM J. Optim. 1992). z and W begin, and so stay, as the constraints want them. With D = η/z
and S_j = Σ_m D_jm, a step ΔW solves

    (Λ + Σ_j (diag(D_j) − D_j D_jᵀ/S_j) ⊗ x̃_j x̃_jᵀ) ΔW = right

of size k (d + 1), however many samples there are; free biases, zeros in Λ, cost no more.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from maxmargin.core import Candidate, products
from maxmargin.core.joint import JointProblem
from maxmargin.rounding import UNIT
from maxmargin.solvers.base import DRIVER, Budget, Clock, Progress, Solver
from maxmargin.solvers.linear import normal_equations as equations
from maxmargin.solvers.linear.sequential_dual import best_biases
from maxmargin.solvers.refine import REFINE
from maxmargin.typing import Floats


@dataclass(frozen=True)
class JointTuning:
    """Numbers set by hand, on digits and iris."""

    back: float = 0.995
    """Share of the way to the boundary that a step goes."""

    absent: float = 1e-6
    """Share of the cost below which an η is 0 in a candidate, where its slack is no smaller."""


class _State:
    """W with a constant feature behind it, z, η, and the rows."""

    def __init__(self, problem: JointProblem) -> None:
        on, k = problem.counted, problem.n_classes
        self.problem, self.cost = problem, problem.cost[on]
        rows = products.dense_rows(problem.X, on)
        self.feature = {"free": 1.0, "none": 0.0, "penalized": problem.bias.scale}[problem.bias.kind]
        self.X = np.hstack([rows, np.full((len(on), 1), self.feature)]) if self.feature else rows
        self.wrong = problem.wrong()[on]
        self.own = 1.0 - self.wrong
        self.weight = np.ones(self.X.shape[1])
        self.weight[-1] = 0.0 if problem.bias.is_free else 1.0
        self.W = np.zeros((k, self.X.shape[1]))
        self.eta = np.repeat(self.cost[:, np.newaxis] / k, k, axis=1)
        self.z = 2.0 - self.wrong  # W = 0, u = 2
        self.steps = 0

    def direction(self, factor: Any, z: Floats, goal: Floats) -> tuple[Floats, Floats]:
        """(ΔW, Δη) after which ηz is `goal` to first order; Δu follows from both."""
        from scipy.linalg import cho_solve

        D = self.eta / z
        total, rho = D.sum(axis=1), (goal - self.eta * z) / z
        missing = self.cost - self.eta.sum(axis=1)
        base = rho - D * ((rho.sum(axis=1) - missing) / total)[:, np.newaxis]
        right = (self.cost[:, np.newaxis] * self.own - self.eta - base).T @ self.X - self.weight * self.W
        dW = cho_solve(factor, right.ravel()).reshape(self.W.shape)
        dF = self.X @ dW.T
        return dW, base + D * (dF - ((D * dF).sum(axis=1) / total)[:, np.newaxis])

    def factor(self, z: Floats) -> Any:
        """The factor of the equations."""
        from scipy.linalg import LinAlgError, cho_factor

        D, (k, width) = self.eta / z, self.W.shape
        total = D.sum(axis=1)
        matrix = np.zeros((k, width, k, width))
        for m in range(k):
            for p in range(m + 1):
                weights = (D[:, m] if m == p else 0.0) - D[:, m] * D[:, p] / total
                matrix[m, :, p, :] = self.X.T @ (self.X * weights[:, np.newaxis])
            matrix[m, :, m, :] += np.diag(self.weight)
        if self.problem.bias.is_free:  # one constant added to all biases changes nothing
            matrix[:, -1, :, -1] += np.abs(np.diagonal(matrix[:, -1, :, -1])).mean() or 1.0
        square = matrix.reshape(k * width, k * width)
        ridge = 0.0
        while True:
            try:
                return cho_factor(square + ridge * np.eye(len(square)), lower=True)
            except LinAlgError:
                ridge = 10.0 * ridge or 1e-14 * float(np.trace(square))

    def reach(self, z: Floats, dz: Floats, d_eta: Floats) -> float:
        """The longest step that keeps z and η ≥ 0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = [np.where(move < 0, -value / move, np.inf).min() for value, move in ((z, dz), (self.eta, d_eta))]
        return float(min(1.0, *ends))


@dataclass(frozen=True)
class JointInteriorPoint(Solver):
    """Newton steps for the machine of Crammer and Singer: few features, any C, free biases, any tolerance.

    *Use it when* n ≫ k d. *Needs* a `JointProblem` with k (d + 1) ≤ 3000. *Costs* 10 to 30 steps of n k² d²/2 operations and
    (k d)³/3; memory O(n (d + k) + k² d²). *Equivalent to* SequentialDual at its optimum.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.core.joint import JointProblem
    >>> from maxmargin.solvers import solve
    >>> from maxmargin.solvers.interior.joint_interior_point import JointInteriorPoint
    >>> solution = solve(JointProblem(np.eye(3), np.arange(3), np.ones(3), 3), JointInteriorPoint(), tol=1e-9)
    >>> round(solution.certificate.primal, 6)
    1.0
    """

    is_joint: ClassVar[bool] = True
    tuning: ClassVar[JointTuning] = JointTuning()

    def fits(self, problem: JointProblem) -> bool:
        """Whether its equations are small enough."""
        n, width = problem.n, problem.X.shape[1] + 1
        room = 8 * n * (2 * width + 8 * problem.n_classes)  # bytes: the rows are dense
        return bool(problem.n_classes * width <= equations.TUNING.factored and room <= Budget.bytes)

    def refuses(self, problem: Any) -> str | None:
        """Why it does not solve a problem, or None."""
        refusal = super().refuses(problem)
        if refusal is None and not self.fits(problem):
            return f"{self.name} takes few features, with k (d + 1) up to {equations.TUNING.factored}. Use SequentialDual()."
        return refusal

    def init(self, problem: JointProblem, max_bytes: int, warm: Candidate | None) -> _State:  # type: ignore[override]
        """W = 0, and a share of the cost for each class; a warm start does not help."""
        return _State(problem)

    def step(self, state: _State, tol: float, clock: Clock) -> Progress:
        """One predictor and corrector."""
        z = state.z
        size, mu = z.size, float((state.eta * z).mean())
        factor = state.factor(z)
        dW, d_eta = state.direction(factor, z, np.zeros_like(z))
        dz = self._slack_move(state, z, np.zeros_like(z), d_eta)
        length = state.reach(z, dz, d_eta)
        ahead = float(((z + length * dz) * (state.eta + length * d_eta)).mean())
        goal = max(ahead / mu, 0.0) ** 3 * mu - dz * d_eta
        dW, d_eta = state.direction(factor, z, goal)
        dz = self._slack_move(state, z, goal, d_eta)
        length = min(1.0, self.tuning.back * state.reach(z, dz, d_eta))
        state.W += length * dW
        state.z, state.eta = z + length * dz, state.eta + length * d_eta
        state.steps += 1
        value = 0.5 * float((state.weight * state.W * state.W).sum()) + float((state.eta * state.wrong).sum())
        gap = float((state.eta * state.z).sum()) / max(abs(value), np.finfo(float).tiny)
        has_ended = state.steps >= DRIVER.window or length < 1e-9 or not np.isfinite(gap) or mu * size < 1e-15 * abs(value)
        if not has_ended and gap > math.sqrt(UNIT) and state.X.size <= REFINE.small:  # steps cost nothing there
            return Progress.without_claim(gap, tol)
        return Progress(gap, is_final=bool(has_ended))

    def _slack_move(self, state: _State, z: Floats, goal: Floats, d_eta: Floats) -> Floats:
        """Δz, of ηΔz + zΔη = goal − ηz."""
        return np.asarray((goal - state.eta * z - z * d_eta) / state.eta)

    def finish(self, state: _State, tol: float) -> Candidate:
        """η without what is as good as 0, and the weights that it makes."""
        problem, z = state.problem, state.z
        share = state.eta / state.cost[:, np.newaxis]
        kept = np.where(share > self.tuning.absent * np.maximum(z, 1.0), np.nan_to_num(state.eta), 0.0)
        total = kept.sum(axis=1)
        kept *= np.divide(state.cost, total, out=np.zeros_like(total), where=total > 0.0)[:, np.newaxis]
        beta = problem.zeros()
        beta[problem.counted] = -kept
        beta = problem.feasible(beta)
        W, b = problem.combine(beta), problem.biases(beta)
        if problem.bias.is_free:
            b = best_biases(problem, W, np.nan_to_num(state.W[:, -1] - state.W[:, -1].mean()))
        return Candidate(W, b, beta)
