"""NuSVC and NuSVR: a share ν in the place of C or ε, and a proof.

    NuSVC   min ½‖w‖² − νΣc·ρ + Σ_j c_j max(0, ρ − y_j F_j)                  each class has Σα = ½νΣc
    NuSVR   min ½‖w‖² + νΣc·ε + Σ_j c_j max(0, |t_j − F_j| − ε)              each side of the tube has Σα = ½νΣc

The core poses both with groups of samples (classes; sides): each has a bias and a total of its own, and half the difference of
the two biases is ρ, or ε.
"""

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core import Candidate, Certificate, Problem, Solution
from maxmargin.core.losses import Hinge
from maxmargin.core.regression import to_regression
from maxmargin.errors import InvalidInputError
from maxmargin.estimators.family.one_class import check_share, reachable
from maxmargin.estimators.family.svr import KernelRegressor
from maxmargin.estimators.kernel_machine import KernelClassifier
from maxmargin.estimators.migration import check_probability
from maxmargin.estimators.multiclass.one_vs_one import pack_dual, unpack_dual
from maxmargin.estimators.training_data import class_factors, costs
from maxmargin.kernel_matrix.matrix import KernelMatrix
from maxmargin.kernels import Kernel, Linear
from maxmargin.rounding import UNIT
from maxmargin.typing import Floats, Indices, Matrix


