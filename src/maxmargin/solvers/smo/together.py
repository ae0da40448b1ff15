"""All binary problems of a small data set together: one kernel matrix, one compiled call, one pass for their certificates.

    min_β  ½ βᵀKβ − yᵀβ    s.t.  0 ≤ y_jβ_j ≤ c_j,   and Σβ = 0 where the bias is free

A problem of some hundreds of samples is solved in less time than it takes to set it up. So no step is done
problem by problem, and the formulas of `core.certificate` work on arrays with an entry for each. A problem that misses its gap
here is left to `solve`, and so are all of them where K needs more than float64.
"""

from typing import NamedTuple

import numpy as np

from maxmargin.core import Solution, Status, TracePoint
from maxmargin.core.certificate.certify import each_assembled
from maxmargin.core.certificate.optimum_ball import OptimumBall, balls_of_each
from maxmargin.core.certificate.pairs import Pair, lengths_from, of_each_expansion, of_each_weights
from maxmargin.core.certificate.parts import Part, Samples
from maxmargin.core.certificate.scores import GAP_SHARE, Scores, scores_of_each
from maxmargin.core.products import lengths_above
from maxmargin.kernel_matrix.matrix import KernelMatrix
from maxmargin.kernels import Linear
from maxmargin.solvers.base import Clock
from maxmargin.solvers.refine import REFINE
from maxmargin.solvers.smo.smo import SMO
from maxmargin.typing import Floats, Indices

MOST_WORK = SMO.tuning.round_work / SMO.tuning.part
"""Most work on one problem, in entries that pair steps pass over (about 6 ms); with more to do it is left to `solve`."""


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


class Solved(NamedTuple):
    """A problem's solution, and where the optimum lies, if that is known."""

    solution: Solution
    ball: OptimumBall | None


def solve_together(matrix: KernelMatrix, problems: Together, tol: float, clock: Clock) -> list[Solved] | None:
    """The solutions with their certificates; some may miss `tol`. None if float64 is too coarse for K.

    Cost: n² kernel values for all n rows of the data, and the pairs of each problem; memory 8n² bytes.
    """
    from maxmargin._loops.smo.together import solve_together as solve_all

    K = matrix.whole()
    if K is None:
        return None
    rows, starts, y, cost, is_free, constant = problems
    beta, f, biases = np.zeros(len(y)), np.zeros(len(y)), np.zeros(len(starts) - 1)
    rounds = np.zeros(len(biases), dtype=np.intp)
    limits = (1.0 - GAP_SHARE) * tol, SMO.tuning.share, MOST_WORK, REFINE.small / len(biases)
    try:
        for p in range(0, len(biases), SMO.tuning.part):  # each call takes no longer than a round of SMO, so that Ctrl-C is heard
            some = starts[p : p + SMO.tuning.part + 1]
            solve_all(K, rows, some, y, cost, is_free, *limits, beta, f, biases[p:], rounds[p:])
        is_interrupted = False
    except KeyboardInterrupt:
        is_interrupted = True
    begins, sizes = starts[:-1], np.diff(starts)
    which, pair, models = np.repeat(np.arange(len(sizes)), sizes), None, None
    width = matrix.X.shape[1] - (constant > 0.0)
    if isinstance(matrix.kernel, Linear):
        lengths = lengths_above(matrix.X)
        models, pair, f, error = _weights(matrix, problems, which, beta, lengths, width)
    else:
        lengths = lengths_from(np.asarray(matrix.diag(), dtype=np.float64))
        weights = np.asarray(np.bincount(rows, np.abs(beta), len(K)), dtype=np.float64)  # Σ|β| of each row over all problems
        error = matrix.sum_errors(K, weights, int(sizes.max()))[rows]
        pair = of_each_expansion(begins, beta, f, error)
    scores = Scores.of(f, error, y, biases[which])
    samples = Samples(scores.slack, scores.slack_error, beta * y, cost, y)
    part = Part.of_each(samples, begins, float(lengths.max()))
    certificates = each_assembled(part, pair, is_free=is_free, tol=tol, psd=matrix.kernel.psd)
    balls = balls_of_each(certificates, samples, scores, lengths[rows], begins, is_free) if matrix.kernel.psd else None
    seconds, found = clock.seconds, []
    for p, certificate in enumerate(certificates):
        own, took = beta[begins[p] : starts[p + 1]], int(rounds[p])
        trace = (TracePoint(seconds, took, certificate.primal, certificate.dual, certificate.relative_gap),)
        status = Status.INTERRUPTED if is_interrupted else Status.UNREACHED
        status = Status.SOLVED if certificate.relative_gap <= tol else status
        why = f"SMO: only {len(own)} samples: all problems of the fit in one call, on one kernel matrix"
        w = own if models is None else models[p, :width]
        b = constant * float(models[p, width]) if models is not None and constant else float(biases[p])
        ball = None if balls is None else balls[p]
        if ball is not None and constant:
            ball = OptimumBall(ball.radius, b, b, constant)
        found.append(Solved(Solution(w, b, own, status, took, why, trace, certificate), ball))
    return found


def _weights(
    matrix: KernelMatrix, problems: Together, which: Indices, beta: Floats, lengths: Floats, width: int
) -> tuple[Floats, Pair, Floats, Floats]:
    """Of each linear problem: its weights (a row), what they add to its certificate, its scores, and their errors."""
    rows, X = problems.rows, matrix.X
    table = np.zeros((len(problems.starts) - 1, X.shape[0]))
    table[which, rows] = beta
    W = np.ascontiguousarray((X.T @ table.T).T)
    pair = of_each_weights(W, width, np.diff(problems.starts), np.abs(table) @ lengths)
    f, error = scores_of_each(X, W, lengths)
    return W, pair, f[rows, which], error[rows, which]
