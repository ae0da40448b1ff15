"""All binary problems of a small data set together: what they are, and one pass for their certificates.

    min ½‖w‖² + Σ c_j max(0, 1 − y_j F_j)

A problem of some hundreds of samples is solved in less time than it takes to set it up. So no step is done problem by problem,
and the formulas of `core.certificate` run over all of them in one compiled call. Who solves them: `solvers.smo.together`,
`solvers.linear.together`. A problem that misses its gap here is left to `solve`.
"""

from typing import NamedTuple

import numpy as np

from maxmargin.core import Solution, Status, TracePoint
from maxmargin.core.certificate.certify import of_each
from maxmargin.core.certificate.optimum_ball import OptimumBall, balls_of_each
from maxmargin.core.certificate.scores import scores_of_each
from maxmargin.core.products import lengths_above
from maxmargin.solvers.base import Clock
from maxmargin.typing import Floats, Indices, Matrix


class Together(NamedTuple):
    """Hinge problems on rows of the same data. Problem p has the samples from starts[p] up to starts[p + 1]; `rows` are their
    rows.

    For a penalised bias the last feature of each row is `constant`: a power of 2, so its weight times it is b exactly.
    """

    rows: Indices
    starts: Indices
    y: Floats
    cost: Floats
    is_free: bool
    constant: float = 0.0

    @property
    def n(self) -> int:
        """Number of problems."""
        return len(self.starts) - 1

    @property
    def of_each(self) -> Indices:
        """The problem of each sample."""
        return np.repeat(np.arange(self.n), np.diff(self.starts))

    def table(self, beta: Floats, n_rows: int) -> Floats:
        """β of each problem (a row) for all rows of the data."""
        table = np.zeros((self.n, n_rows))
        table[self.of_each, self.rows] = beta
        return table


class Sums(NamedTuple):
    """What the certificates need beside β and b: the scores f of the samples with bounds of their errors, bounds of ‖φ‖ of the
    rows, and of linear problems w and w(β), a row each.
    """

    f: Floats
    error: Floats
    lengths: Floats
    weights: Floats
    made: Floats

    @classmethod
    def of_weights(cls, X: Matrix, problems: Together, weights: Floats, made: Floats) -> "Sums":
        """Of linear problems."""
        lengths, which = lengths_above(X), problems.of_each
        f, error = scores_of_each(X, weights, lengths)
        return cls(f[problems.rows, which], error[problems.rows, which], lengths, weights, made)


class Solved(NamedTuple):
    """A problem's solution, and where the optimum lies, if that is known."""

    solution: Solution
    ball: OptimumBall | None


def certified(
    problems: Together, beta: Floats, biases: Floats, sums: Sums, psd: bool | None, tol: float, clock: Clock, rounds: Indices,
    why: str, is_interrupted: bool,
) -> list[Solved]:  # fmt: skip
    """The solutions with their certificates; some may miss `tol`."""
    from maxmargin._loops.certificate import N_NUMBERS, hinge_certificates

    rows, starts, y, cost, is_free, constant = problems
    f, error, lengths, weights, made = sums
    width = weights.shape[1] - (constant > 0.0)
    slack, slack_error, numbers = np.empty(len(y)), np.empty(len(y)), np.empty((problems.n, N_NUMBERS))
    hinge_certificates(
        f, error, beta, y, cost, biases, rows, starts, lengths, weights, made, width, is_free, slack, slack_error, numbers
    )
    certificates, balls = of_each(numbers, psd, tol), list[OptimumBall]()
    if psd:
        radii = np.array([certificate.radius for certificate in certificates])
        balls = balls_of_each(radii, f, error, lengths, rows, y, cost, starts, is_free)
    seconds, found = clock.seconds, []
    for p, certificate in enumerate(certificates):
        own, took = beta[starts[p] : starts[p + 1]], int(rounds[p])
        trace = (TracePoint(seconds, took, certificate.primal, certificate.dual, certificate.relative_gap),)
        status = Status.INTERRUPTED if is_interrupted else Status.UNREACHED
        status = Status.SOLVED if certificate.relative_gap <= tol else status
        w = weights[p, :width] if len(weights) else own
        b = constant * float(weights[p, width]) if constant else float(biases[p])
        ball = balls[p] if balls else None
        if ball is not None and constant:
            ball = OptimumBall(ball.radius, b, b, constant)
        reason = f"{why.format(n=len(own))}: all problems of the fit in one call"
        found.append(Solved(Solution(w, b, own, status, took, reason, trace, certificate), ball))
    return found