@dataclass(eq=False, repr=False, kw_only=True)
class NuSVC(KernelClassifier):
    r"""The support vector classifier by a share ν: scikit-learn's NuSVC, with a proof.

        min ½‖w‖² − νΣc·ρ + Σ_j c_j max(0, ρ − y_j (⟨w, φ(x_j)⟩ + b)),        c_j = sample_weight_j · class_weight

    Of the samples at most a share ν lie inside the margin, and at least a share ν are support vectors. Divided by ρ the solution
    is that of ``SVC(C=1/ρ)``, and so it is stored, as in scikit-learn. ν → 0 is the hard margin. More than two classes:
    one-vs-one.

    Parameters
    ----------
    nu : float
        ν in (0, 1]. Each class must hold half of it: ν ≤ 2·min(Σc of a class)/Σc. A larger one is refused before any kernel
        value is computed, with the largest that is possible and the class that limits it. Where ν is so small that the classes
        overlap too much for it, ρ = 0 and there is no model: an error says so.
    kernel : {"rbf", "linear", "poly", "sigmoid", "precomputed"}, callable or Kernel
        Where to look for the hyperplane.
    degree, gamma, coef0
        The kernel's parameters, as in scikit-learn; ``gamma="scale"`` counts sample weights.
    shrinking : bool
        Whether SMO may leave out samples for a while that seem settled. It changes the time, not the optimum.
    probability : bool
        False only: for probabilities use ``CalibratedClassifierCV(NuSVC(), ensemble=False)``.
    tol : float
        The relative duality gap to prove.
    cache_size : "auto" or float
        Megabytes for kernel rows ("auto": 1024).
    class_weight : dict, "balanced" or None
        Factors of the costs; "balanced" makes every ν up to 1 possible.
    verbose : bool or int
        Show the gap while it falls, and how each problem ended, on stderr; levels above 0 show the same.
    max_iter : int
        Rounds of the solver; −1 is no limit.
    max_seconds : float or None
        Seconds after which the best model so far is returned, with a `ConvergenceWarning`; compiling loops is not counted.
    solver : str or Solver
        "auto", "smo" or "interior_point".
    decision_function_shape : {"ovr", "ovo"}
        For more than two classes: a column a class, or a pair of them.
    break_ties : bool
        For more than two classes: of classes with as many won pairs the one with the largest decision value, not the first.
    warm_start : bool
        Start from the last fit's dual variables, if the data have the same shape and labels.
    n_jobs : int or None
        Threads of `fit` and of predictions; None takes as many as BLAS may use. The model does not depend on it.
    random_state : int, RandomState or None
        For solvers that draw; None is 0.

    Attributes
    ----------
    support_, support_vectors_, dual_coef_, n_support_, intercept_, coef_, classes_, class_weight_, n_iter_, n_features_in_
        As in scikit-learn's NuSVC: those of the problem divided by ρ. `certify` judges them before that division.
    rho_ : float or array
        ρ of each problem, before that.
    certificate_ : Certificate
        The proof, for the problem above. A tuple with `.worst` for more than two classes.
    status_, solver_, trace_
        How the fit ended, which solver and why, and its certified moments.
    kernel_ : Kernel
        With its parameters as numbers.

    Examples
    --------
    >>> from maxmargin import NuSVC
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0]], ["a", "a", "b", "b", "b"]
    >>> NuSVC(nu=0.5, kernel="linear").fit(X, y).predict([[0.2], [3.5]])
    array(['a', 'b'], dtype='<U1')
    >>> NuSVC(nu=0.9).fit(X, y)
    Traceback (most recent call last):
    ...
    maxmargin.errors.InvalidInputError: nu=0.9 is infeasible: class 'a' has too little weight beside 'b'. The largest possible nu
    is 0.8; or give class_weight="balanced".
    """

    nu: float = 0.5
    kernel: Any = "rbf"
    shrinking: bool = True
    probability: bool = False
    tol: float = 1e-3
    class_weight: Any = None
    warm_start: bool = False
    n_jobs: int | None = None
    random_state: Any = None
    fit_intercept: bool = field(default=True, init=False)

    _may_be_solved_at_once = False

    def _checked_tol(self) -> float:
        check_share(self.nu)
        if self.probability is not False:
            check_probability(self)
        return super()._checked_tol()

    def _problems(self, X: Matrix, y: Indices, weights: Floats, kernel: Kernel | None = None) -> list[Problem]:
        nu, factors = check_share(self.nu), class_factors(self.class_weight, self.classes_, y, weights)
        cost = weights * factors[y]
        of_class: Any = np.bincount(y, weights=cost, minlength=len(self.classes_))
        pairs = [(i, 0 if j is None else j) for i, j in self._opponents()]
        self._refuse_infeasible(nu, of_class, pairs)
        kernel = self._resolved_kernel(X, weights) if kernel is None else kernel
        shared = None if isinstance(kernel, Linear) else KernelMatrix(kernel, X)
        problems = []
        for i, j in pairs:
            rows = None if len(self.classes_) == 2 else np.flatnonzero((y == i) | (y == j))
            own = slice(None) if rows is None else rows
            signs, c = np.where(y[own] == i, 1.0, -1.0), cost[own]
            half = 0.5 * nu * float(c.sum())
            half = min(reachable(half, c[signs == sign]) for sign in (1.0, -1.0))
            sides: dict[str, Any] = {
                "target": np.zeros(len(c)),
                "groups": (signs < 0.0).astype(np.intp),
                "totals": np.array([half, -half]),
            }
            problems.append(Problem(X, signs, c, kernel=kernel, rows=rows, shared=shared, **sides))
        return problems

    def _refuse_infeasible(self, nu: float, of_class: Floats, pairs: list[tuple[int, int]]) -> None:
        """Raise an error if a class cannot hold half of ν."""
        limits = [2.0 * min(of_class[i], of_class[j]) / (of_class[i] + of_class[j]) for i, j in pairs]
        least = float(min(limits))
        if nu > least * (1.0 + 8.0 * UNIT):
            i, j = pairs[int(np.argmin(limits))]
            i, j = (i, j) if of_class[i] <= of_class[j] else (j, i)
            names = self.classes_.tolist()
            raise InvalidInputError(
                f"nu={nu!r} is infeasible: class {names[i]!r} has too little weight beside {names[j]!r}. The largest possible nu "
                f'is {least:.6g}; or give class_weight="balanced".'
            )

    def _store(self, X: Matrix, y: Indices, problems: list[Problem], solutions: list[Solution]) -> None:
        widths = [0.5 * float(solution.b[1] - solution.b[0]) for solution in solutions]
        for k, (problem, solution, rho) in enumerate(zip(problems, solutions, widths, strict=True)):
            if not rho > _blur(problem, solution.certificate):
                pair = " and ".join(repr(name) for name in self._sides()[k])
                raise InvalidInputError(
                    f"nu={self.nu!r} leaves no margin between {pair}: ρ = 0 at the optimum, because the classes overlap in more "
                    "than this share of the samples. Use a larger nu, or a kernel that separates them better."
                )
        scaled = [
            replace(solution, w=solution.w / rho, beta=solution.beta / rho, b=float(solution.b.mean()) / rho, scores=None)
            for solution, rho in zip(solutions, widths, strict=True)
        ]
        super()._store(X, y, problems, scaled)
        self.rho_: Any = np.array(widths) if len(widths) > 1 else widths[0]
        self._balls = []
        table = pack_dual([solution.beta for solution in solutions], y, len(self.classes_))
        weights = None if self._weights is None else [solution.w for solution in solutions]
        self._undivided = _Undivided(*table, [solution.b for solution in solutions], weights)

    def _stored(self, y: Indices) -> list[Candidate]:
        support, dual, biases, weights = self._undivided
        table = np.zeros((len(dual), len(y)))
        table[:, support] = dual
        betas = unpack_dual(table, y, len(self.classes_))
        return [Candidate(*each) for each in zip(betas if weights is None else weights, biases, betas, strict=True)]


class _Undivided(NamedTuple):
    """What the certificates are about: the solutions before the division by ρ, or before the halves were added."""

    support: Indices
    dual: Floats
    biases: list[Floats]
    weights: list[Floats] | None = None


