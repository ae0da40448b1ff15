"""Small data: all pairs of classes are posed, solved and certified together (`solvers.smo.together`)."""

from typing import Any, NamedTuple

import numpy as np

from maxmargin.core import Solution, Status
from maxmargin.core.certificate.optimum_ball import OptimumBall
from maxmargin.estimators.multiclass.parallel import jobs_elsewhere
from maxmargin.estimators.progress.callbacks import WATCHER
from maxmargin.estimators.training_data import class_factors, costs
from maxmargin.kernel_matrix.matrix import KernelMatrix
from maxmargin.kernels import Linear
from maxmargin.solvers.base import Budget, Clock
from maxmargin.solvers.smo.together import Together, solve_together
from maxmargin.threads import one_blas_thread
from maxmargin.typing import Floats, Indices, Matrix

MOST_SAMPLES = 2000
"""Rows of data whose kernel matrix is made as a whole: 32 MB."""


class AtOnce(NamedTuple):
    """What was found, and where the optima lie."""

    solutions: list[Solution]
    balls: list[OptimumBall]


def solved_at_once(model: Any, X: Matrix, labels: Indices, weights: Floats, tol: float) -> AtOnce | None:
    """The solutions of a classifier with a kernel; None where its data are large, its options ask for more than a gap, or a gap
    was not reached.
    """
    asked = model.loss, model.solver, model.warm_start, model.max_iter, model.max_seconds, model.n_starts
    is_watched = model.verbose or getattr(model, "_skl_callbacks", None) or WATCHER.get() is not None
    if X.shape[0] > MOST_SAMPLES or asked != ("hinge", "auto", False, -1, None, 1) or is_watched or jobs_elsewhere():
        return None
    trade_off, bias, kernel = model._trade_off(), model._bias(), model._resolved_kernel(X, weights)
    if trade_off.is_hard or kernel.psd is False or isinstance(kernel, Linear) or not weights.all():
        return None
    clock = Clock(Budget())
    factors = class_factors(model.class_weight, model.classes_, labels, weights)[labels]
    members, opponents = [labels == k for k in range(len(model.classes_))], model._opponents()
    chosen = [np.flatnonzero(members[i] | members[j]) for i, j in opponents]
    rows, sizes = np.concatenate(chosen), np.array([len(own) for own in chosen])
    y = np.where(labels[rows] == np.repeat([i for i, _ in opponents], sizes), 1.0, -1.0)
    if trade_off.is_mean and len(chosen) > 1:
        cost = np.concatenate([costs(trade_off, weights[own], factors[own]) for own in chosen])
    else:
        cost = costs(trade_off, weights, factors)[rows]
    together = Together(rows, np.concatenate(([0], np.cumsum(sizes))), y, cost, bias.is_free)
    with one_blas_thread():
        found = solve_together(KernelMatrix(kernel, X, dtype=np.float64), together, tol, clock)
    if found is None or any(each.solution.status is not Status.SOLVED for each in found):
        return None
    model.kernel_ = kernel
    return AtOnce([each.solution for each in found], [each.ball for each in found if each.ball is not None])
