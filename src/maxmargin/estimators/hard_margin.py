"""HardMarginSVC: the widest street between two classes, or the proof that there is none."""

from dataclasses import replace
from typing import Any

import numpy as np

from maxmargin.analysis.separability import separability
from maxmargin.analysis.witness import NotSeparable, Separable, Undecided
from maxmargin.core import Bias, Problem, Solution, Status, certify
from maxmargin.errors import NotSeparableError, UndecidedError
from maxmargin.estimators.base import check_flag
from maxmargin.estimators.kernel_machine import KernelClassifier
from maxmargin.estimators.one_vs_one import Pair
from maxmargin.estimators.progress import Watch
from maxmargin.kernels import Kernel
from maxmargin.solvers import solver_from_name
from maxmargin.typing import Floats, Matrix


class HardMarginSVC(KernelClassifier):
    r"""The hard-margin support vector machine: of all separating hyperplanes the one furthest from the samples.

        min ½‖w‖²   subject to   y_j (⟨w, φ(x_j)⟩ + b) ≥ 1  for all j

    The margin is 1/‖w‖. Where no hyperplane separates the classes `fit` raises `NotSeparableError`, whose `witness` proves it.
    The same as ``SVC(C=inf)``. More than two classes: one-vs-one, so that each pair must be separable.

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"}, callable or Kernel
        Where to look for the hyperplane.
    degree, gamma, coef0
        The kernel's parameters, as in scikit-learn.
    fit_intercept : bool
        False: the hyperplane passes through the origin.
    tol : float
        The relative duality gap to prove.
    max_iter : int
        Rounds of constraint generation (of the interior-point method, if that was asked for); −1 is no limit.
    max_seconds : float or None
        Seconds after which the best model so far is returned, with a `ConvergenceWarning`.
    cache_size : "auto" or float
        Megabytes for kernel rows ("auto": 1024).
    solver : str or Solver
        "auto", "constraint_generation" or "interior_point".
    decision_function_shape, break_ties
        For more than two classes, as in scikit-learn's SVC.
    verbose : bool
        Show the gap while it falls, and how each problem ended, on stderr.

    Attributes
    ----------
    coef_, intercept_, support_, support_vectors_, dual_coef_, n_support_, classes_, n_features_in_, n_iter_
        As in scikit-learn's SVC.
    certificate_ : Certificate
        The proof: primal and dual value, gap, KKT violation, groups, margin. A tuple with `.worst` for more than two classes.
    status_, solver_, trace_
        How the fit ended, which solver and why, and its certified moments.

    Notes
    -----
    Cost: a few passes over the data and small interior-point solves, about O(nnz + s³) for s support vectors a round; memory
    O(n + s²) beside the data.

    Examples
    --------
    >>> from maxmargin import HardMarginSVC
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["left", "left", "right", "right"]
    >>> model = HardMarginSVC().fit(X, y)
    >>> model.predict([[1.4], [1.6]])
    array(['left', 'right'], dtype='<U5')
    >>> round(model.certificate_.margin, 9)
    0.5
    >>> HardMarginSVC().fit(X, ["left", "right", "left", "right"])
    Traceback (most recent call last):
    ...
    maxmargin.errors.NotSeparableError: No hyperplane separates 'right' from 'left'. Not separable: weighted means of the two
    classes coincide, shown by 3 samples. Use a soft margin, or another kernel.
    """

    def __init__(
        self,
        *,
        kernel: Any = "linear",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        fit_intercept: bool = True,
        tol: float = 1e-6,
        max_iter: int = -1,
        max_seconds: float | None = None,
        cache_size: Any = "auto",
        solver: Any = "auto",
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        verbose: bool = False,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.cache_size = cache_size
        self.solver = solver
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.verbose = verbose

    def _problem(self, X: Matrix, pair: Pair, weights: Floats, kernel: Kernel) -> Problem:
        return Problem(
            X,
            pair.y,
            cost=np.where(weights > 0, np.inf, 0.0),
            kernel=kernel,
            bias=Bias.free() if check_flag("fit_intercept", self.fit_intercept) else Bias.none(),
            rows=None if len(pair.rows) == X.shape[0] else pair.rows,
        )

    def _train(self, problem: Problem, pair: Pair, k: int, watch: Watch) -> Solution:
        budget = self._budget(self.max_iter, self.max_seconds, self.cache_size)
        solution = watch.solve(k, problem, solver_from_name(self.solver), budget=budget)
        if solution.certificate is not None and np.isfinite(solution.certificate.gap):
            return solution
        if solution.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        if solution.status in (Status.TIME_BUDGET, Status.STOPPED):
            return solution  # nothing separates yet, and nobody waits to find out whether anything can
        verdict = separability(problem, solution=solution)
        match verdict:
            case Separable():
                status = solution.status if solution.status is Status.ITERATION_BUDGET else Status.STALLED
                narrow = replace(solution, w=verdict.w, b=verdict.b, status=status)
                return replace(narrow, certificate=certify(problem, narrow))
            case NotSeparable():
                raise NotSeparableError(
                    f"{self._between(pair)} {verdict} Use a soft margin, or another kernel.", verdict
                )
            case Undecided():
                raise UndecidedError(f"{verdict} Scale the features, or use a soft margin.", verdict)

    def _between(self, pair: Pair) -> str:
        names = self.classes_.tolist()
        return f"No hyperplane separates {names[pair.positive]!r} from {names[pair.negative]!r}."
