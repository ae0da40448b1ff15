"""PegasosSVC: the soft margin by stochastic subgradient descent, on a data set or on a stream."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from maxmargin.core import Bias, Candidate, Problem, Regularization, Solution, Status, Workspace, certify
from maxmargin.errors import InvalidInputError
from maxmargin.estimators.base import check_choice, check_flag, check_tol
from maxmargin.estimators.multiclass.one_vs_one import PerProblem, store_solutions
from maxmargin.estimators.multiclass.one_vs_rest import signs_of
from maxmargin.estimators.multiclass.parallel import in_threads
from maxmargin.estimators.progress.callbacks import watching
from maxmargin.estimators.progress.convergence import warn_unless_solved
from maxmargin.estimators.stochastic.partial_fit import StreamLearner
from maxmargin.estimators.weights import class_factors, costs
from maxmargin.solvers import Budget, Pegasos
from maxmargin.threads import usable_threads
from maxmargin.typing import Floats, Indices, Matrix

DEFAULT_LAMBDA = 1e-4

FEWEST_EPOCHS = 1000
"""Epochs that ``n_epochs=None`` allows at least, and makes where ``tol`` is None."""

MOST_VALUES = 10**9
"""Stored values that ``n_epochs=None`` lets a fit visit beyond its fewest epochs: some 5 seconds of one thread."""

VISIT_VALUES = 10
"""Stored values in whose time a visit does all else: 30 ns beside 3 ns a value, measured on rows of 4 to 64 values."""


class PegasosStep(NamedTuple):
    """One step of Pegasos or SGD.

    Attributes
    ----------
    t : int
        Counted from 1.
    samples : array of int
        The batch that was looked at: one sample, as a rule.
    scores : array
        y F(x) of each, before the step: < 1 is a violation.
    is_violation : array of bool
    w, b
        After the step: what `fit` would return if it ended here (with a kernel w holds a coefficient for each sample).
    primal, dual : float
        P(w, b) and D(β) with the shares of violations so far, in the λ/2 form: the optimum lies between them.
    """

    t: int
    samples: Indices
    scores: Floats
    is_violation: Any
    w: Floats
    b: float
    primal: float
    dual: float


class PegasosSVC(StreamLearner):
    r"""The soft margin by Pegasos or SGD: cheap steps, each of which looks at one sample.

        min (λ/2)(‖w‖² + b²) + (1/n) Σ_j max(0, 1 − y_j(⟨w, φ(x_j)⟩ + b))

        step t:   w ← (1 − 1/t) w + (1/(λt)) y_j φ(x_j) if y_j F(x_j) < 1,  else  w ← (1 − 1/t) w

    The bias is the weight of a constant feature 1, and so is penalised. Stops when the relative duality gap, proved by the shares
    of violations as the dual point, is at most `tol`. More than two classes: one-vs-rest, in threads.

    Parameters
    ----------
    C : Regularization, float or None
        The trade-off, in any of its spellings; ``Regularization.pegasos(lam)`` is the λ above, None is λ = 1e-4. A float is
        scikit-learn's C.
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"}, callable or Kernel
        "linear" keeps w, every other kernel counts of violations.
    degree, gamma, coef0
        The kernel's parameters, as in scikit-learn.
    method : {"pegasos", "sgd"}
        Pegasos: a fresh permutation each epoch (of more than 100 000 stored values 4 neighbours stay together). SGD:
        uniform draws, and w = θ/(λt) where Pegasos has θ/(λ(t − 1)), as in Shalev-Shwartz & Ben-David, section 15.5, whose
        output is the mean of all iterates (``average=True``).
    average : {"tail", True, False}
        The mean of the last iterates (an eighth of them at least, a third at most, whatever their number), of all, or the
        last one.
    n_epochs : int or None
        Epochs, at most. None: as many as make ρ²/(λ · tol) steps, the rate at which the suboptimality falls (ρ is the largest
        ‖φ(x)‖), but no more than some seconds take, and at least 1000; exactly 1000 where ``tol`` is None.
    batch_size : int
        Samples a step.
    project : bool
        Pegasos's optional projection to ‖w‖ ≤ 1/√λ.
    fit_intercept : bool
        False: the hyperplane passes through the origin.
    class_weight : dict, "balanced" or None
        Factors of the costs; "balanced" makes the (weighted) classes count the same.
    tol : float or None
        The relative duality gap to prove. None: all epochs are made, and the gap is only told.
    max_seconds : float or None
        Seconds after which the best model so far is returned, with a `ConvergenceWarning`.
    cache_size : "auto" or float
        Megabytes for kernel rows ("auto": 1024).
    shuffle : bool
        False: Pegasos visits the samples as they come.
    n_jobs : int or None
        Threads for more than two classes.
    random_state : int, RandomState or None
        Of the order; None is 0.
    verbose : bool
        Show the gap while it falls, and how each problem ended, on stderr.

    Attributes
    ----------
    coef_, intercept_, classes_, n_features_in_, n_iter_
        As in scikit-learn; `coef_` for the linear kernel only, `n_iter_` counts epochs.
    t_ : int
        Steps made: from here `partial_fit` goes on.
    certificate_, status_, solver_, trace_
        The proof, how the fit ended, which solver, its certified moments; tuples with `.worst` for more than two classes. A
        stream has none: its samples are gone.
    support_, dual_coef_
        The samples with a dual variable, and these: shares of violations times the cost, signed. With a kernel also
        `support_vectors_`.

    Notes
    -----
    Cost: O(non-zeros) an epoch, the average included; the suboptimality falls like 1/(λ · steps). Memory O(n + d) beside the
    data. A kernel costs n values a violation.

    Examples
    --------
    >>> from maxmargin import PegasosSVC, Regularization
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.5], [3.0, 3.0]], ["no", "no", "yes", "yes"]
    >>> model = PegasosSVC(C=Regularization.pegasos(0.1)).fit(X, y)
    >>> model.predict([[0.2, 0.2], [3.0, 2.0]])
    array(['no', 'yes'], dtype='<U3')
    >>> model.certificate_.relative_gap <= 1e-2
    True
    """

    def __init__(
        self,
        *,
        C: Any = None,
        kernel: Any = "linear",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        method: str = "pegasos",
        average: Any = "tail",
        n_epochs: int | None = None,
        batch_size: int = 1,
        project: bool = False,
        fit_intercept: bool = True,
        class_weight: Any = None,
        tol: float | None = 1e-2,
        max_seconds: float | None = None,
        cache_size: Any = "auto",
        shuffle: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.method = method
        self.average = average
        self.n_epochs = n_epochs
        self.batch_size = batch_size
        self.project = project
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.tol = tol
        self.max_seconds = max_seconds
        self.cache_size = cache_size
        self.shuffle = shuffle
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    # -- fit -----------------------------------------------------------------------------------------------------

    def _fit(self, X: Matrix, labels: Indices, weights: Floats) -> bool:
        tol = 0.0 if self.tol is None else check_tol(self.tol)
        check_flag("verbose", self.verbose)
        solver = self._solver()
        problems = self._problems(X, labels, weights)
        budget = self._epochs(problems[0])
        with watching(self, X, labels, weights, tol, self._problem_names()) as watch:

            def train(k: int, budget: Budget) -> Solution:
                return watch.solve(k, problems[k], solver, budget=budget)

            solutions = in_threads(train, len(problems), budget, usable_threads(self.n_jobs))
            self._store(X, problems, solutions)
        for solution, certificate in zip(solutions, self._per_problem(), strict=True):
            if self.tol is not None or solution.status is not Status.ITERATION_BUDGET:
                warn_unless_solved(type(self).__name__, solution.status, certificate, tol, rounds="n_epochs")
        return any(solution.status is Status.INTERRUPTED for solution in solutions)

    def _solver(self) -> Pegasos:
        """The algorithm that the parameters describe."""
        check_choice("method", self.method, ("pegasos", "sgd"))
        check_choice("average", self.average, ("tail", True, False))
        if not check_flag("shuffle", self.shuffle) and self.method == "sgd":
            raise InvalidInputError('shuffle=False is for method="pegasos": SGD draws its samples at random.')
        if check_flag("project", self.project) and self.method == "sgd":
            raise InvalidInputError('project=True is a step of method="pegasos"; SGD has none.')
        size = self.batch_size
        if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < 1:
            raise InvalidInputError(f"batch_size must be a whole number ≥ 1, got {size!r}.")
        order = "uniform" if self.method == "sgd" else ("permuted" if self.shuffle else "given")
        seed = 0 if self.random_state is None else int(check_random_state(self.random_state).randint(2**31 - 1))
        return Pegasos(self.method, self.average, int(size), bool(self.project), order, seed)

    def _epochs(self, problem: Problem) -> Budget:
        n_epochs = FEWEST_EPOCHS if self.n_epochs is None else self.n_epochs
        if self.n_epochs is None and self.tol is not None:
            n_epochs = max(FEWEST_EPOCHS, _epochs_for(problem, check_tol(self.tol)))
        if isinstance(n_epochs, bool) or not isinstance(n_epochs, int | np.integer) or n_epochs < 1:
            raise InvalidInputError(f"n_epochs must be a whole number ≥ 1 or None, got {n_epochs!r}.")
        return self._budget(int(n_epochs), self.max_seconds, self.cache_size)

    def _trade_off(self) -> Regularization:
        trade_off = Regularization.pegasos(DEFAULT_LAMBDA) if self.C is None else Regularization.of(self.C)
        if trade_off.is_hard:
            raise InvalidInputError(f"C={self.C!r} is the hard margin. Use HardMarginSVC(), or a finite C.")
        return trade_off

    def _problems(self, X: Matrix, labels: Indices, weights: Floats) -> list[Problem]:
        trade_off, kernel = self._trade_off(), self._resolved_kernel(X, weights)
        self.class_weight_ = class_factors(self.class_weight, self.classes_, labels, weights)
        cost = costs(trade_off, weights, self.class_weight_[labels])
        return [
            Problem(X, y, cost=cost, kernel=kernel, bias=self._bias()) for y in signs_of(labels, len(self.classes_))
        ]

    def _bias(self) -> Bias:
        return Bias.penalized() if check_flag("fit_intercept", self.fit_intercept) else Bias.none()

    def _store(self, X: Matrix, problems: list[Problem], solutions: list[Solution]) -> None:
        betas, vectors = np.array([s.beta for s in solutions]), np.array([s.w for s in solutions])
        is_linear = problems[0].is_linear
        used = np.flatnonzero(betas.any(axis=0) if is_linear else betas.any(axis=0) | vectors.any(axis=0))
        self._store_vectors(X, problems[0].kernel, vectors, np.array([s.b for s in solutions]), used)
        self.dual_coef_ = betas[:, used]
        self.n_iter_ = max(max(s.n_iter for s in solutions), 1)
        self.t_ = self.n_iter_ * -(-len(problems[0].present) // int(self.batch_size))
        self._stream = None
        if self.tol is None:  # nothing was asked for, so nothing was missed
            solutions = [_without_goal(solution) for solution in solutions]
        store_solutions(self, solutions)

    def _per_problem(self) -> tuple[Any, ...]:
        return self.certificate_ if isinstance(self.certificate_, PerProblem) else (self.certificate_,)

    def _candidates(self, X: Matrix, labels: Indices, weights: Floats) -> list[tuple[Problem, Candidate]]:
        out = []
        for k, problem in enumerate(self._problems(X, labels, weights)):
            beta = np.zeros(problem.n)
            beta[self.support_] = self.dual_coef_[k]
            w = np.zeros(problem.n) if self._weights is None else self._weights[k]
            if self._coefficients is not None:
                w[self.support_] = self._coefficients[k]
            out.append((problem, Candidate(w, float(self.intercept_[k]), beta)))
        return out

    # -- lessons -------------------------------------------------------------------------------------------------

    def steps(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[PegasosStep]:
        """Step after step, as `fit` makes them, until the gap is `tol` or the epochs end: for pictures and lessons.

        Two classes, small data: each step is judged from scratch. Changes nothing in the estimator.

        Examples
        --------
        >>> from maxmargin import PegasosSVC, Regularization
        >>> model = PegasosSVC(C=Regularization.pegasos(0.5), average=False, shuffle=False, fit_intercept=False)
        >>> for step in model.set_params(n_epochs=2, tol=None).steps([[1.0], [-2.0]], [1, 0]):
        ...     print(step.t, step.samples, step.is_violation, step.w, round(step.primal, 9))
        1 [0] [ True] [2.] 1.0
        2 [1] [False] [1.] 0.25
        3 [0] [False] [0.66666667] 0.277777778
        4 [1] [False] [0.5] 0.3125
        """
        probe = type(self)(**self.get_params(deep=False))
        X, labels, weights = probe._validated(X, y, sample_weight)
        if len(probe.classes_) != 2:
            raise InvalidInputError(f"steps shows two classes, got {len(probe.classes_)}: {probe.classes_}.")
        tol = -1.0 if self.tol is None else check_tol(self.tol)
        problem, solver = probe._problems(X, labels, weights)[0], probe._solver()
        budget = probe._epochs(problem)
        state = solver.init(problem, Workspace(problem), None)
        total, scale = float(problem.cost.sum()), problem.bias.scale
        for _ in range(budget.iterations or 0):
            order = state.visits.epoch()
            for start in range(0, len(order), int(self.batch_size)):
                batch = order[start : start + int(self.batch_size)]
                w, b = _split(state.iterates.last(), problem, scale)
                scores = problem.y[batch] * (problem.decision(w)[batch] + b)
                was = state.counts.violations.copy()
                solver._visit(state, batch)
                candidate = solver.finish(state, tol)
                judged = certify(problem, candidate, tol=tol)
                yield PegasosStep(
                    state.iterates.t, batch, scores, (state.counts.violations - was)[batch] > 0,
                    candidate.w, candidate.b, judged.primal / total, judged.dual / total,
                )  # fmt: skip
                if judged.relative_gap <= tol:
                    return


def _without_goal(solution: Solution) -> Solution:
    """The same, but its certificate has no gap to compare with."""
    assert solution.certificate is not None
    return replace(solution, certificate=replace(solution.certificate, tol=None))


def _epochs_for(problem: Problem, tol: float) -> int:
    """Epochs that make ρ²/(λ · tol) steps, no more than MOST_VALUES allow.

    After so many the bound ρ²/(λ · steps) of the suboptimality (Shalev-Shwartz et al., 2011, up to its logarithm and constant) is
    tol times the objective of w = 0.
    """
    n = len(problem.present)
    n_values = int(getattr(problem.X, "nnz", problem.X.size)) if problem.is_linear else n * n
    most = MOST_VALUES // (n_values + VISIT_VALUES * n)
    square = float(problem.diag()[problem.present].max()) + problem.bias.scale**2
    per_epoch = tol / float(problem.cost.max())  # λ · tol · n, with λ = 1/(n · cost)
    return most if square >= most * per_epoch else int(np.ceil(square / per_epoch))


def _split(vector: Floats, problem: Problem, scale: float) -> tuple[Floats, float]:
    """(w, b) of a vector of the feature space with its constant feature."""
    if problem.is_linear:
        return vector[:-1], scale * float(vector[-1])
    return vector, scale * scale * float(vector.sum())
