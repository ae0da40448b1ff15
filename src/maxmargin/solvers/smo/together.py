"""All binary problems of a small data set together: one kernel matrix, one compiled call, one pass for their certificates.

    min_β  ½ βᵀKβ − yᵀβ    s.t.  0 ≤ y_jβ_j ≤ c_j,   and Σβ = 0 where the bias is free

A problem of some hundreds of samples is solved in less time than it takes to set it up. So nothing is done for one problem alone,
and the formulas of `core.certificate` work on arrays with an entry for each. What does not reach its gap here, or needs more than
float64, is left to `solve`.
"""

from typing import NamedTuple

import numpy as np

from maxmargin.core import Hinge, Solution, Status, TracePoint
from maxmargin.core.certificate.certify import each_assembled
from maxmargin.core.certificate.optimum_ball import OptimumBall, balls_of_each
from maxmargin.core.certificate.pairs import lengths_from, of_each_expansion
from maxmargin.core.certificate.parts import Part, Samples
from maxmargin.core.certificate.scores import GAP_SHARE, Scores
from maxmargin.kernel_matrix.matrix import KernelMatrix
from maxmargin.solvers.base import Clock
from maxmargin.solvers.smo.smo import SMO
from maxmargin.typing import Floats, Indices


class Together(NamedTuple):
    """Problems with the hinge on rows of the same data, one after the other: problem p begins at starts[p], and the last ends at
    starts[-1]. `rows` are those of the data.
    """

    rows: Indices
    starts: Indices
    y: Floats
    cost: Floats
    is_free: bool


class Solved(NamedTuple):
    """A problem's solution, and where the optimum lies."""

    solution: Solution
    ball: OptimumBall | None


def solve_together(matrix: KernelMatrix, problems: Together, tol: float, clock: Clock) -> list[Solved] | None:
    """The solutions, certified; None where the kernel matrix needs more than float64.

    Cost: n² kernel values for all n rows of the data, and the pairs of each problem; memory 8n² bytes.
    """
    from maxmargin._loops.smo.together import solve_together as solve_all

    K = matrix.whole()
    if K is None:
        return None
    rows, starts, y, cost, is_free = problems
    beta, f, biases = np.zeros(len(y)), np.zeros(len(y)), np.zeros(len(starts) - 1)
    rounds = np.zeros(len(biases), dtype=np.intp)
    most_rounds = SMO.tuning.window
    solve_all(K, rows, starts, y, cost, is_free, (1.0 - GAP_SHARE) * tol, most_rounds, beta, f, biases, rounds)
    clock.rounds += int(rounds.max())
    begins, sizes = starts[:-1], np.diff(starts)
    error = matrix.sum_errors(K, np.bincount(rows, np.abs(beta), len(K)), int(sizes.max()))[rows]
    scores = Scores.of(f, error, y, np.repeat(biases, sizes))
    samples = Samples(scores.slack, scores.slack_error, beta * y, cost, y)
    lengths = lengths_from(matrix.diag())
    part = Part.of_each(Hinge(), samples, begins, float(lengths.max()))
    pair = of_each_expansion(begins, beta, f, error)
    certificates = each_assembled(part, pair, is_free=is_free, tol=tol, psd=matrix.kernel.psd)
    balls = balls_of_each(certificates, samples, scores, lengths[rows], begins, is_free) if matrix.kernel.psd else None
    seconds, found = clock.seconds, []
    for p, (begin, end, b, certificate) in enumerate(zip(begins.tolist(), starts[1:].tolist(), biases.tolist(), certificates)):
        own = beta[begin:end]
        status = Status.SOLVED if certificate.relative_gap <= tol else Status.UNREACHED
        trace = (TracePoint(seconds, int(rounds[p]), certificate.primal, certificate.dual, certificate.relative_gap),)
        why = f"SMO: {end - begin} samples with a kernel, in one call with all problems of the fit"
        solution = Solution(own, b, own, status, int(rounds[p]), why, trace, certificate)
        found.append(Solved(solution, None if balls is None else balls[p]))
    return found
