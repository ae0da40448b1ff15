"""The problem on all samples, solved tightly: where its exact optimum lies, and with it every decision value.

    w* ∈ ball(w(β), √gap),      f*_j ∈ f_j ± r_j,      r_j = √(gap · k_jj)

Both ends of the interval of best biases are non-increasing in every score, so each lies between its values at f + r and f − r,
and so does its middle, which is the bias that is meant.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from maxmargin.core import Candidate, Problem, Solution
from maxmargin.core.bias import Interval, best_bias
from maxmargin.core.reduce import to_candidate
from maxmargin.solvers import Budget, solve
from maxmargin.solvers.base import Observer
from maxmargin.typing import Floats

SURE_WITHIN = 0.01
"""The fit is tightened until a typical decision value is known to so much: √(gap · mean k)."""

FINEST = 1e-11
"""A relative gap that is not asked for, whatever it would tell."""


@dataclass(frozen=True, eq=False)
class Full:
    """A dual point of a problem with all that bounds the exact optimum: w = w(β), the scores f, the gap, ‖φ(x_j)‖².

    `squares` includes the constant feature of a penalised bias, and so do the scores: b is what is left beside them.
    """

    problem: Problem
    beta: Floats
    w: Floats
    b: float
    f: Floats
    squares: Floats
    residuals: Floats

    @classmethod
    def of(cls, problem: Problem, candidate: Candidate, n_threads: int = 1) -> "Full":
        """Recompute everything in float64 from a candidate's β; O(nnz), or n × (support vectors) kernel values."""
        best = to_candidate(problem, candidate.beta)
        f = problem.decision(best.w, n_threads)
        b, squares = best.b, problem.diag() + problem.bias.scale**2
        if problem.bias.kind == "penalized":
            f, b = f + b, 0.0
        elif problem.bias.is_free:
            b = best_bias(problem, best.beta, f).middle
        on = problem.present
        residuals = np.zeros(problem.n)
        m = 1.0 - problem.y * (f + b)
        m = np.minimum(m, 0.0) if problem.is_hard else m  # the scaling to margin 1 rounds
        residuals[on] = problem.loss.residual(m[on], (best.beta * problem.y)[on], problem.cost[on])
        return cls(problem, best.beta, best.w, b, f, np.maximum(squares, 0.0), residuals)

    @cached_property
    def gap(self) -> float:
        """P(w, b) − D(β), as a sum of non-negative terms."""
        return float(self.residuals.sum())

    @cached_property
    def reach(self) -> Floats:
        """r_j: how far the exact score may be from f_j; a kernel that is no kernel has no such bound."""
        if self.problem.kernel.psd is False:
            return np.full(self.problem.n, np.inf)
        return np.sqrt(self.gap * self.squares) + rounding(self.f)

    @cached_property
    def low_bias(self) -> Interval:
        """Neither end of the exact interval of biases is below these."""
        return self._bias(self.f + self.reach)

    @cached_property
    def high_bias(self) -> Interval:
        """Neither end of the exact interval of biases is above these."""
        return self._bias(self.f - self.reach)

    def _bias(self, f: Floats) -> Interval:
        if not self.problem.bias.is_free:
            return Interval(0.0, 0.0)
        return best_bias(self.problem, self.beta, f)

    @property
    def lower(self) -> Floats:
        """F*_j is at least this."""
        return self.f - self.reach + self.low_bias.middle

    @property
    def upper(self) -> Floats:
        """F*_j is at most this."""
        return self.f + self.reach + self.high_bias.middle

    def elsewhere(self, f: Floats, squares: Floats) -> tuple[Floats, Floats]:
        """The ends of F*(x) for other points, from f = ⟨w, φ(x)⟩ and k(x, x)."""
        reach = np.sqrt(self.gap * squares) + rounding(f)
        return f - reach + self.low_bias.middle, f + reach + self.high_bias.middle


def rounding(f: Floats) -> Floats:
    """What the arithmetic may have done to a score."""
    return np.asarray(1e-12 * (1.0 + np.abs(f)))


def tightened(
    problem: Problem,
    solver: Any,
    *,
    tol: float,
    warm: Candidate | None,
    observe: Observer | None = None,
    budget: Budget | None = None,
) -> Solution:
    """Solve to `tol`, then on until a typical decision value is certain to a hundredth; an interrupted one comes back as it is.

    The radius of the ball is the root of the absolute gap, so that the relative gap to ask for is only known with P.
    """
    solution = solve(problem, solver, tol=tol, warm=warm, observe=observe, budget=budget)
    certificate = solution.certificate
    assert certificate is not None
    typical = float((problem.diag() + problem.bias.scale**2)[problem.present].mean())
    wanted = SURE_WITHIN**2 / max(typical * abs(certificate.primal), np.finfo(np.float64).tiny)
    goal = max(min(wanted, tol), FINEST)
    if not np.isfinite(certificate.gap) or certificate.relative_gap <= goal:
        return solution
    return solve(problem, solver, tol=goal, warm=solution, observe=observe, budget=budget)
