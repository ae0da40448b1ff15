"""Small problems with the hinge on one kernel matrix, solved in a few compiled calls.

    min_β  ½ βᵀKβ − yᵀβ    s.t.  0 ≤ y_jβ_j ≤ c_j,   and Σβ = 0 where the bias is free

All of them are left to `solve` where K needs more than float64.
"""

import numpy as np

from maxmargin.core.certificate.pairs import lengths_from
from maxmargin.core.certificate.scores import GAP_SHARE
from maxmargin.kernel_matrix.matrix import KernelMatrix
from maxmargin.kernels import Linear
from maxmargin.solvers.base import Clock
from maxmargin.solvers.refine import REFINE
from maxmargin.solvers.smo.smo import SMO
from maxmargin.solvers.together import Solved, Sums, Together, certified

MOST_WORK = SMO.tuning.round_work / SMO.tuning.part
"""Most work on one problem, in entries that pair steps pass over (about 6 ms); with more to do it is left to `solve`."""


def solve_together(matrix: KernelMatrix, problems: Together, tol: float, clock: Clock) -> list[Solved] | None:
    """The solutions with their certificates; some may miss `tol`. None if float64 is too coarse for K.

    Cost: n² kernel values for all n rows of the data, and the pairs of each problem; memory 8n² bytes.
    """
    from maxmargin._loops.smo.together import solve_together as solve_all

    K = matrix.whole()
    if K is None:
        return None
    rows, starts, y, cost, is_free, _ = problems
    beta, f, biases = np.zeros(len(y)), np.zeros(len(y)), np.zeros(problems.n)
    rounds = np.zeros(problems.n, dtype=np.intp)
    spare = 0.5 * REFINE.small / problems.n
    limits, is_interrupted = ((1.0 - GAP_SHARE) * tol, SMO.tuning.share, MOST_WORK, spare), False
    try:
        for p in range(0, problems.n, SMO.tuning.part):  # each call takes no longer than a round of SMO, so that Ctrl-C is heard
            some = starts[p : p + SMO.tuning.part + 1]
            solve_all(K, rows, some, y, cost, is_free, *limits, beta, f, biases[p:], rounds[p:])
    except KeyboardInterrupt:
        is_interrupted = True
    if isinstance(matrix.kernel, Linear):
        made = np.ascontiguousarray((matrix.X.T @ problems.table(beta, len(K)).T).T)
        sums = Sums.of_weights(matrix.X, problems, made, made)
    else:
        lengths = lengths_from(np.asarray(matrix.diag(), dtype=np.float64))
        weights = np.asarray(np.bincount(rows, np.abs(beta), len(K)), dtype=np.float64)  # Σ|β| of each row over all problems
        error = matrix.sum_errors(K, weights, int(np.diff(starts).max()))[rows]
        sums = Sums(f, error, lengths, np.empty((0, 0)), np.empty((0, 0)))
    why = "SMO: only {n} samples, on one kernel matrix"
    return certified(problems, beta, biases, sums, matrix.kernel.psd, tol, clock, rounds, why, is_interrupted)
