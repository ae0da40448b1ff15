"""The problem on all samples, solved tightly: where its exact optimum lies, and with it every decision value.

    ‖w* − w‖ ≤ radius,      f*_j ∈ f_j ± r_j,      r_j = radius · ‖φ_j‖ + the error of f_j

Both ends of the interval of best biases are non-increasing in every score, so each lies between its values at f + r and f − r,
and so does its middle, which is the bias that is meant. Every number is a bound, its own rounding included.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from maxmargin.core import Candidate, Problem, Scores, Solution, best_bias, certify, make_feasible, products, to_candidate
from maxmargin.core.bias import Interval
from maxmargin.core.certificate.optimum_ball import Slope, bias_at_least, bias_at_most, slope_of
from maxmargin.core.certificate.pairs import constant_of, lengths_of
from maxmargin.core.certificate.parts import Scale
from maxmargin.core.certificate.scores import FINEST
from maxmargin.core.certificate.scores import scores as scores_of
from maxmargin.kernels.tiles import FLOAT64
from maxmargin.rounding import UNIT, exact_sum, gamma, length_above, raised, sum_above
from maxmargin.solvers import solve
from maxmargin.typing import Floats, Indices, Matrix


@dataclass(frozen=True)
class LeaveOneOutTuning:
    """Numbers of leave-one-out that are set by hand."""

    sure_within: float = 0.01
    """Error of a typical decision value, √(gap · mean k), to which the fit is tightened; its powers are the widths of decision
    values that are compared."""
    near: float = 0.05
    """Distance from the margin up to which a sample is in the equations from the start, as support vectors are. With 0.01, webkb4
    takes a fifth longer."""
    ridge: float = 1e-6
    """Addition to the diagonal of the equations, as a share of its mean, for equal rows and data with few features. It weighs
    moves away from the full solution, not β itself, so that it costs about ridge · ‖Δβ‖² of the gap."""
    frequent: float = 0.05
    """Share of the rows from which on a column of sparse data goes through BLAS in the equations; 0.03 to 0.1 take about the same
    time on reuters:acq, webkb4 and ohsumed, two thirds of that without."""
    value_width: float = 1e-6
    """Width to which decision values are made known where they are asked for."""


TUNING = LeaveOneOutTuning()


@dataclass(frozen=True, eq=False)
class Full:
    """A dual point of a problem with all that bounds the exact optimum.

    Attributes
    ----------
    beta, w, b : the dual point, w(β) as rounded, and its best bias, 0 where it is not free.
    f, error : the scores ⟨w, φ_j⟩, a penalised bias included, and bounds of their errors.
    squares, lengths : ‖φ_j‖² as computed and ‖φ_j‖ from above, with the constant feature of a penalised bias.
    slack, slack_error, residuals : m_j = 1 − y_jF_j, bounds of its errors, and r_j from above.
    gap, primal : upper bounds of P(w, b) − D(β) and of P(w, b).
    total : |Σβ| from above where the bias is free.
    apart, radius : ‖w − w(β)‖ and ‖w* − w‖ from above.
    """

    problem: Problem
    beta: Floats
    w: Floats
    b: float
    f: Floats
    error: Floats
    squares: Floats
    lengths: Floats
    slack: Floats
    slack_error: Floats
    residuals: Floats
    gap: float
    primal: float
    total: float
    apart: float
    radius: float

    @classmethod
    def of(cls, problem: Problem, candidate: Candidate, n_threads: int = 1) -> "Full":
        """Recompute everything in float64 from a candidate's β; O(nnz), or n × (support vectors) kernel values."""
        best, scores = _judged(problem, candidate, n_threads)
        lengths = np.hypot(lengths_of(problem)(np.arange(problem.n)), problem.bias.scale) * (1.0 + 8.0 * UNIT)
        certificate = certify(problem, best, scores, n_threads=n_threads)
        f, error, b = scores.values, scores.error, best.b
        if not problem.bias.is_free:
            f = f + b
            error, b = (error + UNIT * np.abs(f)) * (1.0 + 4.0 * UNIT), 0.0
        total = exact_sum(best.beta)
        total_error = 2.0 * UNIT * abs(total)
        constant = constant_of(problem.bias, best.b, total, total_error)
        apart = abs(constant.own - constant.made) * (1.0 + 2.0 * UNIT) + constant.own_error + constant.made_error
        if problem.is_linear:
            used = int(np.count_nonzero(best.beta))
            bulk = sum_above(np.abs(best.beta) * problem.lengths)
            apart += 2.0 * UNIT * length_above(best.w) + 4.0 * gamma(used + 2) ** 2 * bulk
        apart = raised(apart, 8)
        imbalance = raised(abs(total) + total_error) if problem.bias.is_free else 0.0
        on, radius, residuals = problem.counted, certificate.radius, np.zeros(problem.n)
        alpha = best.beta * problem.y
        if problem.is_hard:
            # the certificate is that of (w, b) scaled by t, so that no sample is inside the margin
            t = Scale.of(scores.slack[on], scores.slack_error[on]).most
            radius += raised(2.0 * abs(t - 1.0) * math.sqrt(max(2.0 * certificate.primal, 0.0)), 8)
        else:
            residuals[on] = problem.loss.residual_above(scores.slack[on], scores.slack_error[on], alpha[on], problem.cost[on])
        return cls(
            problem, best.beta, best.w, b, f, error, np.maximum(problem.diag() + problem.bias.scale**2, 0.0), lengths,
            scores.slack, scores.slack_error, residuals, certificate.gap, certificate.primal, imbalance, apart,
            math.inf if math.isnan(radius) else radius,
        )  # fmt: skip

    @property
    def alpha(self) -> Floats:
        """|β|."""
        return np.abs(self.beta)

    @property
    def xi(self) -> Floats:
        """The slacks ξ = max(0, m)."""
        return np.maximum(self.slack, 0.0)

    @cached_property
    def slope(self) -> Slope:
        """How the slope in b is summed."""
        return slope_of(self.problem.cost)

    @cached_property
    def reach(self) -> Floats:
        """r_j: how far the exact score may be from f_j; a kernel that is no kernel has no such bound."""
        return self._reach(self.f, self.error, self.lengths)

    def _reach(self, f: Floats, error: Floats, lengths: Floats) -> Floats:
        if not math.isfinite(self.radius):
            return np.full(len(f), np.inf)
        return np.asarray((self.radius * lengths + error) * (1.0 + 8.0 * UNIT) + 4.0 * UNIT * np.abs(f))

    @cached_property
    def low_bias(self) -> Interval:
        """Neither end of the exact interval of biases is below these."""
        return bias_at_least(self.problem, self.f + self.reach) if self.problem.bias.is_free else Interval(0.0, 0.0)

    @cached_property
    def high_bias(self) -> Interval:
        """Neither end of the exact interval of biases is above these."""
        return bias_at_most(self.problem, self.f - self.reach) if self.problem.bias.is_free else Interval(0.0, 0.0)

    def between(self, low: float, high: float) -> tuple[Floats, Floats]:
        """The ends of F*_j, for a bias of at least `low` and at most `high`."""
        return _ends(self.f, self.reach, low, high)

    @cached_property
    def ends(self) -> tuple[Floats, Floats]:
        """F*_j is at least the first and at most the second."""
        return self.between(self.low_bias.middle, self.high_bias.middle)

    @cached_property
    def null(self) -> Indices:
        """The samples with φ(x_j) = 0, of which every machine without a bias says 0."""
        null = np.flatnonzero(self.squares == 0)
        if self.problem.kernel.sees_values_only:  # small squares vanish, too
            null = null[np.asarray((self.problem.X[self.problem.row(null)] != 0).sum(axis=1)).ravel() == 0]
        return null

    def elsewhere(self, X: Matrix, rows: Indices, n_threads: int) -> tuple[Floats, Floats]:
        """The ends of F*(x) for rows of X that are no samples of the problem."""
        problem = self.problem
        if problem.is_linear:
            f, lengths = products.scores(X, self.w, rows), products.lengths_above(X[rows])
            error = products.score_errors(X[rows], self.w, lengths)
        else:
            used = np.flatnonzero(self.w)
            bounded = problem.expansion(used, self.w[used]).bounded(X[rows], FLOAT64, n_threads)
            f, error = bounded.sums[0, 0], bounded.error[0]
            squares = np.asarray(problem.kernel.diag(X), dtype=np.float64)[rows]
            lengths = np.sqrt(np.maximum(squares, 0.0)) * (1.0 + 1e-9)  # k(x, x) rounds by far less
        return _ends(f, self._reach(f, error, lengths), self.low_bias.middle, self.high_bias.middle)


