"""Where the soft margin is the hard one: exercise 3 of section 15.8.

On one separable data set, soft-SVM returns the hard margin's w exactly if the cost is at least

    C* = min ‖α‖_∞   over the multipliers α of the hard margin,      λ* = 1/(2nC*)

since the same (w, α) then meets the soft margin's conditions too. No λ serves all data sets: two samples at ±a with a² < 2λ are a
counterexample.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.optimize import linprog

from maxmargin.core import Bias, Candidate, Certificate, Halfspace, Problem, certify, make_feasible
from maxmargin.errors import InvalidInputError
from maxmargin.estimators.svc import HardMarginSVC
from maxmargin.solvers import solve
from maxmargin.theory.samples import rows_and_signs
from maxmargin.typing import Floats

ON_THE_MARGIN = 1e-6
"""By how much yF of a sample with a multiplier may exceed 1: far more than the gap of the fit leaves open."""


@dataclass(frozen=True, eq=False)
class Agreement:
    """From which cost on soft-SVM returns the hard margin's hyperplane, on one data set.

    Attributes
    ----------
    cost : float
        C*, up to the accuracy of a linear program.
    lam : float
        λ* = 1/(2nC*) of λ‖w‖² + mean hinge: both agree for λ ≤ λ*.
    halfspace : Halfspace
        The hard margin's.
    alpha : array (n,)
        Its multipliers with the smallest maximum.
    certificate : Certificate
        Of the hard margin's hyperplane as a solution of the soft margin with cost C*: its gap is how far C* and `alpha` are
        proved. The same multipliers serve every larger cost.
    floor : float
        A lower bound of the hard margin's ½‖w‖², from its certificate.
    """

    cost: float
    lam: float
    halfspace: Halfspace
    alpha: Floats
    certificate: Certificate
    problem: Problem
    floor: float

    def advantage(self, cost: float) -> float:
        """By how much the soft margin with this cost lies below the hard margin's ½‖w‖², at least.

        Positive: the hard margin's hyperplane is not a minimum of this soft margin, which is proved. From the true C* on it
        never is. Cost: that of a fit.
        """
        problem = Problem(self.problem.X, self.problem.y, np.full(self.problem.n, float(cost)), bias=self.problem.bias)
        found = solve(problem, tol=1e-10)
        return self.floor - certify(problem, found).primal


def hard_soft_agreement(X: Any, y: Any, *, homogeneous: bool = True) -> Agreement:
    """Find the smallest cost, and the largest λ, with which soft-SVM returns the hard margin on these data.

    Raises `NotSeparableError` if they are not separable. Cost: a hard-margin fit and a linear program on the samples of the
    margin.

    Parameters
    ----------
    X, y
        Samples and labels ±1.
    homogeneous : bool
        Without a bias, as the exercise has it.

    Examples
    --------
    Two samples at ±2: w = ½, and the multipliers sum up to 1/8 · 2.

    >>> from maxmargin import theory
    >>> found = theory.hard_soft_agreement([[-2.0], [2.0]], [-1, 1])
    >>> round(found.cost, 9), round(found.lam, 9)
    (0.125, 2.0)
    >>> found.advantage(0.12) > 0, found.advantage(0.13) > 0
    (True, False)
    """
    X, y = rows_and_signs(X, y)
    model = HardMarginSVC(fit_intercept=not homogeneous, tol=1e-11).fit(X, y)
    plane = Halfspace(model.coef_[0], float(model.intercept_[0])).canonical(X, y)
    on = np.flatnonzero(plane.fits(X, y) <= 1.0 + ON_THE_MARGIN)
    alpha = np.zeros(len(y))
    alpha[on] = _smallest_multipliers(y[on, None] * X[on], y[on], plane.w, homogeneous)
    cost = float(alpha.max())
    problem = Problem(X, y, np.full(len(y), cost), bias=Bias.none() if homogeneous else Bias.free())
    certificate = certify(problem, Candidate(plane.w, plane.b, make_feasible(problem, alpha * y)))
    return Agreement(cost, 1.0 / (2.0 * len(y) * cost), plane, alpha, certificate, problem, model.certificate_.dual)


def _smallest_multipliers(rows: Floats, y: Floats, w: Floats, homogeneous: bool) -> Floats:
    """min t s.t. Σα_j y_j x_j = w, Σα_j y_j = 0 with a bias, 0 ≤ α ≤ t; in units in which w has length 1 and rows at most 1."""
    size, length = math.sqrt(float(np.square(rows).sum(axis=1).max())), float(np.linalg.norm(w))
    n = len(rows)
    equations = np.vstack([rows.T / size, *([] if homogeneous else [y])])
    right = np.append(w / length, [] if homogeneous else [0.0])
    found = linprog(
        np.append(np.zeros(n), 1.0),
        A_ub=np.hstack([np.eye(n), -np.ones((n, 1))]),
        b_ub=np.zeros(n),
        A_eq=np.hstack([equations, np.zeros((len(equations), 1))]),
        b_eq=right,
        bounds=(0, None),
        method="highs",
    )
    if found.status != 0:
        raise InvalidInputError("The multipliers could not be found at the precision of float64. Scale the features.")
    return np.asarray(np.maximum(found.x[:-1], 0.0) * length / size)


@dataclass(frozen=True)
class Disagreement:
    """Two samples on which hard-SVM and soft-SVM with a given λ return different weights, exactly.

    Attributes
    ----------
    X, y
        ±a, labelled by their signs.
    hard, soft : Fraction
        1/a and a/(2λ).
    """

    X: Floats
    y: Floats
    hard: Fraction
    soft: Fraction


def no_single_lambda(lam: float) -> Disagreement:
    """Refute exercise 3 for any λ > 0: two separable samples for which soft-SVM with this λ is not hard-SVM.

    For ±a the objective is λw² + max(0, 1 − aw). Its minimum is w = a/(2λ) if that is below 1/a, which is the hard margin's w; so
    a = min(1, λ) will do: a² < 2λ.

    Parameters
    ----------
    lam : float
        λ > 0 of λ‖w‖² + mean hinge.

    Examples
    --------
    >>> from maxmargin import theory
    >>> found = theory.no_single_lambda(0.25)
    >>> found.X.ravel(), found.hard, found.soft
    (array([-0.25,  0.25]), Fraction(4, 1), Fraction(1, 2))
    """
    if not 0 < lam < math.inf:
        raise InvalidInputError(f"lam = {lam!r} where a finite number > 0 is wanted.")
    a = min(1.0, float(lam))
    exact = Fraction(a)
    return Disagreement(np.array([[-a], [a]]), np.array([-1.0, 1.0]), 1 / exact, exact / (2 * Fraction(float(lam))))
