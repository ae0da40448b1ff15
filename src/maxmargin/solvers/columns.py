"""The data of a linear problem by columns, with the constant feature of the bias behind them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.core.problem import Problem
from maxmargin.typing import Floats, Indices


@dataclass(frozen=True)
class Columns:
    """Column k of (X, s) as the loops want it, and what a weight on it costs: 1, or 0 for the free bias.

    A copy of the data in their own precision, of the samples that count.
    """

    matrix: Any  # CSC (n, d'), or dense C-contiguous (d', n)
    price: Floats
    is_sparse: bool

    @classmethod
    def of(cls, problem: Problem) -> "Columns":
        """The columns of a problem; a bias that is there is the last of them, of scale 1 where it is free."""
        on = problem.present
        rows = problem.row(on)
        is_all = len(rows) == problem.X.shape[0] and problem.rows is None
        X: Any = problem.X if is_all else problem.X[rows]
        has_bias = problem.bias.kind != "none"
        constant = np.full((len(on), 1), 1.0 if problem.bias.is_free else problem.bias.scale, dtype=X.dtype)
        price = np.ones(X.shape[1] + has_bias)
        if problem.bias.is_free:
            price[-1] = 0.0
        if sp.issparse(X):
            parts = [sp.csc_array(X), sp.csc_array(constant)] if has_bias else [sp.csc_array(X)]
            matrix: Any = sp.hstack(parts, format="csc")
            matrix.sum_duplicates()
        else:
            matrix = np.ascontiguousarray((np.hstack([X, constant]) if has_bias else X).T)
        return cls(matrix, price, bool(sp.issparse(X)))

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

    def squares(self, cost: Floats) -> Floats:
        """Σ_j c_j x̃_jk² for each column k."""
        if self.is_sparse:
            squared = self.matrix.copy()
            squared.data = np.square(squared.data, dtype=np.float64)
            return np.asarray(squared.T @ cost)
        return np.asarray(np.einsum("kj,kj,j->k", self.matrix, self.matrix, cost))
