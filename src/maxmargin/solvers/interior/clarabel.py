"""Clarabel behind one function: the only place that imports it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.core.reduce import ConeProgram
from maxmargin.solvers.base import Clock, deferred_interrupt
from maxmargin.typing import Floats


@dataclass(frozen=True)
class ConeResult:
    """What came back: the last iterate, whether the budget or the user cut it short, and its rounds."""

    x: Floats
    z: Floats
    rounds: int
    was_stopped: bool


def run_clarabel(program: ConeProgram, clock: Clock, accuracy: float = 1e-13) -> ConeResult:
    """Run the interior-point method to `accuracy` or to where the arithmetic ends; budgets and Ctrl-C are heard each round."""
    import clarabel

    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = accuracy
    settings.max_iter = int(min(clock.rounds_left, 500))
    settings.max_threads = 1
    n_rows = program.A.shape[0]
    cones = [clarabel.NonnegativeConeT(n_rows - program.n_equalities)]
    if program.n_equalities:
        cones.insert(0, clarabel.ZeroConeT(program.n_equalities))
    P, A = sp.csc_matrix(program.P), sp.csc_matrix(program.A)  # Clarabel reads SciPy's older matrix class
    solver = clarabel.DefaultSolver(P, program.q, A, program.b, cones, settings)
    raised: list[BaseException] = []

    def should_stop(info: Any) -> bool:
        try:
            return was_interrupted() or clock.seconds_left <= 0
        except BaseException as error:  # Clarabel would print it and go on
            raised.append(error)
            return True

    with deferred_interrupt() as was_interrupted:
        solver.set_termination_callback(should_stop)
        solution = solver.solve()
    if raised:
        raise raised[0]
    was_stopped = str(solution.status) in ("CallbackTerminated", "MaxIterations", "MaxTime")
    return ConeResult(np.asarray(solution.x), np.asarray(solution.z), int(solution.iterations), was_stopped)
