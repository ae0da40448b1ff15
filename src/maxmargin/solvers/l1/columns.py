"""The data of a linear problem by columns, with a column of ones, whose weight is the bias b, behind them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.core import Candidate, Problem, best_bias
from maxmargin.typing import Floats, Indices


@dataclass(frozen=True)
class Columns:
    """Column k of (X, 1) as the loops want it, and what a weight on it costs: 1; for the bias 0 (free) or 1/s (penalised).

    A copy of the data, of the samples that count. `units` are the sizes of the columns' entries: the largest one of X, and 1 for
    the bias. A free bias takes up any constant, ⟨w, x⟩ + b = ⟨w, x − μ⟩ + (b + ⟨w, μ⟩): columns that vary by less than their mean
    μ_k (timestamps) stand here without it, so that their digits are those that tell the samples apart. μ_k is 0 for the others.
    """

    matrix: Any  # CSC (n, d'), or dense C-contiguous (d', n)
    price: Floats
    units: Floats
    is_sparse: bool
    mu: Floats

    @classmethod
    def of(cls, problem: Problem) -> "Columns":
        """The columns of a problem; a bias that is there is the last of them."""
        on = problem.present
        rows = problem.row(on)
        is_all = len(rows) == problem.X.shape[0] and problem.rows is None
        X: Any = problem.X if is_all else problem.X[rows]
        mu = np.zeros(X.shape[1])
        if problem.bias.is_free:
            # 8 bytes an entry of a dense float64 array, 12 a stored one of sparse columns: dense where that is no larger
            X = X.toarray() if sp.issparse(X) and 12 * X.nnz >= 8 * X.shape[0] * X.shape[1] else X
            mu = mu if sp.issparse(X) else _offsets(X)
            X = X - mu if mu.any() else X
        has_bias = problem.bias.kind != "none"
        constant = np.ones((len(on), 1), dtype=X.dtype)
        price, units = np.ones((2, X.shape[1] + has_bias))
        units *= float(np.abs(X.data if sp.issparse(X) else X).max(initial=0.0)) or 1.0
        if has_bias:
            price[-1], units[-1] = 0.0 if problem.bias.is_free else 1.0 / problem.bias.scale, 1.0
        if sp.issparse(X):
            parts = [sp.csc_array(X), sp.csc_array(constant)] if has_bias else [sp.csc_array(X)]
            matrix: Any = sp.hstack(parts, format="csc")
            matrix.sum_duplicates()
        else:
            matrix = np.ascontiguousarray((np.hstack([X, constant]) if has_bias else X).T)
        return cls(matrix, price, units, bool(sp.issparse(X)), mu)

    def weights(self, candidate: Candidate) -> Floats:
        """Those of a candidate, with that of a bias behind them."""
        if len(candidate.w) == len(self.price):
            return candidate.w
        return np.append(candidate.w, candidate.b + float(candidate.w @ self.mu))

    @property
    def n_values(self) -> int:
        """Stored values."""
        return int(self.matrix.nnz if self.is_sparse else self.matrix.size)

    @property
    def arrays(self) -> tuple[Any, ...]:
        """What the loops take."""
        return (self.matrix.indptr, self.matrix.indices, self.matrix.data) if self.is_sparse else (self.matrix,)

    def sums(self, v: Floats) -> Floats:
        """Σ_j v_j x̃_jk for each column k, in float64."""
        return np.asarray(self.matrix.T @ v if self.is_sparse else self.matrix @ v, dtype=np.float64)

    def scores(self, w: Floats) -> Floats:
        """⟨w, x̃_j⟩ for each sample; columns without a weight are not read."""
        used = np.flatnonzero(w)
        return np.asarray(self.take(used) @ w[used], dtype=np.float64)

    def take(self, columns: Indices) -> Any:
        """(n, some columns): CSC or dense."""
        return self.matrix[:, columns] if self.is_sparse else self.matrix[columns].T

    def stretch(self, sums: Floats) -> float:
        """How far a dual point sticks out of its cube |Σ_j α_j y_j x̃_jk| ≤ price_k, given these sums: 1 where it does not."""
        return max(1.0, float(self.shares(sums).max(initial=0.0)))

    def stretch_in_data(self, sums: Floats) -> float:
        """The same for the data as they came: what is left of Σβ, the sum of a free bias, counts there times μ_k."""
        return self.stretch(np.append(sums[:-1] + self.mu * sums[-1], sums[-1]) if self.mu.any() else sums)

    def shares(self, sums: Floats) -> Floats:
        """|Σ_j α_j y_j x̃_jk| / price_k of each column, 0 for the free bias."""
        shares = np.abs(sums)
        if self.price[-1] != 1.0:  # of all prices only the bias's can differ from 1
            shares[-1] = 0.0 if self.price[-1] == 0.0 else shares[-1] / self.price[-1]
        return shares

    def all_scores(self, w: Floats) -> Floats:
        """The same where most columns have a weight: all are read."""
        return np.asarray(self.matrix @ w if self.is_sparse else w @ self.matrix, dtype=np.float64)

    def sizes(self) -> Floats:
        """The largest |x̃_jk| of each column k, and 1 where that is 0."""
        if self.is_sparse:
            largest = np.asarray(abs(self.matrix).max(axis=0).toarray()).ravel().astype(np.float64)
        else:
            largest = np.abs(self.matrix).max(axis=1, initial=0.0).astype(np.float64)
        return np.where(largest > 0.0, largest, 1.0)

    def squares(self, cost: Floats) -> Floats:
        """Σ_j c_j x̃_jk² for each column k."""
        if self.is_sparse:
            return np.asarray(self._squared().T @ cost)
        return np.asarray(np.einsum("kj,kj,j->k", self.matrix, self.matrix, cost))

    def square_scores(self, weight: Floats) -> Floats:
        """Σ_k weight_k x̃_jk² for each sample j."""
        if self.is_sparse:
            return np.asarray(self._squared() @ weight)
        return np.asarray(np.einsum("kj,kj,k->j", self.matrix, self.matrix, weight))

    def _squared(self) -> Any:
        data = np.square(self.matrix.data, dtype=np.float64)
        return sp.csc_array((data, self.matrix.indices, self.matrix.indptr), shape=self.matrix.shape)


def _offsets(X: Any) -> Floats:
    """The mean of each column of dense data whose entries vary by less than that, and 0 for the others."""
    mean = X.mean(axis=0, dtype=np.float64)
    square = np.einsum("jk,jk->k", X, X, dtype=np.float64) / len(X)
    return np.where(square < 2.0 * mean * mean, mean, 0.0)


def candidate_of(problem: Problem, w: Floats, alpha: Floats) -> Candidate:
    """What weights, with that of the bias behind them, and a dual point of the samples that count stand for."""
    beta = np.zeros(problem.n)
    beta[problem.present] = alpha * problem.y[problem.present]
    weights = w[: problem.X.shape[1]] + 0.0  # no −0
    if problem.bias.kind == "penalized":
        return Candidate(weights, float(w[-1]), beta)
    b = best_bias(problem, beta, problem.decision(weights)).middle if problem.bias.is_free else 0.0
    return Candidate(weights, b, beta)
