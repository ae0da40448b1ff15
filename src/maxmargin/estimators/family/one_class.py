"""OneClassSVM: the region where a given share of the samples lies, and a proof."""

from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from sklearn.base import OutlierMixin

from maxmargin.core import Candidate, Problem, Solution, certify
from maxmargin.core.bias import best_bias
from maxmargin.core.candidate import make_feasible
from maxmargin.core.certificate.scores import Scores
from maxmargin.estimators import training_data
from maxmargin.estimators.base import Machine, check, is_number, unchanged_by_errors
from maxmargin.estimators.kernel_machine import KernelMachine
from maxmargin.estimators.training_data import checked_input
from maxmargin.kernel_matrix.matrix import KernelMatrix
from maxmargin.kernels import Kernel, Linear
from maxmargin.rounding import UNIT, gamma
from maxmargin.typing import Floats, Matrix


def check_share(nu: Any) -> float:
    """ν is a share: more than 0, and at most 1."""
    check(is_number(nu) and 0 < nu <= 1, "nu", nu, "a share in (0, 1]")
    return float(nu)


def _is_rounding(problem: Problem, solution: Solution) -> bool:
    """Whether w is no longer than what Σβ_jx_j rounds: the origin is among the samples, and no hyperplane is before it."""
    bulk = float(np.abs(solution.beta) @ problem.lengths)
    return bool(float(np.linalg.norm(solution.w)) <= float(gamma(problem.n)) * bulk)


def reachable(total: float, costs: Floats) -> float:
    """The total, or the largest that Σβ may exceed by its own rounding: with ν = 1 every α is at its bound."""
    return min(total, float(costs.sum()) * (1.0 - 64.0 * float(gamma(len(costs)))))


