"""Small problems by one compiled call, whose rounds need no Python: most pairs of many classes end there."""

import numpy as np

from maxmargin.core.losses import Hinge
from maxmargin.core.problem import Problem
from maxmargin.kernels import RBF
from maxmargin.kernels.rbf import MAX_FLOAT32_ERROR, MAX_FLOAT32_GAMMA
from maxmargin.kernels.tiles import EPS32, is_sparse
from maxmargin.solvers import working_set
from maxmargin.solvers.kernel_columns import NARROW, ROUGH
from maxmargin.solvers.smo_state import State
from maxmargin.solvers.working_kernel import INNER_WORK, padded

MOST_ROUNDS = 8
"""More than a few are for those who look at the whole problem again."""


def is_suitable(problem: Problem, tol: float) -> bool:
    """Whether the loop is made for it: the hinge, few features, some hundreds to thousands of samples, a gap for float32."""
    X, kernel = problem.X, problem.kernel
    return (
        isinstance(kernel, RBF)
        and isinstance(problem.loss, Hinge)
        and problem.bias.kind != "penalized"
        and working_set.FEW < problem.n <= working_set.WHOLE
        and tol >= ROUGH
        and not is_sparse(X)
        and X.dtype == np.float64
        and X.flags.carray  # the one layout that it is compiled for
        and X.shape[1] <= NARROW
        and float(kernel.gamma) <= MAX_FLOAT32_GAMMA
        and bool((problem.cost > 0).all())
    )


def solve_at_once(state: State, goal: float, share: float, max_rounds: float) -> int:
    """Begin at β = 0 and go as far as one call goes, until the gap is at most `goal`; how many rounds that were.

    Pairs move until their violation is this share of what it was. 0 rounds: float32 is too coarse for the data.
    """
    from maxmargin._loops.whole_problem import DUAL, GAP, N_REPORTED, ROUNDS, B, solve_whole

    problem, active = state.problem, state.active
    size = padded(problem.n)
    beta, g, report = np.zeros(size), np.empty(problem.n), np.empty(N_REPORTED)
    solve_whole(
        problem.X,
        np.arange(problem.n) if problem.rows is None else problem.rows,
        float(problem.kernel.gamma),  # type: ignore[attr-defined]
        problem.y,
        problem.cost,
        problem.bias.is_free,
        goal,
        MAX_FLOAT32_ERROR / EPS32,
        max(2, working_set.bytes_for_rows(problem.n, state.max_bytes // 4) // (4 * size)),
        int(INNER_WORK / size),
        int(min(MOST_ROUNDS, max_rounds)),
        share,
        beta,
        g,
        report,
    )
    rounds = int(report[ROUNDS])
    if rounds:
        active.beta, active.g = beta[: problem.n], g
        state.b, state.gap, state.dual = float(report[B]), float(report[GAP]), float(report[DUAL])
    return rounds
