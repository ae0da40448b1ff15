"""The predictions of a kernel machine: decision values in tiles on all cores, labels that are those of float64."""

from typing import Any

import numpy as np
from sklearn.utils.multiclass import _ovr_decision_function
from sklearn.utils.validation import check_is_fitted, validate_data

from maxmargin.core import products
from maxmargin.estimators.base import Classifier
from maxmargin.estimators.one_vs_one import pair_errors, pair_sums, vote
from maxmargin.kernels import Expansion, Kernel
from maxmargin.kernels.tiles import TILE_X, cut
from maxmargin.threads import usable_threads
from maxmargin.typing import Floats, Indices, Matrix

CHUNK_BYTES = 32 * 2**20
"""What the sums of many classes may take at a time."""


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
        it takes some 10 MB a thread and 32 MB, and once a copy of the support vectors (of at most 256 MB). float64 rows are
        worked on in float64, float32 rows in float32: see `Expansion` for the error of that. Threads do not change the bits.
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

    def _chosen(self, X: Matrix) -> Indices:
        """The numbers of the classes of some checked rows."""
        n_classes = len(self.classes_)
        if n_classes > 2 and self.break_ties:
            return np.asarray(self._shaped(self._decisions(X)).argmax(axis=1), dtype=np.intp)
        if self._expansion is None or not self._expansion.has_bound:
            return vote(self._decisions(X), n_classes).winner
        rough = self._expansion.rough(X, usable_threads(self.n_jobs))
        decisions = pair_sums(rough.sums, n_classes) + self.intercept_[:, np.newaxis]
        winner, is_certain = vote(decisions, n_classes, pair_errors(rough.relative * rough.sizes, n_classes))
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

    def _chunks(self, X: Matrix) -> list[Matrix]:
        """The rows, so many at a time that their sums take about 32 MB."""
        if len(self.classes_) == 2:
            return [X]
        step = TILE_X * max(1, CHUNK_BYTES // (8 * TILE_X * len(self.classes_) ** 2))
        return [cut(X, start, start + step) for start in range(0, X.shape[0], step)]

    def _checked(self, X: Any) -> Matrix:
        check_is_fitted(self, "support_")
        return validate_data(
            self, X, reset=False, accept_sparse="csr", dtype=(np.float64, np.float32), accept_large_sparse=True
        )
