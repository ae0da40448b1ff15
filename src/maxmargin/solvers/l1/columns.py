"""The L1 problem by columns: signed, in a unit in which the largest entry is at most 1, with the bias as the last weight.

min_w  Σ_k price_k |w_k| + Σ_j c_j ℓ(z_j),     z = A w,     A_jk = y_j x̃_jk / unit_k

max_α  Σα − Σ_j c_j ℓ*(−α_j / c_j)             s.t.  |u_k| ≤ price_k,  u = Aᵀα,  0 ≤ α  (hinge: α ≤ c)
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.core.bias import best_bias
from maxmargin.core.candidate import Candidate
from maxmargin.core.losses import Hinge, Loss
from maxmargin.core.problem import Problem
from maxmargin.typing import Floats, Indices


@dataclass(frozen=True)
class Columns:
    """Column k of A as the loops want it, and what a weight on it costs: 1/unit; for a free bias 0, for a penalised one 1/s.

    A copy of the data in their own precision, of the samples that count. Units are powers of two, so that nothing is rounded.
    """

    matrix: Any  # CSC (n, d'), or dense C-contiguous (d', n)
    units: Floats
    price: Floats
    cost: Floats
    loss: Loss

    @classmethod
    def of(cls, problem: Problem) -> "Columns":
        """The columns of a problem; a bias that is there is the last of them."""
        on = problem.present
        rows, bias = problem.row(on), problem.bias
        is_all = len(rows) == problem.X.shape[0] and problem.rows is None
        X: Any = problem.X if is_all else problem.X[rows]
        largest = float(np.abs(X.data if sp.issparse(X) else X).max(initial=0.0)) or 1.0
        exponent, has_bias = int(np.ceil(np.log2(largest))), bias.kind != "none"
        units = np.full(X.shape[1] + has_bias, 2.0**exponent)
        signs, ones = problem.y[on].astype(X.dtype), np.ones((len(on), int(has_bias)), dtype=X.dtype)
        if sp.issparse(X):
            matrix: Any = sp.hstack([sp.csc_array(X), sp.csc_array(np.ldexp(ones, exponent))], format="csc")
            matrix.sum_duplicates()
            matrix.data = np.ldexp(matrix.data, -exponent) * signs[matrix.indices]
        else:
            matrix = np.ascontiguousarray(np.hstack([np.ldexp(X, -exponent), ones]).T)
            matrix *= signs
        price = 1.0 / units
        if has_bias:
            units[-1], price[-1] = 1.0, 0.0 if bias.is_free else 1.0 / bias.scale
        return cls(matrix, units, price, problem.cost[on], problem.loss)

    def evened(self) -> "Columns":
        """The same in float64, in units in which the largest entry of each column is between 1 and 2."""
        data = np.abs(self.matrix).max(axis=0).toarray().ravel() if self.is_sparse else np.abs(self.matrix).max(axis=1)
        sizes = np.exp2(np.floor(np.log2(np.where(data > 0.0, data, 1.0).astype(np.float64))))
        matrix: Any = self.matrix.astype(np.float64)
        if self.is_sparse:
            matrix.data /= np.repeat(sizes, np.diff(matrix.indptr))
        else:
            matrix /= sizes[:, None]
        return replace(self, matrix=matrix, units=self.units * sizes, price=self.price / sizes)

    @property
    def is_sparse(self) -> bool:
        """Whether the matrix is."""
        return bool(sp.issparse(self.matrix))

    @property
    def is_hinge(self) -> bool:
        """Whether the loss is the hinge, and not its square."""
        return isinstance(self.loss, Hinge)

    @property
    def is_free(self) -> bool:
        """Whether the last weight is a free bias."""
        return bool(self.price[-1] == 0.0)

    @property
    def n_values(self) -> int:
        """Stored values."""
        return int(self.matrix.nnz if self.is_sparse else self.matrix.size)

    @property
    def arrays(self) -> tuple[Any, ...]:
        """(indptr, indices, values) for the loops; dense columns have no indices."""
        if self.is_sparse:
            return self.matrix.indptr, self.matrix.indices, self.matrix.data
        d, n = self.matrix.shape
        return n * np.arange(d + 1, dtype=np.int64), None, self.matrix.ravel()

    @cached_property
    def _per_price(self) -> Floats:
        """1/price, 0 for a free bias."""
        return np.divide(1.0, self.price, out=np.zeros_like(self.price), where=self.price > 0.0)

    def sums(self, alpha: Floats) -> Floats:
        """u = Aᵀα, in float64."""
        return np.asarray(self.matrix.T @ alpha if self.is_sparse else self.matrix @ alpha, dtype=np.float64)

    def scores(self, w: Floats) -> Floats:
        """z = A w; where few columns have a weight, only these are read."""
        used = np.flatnonzero(w)
        if 2 * len(used) > len(w):
            return np.asarray(self.matrix @ w if self.is_sparse else w @ self.matrix, dtype=np.float64)
        return np.asarray(self.take(used) @ w[used], dtype=np.float64)

    def take(self, columns: Indices) -> Any:
        """(n, some columns): CSC or dense."""
        return self.matrix[:, columns] if self.is_sparse else self.matrix[columns].T

    def block(self, rows: Indices, columns: Indices) -> Floats:
        """Some rows of some columns, dense and in float64."""
        part: Any = self.take(columns)[rows]
        return np.ascontiguousarray(part.toarray() if self.is_sparse else part, dtype=np.float64)

    def shares(self, u: Floats) -> Floats:
        """|u_k| / price_k of each column, 0 for the free bias."""
        return np.abs(u) * self._per_price

    def primal(self, w: Floats, z: Floats) -> float:
        """The objective of weights with their scores."""
        return float(self.price @ np.abs(w) + self.cost @ self.loss.value(z))

    def dual(self, alpha: Floats, u: Floats) -> float:
        """The dual value of α scaled into the cube |u| ≤ price; the imbalance of a free bias is taken off."""
        t = 1.0 / max(1.0, float(self.shares(u).max(initial=0.0)))
        imbalance = abs(float(u[-1])) if self.is_free else 0.0
        return t * float(alpha.sum()) - float(np.sum(self.loss.dual_penalty(t * alpha, self.cost))) - imbalance

    def squares(self, weight: Floats) -> Floats:
        """Σ_j weight_j A_jk² of each column k."""
        return np.asarray(self._squared.T @ weight if self.is_sparse else self._squared @ weight)

    def square_scores(self, weight: Floats) -> Floats:
        """Σ_k weight_k A_jk² of each sample j."""
        return np.asarray(self._squared @ weight if self.is_sparse else weight @ self._squared)

    @property
    def _squared(self) -> Any:
        if not self.is_sparse:
            return np.square(self.matrix, dtype=np.float64)
        data = np.square(self.matrix.data, dtype=np.float64)
        return sp.csc_array((data, self.matrix.indices, self.matrix.indptr), shape=self.matrix.shape)

    def start(self, problem: Problem, warm: Candidate) -> tuple[Floats, Floats]:
        """(w, α) here of a candidate."""
        w = np.append(warm.w, warm.b)[: len(self.price)] * self.units
        return w, np.clip(warm.beta[problem.present] * problem.y[problem.present], 0.0, self.cost)

    def candidate(self, problem: Problem, w: Floats, alpha: Floats) -> Candidate:
        """What weights and a dual point stand for."""
        beta = np.zeros(problem.n)
        beta[problem.present] = alpha * problem.y[problem.present]
        w = w / self.units + 0.0  # no −0
        weights = w[: problem.X.shape[1]]
        if problem.bias.kind == "penalized":
            return Candidate(weights, float(w[-1]), beta)
        b = best_bias(problem, beta, problem.decision(weights)).middle if problem.bias.is_free else 0.0
        return Candidate(weights, b, beta)
