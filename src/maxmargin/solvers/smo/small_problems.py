"""Small problems, with little Python around the compiled loops: most pairs of many classes end here."""

import numpy as np

from maxmargin.core.losses import Hinge
from maxmargin.core.problem import Problem
from maxmargin.kernel_matrix.compiled import CompiledRows
from maxmargin.kernel_matrix.tiles import EPS32, is_sparse
from maxmargin.kernels import RBF
from maxmargin.kernels.rbf import MAX_FLOAT32_ERROR, MAX_FLOAT32_GAMMA
from maxmargin.solvers.smo import working_set
from maxmargin.solvers.smo.kernel_columns import NARROW, ROUGH
from maxmargin.solvers.smo.state import State
from maxmargin.solvers.smo.working_kernel import WorkingKernel, padded

MOST_ROUNDS = 4
"""Slower problems are for those who leave samples out, and who hear the clock in between."""


def is_suitable(problem: Problem, tol: float) -> bool:
    """Whether the loop is made for it: the hinge, few features, some hundreds to thousands of samples, a gap for float32."""
    X, kernel = problem.X, problem.kernel
    return (
        problem.is_classification
        and isinstance(kernel, RBF)
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
    """Begin at β = 0 and make up to a few rounds, until the gap is at most `goal`; how many they were.

    Pairs move until their violation is this share of what it was, or what the gap asks for. 0: float32 is too coarse.
    """
    from maxmargin._loops.smo.hinge_gap import look
    from maxmargin._loops.smo.pair_steps import add_rows

    source = _rows_of(state.problem)
    if source is None:
        return 0
    problem, active, least, rounds = state.problem, state.active, np.inf, 0
    is_free, room = problem.bias.is_free, working_set.bytes_for_rows(problem.n, state.max_bytes // 4)
    kernel = WorkingKernel.by_rows(source, active.delta, 0.0, room)
    while rounds < min(MOST_ROUNDS, max_rounds):
        rounds += 1
        beta = kernel.solve(active.beta, active.lo, active.hi, active.g, is_free, share)
        moves = beta - active.beta
        moved = np.flatnonzero(moves)
        add_rows(kernel.K, kernel.slot[moved], moves[moved], active.g, 0, problem.n)
        active.beta = beta
        state.b, missing, state.dual = look(active.g, problem.y, problem.y, beta, problem.cost, is_free)
        state.gap = missing / max(abs(state.dual) + missing, np.finfo(float).tiny)
        if state.gap <= goal or state.gap > 0.9 * least or kernel.is_full:
            break
        least, share = state.gap, max(share, 0.5 * goal / state.gap)
    return rounds


def _rows_of(problem: Problem) -> CompiledRows | None:
    """What makes rows of K in float32; None where it is too coarse."""
    from maxmargin._loops.smo.small_problems import prepare

    size = padded(problem.n)
    T = np.zeros((-(-problem.X.shape[1] // 4) * 4, size), dtype=np.float32)
    squares = np.zeros(size, dtype=np.float32)
    rows = np.arange(problem.n) if problem.rows is None else problem.rows
    largest = prepare(problem.X, rows, float(problem.kernel.gamma), T, squares)  # type: ignore[attr-defined]
    return CompiledRows(T, squares) if largest <= MAX_FLOAT32_ERROR / EPS32 else None
