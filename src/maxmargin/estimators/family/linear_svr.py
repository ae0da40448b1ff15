"""LinearSVR: linear support vector regression, with a free bias and a proof."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from maxmargin.core import Bias, Candidate, Problem, Regularization, Solution, products
from maxmargin.core.regression import folded, unfolded
from maxmargin.estimators.base import bias_from, soft
from maxmargin.estimators.family.regression import Regressor
from maxmargin.estimators.migration import SparseCoef, check_dual
from maxmargin.kernels import Kernel, Linear
from maxmargin.typing import Floats, Matrix


@dataclass(eq=False, repr=False)
class LinearSVR(SparseCoef, Regressor):
    r"""Linear support vector regression: scikit-learn's LinearSVR, with a proof.

        min ½‖w‖² + Σ_j c_j max(0, |y_j − ⟨w, x_j⟩ − b| − ε),        c_j = C · sample_weight_j

    with the bias b free (unpenalised), which LIBLINEAR cannot do. Errors up to ε cost nothing. Learning stops when the relative
    duality gap is proved to be at most `tol`.

    Parameters
    ----------
    epsilon : float
        ε ≥ 0, in units of the targets; 0 is the least sum of absolute errors. If a tube of this width holds all targets, w = 0.
    tol : float
        The relative duality gap to prove.
    C : float or Regularization
        The trade-off, in any of its spellings; larger fits the targets more closely.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}
        max(0, |y − F| − ε), or its square.
    fit_intercept : bool
        False: b = 0.
    intercept_scaling : float or None
        None leaves the bias free. A number s penalises it as the weight of a constant feature s, as LIBLINEAR does.
    dual : "auto", True or False
        No effect: every solver reaches the same proved optimum. scikit-learn's programs pass it.
    verbose : bool or int
        Show the gap while it falls, and how the fit ended, on stderr; levels above 0 show the same.
    random_state : int, RandomState or None
        Of the visiting order of "dual_cd"; None is 0.
    max_iter : int
        Rounds of the solver (sweeps of "dual_cd", Newton steps of "proximal_newton"); −1 is no limit.
    max_seconds : float or None
        Seconds after which the best model so far is returned, with a `ConvergenceWarning`; compiling loops is not counted.
    solver : str or Solver
        "auto", "dual_cd", "proximal_newton", "interior_point" or "smo".
    warm_start : bool
        Start from the last fit's dual variables, if the data have the same shape; targets, C and ε may be others.
    n_jobs : int or None
        Threads; None takes as many as BLAS may use. The model does not depend on it.

    Attributes
    ----------
    coef_ : array (d,)
    intercept_ : array (1,)
    support_, dual_coef_
        The samples with a dual variable, and these, α − α*: (1, n_SV).
    certificate_ : Certificate
        The proof. Its groups count each sample twice: above the tube, and below it.
    status_, solver_, trace_
        How the fit ended, which solver and why, and its certified moments.
    n_features_in_, n_iter_
        As in scikit-learn.

    Notes
    -----
    Cost: O(non-zeros) a round, in time linear in their number; memory O(n + d) beside the data, which are not copied (float32
    stays float32).

    Examples
    --------
    >>> from maxmargin import LinearSVR
    >>> model = LinearSVR(C=10, epsilon=0.1).fit([[0.0], [1.0], [2.0], [3.0]], [0.0, 1.1, 1.9, 3.0])
    >>> model.predict([[4.0]]).round(2)
    array([3.83])
    >>> model.certificate_.relative_gap <= 1e-3
    True
    """

    _: KW_ONLY
    epsilon: float = 0.0
    tol: float = 1e-3
    C: Any = 1.0
    loss: str = "epsilon_insensitive"
    fit_intercept: bool = True
    intercept_scaling: float | None = None
    dual: Any = "auto"
    verbose: int = False
    random_state: Any = None
    max_iter: int = -1
    max_seconds: float | None = None
    solver: Any = "auto"
    warm_start: bool = False
    n_jobs: int | None = None

    def _checked_tol(self) -> float:
        check_dual(self.dual)
        return super()._checked_tol()

    def _resolved_kernel(self, X: Matrix, weights: Floats) -> Kernel:
        return Linear()

    def _trade_off(self) -> Regularization:
        return soft(self.C)

    def _bias(self) -> Bias:
        return bias_from(self.fit_intercept, self.intercept_scaling)

    def _store(self, X: Matrix, y: Floats, problems: list[Problem], solutions: list[Solution]) -> None:
        super()._store(X, y, problems, solutions)
        (solution,) = solutions
        signed = folded(solution.beta)
        self.coef_ = solution.w
        self.support_ = np.flatnonzero(signed).astype(np.int32)
        self.dual_coef_ = signed[np.newaxis, self.support_]
        self.n_iter_ = max(solution.n_iter, 1)

    def _stored(self, y: Floats) -> list[Candidate]:
        beta = unfolded(self._spread(self.dual_coef_, len(y))[0])
        return [Candidate(self._weights(), float(self.intercept_[0]), beta)]

    def _weights(self) -> Floats:
        """The weights, which may be kept as a sparse matrix."""
        table = np.atleast_2d(self.coef_) if isinstance(self.coef_, np.ndarray) else self.coef_
        return np.asarray(products.dense_rows(table)[0])

    # -- predict -------------------------------------------------------------------------------------------------

    def predict(self, X: Any) -> Floats:
        """F(x) = ⟨w, x⟩ + b. Cost: O(nnz)."""
        return np.asarray(products.scores(self._checked(X), self._weights()) + self.intercept_[0])

    def certified_predictions(self, X: Any) -> tuple[Floats, Floats]:
        """(low, high): intervals that contain the prediction of the exact optimum.

        That lies in a ball of radius √gap about this model, and its bias in an interval; a smaller `tol` makes both shorter.

        Examples
        --------
        >>> from maxmargin import LinearSVR
        >>> low, high = LinearSVR(tol=1e-10).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.5]).certified_predictions([[0.5]])
        >>> bool(low[0] <= high[0] <= low[0] + 1e-3)
        True
        """
        X, w = self._checked(X), self._weights()
        if not self._balls:
            return np.full(X.shape[0], -np.inf), np.full(X.shape[0], np.inf)
        lengths = products.lengths_above(X)
        return self._balls[0].interval(products.scores(X, w), products.score_errors(X, w, lengths), lengths)
