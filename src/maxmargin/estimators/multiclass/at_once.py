"""Small data: all binary problems of a fit are posed, solved and certified together (`solvers.together`)."""

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from maxmargin.core import Solution, Status
from maxmargin.core.certificate.optimum_ball import OptimumBall
from maxmargin.estimators.multiclass.one_vs_one import rows_of_pairs
from maxmargin.estimators.training_data import class_factors, costs
from maxmargin.kernel_matrix.matrix import KernelMatrix
from maxmargin.kernels import Linear
from maxmargin.solvers.base import DRIVER, Budget, Clock
from maxmargin.solvers.linear import together as newton
from maxmargin.solvers.smo import together as smo
from maxmargin.solvers.together import Together
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
    n, k = X.shape[0], len(model.classes_)
    typical = 2 * n // k if model._is_pairwise else n  # samples of a problem
    is_linear = not model._is_pairwise
    if k == 2 and typical > MOST_SAMPLES:
        is_linear = is_linear or model.kernel == "linear" or isinstance(model.kernel, Linear)
    is_dense = is_linear and newton.suits(X)
    if not is_dense and typical > MOST_SAMPLES:
        return None
    budget: Budget = model._budget(model.max_iter, model.max_seconds, model.cache_size)
    asked = model.loss, model.penalty, model.solver, model.warm_start, budget.iterations, budget.seconds, model.n_starts
    if 8 * n**2 > budget.bytes or asked != ("hinge", "l2", "auto", False, None, None, 1):
        return None
    trade_off, bias, kernel = model._trade_off(), model._bias(), model._resolved_kernel(X, weights)
    if (
        trade_off.is_hard or kernel.psd is False or (bias.scale and math.frexp(bias.scale)[0] != 0.5)
    ):  # a power of 2 keeps b exact
        return None
    clock, is_present = Clock(budget), weights > 0.0
    factors, everybody = class_factors(model.class_weight, model.classes_, labels, weights)[labels], labels
    if not is_present.all():
        X, labels, weights, factors = X[is_present], labels[is_present], weights[is_present], factors[is_present]
    opponents = model._opponents()
    if model._is_pairwise and k > 2:
        rows, starts = rows_of_pairs(labels, k)
    else:
        rows, starts = np.tile(np.arange(len(labels)), len(opponents)), len(labels) * np.arange(len(opponents) + 1)
    sizes = np.diff(starts)
    if not is_dense and sizes.max() > MOST_SAMPLES:
        return None
    y = np.where(labels[rows] == np.repeat([i for i, _ in opponents], sizes), 1.0, -1.0)
    if trade_off.is_mean and len(opponents) > 1:
        each = [rows[starts[p] : starts[p + 1]] for p in range(len(opponents))]
        cost = np.concatenate([costs(trade_off, weights[own], factors[own]) for own in each])
    else:
        cost = costs(trade_off, weights, factors)[rows]
    if cost.max() > DRIVER.harmless / len(cost):  # `solve` asks whether the objective leaves float64
        return None
    if bias.scale:
        constant = np.full((X.shape[0], 1), bias.scale, dtype=X.dtype)
        X = sp.csr_array(sp.hstack((X, constant), format="csr")) if sp.issparse(X) else np.hstack((X, constant))
    together = Together(rows, starts, y, cost, bias.is_free, bias.scale)
    with one_blas_thread():
        if not is_dense:
            found = smo.solve_together(KernelMatrix(kernel, X, dtype=np.float64), together, tol, clock)
        else:
            found = newton.solve_together(X, together, tol, clock)
    if found is None:
        return None
    if model._is_pairwise:  # a kernel machine
        model.kernel_ = kernel
    solutions = [each.solution for each in found]
    if len(labels) < len(everybody):
        sides = [np.full(len(everybody), True) if j is None else (everybody == i) | (everybody == j) for i, j in opponents]
        solutions = [_with_absent(each, is_present[own]) for each, own in zip(solutions, sides, strict=True)]
    return AtOnce(solutions, [each.ball for each in found if each.ball is not None])


def _with_absent(solution: Solution, is_present: Any) -> Solution:
    """The solution with β = 0 added for the samples of weight 0."""
    beta = np.zeros(len(is_present))
    beta[is_present] = solution.beta
    return replace(solution, beta=beta, w=beta if solution.w is solution.beta else solution.w)
