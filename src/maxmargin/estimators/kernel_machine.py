"""The scikit-learn face of a kernel machine: one-vs-one fits, fitted attributes, prediction in blocks."""

from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.utils.multiclass import _ovr_decision_function
from sklearn.utils.validation import check_is_fitted, validate_data

from maxmargin.core import Candidate, Problem, Solution, Status
from maxmargin.errors import InvalidInputError
from maxmargin.estimators.base import Classifier, check_choice, check_flag, check_tol
from maxmargin.estimators.convergence import warn_unless_solved
from maxmargin.estimators.one_vs_one import (
    Pair,
    PerProblem,
    pack_dual,
    pair_coefficients,
    pairs_of,
    unpack_dual,
    vote,
)
from maxmargin.estimators.progress import Watch, watching
from maxmargin.kernels import Kernel, Linear, Precomputed, kernel_from_name
from maxmargin.typing import Floats, Indices, Matrix

PREDICT_BYTES = 32 * 2**20


class KernelClassifier(Classifier):
    """Abstract base of the classifiers with a kernel; subclasses say how a pair of classes is trained."""

    kernel: Any
    degree: Any
    gamma: Any
    coef0: Any
    tol: Any
    decision_function_shape: Any
    break_ties: Any
    verbose: Any

    @abstractmethod
    def _problem(self, X: Matrix, pair: Pair, weights: Floats, kernel: Kernel) -> Problem:
        """The problem of one pair of classes."""

    @abstractmethod
    def _train(self, problem: Problem, pair: Pair, k: int, watch: Watch) -> Solution:
        """Solve the problem of pair k by `watch.solve`, or raise."""

    # -- fit -----------------------------------------------------------------------------------------------------

    def _fit(self, X: Matrix, labels: Indices, weights: Floats) -> bool:
        tol = check_tol(self.tol)
        check_choice("decision_function_shape", self.decision_function_shape, ("ovr", "ovo"))
        if check_flag("break_ties", self.break_ties) and self.decision_function_shape == "ovo":
            raise InvalidInputError(
                'break_ties must be False when decision_function_shape is "ovo": no votes are counted.'
            )
        check_flag("verbose", self.verbose)
        pairs = pairs_of(labels, len(self.classes_))
        problems = self._problems(X, labels, weights)
        classes = self.classes_.tolist()
        names = [f"{classes[pair.positive]} against {classes[pair.negative]}" for pair in pairs]
        solutions: list[Solution] = []
        with watching(self, X, labels, weights, tol, names) as watch:
            for k, (problem, pair) in enumerate(zip(problems, pairs, strict=True)):
                solutions.append(self._train(problem, pair, k, watch))
                if solutions[-1].status is Status.INTERRUPTED and len(solutions) < len(problems):
                    raise KeyboardInterrupt  # some pairs have no model at all: keep what was there before
            self._store(X, labels, pairs, solutions, problems[0].kernel)
        for solution, certificate in zip(solutions, self._per_problem("certificate_"), strict=True):
            warn_unless_solved(type(self).__name__, solution.status, certificate, tol)
        return solutions[-1].status is Status.INTERRUPTED

    def _store(
        self,
        X: Matrix,
        labels: Indices,
        pairs: list[Pair],
        solutions: list[Solution],
        kernel: Kernel,
    ) -> None:
        n_classes = len(self.classes_)
        support, dual_coef = pack_dual(pairs, [solution.beta for solution in solutions], labels, n_classes)
        certificates = [solution.certificate for solution in solutions if solution.certificate is not None]
        worst = int(np.argmax([certificate.relative_gap for certificate in certificates]))
        self.kernel_ = kernel
        self.support_ = support.astype(np.int32)
        self.dual_coef_ = dual_coef
        self.n_support_ = np.bincount(labels[support], minlength=n_classes).astype(np.int32)
        self.support_vectors_ = np.empty((0, 0)) if isinstance(kernel, Precomputed) else X[support]
        self._reference = kernel.reference(X, support)
        self._pair_coef = pair_coefficients(dual_coef, labels[support], n_classes)
        self.intercept_ = np.array([solution.b for solution in solutions])
        self._weights = np.array([solution.w for solution in solutions]) if isinstance(kernel, Linear) else None
        self.shape_fit_ = X.shape
        self.fit_status_ = int(any(solution.status is not Status.SOLVED for solution in solutions))
        self.n_iter_ = np.array([max(solution.n_iter, 1) for solution in solutions], dtype=np.int32)
        for name, items in (
            ("certificate_", certificates),
            ("status_", [solution.status for solution in solutions]),
            ("solver_", [solution.solver for solution in solutions]),
            ("trace_", [solution.trace for solution in solutions]),
        ):
            setattr(self, name, items[0] if n_classes == 2 else PerProblem.of(items, worst))

    def _problems(self, X: Matrix, labels: Indices, weights: Floats) -> list[Problem]:
        """The binary problems of validated data, all with the same resolved kernel."""
        kernel = kernel_from_name(self.kernel, degree=self.degree, gamma=self.gamma, coef0=self.coef0)
        kernel.check_input(X)
        kernel = kernel.resolve(X, sample_weight=weights)
        pairs = pairs_of(labels, len(self.classes_))
        return [self._problem(X, pair, weights[pair.rows], kernel) for pair in pairs]

    def _per_problem(self, attribute: str) -> tuple[Any, ...]:
        value = getattr(self, attribute)
        return value if isinstance(value, PerProblem) else (value,)

    def _candidates(self, X: Matrix, labels: Indices, weights: Floats) -> list[tuple[Problem, Candidate]]:
        """Each binary problem with the model as it is stored: what `certify` judges."""
        n_classes = len(self.classes_)
        pairs = pairs_of(labels, n_classes)
        out = []
        for k, pair in enumerate(pairs):
            problem = self._problem(X, pair, weights[pair.rows], self.kernel_)
            beta = unpack_dual(pair, self.support_.astype(np.intp), self.dual_coef_, labels, n_classes)
            w = beta if self._weights is None else self._weights[k]
            out.append((problem, Candidate(w, float(self.intercept_[k]), beta)))
        return out

    # -- predict -------------------------------------------------------------------------------------------------

    @property
    def coef_(self) -> Floats:
        """The weights of the features; linear kernels only."""
        check_is_fitted(self, "support_")
        if self._weights is None:
            raise AttributeError("coef_ exists for the linear kernel only; other kernels have dual_coef_.")
        return self._weights

    def decision_function(self, X: Any) -> Floats:
        """F(x): positive for ``classes_[1]``; for more classes one column a class ("ovr") or a pair ("ovo").

        Cost: O(nnz) for a linear kernel, (samples × support vectors) kernel values otherwise, in blocks of 32 MB.
        """
        decisions = self._decisions(X)
        if len(self.classes_) == 2:
            return decisions.ravel()
        if self.decision_function_shape == "ovr":
            return _ovr_decision_function(decisions < 0, -decisions, len(self.classes_))  # type: ignore[no-any-return]
        return decisions

    def predict(self, X: Any) -> Any:
        """The labels; F = 0 gives ``classes_[0]``, and of several classes with as many won pairs the first."""
        check_is_fitted(self, "support_")
        if len(self.classes_) == 2:
            return self.classes_[(self._decisions(X).ravel() > 0).astype(np.intp)]
        if self.break_ties:
            return self.classes_[self.decision_function(X).argmax(axis=1)]
        return self.classes_[vote(self._decisions(X), len(self.classes_))]

    def _decisions(self, X: Any) -> Floats:
        check_is_fitted(self, "support_")
        X = validate_data(
            self, X, reset=False, accept_sparse="csr", dtype=(np.float64, np.float32), accept_large_sparse=True
        )
        if self._weights is not None:
            return np.asarray(X @ self._weights.T + self.intercept_, dtype=np.float64)
        out = np.empty((X.shape[0], len(self.intercept_)))
        step = max(1, PREDICT_BYTES // (8 * max(len(self.support_), 1)))
        for start in range(0, X.shape[0], step):
            block = X[start : start + step]
            out[start : start + step] = self.kernel_.block(block, self._reference, dtype=np.float64) @ self._pair_coef.T
        return np.asarray(out + self.intercept_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        is_precomputed = self.kernel == "precomputed" or isinstance(self.kernel, Precomputed)
        tags.input_tags.pairwise = is_precomputed
        tags.input_tags.sparse = not is_precomputed
        return tags
