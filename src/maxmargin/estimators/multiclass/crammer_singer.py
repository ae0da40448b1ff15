"""All classes in one problem, as Crammer and Singer pose it: see `core.joint`.

For two classes that is the binary problem with the costs 2c, at half of its value; it is posed, solved and certified as such.
"""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from maxmargin.core import Candidate, Problem, Solution, products
from maxmargin.core.joint import JointProblem
from maxmargin.errors import InvalidInputError, NotSupportedError
from maxmargin.estimators.base import check_choice
from maxmargin.estimators.multiclass.at_once import AtOnce
from maxmargin.estimators.multiclass.one_vs_rest import OneVsRest, largest
from maxmargin.estimators.training_data import class_factors, costs
from maxmargin.kernels import Kernel
from maxmargin.rounding import UNIT
from maxmargin.typing import Flags, Floats, Indices, Matrix

JOINT = "crammer_singer"


class OneVsRestOrJoint(OneVsRest):
    """Abstract base of the linear classifiers whose `multi_class` chooses between both."""

    multi_class: str

    @property
    def is_joint(self) -> bool:
        """Whether a fit of these classes is one problem of several classes."""
        return self.multi_class == JOINT and len(self.classes_) > 2

    def _checked_tol(self) -> float:
        check_choice("multi_class", self.multi_class, ("ovr", JOINT))
        if self.multi_class == JOINT:
            wanted = {"loss": "hinge", "penalty": "l2", "n_starts": 1}
            for name, value in wanted.items():
                if getattr(self, name) != value:
                    raise NotSupportedError(
                        f"multi_class='crammer_singer' is the hinge with the L2 penalty: {name} must be {value!r}, got "
                        f"{getattr(self, name)!r}. Use multi_class='ovr' for others."
                    )
        return super()._checked_tol()

    def _solved_at_once(self, X: Matrix, y: Indices, weights: Floats, tol: float) -> AtOnce | None:
        return None if self.multi_class == JOINT else super()._solved_at_once(X, y, weights, tol)

    def _problems(self, X: Matrix, labels: Indices, weights: Floats, kernel: Kernel | None = None) -> list[Any]:
        """One problem of several classes, or a binary one for each of them."""
        if not self.is_joint:
            problems = super()._problems(X, labels, weights, kernel)
            return [replace(own, cost=2.0 * own.cost) for own in problems] if self.multi_class == JOINT else problems
        if isinstance(self.solver, str) and self.solver != "auto":
            raise InvalidInputError(f"All classes in one problem have a solver of their own: 'auto', got solver={self.solver!r}.")
        factors = class_factors(self.class_weight, self.classes_, labels, weights)[labels]
        cost = costs(self._trade_off(), weights, factors)
        return [JointProblem(X, labels, cost, len(self.classes_), self._bias())]

    def _problem_names(self) -> list[str]:
        return ["all classes"] if self.is_joint else super()._problem_names()

    def _store(self, X: Matrix, labels: Indices, problems: list[Problem], solutions: list[Solution]) -> None:
        super()._store(X, labels, problems, solutions)
        betas, self.coef_ = np.array([one.beta for one in solutions]), np.array([one.w for one in solutions])
        if self.is_joint:
            betas, self.coef_, self.intercept_ = betas[0].T, self.coef_[0], self.intercept_[0]
        self.support_ = np.flatnonzero(betas.any(axis=0)).astype(np.int32)
        self.dual_coef_ = betas[:, self.support_]
        self.n_iter_ = max(max(solution.n_iter for solution in solutions), 1)

    def _stored(self, labels: Indices) -> list[Candidate]:
        if not self.is_joint:
            return super()._stored(labels)
        return [Candidate(self._vectors(len(labels)), self.intercept_, self._spread(self.dual_coef_, len(labels)).T)]

    def _are_certain(self, X: Matrix, scores: Floats, errors: Floats) -> Flags:
        """Which largest scores of a joint problem, known within errors, stay so at the exact optimum; none if biases are free.

        W* is within `radius` of W, and F_m − F_l moves by √2 · radius · ‖x‖ at most.
        """
        bias, n = self._bias(), len(scores)
        radius = self.certificate_.radius
        if bias.is_free or not math.isfinite(radius):
            return np.zeros(n, dtype=bool)
        reach = radius * math.sqrt(0.5) * np.hypot(products.lengths_above(X), bias.scale)[:, np.newaxis] * (1.0 + 8.0 * UNIT)
        values = scores + self.intercept_
        wide = (reach + errors + 8.0 * UNIT * (np.abs(scores) + np.abs(values) + reach)) * (1.0 + 8.0 * UNIT)
        return np.asarray(largest(values.T, (values - wide).T, (values + wide).T).is_certain)


def refuse_joint(model: Any, what: str) -> None:
    """Raise an error if a model, or what has validated its data, is one problem of several classes: binary ones are needed."""
    if getattr(model, "is_joint", False):
        raise NotSupportedError(f"{what} needs binary problems, got multi_class='crammer_singer'. Use multi_class='ovr'.")
