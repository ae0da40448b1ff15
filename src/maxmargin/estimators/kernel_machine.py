"""Machines with a kernel, each pair of classes by itself: their training, and their predictions in tiles on all cores."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.multiclass import _ovr_decision_function
from sklearn.utils.validation import check_is_fitted

from maxmargin.core import Candidate, Problem, Solution, Status, products
from maxmargin.core.certificate.pairs import lengths_from
from maxmargin.errors import InvalidInputError
from maxmargin.estimators.base import Machine, check_choice, check_flag
from maxmargin.estimators.multiclass.classifier import Classifier
from maxmargin.estimators.multiclass.one_vs_one import pack_dual, pair_sums, unpack_dual, vote
from maxmargin.estimators.separable import refuse_contradictions, separated
from maxmargin.kernel_matrix.expansion import Expansion
from maxmargin.kernels import Kernel, Linear, Precomputed
from maxmargin.kernels.tiles import TILE_ROWS, cut, rows_that_fit, values_of
from maxmargin.rounding import UNIT
from maxmargin.threads import usable_threads
from maxmargin.typing import Floats, Indices, Matrix


@dataclass(eq=False, repr=False, kw_only=True)
class KernelParameters(Machine):
    """Abstract base: fields that the `__init__` of a machine with a kernel takes, and the weights of a linear one."""

    kernel: Any = "linear"
    degree: int = 3
    gamma: Any = "scale"
    coef0: float = 0.0
    fit_intercept: bool = True
    max_seconds: float | None = None

    @property
    def coef_(self) -> Floats:
        """The weights of the features, not to be written to; linear kernels only."""
        check_is_fitted(self, "intercept_")
        if self._weights is None:
            raise AttributeError("coef_ exists for the linear kernel only; other kernels have dual_coef_.")
        weights: Floats = self._weights.view()
        weights.flags.writeable = False
        return weights


@dataclass(eq=False, repr=False, kw_only=True)
class KernelMachine(KernelParameters):
    """Abstract base of the machines with a kernel that keep support vectors. The expansion is None where the kernel is linear."""

    tol: float
    max_iter: int = -1
    cache_size: Any = "auto"
    solver: Any = "auto"
    verbose: int = False

    @property
    def dual_coef_(self) -> Any:
        """Coefficients of the support vectors, (n_classes − 1, n_SV); sparse where these are."""
        return self._as_vectors(self._dual)

    @dual_coef_.setter
    def dual_coef_(self, values: Any) -> None:
        self._dual = products.dense_rows(values)

    @property
    def coef_(self) -> Any:
        """The weights of the features, not to be written to, sparse where the support vectors are; linear kernels only."""
        return self._as_vectors(super().coef_)

    def _as_vectors(self, values: Floats) -> Any:
        """Sparse where the support vectors are, of their type, and not to be written to, as in scikit-learn."""
        vectors: Any = getattr(self, "support_vectors_", None)
        if not sp.issparse(vectors):
            return values
        found: Any = type(vectors)(values)
        found.data.flags.writeable = False
        return found

    # What programs read of scikit-learn's machines that write its models in other formats.
    _gamma = property(lambda self: float(getattr(self.kernel_, "gamma", 0.0)))

    def _store_vectors(self, X: Matrix, kernel: Kernel, support: Indices, groups: Any, solutions: list[Solution]) -> None:
        """Keep the support vectors, and what predictions sum over them."""
        self.kernel_: Kernel = kernel
        self.support_ = support.astype(np.int32)
        reference = kernel.reference(X, support)
        self.support_vectors_ = np.empty((0, 0)) if isinstance(kernel, Precomputed) else values_of(reference)
        is_linear = isinstance(kernel, Linear)
        self._weights: Any = np.array([solution.w for solution in solutions]) if is_linear else None
        self._expansion: Any = None if is_linear else Expansion(kernel, reference, self._dual, groups)
        self.fit_status_ = int(any(solution.status is not Status.SOLVED for solution in solutions))

    # -- one problem ---------------------------------------------------------------------------------------------

    def _store_single(self, X: Matrix, kernel: Kernel, beta: Floats, solutions: list[Solution]) -> None:
        """Keep the model of a single problem, β of each row of X."""
        support = np.flatnonzero(beta)
        self._dual = beta[support][np.newaxis]
        self.n_support_ = np.array([len(support)], dtype=np.int32)
        self._store_vectors(X, kernel, support, None, solutions)
        self.n_iter_: Any = max(solutions[0].n_iter, 1)

    def _single(self, X: Matrix) -> Floats:
        """F of a single problem, from checked rows."""
        if self._expansion is None:
            return np.asarray(products.scores(X, self._weights[0]) + self.intercept_[0])
        return np.asarray(self._expansion(X, usable_threads(self.n_jobs))[0, 0] + self.intercept_[0])

    def _single_bounded(self, X: Matrix) -> tuple[Floats, Floats]:
        """f of a single problem without its bias, and a bound of its error, from checked rows."""
        if self._expansion is None:
            return products.scores(X, self._weights[0]), products.score_errors(X, self._weights[0])
        sums, errors = self._expansion.bounded(X, np.float64, usable_threads(self.n_jobs))
        return sums[0, 0], errors[0]

    def _certain_ends(self, X: Matrix) -> tuple[Floats, Floats]:
        """The ends of the interval that holds the exact optimum's F(x); infinite where nothing is known."""
        if not self._balls or isinstance(self.kernel_, Precomputed):
            return np.full(X.shape[0], -np.inf), np.full(X.shape[0], np.inf)
        f, errors = self._single_bounded(X)
        lengths = lengths_from(np.asarray(self.kernel_.diag(X), dtype=np.float64))
        return self._balls[0].interval(f, errors, lengths)


