"""What all regressors share: targets that are numbers, the tube, and R² as the score."""

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from maxmargin.core import Problem, Solution, certify
from maxmargin.core.losses import Loss, loss_from_name
from maxmargin.core.regression import folded, to_regression, unfolded
from maxmargin.estimators import training_data
from maxmargin.estimators.base import Machine, check, is_number
from maxmargin.estimators.training_data import checked_input, costs
from maxmargin.kernel_matrix.matrix import KernelMatrix
from maxmargin.kernels import Kernel, Linear
from maxmargin.typing import Floats, Matrix

LOSSES = {"epsilon_insensitive": "hinge", "squared_epsilon_insensitive": "squared_hinge"}
"""The losses of a regression, by the hinge that both sides of the tube have."""


class Regressor(RegressorMixin, Machine):  # type: ignore[misc]
    """Abstract base of the regressors: `y` is the targets as float64."""

    loss: Any = "epsilon_insensitive"
    epsilon: Any = 0.0

    _losses = tuple(LOSSES)

    def _validated(self, X: Any, y: Any, sample_weight: Any) -> tuple[Matrix, Floats, Floats]:
        """Rows, targets, weights ≥ 0."""
        X, y = checked_input(self, X, y, y_numeric=True)
        X, y = training_data.checked_rows(X), np.asarray(y, dtype=np.float64)
        training_data.check_magnitude(y, "y", "targets")
        return X, y, training_data.checked_weights(sample_weight, X, np.zeros(len(y), dtype=np.intp), np.array(["any target"]))

    def _checked_tol(self) -> float:
        is_width = is_number(self.epsilon) and 0 <= self.epsilon < np.inf
        check(is_width, "epsilon", self.epsilon, "a finite number ≥ 0, half the width of the tube")
        return super()._checked_tol()

    def _problems(self, X: Matrix, y: Floats, weights: Floats, kernel: Kernel | None = None) -> list[Problem]:
        kernel = self._resolved_kernel(X, weights) if kernel is None else kernel
        cost = costs(self._trade_off(), weights, np.ones(len(y)))
        shared = None if isinstance(kernel, Linear) else KernelMatrix(kernel, X)
        options = {"kernel": kernel, "bias": self._bias(), "shared": shared, "loss": self._side_loss()}
        return [to_regression(X, y, cost, float(self.epsilon), **options)]

    def _side_loss(self) -> Loss:
        """The loss of each side of the tube."""
        return loss_from_name(LOSSES[self.loss])

    def _settled(self, k: int, problem: Problem, solution: Solution) -> Solution:
        """With one dual variable of a sample at most, as the attributes keep their sum only."""
        beta = unfolded(folded(solution.beta))
        if np.array_equal(beta, solution.beta):
            return solution
        w = solution.w if problem.is_linear else beta
        better = replace(solution, w=w, beta=beta, scores=None)
        return replace(better, certificate=certify(problem, better, tol=float(self.tol)))

    def _is_like(self, last: Any, y: Any) -> bool:
        """A model of other targets is a start, too: the box of its dual does not depend on them."""
        return True
