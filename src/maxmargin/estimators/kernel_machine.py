"""The training of a kernel machine: one-vs-one problems in threads, warm starts, fitted attributes."""

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from maxmargin.core import Bias, Candidate, Problem, Regularization, Solution, Status, loss_from_name
from maxmargin.core.certificate.optimum_ball import optimum_balls
from maxmargin.core.dual import make_feasible
from maxmargin.errors import InvalidInputError
from maxmargin.estimators.base import check_choice, check_flag, check_tol
from maxmargin.estimators.kernel_prediction import KernelPredictor
from maxmargin.estimators.multiclass.one_vs_one import (
    Pair,
    PerProblem,
    pack_dual,
    pairs_of,
    store_solutions,
    unpack_dual,
)
from maxmargin.estimators.multiclass.parallel import in_threads
from maxmargin.estimators.progress.callbacks import watching
from maxmargin.estimators.progress.convergence import warn_unless_solved
from maxmargin.estimators.ramp_loss import LOSSES, chosen_solver, hinge_of, judged, store_outliers, trainer
from maxmargin.estimators.separable import refuse_contradictions, separated
from maxmargin.estimators.weights import class_factors, costs
from maxmargin.kernel_matrix.expansion import Expansion
from maxmargin.kernel_matrix.matrix import KernelMatrix
from maxmargin.kernels import Kernel, Linear, Precomputed, kernel_from_name
from maxmargin.solvers import Auto, Budget, Solver
from maxmargin.threads import usable_threads
from maxmargin.typing import Floats, Indices, Matrix

AT_BOUND = 1 - 1e-9
"""A dual variable of at least so much of its bound moves with the bound when a fit starts from the last one."""


