"""Small data: all binary problems of a fit are posed, solved and certified together (`solvers.smo.together`)."""

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from maxmargin.core import Solution, Status
from maxmargin.core.certificate.optimum_ball import OptimumBall
from maxmargin.estimators.training_data import class_factors, costs
from maxmargin.kernel_matrix.matrix import KernelMatrix
from maxmargin.solvers.base import Budget, Clock
from maxmargin.solvers.smo.together import Together, solve_together
from maxmargin.threads import one_blas_thread
from maxmargin.typing import Floats, Indices, Matrix

MOST_SAMPLES = 600
"""Most samples of a problem for which its whole kernel matrix pays; chosen on digits, a9a, ijcnn1."""


class AtOnce(NamedTuple):
    """What was found, and where the optima lie."""

    solutions: list[Solution]
    balls: list[OptimumBall]

    @property
    def is_over(self) -> bool:
        """Whether each problem has reached its gap, or Ctrl-C was pressed."""
        return all(solution.status is not Status.UNREACHED for solution in self.solutions)


def solved_at_once(model: Any, X: Matrix, labels: Indices, weights: Floats, tol: float) -> AtOnce | None:
    """The solutions of a classifier with the hinge; None if its data are large, or its options are not the usual ones."""
    budget: Budget = model._budget(model.max_iter, model.max_seconds, model.cache_size)
    asked = model.loss, model.penalty, model.solver, model.warm_start, budget.iterations, budget.seconds, model.n_starts
    if 8 * X.shape[0] ** 2 > budget.bytes or asked != ("hinge", "l2", "auto", False, None, None, 1):
        return None
    trade_off, bias, kernel = model._trade_off(), model._bias(), model._resolved_kernel(X, weights)
    if (
        trade_off.is_hard or kernel.psd is False or (bias.scale and math.frexp(bias.scale)[0] != 0.5)
    ):  # a power of 2 keeps b exact
        return None
    clock = Clock(budget)
    factors = class_factors(model.class_weight, model.classes_, labels, weights)[labels]
    present, opponents = np.where(weights > 0.0, labels, -1), model._opponents()
    chosen = [np.flatnonzero(present >= 0 if j is None else (present == i) | (present == j)) for i, j in opponents]
    rows, sizes = np.concatenate(chosen), np.array([len(own) for own in chosen])
    if sizes.max() > MOST_SAMPLES:
        return None
    y = np.where(labels[rows] == np.repeat([i for i, _ in opponents], sizes), 1.0, -1.0)
    if trade_off.is_mean and len(chosen) > 1:
        cost = np.concatenate([costs(trade_off, weights[own], factors[own]) for own in chosen])
    else:
        cost = costs(trade_off, weights, factors)[rows]
    if bias.scale:
        constant = np.full((X.shape[0], 1), bias.scale, dtype=X.dtype)
        X = sp.csr_array(sp.hstack((X, constant), format="csr")) if sp.issparse(X) else np.hstack((X, constant))
    together = Together(rows, np.concatenate(([0], np.cumsum(sizes))), y, cost, bias.is_free, bias.scale)
    with one_blas_thread():
        found = solve_together(KernelMatrix(kernel, X, dtype=np.float64), together, tol, clock)
    if found is None:
        return None
    if model._is_pairwise:  # a kernel machine
        model.kernel_ = kernel
    solutions = [each.solution for each in found]
    if not weights.all():
        everyone = [np.ones(len(labels), bool) if j is None else (labels == i) | (labels == j) for i, j in opponents]
        solutions = [_with_absent(each, weights[own] > 0.0) for each, own in zip(solutions, everyone, strict=True)]
    return AtOnce(solutions, [each.ball for each in found if each.ball is not None])


def _with_absent(solution: Solution, is_present: Any) -> Solution:
    """The solution with β = 0 added for the samples of weight 0."""
    beta = np.zeros(len(is_present))
    beta[is_present] = solution.beta
    return replace(solution, beta=beta, w=beta if solution.w is solution.beta else solution.w)
