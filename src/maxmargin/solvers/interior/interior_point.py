"""Interior point, on Clarabel: the high-accuracy reference.

    min_{w,b,ξ} ½‖w‖² + Σ c_j ξ_j   s.t.  y_j(⟨w, φ_j⟩ + b) ≥ 1 − ξ_j, ξ ≥ 0           (primal)
    max_α  Σα − ½ αᵀYKYα            s.t.  0 ≤ α ≤ c,  yᵀα = 0 where the bias is free   (dual)

Mehrotra's predictor-corrector on the homogeneous embedding (Goulart & Chen, 2024); the last digits by Newton on the margin.
"""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from maxmargin.core import Candidate, Problem, certify, to_candidate
from maxmargin.core.reduce import MAX_FACTOR, has_primal, to_dual, to_primal, units_of
from maxmargin.solvers.base import Clock, Progress, Solver
from maxmargin.solvers.interior.clarabel import run_clarabel
from maxmargin.solvers.refine import refine
from maxmargin.typing import Floats

MAX_SAMPLES = MAX_FACTOR
"""Any kernel up to this many samples: an n × n matrix is factored."""

MAX_WORK = 4e10
"""Linear kernels beyond that up to this many operations a round: n d², with d features."""


@dataclass
class _State:
    problem: Problem
    forms: list[str]
    attempt: int = 0
    rough: Floats | None = None
    best: Candidate | None = None
    best_gap: float = np.inf


@dataclass(frozen=True)
class InteriorPoint(Solver):
    """Interior-point method: very high accuracy on small and middling problems.

    *Use it when* you want the answer to ten digits, or a reference for another solver. *Needs* a loss with a
    quadratic dual (hinge, squared hinge), the L2 penalty, a positive semi-definite kernel; n ≤ 4000, or a linear kernel and
    n d² ≤ 4·10¹⁰. *Costs* about 20 rounds of O(n d²) for narrow data, O(n³) otherwise; memory O(n d) or O(n²). *Equivalent to*
    any other solver here at its optimum.

    Parameters
    ----------
    form : {"auto", "primal", "dual"}
        Which of the two programs to solve; "auto" takes the primal, and the dual where that was not enough.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import Problem
    >>> from maxmargin.solvers import InteriorPoint, solve
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> solution = solve(Problem(X, y, cost=np.full(4, 10.0)), InteriorPoint(form="dual"), tol=1e-10)
    >>> np.round(solution.beta, 9) + 0.0
    array([ 0., -2.,  2.,  0.])
    """

    form: str = field(default="auto")
    forms: ClassVar[tuple[str, ...]] = ("auto", "primal", "dual")
    needs_psd: ClassVar[bool] = True
    takes_targets: ClassVar[bool] = True

    def accepts(self, problem: Problem) -> str | None:
        """Why a problem cannot be solved here, or None."""
        refusal = super().accepts(problem)
        if refusal is not None:
            return refusal
        if self.form not in self.forms:
            return f"InteriorPoint.form must be one of {self.forms}, got {self.form!r}."
        if self.form == "primal" and not has_primal(problem):
            return f"InteriorPoint has no primal program for {problem.loss!r}. Use form='dual'."
        if not self._possible_forms(problem):
            n, d = len(problem.present), problem.X.shape[1]
            return (
                f"InteriorPoint takes up to {MAX_SAMPLES} samples, and beyond that linear problems with n·d² ≤ {MAX_WORK:.0e}; "
                f"got n = {n}, d = {d}. Train on fewer samples or features."
            )
        return None

    def _possible_forms(self, problem: Problem) -> list[str]:
        n, d = len(problem.present), problem.X.shape[1]
        if n > MAX_SAMPLES and not (problem.is_linear and float(n) * d * d <= MAX_WORK):
            return []
        if self.form != "auto":
            return [self.form]
        return ["primal", "dual"] if has_primal(problem) else ["dual"]

    def init(self, problem: Problem, max_bytes: int, warm: Candidate | None) -> _State:
        """Interior points do not profit from a warm start: the driver keeps it as the best so far."""
        return _State(problem, self._possible_forms(problem))

    def step(self, state: _State, tol: float, clock: Clock) -> Progress:
        """One whole run of the interior-point method: each form in units of the data, then in units of its answer."""
        problem = state.problem
        reduce = {"primal": to_primal, "dual": to_dual}[state.forms[state.attempt // 2]]
        units = None
        if state.attempt % 2 and state.rough is not None:
            # A narrow margin, or costs that far exceed the α in use: ask again in units of the first answer.
            units = units_of(problem, state.rough)
            units = units if units.length > 0 and units.alpha > 0 else None
        state.attempt += 1
        is_last = state.attempt == 2 * len(state.forms)
        if state.attempt % 2 == 0 and units is None:
            return Progress(state.best_gap, 0, is_last, is_last and problem.is_hard and np.isinf(state.best_gap))
        result = run_clarabel(program := reduce(problem, units), clock)
        state.rough = program.beta(result.x, result.z)
        candidate = refine(problem, to_candidate(problem, state.rough))
        gap = certify(problem, candidate).relative_gap
        if state.best is None or gap < state.best_gap:
            state.best, state.best_gap = candidate, gap
        hopeless = problem.is_hard and np.isinf(state.best_gap)
        return Progress(state.best_gap, result.rounds, is_last, is_infeasible=is_last and hopeless)

    def finish(self, state: _State, tol: float) -> Candidate:
        """The best candidate of the runs so far."""
        return state.best if state.best is not None else to_candidate(state.problem, np.zeros(state.problem.n))
