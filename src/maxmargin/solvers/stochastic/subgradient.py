"""Subgradient descent over all samples, with decreasing steps: the method that Pegasos samples from.

    min_w  (λ/2)‖w‖² + mean_j weight_j max(0, 1 − y_j F_j)

    w ← (1 − η_t λ) w + η_t · mean of weight_j y_j φ_j over the samples with y_j F_j < 1

with η_t = 1/(λt) or η_t ∝ 1/√t. The dual point moves as w does, α ← (1 − η_t λ) α + η_t λ · (c_j where y_j F_j < 1), so that
w = w(β) throughout and α never leaves its box: with η_t = 1/(λt) this is Frank & Wolfe's method on the dual (Bach, 2015).
"""

from dataclasses import dataclass

import numpy as np

from maxmargin.core import Candidate, Problem, to_candidate
from maxmargin.errors import InvalidInputError
from maxmargin.solvers.base import Clock, Progress
from maxmargin.solvers.stochastic.pegasos import Stepper, shorten
from maxmargin.solvers.stochastic.samples import Gram
from maxmargin.typing import Floats

STEPS = ("1/(λt)", "1/√t")


@dataclass
class _State:
    problem: Problem
    gram: Gram | None
    beta: Floats
    speed: float
    t: int = 0
    best: Floats | None = None
    best_gap: float = np.inf


@dataclass(frozen=True)
class Subgradient(Stepper):
    """Subgradient descent: for teaching; every step looks at all samples.

    *Use it when* you want to see what decreasing steps do, or what Pegasos saves. *Needs* the hinge, L2, finite costs, no bias or
    a penalised one. *Costs* two passes over the data a step, for a gap that falls like 1/t at best; with a kernel n × (support
    vectors) values a step. *Equivalent to* Pegasos with one batch of all samples, if the steps are 1/(λt).

    Parameters
    ----------
    steps : {"1/(λt)", "1/√t"}
        η_t = 1/(λt); or η_t = 1/(ρ√(λt)), the radius 1/√λ of the ball that holds w* over ρ√t, with ρ = max‖φ_j‖.

    Examples
    --------
    >>> from maxmargin.core import Bias
    >>> from maxmargin.solvers import solve
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> solution = solve(Problem(X, y, cost=np.full(4, 1.0), bias=Bias.penalized()), Subgradient(), tol=1e-2)
    >>> solution.certificate.relative_gap <= 1e-2
    True
    """

    steps: str = "1/(λt)"

    def __post_init__(self) -> None:
        if self.steps not in STEPS:
            raise InvalidInputError(f"steps must be one of {STEPS}, got {self.steps!r}.")

    @property
    def accuracy(self) -> float:
        """10 % on any problem: a further digit takes ten times as many steps, each of them over all samples."""
        return 1e-1

    def init(self, problem: Problem, max_bytes: int, warm: Candidate | None) -> _State:
        """w = 0, or where a warm start's dual point is; the steps begin anew."""
        on = problem.present
        longest = float(np.sqrt(max((problem.diag()[on]).max(), 0.0) + problem.bias.scale**2))
        lam = 1.0 / float(problem.cost.sum())
        beta = np.zeros(problem.n) if warm is None else to_candidate(problem, warm.beta).beta
        gram = None if problem.is_linear else Gram.of(problem, max_bytes)
        return _State(problem, gram, beta, lam**0.5 / longest if longest > 0 else 1.0, t=int(warm is not None))

    def step(self, state: _State, tol: float, clock: Clock) -> Progress:
        """One step; the gap before it is known."""
        problem = state.problem
        w, b = weights_of(problem, state.beta)
        f = problem.decision(w) if state.gram is None else state.gram.scores(w) - b
        self._keep_best(state, w, b, f)
        is_violated = problem.y * (f + b) < 1.0
        state.t += 1
        share = 1.0 / state.t if self.steps == "1/(λt)" else min(1.0, state.speed / state.t**0.5)
        state.beta = (1.0 - share) * state.beta + share * problem.y * np.where(is_violated, problem.cost, 0.0)
        return Progress(state.best_gap)

    def finish(self, state: _State, tol: float) -> Candidate:
        """Of the points that steps were made from, the one with the smallest gap."""
        beta = state.beta if state.best is None else state.best
        w, b = weights_of(state.problem, beta)
        return Candidate(w, b, shorten(state.problem, beta, np.inf))

    @staticmethod
    def _keep_best(state: _State, w: Floats, b: float, f: Floats) -> None:
        problem, beta = state.problem, state.beta
        primal = problem.primal_from(w, b, f)
        square = 2.0 * problem.regularizer(w, b, f)
        total = float(np.abs(beta).sum())
        factor = min(1.0, total / square) if square > 0 else 1.0
        gap = (primal - factor * total + 0.5 * factor**2 * square) / max(primal, np.finfo(float).tiny)
        if gap < state.best_gap:
            state.best, state.best_gap = beta, gap


def weights_of(problem: Problem, beta: Floats) -> tuple[Floats, float]:
    """(w, b) that a dual point stands for: w(β) and s²Σβ."""
    return problem.combine(beta), problem.bias.scale**2 * float(beta.sum())