@dataclass(eq=False, repr=False, kw_only=True)
class OneClassSVM(OutlierMixin, KernelMachine, Machine):  # type: ignore[misc]
    r"""The one-class support vector machine: scikit-learn's OneClassSVM, with a proof.

        min ½‖w‖² − ν(Σs)ρ + Σ_j s_j max(0, ρ − ⟨w, φ(x_j)⟩),        s_j = sample_weight_j

    A sample is an outlier where F(x) = ⟨w, φ(x)⟩ − ρ < 0. Of the training samples at most a share ν are outliers, and at least a
    share ν are support vectors: both hold of every model that is returned, whatever its gap. Learning stops when the relative
    duality gap is proved to be at most `tol`. Where k(x, x) is constant (RBF), the region is that of support vector data
    description (SVDD): the smallest ball that leaves out as much.

    Parameters
    ----------
    kernel : {"rbf", "linear", "poly", "sigmoid", "precomputed"}, callable or Kernel
        The similarity of samples.
    degree, gamma, coef0
        The kernel's parameters, as in scikit-learn; ``gamma="scale"`` counts sample weights.
    tol : float
        The relative duality gap to prove.
    nu : float
        ν in (0, 1]: the share of outliers, from above, and of support vectors, from below. With ν n < 1 no training sample may be
        an outlier.
    shrinking : bool
        Whether SMO may leave out samples for a while that seem settled. It changes the time, not the optimum.
    cache_size : "auto" or float
        Megabytes for kernel rows ("auto": 1024).
    verbose : bool or int
        Show the gap while it falls, and how the fit ended, on stderr; levels above 0 show the same.
    max_iter : int
        Rounds of the solver; −1 is no limit.
    max_seconds : float or None
        Seconds after which the best model so far is returned, with a `ConvergenceWarning`; compiling loops is not counted.
    solver : str or Solver
        "auto", "smo", "interior_point" and, for the linear kernel, "dual_cd" or "proximal_newton".
    warm_start : bool
        Start from the last fit's dual variables, if the data have the same shape.
    n_jobs : int or None
        Threads of `fit` and of predictions; None takes as many as BLAS may use. The model does not depend on it.
    random_state : int, RandomState or None
        For solvers that draw; None is 0.

    Attributes
    ----------
    support_, support_vectors_, dual_coef_, n_support_, intercept_, offset_, coef_, fit_status_, n_iter_, n_features_in_
        As in scikit-learn: Σ `dual_coef_` = νn, `offset_` = ρ = −`intercept_`.
    certificate_ : Certificate
        The proof.
    status_, solver_, trace_
        How the fit ended, which solver and why, and its certified moments.
    kernel_ : Kernel
        With its parameters as numbers.

    Notes
    -----
    Cost: in time about (samples × support vectors) kernel values; memory as `SVC`. There is no `fit_intercept`: ρ is one.

    Examples
    --------
    >>> from maxmargin import OneClassSVM
    >>> model = OneClassSVM(gamma=1.0, nu=0.3).fit([[0.0], [0.1], [0.2], [5.0]])
    >>> model.predict([[0.1], [3.0]])
    array([ 1, -1])
    >>> model.certificate_.relative_gap <= 1e-3
    True
    """

    kernel: Any = "rbf"
    tol: float = 1e-3
    nu: float = 0.5
    shrinking: bool = True
    warm_start: bool = False
    n_jobs: int | None = None
    random_state: Any = None
    fit_intercept: bool = field(default=True, init=False)

    # -- fit -----------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Train on samples X.

        Parameters
        ----------
        X : array-like or sparse matrix (n_samples, n_features)
            CSR is used as it is, other formats are converted; for ``kernel="precomputed"`` the (n, n) Gram matrix.
        y : ignored
            For pipelines.
        sample_weight : array-like (n_samples,), optional
            Shares count weights: weight 2 is a sample that is there twice. 0 leaves a sample out; a negative weight is an error.
        """
        with unchanged_by_errors(self):
            was_interrupted = self._fit(*self._validated(X, y, sample_weight))
        if was_interrupted:
            raise KeyboardInterrupt
        return self

    def _validated(self, X: Any, y: Any, sample_weight: Any) -> tuple[Matrix, Floats, Floats]:
        X = training_data.checked_rows(checked_input(self, X))
        nothing = np.zeros(X.shape[0])
        weights = training_data.checked_weights(sample_weight, X, nothing.astype(np.intp), np.array(["all samples"]))
        return X, nothing, weights

    def _checked_tol(self) -> float:
        check_share(self.nu)
        return super()._checked_tol()

    def _problems(self, X: Matrix, y: Floats, weights: Floats, kernel: Kernel | None = None) -> list[Problem]:
        kernel = self._resolved_kernel(X, weights) if kernel is None else kernel
        shared = None if isinstance(kernel, Linear) else KernelMatrix(kernel, X)
        total = reachable(check_share(self.nu) * float(weights.sum()), weights)
        return [Problem(X, np.ones(len(y)), weights, kernel=kernel, target=y, total=total, shared=shared)]

    def _settled(self, k: int, problem: Problem, solution: Solution) -> Solution:
        """With the best ρ of its scores: then the outliers' share is at most ν, whatever the gap."""
        scores = solution.scores
        if problem.is_linear and _is_rounding(problem, solution):
            origin = replace(solution, w=problem.zero(), b=0.0, scores=None)
            return replace(origin, certificate=certify(problem, origin, tol=float(self.tol)))
        if scores is None or not np.isfinite(scores.values).all():
            return solution
        b, beta = best_bias(problem, solution.beta, scores.values).middle, make_feasible(problem, solution.beta)
        is_same = np.array_equal(beta, solution.beta)
        if b == solution.b and is_same:
            return solution
        w = solution.w if problem.is_linear else beta
        found = Scores.of(scores.values, scores.error, problem.y, b, 0.0) if is_same else None
        moved = replace(solution, w=w, b=b, beta=beta, scores=found)
        return replace(moved, certificate=certify(problem, moved, found, tol=float(self.tol)))

    def _store(self, X: Matrix, y: Floats, problems: list[Problem], solutions: list[Solution]) -> None:
        super()._store(X, y, problems, solutions)
        self._store_single(X, problems[0].kernel, solutions[0].beta, solutions)
        self.offset_ = -self.intercept_
        scores, b = solutions[0].scores, self.intercept_[0]
        self._offset_error = 0.0 if scores is None else float(scores.error[scores.values + b == 0.0].max(initial=0.0))

    def _stored(self, y: Floats) -> list[Candidate]:
        beta = self._spread(self._dual, len(y))[0]
        return [Candidate(beta if self._weights is None else self._weights[0], float(self.intercept_[0]), beta)]

    # -- predict -------------------------------------------------------------------------------------------------

    def decision_function(self, X: Any) -> Floats:
        """F(x) = ⟨w, φ(x)⟩ − ρ: negative for outliers, and exactly 0 where its rounding could hide the sign.

        Samples on the boundary have F = 0 in exact arithmetic; what rounding leaves there must not reject them.
        Cost: (samples × support vectors) kernel values in float64, in tiles and threads, or O(nnz) if linear.
        """
        return self._decision(self._checked(X))

    def score_samples(self, X: Any) -> Floats:
        """⟨w, φ(x)⟩, which is `decision_function` + `offset_`."""
        return np.asarray(self.decision_function(X) + self.offset_)

    def predict(self, X: Any) -> Any:
        """1 for inliers, F ≥ 0, and −1 for outliers."""
        return np.where(self.decision_function(X) >= 0.0, 1, -1)

    def certified_predictions(self, X: Any) -> tuple[Any, Any]:
        """(labels, is_certain): the predictions, and which of them cannot change between this model and the exact optimum.

        Examples
        --------
        >>> from maxmargin import OneClassSVM
        >>> model = OneClassSVM(gamma=1.0, nu=0.3, tol=1e-8).fit([[0.0], [0.1], [0.2], [5.0]])
        >>> model.certified_predictions([[0.1], [3.0]])
        (array([ 1, -1]), array([ True,  True]))
        """
        X = self._checked(X)
        labels, (low, high) = np.where(self._decision(X) >= 0.0, 1, -1), self._certain_ends(X)
        return labels, np.where(labels > 0, low >= 0.0, high < 0.0)

    def _decision(self, X: Matrix) -> Floats:
        f, errors = self._single_bounded(X)
        F = f + self.intercept_[0]
        return np.where(np.abs(F) <= errors + self._offset_error + UNIT * np.abs(f), 0.0, F)
