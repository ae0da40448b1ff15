"""SVR: support vector regression with a kernel, and a proof."""

from dataclasses import dataclass
from typing import Any

from maxmargin.core import Candidate, Problem, Solution
from maxmargin.core.regression import folded, unfolded
from maxmargin.estimators.family.regression import Regressor
from maxmargin.estimators.kernel_machine import KernelMachine
from maxmargin.typing import Floats, Matrix


@dataclass(eq=False, repr=False, kw_only=True)
class KernelRegressor(KernelMachine, Regressor):
    """Abstract base of the regressors with a kernel."""

    def _store(self, X: Matrix, y: Floats, problems: list[Problem], solutions: list[Solution]) -> None:
        super()._store(X, y, problems, solutions)
        kernel = problems[0].kernel if problems else self.kernel_
        self._store_single(X, kernel, folded(solutions[0].beta), solutions)

    def _stored(self, y: Floats) -> list[Candidate]:
        beta = unfolded(self._spread(self._dual, len(y))[0])
        return [Candidate(beta if self._weights is None else self._weights[0], float(self.intercept_[0]), beta)]

    def predict(self, X: Any) -> Floats:
        """F(x) = ⟨w, φ(x)⟩ + b. Cost: (samples × support vectors) kernel values, in tiles and threads, or O(nnz) if linear."""
        return self._single(self._checked(X))

    def certified_predictions(self, X: Any) -> tuple[Floats, Floats]:
        """(low, high): intervals that contain the prediction of the exact optimum.

        That lies in a ball of radius √gap about this model, and its bias in an interval; a smaller `tol` makes both shorter. The
        ends are infinite where the kernel is precomputed or not known to be positive semi-definite.

        Examples
        --------
        >>> from maxmargin import SVR
        >>> low, high = SVR(tol=1e-10).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 0.0]).certified_predictions([[0.5]])
        >>> bool(low[0] <= high[0] <= low[0] + 1e-3)
        True
        """
        return self._certain_ends(self._checked(X))


@dataclass(eq=False, repr=False, kw_only=True)
class SVR(KernelRegressor):
    r"""Support vector regression with a kernel: scikit-learn's SVR, with a proof.

        min ½‖w‖² + Σ_j c_j max(0, |y_j − ⟨w, φ(x_j)⟩ − b| − ε),        c_j = C · sample_weight_j

    Errors up to ε cost nothing. Learning stops when the relative duality gap is proved to be at most `tol`.

    Parameters
    ----------
    kernel : {"rbf", "linear", "poly", "sigmoid", "precomputed"}, callable or Kernel
        With "linear" the linear solvers do the work: `solver_` says which, and why.
    degree, gamma, coef0
        The kernel's parameters, as in scikit-learn; ``gamma="scale"`` counts sample weights.
    tol : float
        The relative duality gap to prove.
    C : float or Regularization
        The trade-off, in any of its spellings; larger fits the targets more closely.
    epsilon : float
        ε ≥ 0, in units of the targets; 0 is the least sum of absolute errors. If a tube of this width holds all targets, w = 0.
    shrinking : bool
        Whether SMO may leave out samples for a while that seem settled. It changes the time, not the optimum.
    cache_size : "auto" or float
        Megabytes for kernel rows ("auto": 1024).
    verbose : bool or int
        Show the gap while it falls, and how the fit ended, on stderr; levels above 0 show the same.
    max_iter : int
        Rounds of the solver; −1 is no limit.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}
        max(0, |y − F| − ε), or its square.
    fit_intercept : bool
        False: b = 0.
    max_seconds : float or None
        Seconds after which the best model so far is returned, with a `ConvergenceWarning`; compiling loops is not counted.
    solver : str or Solver
        "auto", "smo", "interior_point" and, for the linear kernel, "dual_cd" or "proximal_newton".
    warm_start : bool
        Start from the last fit's dual variables, if the data have the same shape; targets, C, ε and the kernel may be others.
    n_jobs : int or None
        Threads of `fit` and of predictions; None takes as many as BLAS may use. The model does not depend on it.
    random_state : int, RandomState or None
        For solvers that draw; None is 0.

    Attributes
    ----------
    support_, support_vectors_, dual_coef_, n_support_, intercept_, coef_, fit_status_, n_iter_, n_features_in_
        As in scikit-learn's SVR: `dual_coef_` is α − α*; `coef_` is there for the linear kernel.
    certificate_ : Certificate
        The proof. Its groups count each sample twice: above the tube, and below it.
    status_, solver_, trace_
        How the fit ended, which solver and why, and its certified moments.
    kernel_ : Kernel
        With its parameters as numbers.

    Notes
    -----
    Cost: in time about (samples × support vectors) kernel values; memory as `SVC`.

    Examples
    --------
    >>> from maxmargin import SVR
    >>> model = SVR(kernel="linear", C=10, epsilon=0.1).fit([[0.0], [1.0], [2.0], [3.0]], [0.0, 1.1, 1.9, 3.0])
    >>> model.predict([[4.0]]).round(2)
    array([3.83])
    >>> model.certificate_.relative_gap <= 1e-3
    True
    """

    kernel: Any = "rbf"
    degree: int = 3
    gamma: Any = "scale"
    coef0: float = 0.0
    tol: float = 1e-3
    C: Any = 1.0
    epsilon: float = 0.1
    shrinking: bool = True
    cache_size: Any = "auto"
    verbose: int = False
    max_iter: int = -1
    loss: str = "epsilon_insensitive"
    warm_start: bool = False
    n_jobs: int | None = None
    random_state: Any = None