class KernelClassifier(KernelPredictor):
    """Abstract base of the classifiers with a kernel; the values here are for those that lack the parameter."""

    C: Any = np.inf
    loss: Any = "hinge"
    class_weight: Any = None
    warm_start: Any = False
    random_state: Any = None
    n_starts: Any = 1
    degree: Any
    gamma: Any
    coef0: Any
    fit_intercept: Any
    tol: Any
    max_iter: Any
    max_seconds: Any
    cache_size: Any
    solver: Any
    verbose: Any

    # -- fit -----------------------------------------------------------------------------------------------------

    def _fit(self, X: Matrix, labels: Indices, weights: Floats) -> bool:
        tol = self._checked_tol()
        problems = self._problems(X, labels, weights)
        pairs = pairs_of(labels, len(self.classes_))
        warm = self._warm_candidates(problems, pairs, labels)
        threads = usable_threads(self.n_jobs)
        budget = self._budget(self.max_iter, self.max_seconds, self.cache_size)
        budget = replace(budget, bytes=budget.bytes // min(threads, len(pairs)))  # as many fits hold rows at a time
        seed = 0 if self.random_state is None else int(check_random_state(self.random_state).randint(2**31 - 1))
        solver = self._solver(seed, n_threads=threads if len(pairs) == 1 else 1)
        by = trainer(self.loss, self.solver, self.n_starts, seed)
        classes = self.classes_.tolist()
        names = [f"{classes[pair.positive]} against {classes[pair.negative]}" for pair in pairs]
        with watching(self, X, labels, weights, tol, names) as watch:

            def train(k: int, budget: Budget) -> Solution:
                positive, negative = classes[pairs[k].positive], classes[pairs[k].negative]
                if problems[k].is_hard:
                    refuse_contradictions(problems[k], positive, negative)
                solution = watch.solve(k, problems[k], solver, by, warm=warm[k], budget=budget)
                return separated(problems[k], solution, positive, negative) if problems[k].is_hard else solution

            solutions = in_threads(train, len(problems), budget, threads)
            self.class_weight_ = class_factors(self.class_weight, self.classes_, labels, weights)
            self._store(X, labels, pairs, solutions, problems)
            self._last_fit = (X.shape, labels, [problem.cost for problem in problems]) if self.warm_start else None
        for solution, certificate in zip(solutions, self._per_problem("certificate_"), strict=True):
            warn_unless_solved(type(self).__name__, solution.status, certificate, tol)
        return any(solution.status is Status.INTERRUPTED for solution in solutions)

    def _checked_tol(self) -> float:
        """The tolerance; parameters that no other object checks are checked here."""
        check_choice("loss", self.loss, LOSSES)
        check_choice("decision_function_shape", self.decision_function_shape, ("ovr", "ovo"))
        if check_flag("break_ties", self.break_ties) and self.decision_function_shape == "ovo":
            raise InvalidInputError(
                'break_ties must be False when decision_function_shape is "ovo": no votes are counted.'
            )
        check_flag("warm_start", self.warm_start)
        check_flag("verbose", self.verbose)
        return check_tol(self.tol)

    def _solver(self, seed: int, n_threads: int) -> Solver | Auto:
        """The solver that the parameters ask for."""
        return chosen_solver(self.solver, seed, n_threads)

    def _problems(self, X: Matrix, labels: Indices, weights: Floats, kernel: Kernel | None = None) -> list[Problem]:
        """The binary problems of validated data, all with the same resolved kernel (by default the parameters' own)."""
        if kernel is None:
            kernel = kernel_from_name(self.kernel, degree=self.degree, gamma=self.gamma, coef0=self.coef0)
            kernel.check_input(X)
            kernel = kernel.resolve(X, sample_weight=weights)
        trade_off = Regularization.of(self.C)
        factors = class_factors(self.class_weight, self.classes_, labels, weights)
        shared = KernelMatrix(kernel, X)
        return [
            Problem(
                X,
                pair.y,
                cost=costs(trade_off, weights[pair.rows], factors[labels[pair.rows]]),
                loss=loss_from_name(self.loss),
                kernel=kernel,
                bias=Bias.free() if check_flag("fit_intercept", self.fit_intercept) else Bias.none(),
                rows=None if len(pair.rows) == X.shape[0] else pair.rows,
                shared=shared,
            )
            for pair in pairs_of(labels, len(self.classes_))
        ]

    def _warm_candidates(self, problems: list[Problem], pairs: list[Pair], labels: Indices) -> list[Candidate | None]:
        """The last fit's dual variables, those at their bound moved to where it is now, if the data fit."""
        last = self.__dict__.get("_last_fit")
        if not self.warm_start or last is None:
            return [None] * len(problems)
        shape, last_labels, last_costs = last
        if shape != problems[0].X.shape or not np.array_equal(last_labels, labels):
            return [None] * len(problems)
        warm: list[Candidate | None] = []
        for k, (problem, pair) in enumerate(zip(problems, pairs, strict=True)):
            problem, beta = hinge_of(problem), self._beta(pair, labels)
            then, now = problem.loss.upper(last_costs[k]), problem.loss.upper(problem.cost)
            moves = np.isfinite(then) & np.isfinite(now) & (np.abs(beta) >= AT_BOUND * then)
            beta = make_feasible(problem, np.where(moves, problem.y * now, beta))
            b = float(self.intercept_[k]) if problem.bias.is_free else 0.0
            warm.append(Candidate(problem.combine(beta), b, beta))
        return warm

    def _store(
        self,
        X: Matrix,
        labels: Indices,
        pairs: list[Pair],
        solutions: list[Solution],
        problems: list[Problem],
    ) -> None:
        n_classes, kernel = len(self.classes_), problems[0].kernel
        support, dual_coef = pack_dual(pairs, [solution.beta for solution in solutions], labels, n_classes)
        self.kernel_ = kernel
        store_outliers(self, solutions, [pair.rows for pair in pairs])
        self.support_ = support.astype(np.int32)
        self.dual_coef_ = dual_coef
        self.n_support_ = np.bincount(labels[support], minlength=n_classes).astype(np.int32)
        reference = kernel.reference(X, support)
        self.support_vectors_ = np.empty((0, 0)) if isinstance(kernel, Precomputed) else reference
        self.intercept_ = np.array([solution.b for solution in solutions])
        is_linear = isinstance(kernel, Linear)
        self._weights = np.array([solution.w for solution in solutions]) if is_linear else None
        groups = None if n_classes == 2 else self.n_support_
        self._expansion = None if is_linear else Expansion(kernel, reference, dual_coef, groups)
        self._balls = optimum_balls(problems, solutions)
        self.shape_fit_ = X.shape
        self.fit_status_ = int(any(solution.status is not Status.SOLVED for solution in solutions))
        self.n_iter_ = np.array([max(solution.n_iter, 1) for solution in solutions], dtype=np.int32)
        store_solutions(self, solutions)

    def _per_problem(self, attribute: str) -> tuple[Any, ...]:
        value = getattr(self, attribute)
        return value if isinstance(value, PerProblem) else (value,)

    def _beta(self, pair: Pair, labels: Indices) -> Floats:
        """The stored signed dual of one pair's problem."""
        return unpack_dual(pair, self.support_.astype(np.intp), self.dual_coef_, labels, len(self.classes_))

    def _candidates(self, X: Matrix, labels: Indices, weights: Floats) -> list[tuple[Problem, Candidate]]:
        """Each binary problem with the model as it is stored: what `certify` judges."""
        out = []
        pairs = pairs_of(labels, len(self.classes_))
        for k, problem in enumerate(self._problems(X, labels, weights, self.kernel_)):
            beta = self._beta(pairs[k], labels)
            w = beta if self._weights is None else self._weights[k]
            out.append((judged(self, k, problem), Candidate(w, float(self.intercept_[k]), beta)))
        return out

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        is_precomputed = self.kernel == "precomputed" or isinstance(self.kernel, Precomputed)
        tags.input_tags.pairwise = is_precomputed
        tags.input_tags.sparse = not is_precomputed
        return tags
