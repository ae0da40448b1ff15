"""What all classifiers share: labels, the binary problems of several classes, and the ramp loss."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassifierMixin

from maxmargin.core import L1, L2, Candidate, Problem, Solution
from maxmargin.core.losses import loss_from_name
from maxmargin.errors import InvalidInputError
from maxmargin.estimators import training_data
from maxmargin.estimators.base import Machine, check_integer
from maxmargin.estimators.multiclass.at_once import MOST_SAMPLES, AtOnce, solved_at_once
from maxmargin.estimators.multiclass.one_vs_one import opponents
from maxmargin.estimators.multiclass.per_problem import Train
from maxmargin.estimators.ramp_loss import EXACT, OF_RAMP, last_steps, ramp_trainer, store_outliers
from maxmargin.estimators.training_data import Fingerprint, checked_input, class_factors, costs
from maxmargin.kernel_matrix.matrix import KernelMatrix
from maxmargin.kernels import Kernel, Linear
from maxmargin.typing import Floats, Indices, Matrix


class Classifier(ClassifierMixin, Machine):  # type: ignore[misc]
    """Abstract base of the classifiers: `y` is the place of each label in `classes_`."""

    class_weight: Any = None
    n_starts: Any = 1

    _is_pairwise: bool
    """Whether several classes are told apart one-vs-one; else one-vs-rest."""
    _may_be_solved_at_once: bool = False
    """Whether small problems may be solved together (hinge only; see `at_once`)."""

    def _validated(self, X: Any, y: Any, sample_weight: Any) -> tuple[Matrix, Indices, Floats]:
        """Rows, labels 0 … k − 1 of `classes_`, weights ≥ 0."""
        X, y = checked_input(self, X, y)
        X = training_data.checked_rows(X)
        self.classes_, labels = training_data.encoded(y)
        return X, labels, training_data.checked_weights(sample_weight, X, labels, self.classes_)

    def _as_given(self, y: Indices) -> Any:
        return self.classes_[y]

    def _solved_at_once(self, X: Matrix, y: Indices, weights: Floats, tol: float) -> AtOnce | None:
        size = X.shape[0] / (len(self.classes_) / 2 if self._is_pairwise else 1)  # about the samples of each problem
        is_small = self._may_be_solved_at_once and (size <= MOST_SAMPLES or not sp.issparse(X))
        return solved_at_once(self, X, y, weights, tol) if is_small else None

    def _checked_tol(self) -> float:
        check_integer("n_starts", self.n_starts)
        return super()._checked_tol()

    # -- problems ------------------------------------------------------------------------------------------------

    def _problems(self, X: Matrix, labels: Indices, weights: Floats, kernel: Kernel | None = None) -> list[Problem]:
        """The binary problems of validated data, all with one resolved kernel: by default that of the parameters."""
        kernel = self._resolved_kernel(X, weights) if kernel is None else kernel
        trade_off, loss = self._trade_off(), loss_from_name(self.loss)
        penalty, bias = L1() if self.penalty == "l1" else L2(), self._bias()
        factors = class_factors(self.class_weight, self.classes_, labels, weights)[labels]
        shared = None if isinstance(kernel, Linear) else KernelMatrix(kernel, X)
        problems: list[Problem] = []
        for i, j in self._opponents():
            is_whole = j is None or len(self.classes_) == 2
            own: Any = slice(None) if is_whole else np.flatnonzero((labels == i) | (labels == j))
            is_new = not (is_whole and problems)  # else all problems have the same samples
            cost = costs(trade_off, weights[own], factors[own], self.penalty) if is_new else problems[0].cost
            y, rows = np.where(labels[own] == i, 1.0, -1.0), None if is_whole else own
            problems.append(Problem(X, y, cost, loss, penalty, kernel, bias, rows, shared=shared))
        return problems

    def _binary_problem(self, what: str, X: Any, y: Any, sample_weight: Any) -> Problem:
        """The problem of two classes that was asked for, from data as they are given."""
        X, labels, weights = self._validated(X, y, sample_weight)
        if len(self.classes_) != 2:
            raise InvalidInputError(f"{what} two classes, got {len(self.classes_)}: {self.classes_}.")
        return self._problems(X, labels, weights)[0]

    def _opponents(self) -> list[tuple[int, int | None]]:
        """The positive and the negative class of each binary problem; None is all others."""
        n = len(self.classes_)
        if n == 2:
            return [(1, 0)]
        return [*opponents(n)] if self._is_pairwise else [(k, None) for k in range(n)]

    def _sides(self) -> list[tuple[Any, Any]]:
        """The labels of the two sides of each problem."""
        names = self.classes_.tolist()
        return [(names[i], "the rest" if j is None else names[j]) for i, j in self._opponents()]

    def _problem_names(self) -> list[str]:
        return [f"{positive} against {negative}" for positive, negative in self._sides()]

    # -- solve ---------------------------------------------------------------------------------------------------

    def _solver_name(self) -> Any:
        """The solver that was asked for; the exact search of the ramp chooses its own."""
        return "auto" if self.solver == EXACT else self.solver

    def _trainer(self, k: int, seed: int) -> Train:
        if self.loss == "ramp":
            return ramp_trainer(self.solver, self.n_starts, seed)
        if self.solver == EXACT or self.n_starts > 1:
            asked = "solver='exact'" if self.solver == EXACT else f"n_starts={self.n_starts}"
            raise InvalidInputError(f"{asked} is for loss='ramp'; {self.loss!r} is convex and has no other optimum.")
        return super()._trainer(k, seed)

    # -- store ---------------------------------------------------------------------------------------------------

    def _keep(self, X: Matrix, y: Indices, weights: Floats, fingerprint: Fingerprint | None) -> None:
        super()._keep(X, y, weights, fingerprint)
        self.class_weight_ = class_factors(self.class_weight, self.classes_, y, weights)

    def _store(self, X: Matrix, labels: Indices, problems: list[Problem], solutions: list[Solution]) -> None:
        super()._store(X, labels, problems, solutions)
        for name in OF_RAMP:
            self.__dict__.pop(name, None)
        if self.loss == "ramp":
            store_outliers(self, problems, solutions)

    def _candidates(self, X: Matrix, labels: Indices, weights: Floats) -> list[tuple[Problem, Candidate]]:
        pairs = super()._candidates(X, labels, weights)
        if self.loss != "ramp":
            return pairs
        steps = last_steps([problem for problem, _ in pairs], self.outliers_)
        return [(step, candidate) for step, (_, candidate) in zip(steps, pairs, strict=True)]