def _blur(problem: Problem, certificate: Certificate | None) -> float:
    """What ρ cannot be told from 0 by: where w* = 0, it is at most as long as the gap allows."""
    if certificate is None or not np.isfinite(certificate.gap):
        return np.inf
    lengths = np.sqrt(np.maximum(problem.diag(), 0.0))
    return float(certificate.rounding / max(float(problem.cost.sum()), np.finfo(float).tiny) + UNIT * lengths.max())


@dataclass(eq=False, repr=False, kw_only=True)
class NuSVR(KernelRegressor):
    r"""Support vector regression by a share ν: scikit-learn's NuSVR, with a proof.

        min ½‖w‖² + νΣc·ε + Σ_j c_j max(0, |y_j − ⟨w, φ(x_j)⟩ − b| − ε),        c_j = C · sample_weight_j

    ε is found: at most a share ν of the samples lie outside the tube, and at least a share ν are support vectors. The model is
    that of ``SVR(epsilon=model.epsilon_)``.

    Parameters
    ----------
    nu : float
        ν in (0, 1].
    C : float or Regularization
        The trade-off, in any of its spellings; larger fits the targets more closely.
    kernel : {"rbf", "linear", "poly", "sigmoid", "precomputed"}, callable or Kernel
        The similarity of samples.
    degree, gamma, coef0
        The kernel's parameters, as in scikit-learn; ``gamma="scale"`` counts sample weights.
    shrinking : bool
        Whether SMO may leave out samples for a while that seem settled. It changes the time, not the optimum.
    tol : float
        The relative duality gap to prove.
    cache_size : "auto" or float
        Megabytes for kernel rows ("auto": 1024).
    verbose : bool or int
        Show the gap while it falls, and how the fit ended, on stderr; levels above 0 show the same.
    max_iter : int
        Rounds of the solver; −1 is no limit.
    max_seconds : float or None
        Seconds after which the best model so far is returned, with a `ConvergenceWarning`; compiling loops is not counted.
    solver : str or Solver
        "auto", "smo" or "interior_point".
    warm_start : bool
        Start from the last fit's dual variables, if the data have the same shape.
    n_jobs : int or None
        Threads of `fit` and of predictions; None takes as many as BLAS may use. The model does not depend on it.
    random_state : int, RandomState or None
        For solvers that draw; None is 0.

    Attributes
    ----------
    support_, support_vectors_, dual_coef_, n_support_, intercept_, coef_, fit_status_, n_iter_, n_features_in_
        As in scikit-learn's NuSVR. `certify` judges α and α* before they are subtracted.
    epsilon_ : float
        ε of the tube that was found.
    certificate_ : Certificate
        The proof. Its groups count each sample twice: above the tube, and below it.
    status_, solver_, trace_
        How the fit ended, which solver and why, and its certified moments.
    kernel_ : Kernel
        With its parameters as numbers.

    Examples
    --------
    >>> from maxmargin import NuSVR
    >>> model = NuSVR(nu=0.5, kernel="linear", C=10).fit([[0.0], [1.0], [2.0], [3.0]], [0.0, 1.1, 1.9, 3.0])
    >>> model.certificate_.relative_gap <= 1e-3
    True
    """

    nu: float = 0.5
    C: Any = 1.0
    kernel: Any = "rbf"
    shrinking: bool = True
    tol: float = 1e-3
    warm_start: bool = False
    n_jobs: int | None = None
    random_state: Any = None
    fit_intercept: bool = field(default=True, init=False)

    def _checked_tol(self) -> float:
        check_share(self.nu)
        return super()._checked_tol()

    def _problems(self, X: Matrix, y: Floats, weights: Floats, kernel: Kernel | None = None) -> list[Problem]:
        nu = check_share(self.nu)
        kernel = self._resolved_kernel(X, weights) if kernel is None else kernel
        cost = costs(self._trade_off(), weights, np.ones(len(y)))
        shared = None if isinstance(kernel, Linear) else KernelMatrix(kernel, X)
        half = 0.5 * nu * float(cost.sum())
        sides: dict[str, Any] = {"groups": np.repeat([0, 1], len(y)), "totals": np.array([half, -half])}
        return [to_regression(X, y, cost, kernel=kernel, loss=Hinge(), shared=shared, **sides)]

    def _settled(self, k: int, problem: Problem, solution: Solution) -> Solution:
        return solution

    def _store(self, X: Matrix, y: Floats, problems: list[Problem], solutions: list[Solution]) -> None:
        (solution,) = solutions
        middle, self.epsilon_ = float(solution.b.mean()), 0.5 * float(solution.b[0] - solution.b[1])
        super()._store(X, y, problems, [replace(solution, b=middle, scores=None)])
        support = np.flatnonzero(solution.beta)
        self._halves, self._balls = _Undivided(support, solution.beta[support], [solution.b]), []

    def _stored(self, y: Floats) -> list[Candidate]:
        support, dual, (b,), _ = self._halves
        beta = np.zeros(2 * len(y))
        beta[support] = dual
        return [Candidate(beta if self._weights is None else self._weights[0], b, beta)]