@dataclass(eq=False, repr=False, kw_only=True)
class KernelClassifier(KernelMachine, Classifier):
    """Abstract base of the classifiers with a kernel."""

    decision_function_shape: str = "ovr"
    break_ties: bool = False

    _is_pairwise = _may_be_solved_at_once = True

    # Of two classes with LIBSVM's signs.
    _n_support = property(lambda self: self.n_support_)
    _dual_coef_ = property(lambda self: self.dual_coef_ * (-1 if len(self.classes_) == 2 else 1))
    _intercept_ = property(lambda self: self.intercept_ * (-1 if len(self.classes_) == 2 else 1))

    def _checked_tol(self) -> float:
        check_choice("decision_function_shape", self.decision_function_shape, ("ovr", "ovo"))
        check_flag("break_ties", self.break_ties)
        return super()._checked_tol()

    def _refuse(self, k: int, problem: Problem) -> None:
        if problem.is_hard:
            refuse_contradictions(problem, *self._sides()[k])

    def _settled(self, k: int, problem: Problem, solution: Solution) -> Solution:
        return separated(problem, solution, *self._sides()[k]) if problem.is_hard else solution

    def _store(self, X: Matrix, labels: Indices, problems: list[Problem], solutions: list[Solution]) -> None:
        super()._store(X, labels, problems, solutions)
        n_classes, kernel = len(self.classes_), problems[0].kernel if problems else self.kernel_
        support, self._dual = pack_dual([solution.beta for solution in solutions], labels, n_classes)
        self.n_support_ = np.bincount(labels[support], minlength=n_classes).astype(np.int32)
        self._store_vectors(X, kernel, support, None if n_classes == 2 else self.n_support_, solutions)
        self.n_iter_ = np.array([max(solution.n_iter, 1) for solution in solutions], dtype=np.int32)

    def _stored(self, labels: Indices) -> list[Candidate]:
        betas = unpack_dual(self._spread(self._dual, len(labels)), labels, len(self.classes_))
        weights = betas if self._weights is None else self._weights
        return [Candidate(*each) for each in zip(weights, self.intercept_.tolist(), betas, strict=True)]

    # -- predict -------------------------------------------------------------------------------------------------

    def decision_function(self, X: Any) -> Floats:
        """F(x): positive for ``classes_[1]``; for more classes one column a class ("ovr") or a pair ("ovo").

        Cost: O(nnz) for a linear kernel, else (samples × support vectors) kernel values, in tiles and threads; beside its result
        it takes some 10 MB a thread, for many classes 4 MB more, and once a copy of the support vectors (of at most 256 MB).
        float64 rows are worked on in float64, float32 rows in float32: see `Expansion` for the error of that. Threads do not
        change the bits.
        """
        X = self._checked(X)
        return np.concatenate([self._shaped(self._decisions(rows)) for rows in self._chunks(X)])

    def predict(self, X: Any) -> Any:
        """The labels; F = 0 gives ``classes_[0]``, and of several classes with as many won pairs the first.

        With the RBF kernel all F are computed in float32 with a bound of their error, and samples whose label that leaves open
        again in float64: the labels are those of float64 at a fraction of its price. Cost: as for `decision_function`.
        """
        if self.break_ties and self.decision_function_shape == "ovo":
            raise InvalidInputError('break_ties must be False when decision_function_shape is "ovo": no votes are counted.')
        X = self._checked(X)
        return self.classes_[np.concatenate([self._chosen(rows) for rows in self._chunks(X)])]

    def certified_predictions(self, X: Any) -> tuple[Any, Any]:
        """(labels, is_certain): the predictions, and which of them cannot change between this model and the exact optimum.

        The exact optimum lies in a ball of radius √gap about this model, so the F(x) of each pair has an interval; a label is
        certain where it wins whatever the decisions are within theirs. A smaller `tol` makes more of them certain. Nothing is
        where the kernel is precomputed or not known to be positive semi-definite, nor for the hard margin. Cost: that of
        `decision_function` in float64.

        Examples
        --------
        >>> from maxmargin import SVC
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 1, 0]
        >>> labels, is_certain = SVC(C=10.0, tol=1e-8).fit(X, y).certified_predictions([[0.0], [1.4]])
        >>> labels, is_certain
        (array([0, 1]), array([ True,  True]))
        """
        labels, X = self.predict(X), self._checked(X)
        if not self._balls or isinstance(self.kernel_, Precomputed):
            return labels, np.zeros(len(labels), dtype=bool)
        choices = []
        for rows in self._chunks(X):
            f, errors = self._bounded_sums(rows, np.float64)
            lengths = lengths_from(np.asarray(self.kernel_.diag(rows), dtype=np.float64))
            ends = np.array([ball.interval(f[k], errors[k], lengths) for k, ball in enumerate(self._balls)])
            choices.append(vote(ends.mean(axis=1), len(self.classes_), 0.5 * (ends[:, 1] - ends[:, 0])))
        winner, is_certain = map(np.concatenate, zip(*choices, strict=True))
        return labels, is_certain & (self.classes_[winner] == labels)

    def _chosen(self, X: Matrix) -> Indices:
        """The numbers of the classes of some checked rows."""
        n_classes = len(self.classes_)
        if n_classes > 2 and self.break_ties:
            return np.asarray(self._shaped(self._decisions(X)).argmax(axis=1), dtype=np.intp)
        if self._expansion is None or not self._expansion.is_single:
            return vote(self._decisions(X), n_classes).winner
        if self._expansion.is_small(X):
            return vote(self._decisions(X, np.float64), n_classes).winner
        f, errors = self._bounded_sums(X, np.float32)
        winner, is_certain = vote(f + self.intercept_[:, np.newaxis], n_classes, errors)
        again = np.flatnonzero(~is_certain)
        if len(again):
            winner[again] = vote(self._decisions(X[again], np.float64), n_classes).winner
        return winner

    def _shaped(self, decisions: Floats) -> Floats:
        if len(self.classes_) == 2:
            return np.asarray(decisions[0])
        decisions = decisions.T
        if self.decision_function_shape == "ovr":
            return _ovr_decision_function(decisions < 0, -decisions, len(self.classes_))  # type: ignore[no-any-return]
        return decisions

    def _decisions(self, X: Matrix, dtype: Any = None) -> Floats:
        """F of each binary problem, (n_problems, n), from checked rows."""
        if self._expansion is None:
            return np.asarray(products.scores(X, self._weights.T) + self.intercept_).T
        sums = self._expansion(X, usable_threads(self.n_jobs), dtype)
        return np.asarray(pair_sums(sums, len(self.classes_)) + self.intercept_[:, np.newaxis])

    def _bounded_sums(self, X: Matrix, dtype: Any) -> tuple[Floats, Floats]:
        """f of each binary problem without its bias, (n_problems, n), from checked rows; and bounds of the errors."""
        if self._expansion is None:
            errors = np.array([products.score_errors(X, w) for w in self._weights])
            return np.asarray(products.scores(X, self._weights.T)).T, errors
        sums, errors = self._expansion.bounded(X, dtype, usable_threads(self.n_jobs))
        f = pair_sums(sums, len(self.classes_))
        of_each_row = np.broadcast_to(errors[:, np.newaxis], sums.shape)  # a bound of a class holds for all its sums
        return f, pair_sums(of_each_row, len(self.classes_)) + 4.0 * UNIT * np.abs(f)

    def _chunks(self, X: Matrix) -> list[Matrix]:
        """The rows, so many at a time that their sums take about as much as those of a tile, and a tile of rows at least."""
        if len(self.classes_) == 2:
            return [X]
        step = max(TILE_ROWS, rows_that_fit(len(self.classes_) ** 2, X.shape[0]))
        return [cut(X, start, start + step) for start in range(0, X.shape[0], step)]