def _ends(f: Floats, reach: Floats, low: float, high: float) -> tuple[Floats, Floats]:
    """f − reach + low, rounded down, and f + reach + high, rounded up; infinite where the reach or a bias is."""
    with np.errstate(invalid="ignore"):
        slip = 4.0 * UNIT * (np.abs(f) + reach + max(abs(low), abs(high)))
        is_known = np.isfinite(slip)
        return np.where(is_known, f - reach + low - slip, -np.inf), np.where(is_known, f + reach + high + slip, np.inf)


def _judged(problem: Problem, candidate: Candidate, n_threads: int) -> tuple[Candidate, Scores]:
    """The model that β stands for, with w(β) rounded once, and its scores."""
    if problem.is_hard:
        beta = make_feasible(problem, to_candidate(problem, candidate.beta).beta)
    else:
        beta = make_feasible(problem, make_feasible(problem, candidate.beta))
    if problem.is_linear:
        high, low = products.combine_twice(problem.X, beta, problem.rows)
        w = high + low
        b = best_bias(problem, beta, problem.decision(w) if problem.bias.is_free else beta).middle
        best = Candidate(w, b, beta)
        return best, scores_of(problem, best)
    f, error = kernel_sums(problem, beta, n_threads)
    b = best_bias(problem, beta, f).middle
    return Candidate(beta, b, beta), Scores.of(f, error, problem.y, b)


def kernel_sums(problem: Problem, v: Floats, n_threads: int = 1) -> tuple[Floats, Floats]:
    """Σ_j v_j k(x_j, x) for each sample x in float64, and bounds of their errors."""
    used = np.flatnonzero(v)
    expansion = problem.expansion(used, v[used])
    parts = [expansion.bounded(rows, FLOAT64, n_threads) for _, rows in problem.pieces()]
    return np.concatenate([part.sums[0, 0] for part in parts]), np.concatenate([part.error[0] for part in parts])


def tightened(problem: Problem, solver: Any, *, tol: float, warm: Candidate | None) -> Solution:
    """Solve to `tol`, then on until a typical decision value is certain to a hundredth; an interrupted one comes back as it is.

    The radius of the ball is the root of the absolute gap, so that the relative gap to ask for is only known with P.
    """
    solution = solve(problem, solver, tol=tol, warm=warm)
    certificate = solution.certificate
    assert certificate is not None
    typical = float((problem.diag() + problem.bias.scale**2)[problem.present].mean())
    wanted = TUNING.sure_within**2 / max(typical * abs(certificate.primal), np.finfo(np.float64).tiny)
    goal = max(min(wanted, tol), FINEST)
    if not np.isfinite(certificate.gap) or certificate.relative_gap <= goal:
        return solution
    return solve(problem, solver, tol=goal, warm=solution)
