"""LinearSVC: the linear support vector machine, with a free bias and a proof."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from maxmargin.core import (
    Bias,
    Candidate,
    Problem,
    Regularization,
    Solution,
    Status,
    loss_from_name,
    penalty_from_name,
    products,
)
from maxmargin.core.certificate.optimum_ball import optimum_balls
from maxmargin.errors import InvalidInputError
from maxmargin.estimators.base import Classifier, check_choice, check_flag, check_tol
from maxmargin.estimators.multiclass.backends import elsewhere
from maxmargin.estimators.multiclass.one_vs_one import store_solutions
from maxmargin.estimators.multiclass.parallel import in_threads
from maxmargin.estimators.progress.callbacks import watching
from maxmargin.estimators.progress.convergence import warn_unless_solved
from maxmargin.estimators.ramp_loss import LOSSES, chosen_solver, judged, store_outliers, trainer
from maxmargin.estimators.weights import class_factors, costs
from maxmargin.solvers import Budget, solve
from maxmargin.threads import usable_threads
from maxmargin.typing import Floats, Indices, Matrix


class LinearSVC(Classifier):
    r"""The linear soft-margin support vector machine.

        min ½‖w‖² + Σ_j c_j ℓ(y_j (⟨w, x_j⟩ + b)),        c_j = C · sample_weight_j · class_weight

    with the bias b free (unpenalised), which LIBLINEAR cannot do with the hinge. Learning stops when the relative duality gap is
    proved to be at most `tol`. More than two classes: one-vs-rest, in threads.

    Parameters
    ----------
    penalty : {"l2", "l1"}
        ½‖w‖², or ‖w‖₁: few features get a weight, the others exactly zero.
    loss : {"hinge", "squared_hinge", "ramp"}
        max(0, 1 − z), its square, or min(1, max(0, 1 − z)), to which an outlier is worth no more than 1.
    C : float or Regularization
        The trade-off, in any of its spellings; larger fits the samples more closely. With the L1 penalty λ stands before
        ‖w‖₁: ``Regularization.ridge(lam)`` is Σξ + λ‖w‖₁.
    fit_intercept : bool
        False: the hyperplane passes through the origin.
    intercept_scaling : float or None
        None leaves the bias free. A number s penalises it as the weight of a constant feature s, as LIBLINEAR does.
    class_weight : dict, "balanced" or None
        Factors of the costs; "balanced" makes the (weighted) classes count the same.
    tol : float
        The relative duality gap to prove.
    max_iter : int
        Rounds of the solver (sweeps of "dual_cd", Newton steps of "proximal_newton", linear programs of "linear_program",
        rounds of three or six sweeps of "primal_cd", nodes of "exact"); −1 is no limit.
    max_seconds : float or None
        Seconds after which the best model so far is returned, with a `ConvergenceWarning`.
    solver : str or Solver
        "auto"; for L2 "dual_cd", "proximal_newton" or "interior_point"; for L1 "primal_cd" or, with the hinge, "linear_program".
        With the ramp they solve its convex steps; "exact" searches its global optimum, for at most 30 samples.
    warm_start : bool
        Start from the last fit's dual variables, if the data have the same shape and classes.
    n_jobs : int or None
        Threads; None takes as many as BLAS may use. The model does not depend on it. More than two classes go to joblib's
        backend instead where one is chosen that shares no memory (``joblib.parallel_config``).
    random_state : int, RandomState or None
        Of the visiting order of "dual_cd"; None is 0.
    verbose : bool
        Show the gap while it falls, and how each problem ended, on stderr.
    n_starts : int
        Ramp only: from how many points to descend. The first is the hinge's solution; the best end is kept.

    Attributes
    ----------
    coef_ : array (1, d) or (n_classes, d)
    intercept_ : array (1,) or (n_classes,)
    support_, dual_coef_
        The samples with a dual variable, and these, signed: (1, n_SV) or (n_classes, n_SV).
    certificate_, status_, solver_, trace_
        The proof, how the fit ended, which solver and why, its certified moments; tuples with `.worst` for more than two classes.
    outliers_, objective_, objective_bound_
        Ramp only: the samples that the last convex step left out (their loss is 1), the ramp's objective, and a value that no
        model can be below: 0 unless ``solver="exact"`` proved more. A tuple for more than two classes. `certificate_` is that
        of the last convex step.
    classes_, n_features_in_, n_iter_
        As in scikit-learn.

    Notes
    -----
    Cost: O(non-zeros) a round, in time linear in their number; memory O(n + d) beside the data, which are not copied (float32
    stays float32).

    Examples
    --------
    >>> from maxmargin import LinearSVC
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.5], [3.0, 3.0]], ["no", "no", "yes", "yes"]
    >>> model = LinearSVC(C=10).fit(X, y)
    >>> model.predict([[0.2, 0.2], [3.0, 2.0]])
    array(['no', 'yes'], dtype='<U3')
    >>> model.certificate_.relative_gap <= 1e-3
    True
    """

    def __init__(
        self,
        penalty: str = "l2",
        loss: str = "hinge",
        *,
        C: Any = 1.0,
        fit_intercept: bool = True,
        intercept_scaling: float | None = None,
        class_weight: Any = None,
        tol: float = 1e-3,
        max_iter: int = -1,
        max_seconds: float | None = None,
        solver: Any = "auto",
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
        n_starts: int = 1,
    ) -> None:
        self.penalty = penalty
        self.loss = loss
        self.C = C
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.max_seconds = max_seconds
        self.solver = solver
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.n_starts = n_starts

    # -- fit -----------------------------------------------------------------------------------------------------

    def _fit(self, X: Matrix, labels: Indices, weights: Floats) -> bool:
        tol = check_tol(self.tol)
        check_choice("penalty", self.penalty, ("l2", "l1"))
        check_choice("loss", self.loss, LOSSES)
        check_flag("warm_start", self.warm_start)
        check_flag("verbose", self.verbose)
        problems = self._problems(X, labels, weights)
        warm = self._warm_candidates(problems, labels)
        threads = usable_threads(self.n_jobs)
        budget = self._budget(self.max_iter, self.max_seconds)
        seed = 0 if self.random_state is None else int(check_random_state(self.random_state).randint(2**31 - 1))
        solver = chosen_solver(self.solver, seed, n_threads=threads if len(problems) == 1 else 1)
        by = trainer(self.loss, self.solver, self.n_starts, seed)
        names = [f"{name} against the rest" for name in self.classes_[: len(problems)].tolist()]
        with watching(self, X, labels, weights, tol, names) as watch:

            def train(k: int, budget: Budget) -> Solution:
                return watch.solve(k, problems[k], solver, by, warm=warm[k], budget=budget)

            backend = elsewhere() if len(problems) > 1 else None
            if backend is None:
                solutions = in_threads(train, len(problems), budget, threads)
            else:
                solutions = backend.map(
                    _trained, [(one, solver, by, tol, start, budget) for one, start in zip(problems, warm, strict=True)]
                )
                for k, solution in enumerate(solutions):
                    watch.begin(k)
                    watch.end(k, solution)
            self._store(X, labels, problems, solutions)
        certificates = [solution.certificate for solution in solutions if solution.certificate is not None]
        for solution, certificate in zip(solutions, certificates, strict=True):
            warn_unless_solved(type(self).__name__, solution.status, certificate, tol)
        return any(solution.status is Status.INTERRUPTED for solution in solutions)

    def _problems(self, X: Matrix, labels: Indices, weights: Floats) -> list[Problem]:
        """One problem (positive: ``classes_[1]``), or one a class for more than two."""
        n_classes = len(self.classes_)
        trade_off = Regularization.of(self.C)
        if trade_off.is_hard:
            raise InvalidInputError(f"C={self.C!r} is the hard margin. Use HardMarginSVC(), or a finite C.")
        self.class_weight_ = class_factors(self.class_weight, self.classes_, labels, weights)
        cost = costs(trade_off, weights, self.class_weight_[labels], self.penalty)
        positives = [1] if n_classes == 2 else range(n_classes)
        return [
            Problem(
                X,
                np.where(labels == positive, 1.0, -1.0),
                cost=cost,
                loss=loss_from_name(self.loss),
                penalty=penalty_from_name(self.penalty),
                bias=bias_from(self.fit_intercept, self.intercept_scaling),
            )
            for positive in positives
        ]

    def _warm_candidates(self, problems: list[Problem], labels: Indices) -> list[Candidate | None]:
        last = self.__dict__.get("_last_fit")
        shape = (problems[0].X.shape, len(problems))
        if not self.warm_start or last is None or last[0] != shape or not np.array_equal(last[1], labels):
            return [None] * len(problems)
        return [
            Candidate(self.coef_[k].astype(np.float64), float(self.intercept_[k]), _spread(self, k, problem.n))
            for k, problem in enumerate(problems)
        ]

    def _store(self, X: Matrix, labels: Indices, problems: list[Problem], solutions: list[Solution]) -> None:
        betas = np.array([solution.beta for solution in solutions])
        self.coef_ = np.array([solution.w for solution in solutions])
        self.intercept_ = np.array([solution.b for solution in solutions])
        self.support_ = np.flatnonzero(betas.any(axis=0)).astype(np.int32)
        self.dual_coef_ = betas[:, self.support_]
        self.n_iter_ = max(max(solution.n_iter for solution in solutions), 1)
        self.shape_fit_ = X.shape
        self._last_fit = ((X.shape, len(problems)), labels) if self.warm_start else None
        self._balls = optimum_balls(problems, solutions)
        store_outliers(self, solutions, [None] * len(solutions))
        store_solutions(self, solutions)

    def _candidates(self, X: Matrix, labels: Indices, weights: Floats) -> list[tuple[Problem, Candidate]]:
        """Each binary problem with the model as it is stored: what `certify` judges."""
        return [
            (judged(self, k, problem), Candidate(self.coef_[k], float(self.intercept_[k]), _spread(self, k, problem.n)))
            for k, problem in enumerate(self._problems(X, labels, weights))
        ]

    # -- predict -------------------------------------------------------------------------------------------------

    def decision_function(self, X: Any) -> Floats:
        """F(x) = ⟨w, x⟩ + b: positive for ``classes_[1]``; one column a class for more than two. Cost: O(nnz)."""
        scores = np.asarray(products.scores(self._checked(X), self.coef_.T) + self.intercept_)
        return scores.ravel() if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> Any:
        """The labels: F > 0 gives ``classes_[1]``, F = 0 ``classes_[0]``; for more classes the largest F, the first of equals."""
        return labels_from(self.decision_function(X), self.classes_)

    def certified_predictions(self, X: Any) -> tuple[Any, Any]:
        """(labels, is_certain): the predictions, and which of them cannot change between this model and the exact optimum.

        The exact optimum lies in a ball of radius √gap about this model, so its F(x) has an interval; a label is certain where
        the whole interval agrees with it. A smaller `tol` makes more of them certain. With the L1 penalty or the ramp loss
        there is no such ball, and none is.

        Examples
        --------
        >>> from maxmargin import LinearSVC
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
        >>> labels, is_certain = LinearSVC(tol=1e-8).fit(X, y).certified_predictions([[0.0], [2.9]])
        >>> labels, is_certain
        (array([0, 1]), array([ True,  True]))
        """
        X = self._checked(X)
        if not self._balls:
            return self.predict(X), np.zeros(X.shape[0], dtype=bool)
        scores, lengths = products.scores(X, self.coef_.T), products.lengths_above(X)
        ends = [
            ball.interval(scores[:, k], products.score_errors(X, self.coef_[k], lengths), lengths)
            for k, ball in enumerate(self._balls)
        ]
        lower, upper = np.array([end[0] for end in ends]), np.array([end[1] for end in ends])
        labels = self.predict(X)
        if len(self.classes_) == 2:
            is_positive = labels == self.classes_[1]
            return labels, np.where(is_positive, lower[0] > 0, upper[0] < 0)
        winner = np.searchsorted(self.classes_, labels)
        samples = np.arange(len(labels))
        others = upper.copy()
        others[winner, samples] = -np.inf
        return labels, lower[winner, samples] > others.max(axis=0)

    def _checked(self, X: Any) -> Matrix:
        check_is_fitted(self, "coef_")
        return validate_data(
            self, X, reset=False, accept_sparse="csr", dtype=(np.float64, np.float32), accept_large_sparse=True
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _spread(model: LinearSVC, k: int, n: int) -> Floats:
    beta = np.zeros(n)
    beta[model.support_] = model.dual_coef_[k]
    return beta


def _trained(problem: Problem, solver: Any, by: Any, tol: float, warm: Candidate | None, budget: Budget) -> Solution:
    """A solution, made in another process."""
    solution: Solution = (solve if by is None else by)(problem, solver, tol=tol, warm=warm, budget=budget)
    return solution


def bias_from(fit_intercept: Any, intercept_scaling: Any) -> Bias:
    """The bias that the two parameters of the linear machines mean.

    Examples
    --------
    >>> bias_from(True, None), bias_from(True, 2.0), bias_from(False, None)
    (Bias('free'), Bias('penalized', 2.0), Bias('none'))
    """
    fit_intercept = check_flag("fit_intercept", fit_intercept)
    if intercept_scaling is None:
        return Bias.free() if fit_intercept else Bias.none()
    if not fit_intercept:
        raise InvalidInputError(
            f"intercept_scaling={intercept_scaling!r} needs fit_intercept=True: there is no intercept to penalise."
        )
    return Bias.penalized(intercept_scaling)


def labels_from(scores: Floats, classes: Any) -> Any:
    """F > 0 gives ``classes[1]``, F = 0 ``classes[0]``; for more classes the largest F, the first of equals."""
    return classes[(scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)]
