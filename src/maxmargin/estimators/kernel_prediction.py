"""The predictions of a kernel machine: decision values in tiles on all cores, labels that are those of float64."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.multiclass import _ovr_decision_function
from sklearn.utils.validation import check_is_fitted, validate_data

from maxmargin.core import products
from maxmargin.core.certificate.optimum_ball import OptimumBall
from maxmargin.core.certificate.pairs import lengths_from
from maxmargin.estimators.base import Classifier
from maxmargin.estimators.multiclass.one_vs_one import pair_errors, pair_sums, vote
from maxmargin.kernel_matrix.expansion import Expansion
from maxmargin.kernels import Kernel, Precomputed
from maxmargin.kernels.tiles import TILE_ROWS, cut, rows_that_fit
from maxmargin.rounding import UNIT
from maxmargin.threads import usable_threads
from maxmargin.typing import Floats, Indices, Matrix


@dataclass(eq=False, repr=False, kw_only=True)
class KernelParameters:
    """Mixin: fields that the `__init__` of a classifier with a kernel takes."""

    kernel: Any = "linear"
    degree: int = 3
    gamma: Any = "scale"
    coef0: float = 0.0
    fit_intercept: bool = True
    max_seconds: float | None = None


class KernelPredictor(Classifier):
    """Abstract base: what a fitted kernel machine answers. The expansion is None where the kernel is linear."""

    n_jobs: Any = None
    kernel: Any
    decision_function_shape: Any
    break_ties: Any
    kernel_: Kernel
    dual_coef_: Floats
    intercept_: Floats
    _weights: Floats | None
    _expansion: Expansion | None
    _balls: list[OptimumBall]

    @property
    def coef_(self) -> Floats:
        """The weights of the features; linear kernels only."""
        check_is_fitted(self, "support_")
        if self._weights is None:
            raise AttributeError("coef_ exists for the linear kernel only; other kernels have dual_coef_.")
        return self._weights

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
        winners, is_certain = [], []
        for rows in self._chunks(X):
            f, errors = self._bounded_sums(rows)
            lengths = lengths_from(np.asarray(self.kernel_.diag(rows), dtype=np.float64))
            ends = np.array([ball.interval(f[k], errors[k], lengths) for k, ball in enumerate(self._balls)])
            choice = vote(ends.mean(axis=1), len(self.classes_), 0.5 * (ends[:, 1] - ends[:, 0]))
            winners.append(choice.winner)
            is_certain.append(choice.is_certain)
        return labels, np.concatenate(is_certain) & (self.classes_[np.concatenate(winners)] == labels)

    def _chosen(self, X: Matrix) -> Indices:
        """The numbers of the classes of some checked rows."""
        n_classes = len(self.classes_)
        if n_classes > 2 and self.break_ties:
            return np.asarray(self._shaped(self._decisions(X)).argmax(axis=1), dtype=np.intp)
        if self._expansion is None or not self._expansion.is_single:
            return vote(self._decisions(X), n_classes).winner
        if self._expansion.is_small(X):
            return vote(self._decisions(X, np.float64), n_classes).winner
        rough = self._expansion.bounded(X, np.float32, usable_threads(self.n_jobs))
        decisions = pair_sums(rough.sums, n_classes) + self.intercept_[:, np.newaxis]
        winner, is_certain = vote(decisions, n_classes, pair_errors(rough.error, n_classes))
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
            assert self._weights is not None
            return np.asarray(products.scores(X, self._weights.T) + self.intercept_).T
        sums = self._expansion(X, usable_threads(self.n_jobs), dtype)
        return pair_sums(sums, len(self.classes_)) + self.intercept_[:, np.newaxis]

    def _bounded_sums(self, X: Matrix) -> tuple[Floats, Floats]:
        """f of each binary problem without its bias, (n_problems, n), from checked rows; and bounds of the errors."""
        if self._expansion is None:
            assert self._weights is not None
            errors = np.array([products.score_errors(X, w) for w in self._weights])
            return np.asarray(products.scores(X, self._weights.T)).T, errors
        bounded, n_classes = self._expansion.bounded(X, np.float64, usable_threads(self.n_jobs)), len(self.classes_)
        f = pair_sums(bounded.sums, n_classes)
        return f, pair_errors(bounded.error, n_classes) + 4.0 * UNIT * np.abs(f)

    def _chunks(self, X: Matrix) -> list[Matrix]:
        """The rows, so many at a time that their sums take about as much as those of a tile, and a tile of rows at least."""
        if len(self.classes_) == 2:
            return [X]
        step = max(TILE_ROWS, rows_that_fit(len(self.classes_) ** 2, X.shape[0]))
        return [cut(X, start, start + step) for start in range(0, X.shape[0], step)]

    def _checked(self, X: Any) -> Matrix:
        check_is_fitted(self, "support_")
        return validate_data(
            self, X, reset=False, accept_sparse="csr", dtype=(np.float64, np.float32), accept_large_sparse=True
        )
