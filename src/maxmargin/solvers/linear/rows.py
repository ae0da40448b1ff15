"""The rows of a linear problem as the loops want them, and the passes over them.

A pass over all rows is cut into two fixed halves, each with its own sums, which are joined in a fixed order: the bits do not
depend on the number of threads.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np
import scipy.sparse as sp

from maxmargin.core.penalties import L2
from maxmargin.core.problem import Problem
from maxmargin.solvers.base import Solver
from maxmargin.threads import together
from maxmargin.typing import Floats, Indices, Matrix

T = TypeVar("T")

BLOCK_VALUES = 1_000_000
"""Values of dense rows that are copied and scaled at a time: 8 MB."""

WORTH_A_THREAD = 1_000_000
"""Values that a pass reads from which a second thread gains more than waking it costs (0.1 to 0.4 ms)."""


@dataclass(frozen=True)
class RowSolver(Solver):
    """A solver in the weights: what both of them need, and their settings."""

    seed: int = 0
    n_threads: int = 1
    takes_targets: ClassVar[bool] = True

    def accepts(self, problem: Problem) -> str | None:
        """Why a problem cannot be solved here, or None."""
        name, loss, penalty = self.name, problem.loss, problem.penalty
        if not problem.is_linear:
            return f"{name} solves linear problems, got kernel {problem.kernel!r}. Use InteriorPoint()."
        if not loss.has_quadratic_dual or not isinstance(penalty, L2):
            return f"{name} solves losses with a quadratic dual and L2, got {loss!r} and {penalty!r}."
        if problem.is_hard:
            return f"{name} needs finite costs. Use ConstraintGeneration() for the hard margin."
        return None if problem.groups is None else f"{name} has one bias, got groups of samples. Use InteriorPoint()."


@dataclass(frozen=True)
class Rows:
    """(indptr, indices, data) of a CSR matrix with unsigned indices, or one C-contiguous dense matrix."""

    arrays: tuple[Any, ...]
    shape: tuple[int, int]
    n_threads: int = 1

    @classmethod
    def of(cls, problem: Problem, n_threads: int = 1) -> "Rows":
        """The rows of a problem's samples; canonical CSR and C-contiguous data are not copied."""
        return cls.of_matrix(problem.X if problem.rows is None else problem.X[problem.rows], n_threads)

    @classmethod
    def of_matrix(cls, X: Matrix, n_threads: int = 1, *, sums_duplicates: bool = True) -> "Rows":
        """The rows of a CSR or dense matrix. Sums and products of rows are right with duplicates too, squares are not."""
        if not sp.issparse(X):
            return cls((np.ascontiguousarray(X),), X.shape, n_threads)
        if sums_duplicates and not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        # Unsigned indices spare the loops the test for counting from the end.
        indices = X.indices.view(f"u{X.indices.dtype.itemsize}")
        arrays = (X.indptr.astype(np.int64, copy=False), indices, X.data)
        return cls(arrays, X.shape, n_threads)

    @property
    def is_sparse(self) -> bool:
        """Whether the loops for CSR rows apply."""
        return len(self.arrays) == 3

    @property
    def n_values(self) -> int:
        """Stored values."""
        return int(self.arrays[-1].size)

    def take(self, rows: Indices) -> Matrix:
        """Some rows as a matrix that SciPy or NumPy can multiply with."""
        if not self.is_sparse:
            return self.arrays[0][rows]
        indptr, indices, data = self.arrays
        signed = indices.view(f"i{indices.dtype.itemsize}")
        return sp.csr_array((data, signed, indptr.astype(signed.dtype)), shape=self.shape)[rows]

    def gathered(self, samples: Indices) -> tuple[Indices, "Rows"]:
        """(samples, their rows): a copy of these rows, or all samples as they are where that would be most of the data."""
        if 2 * len(samples) > self.shape[0]:
            return np.arange(self.shape[0]), self
        return samples, Rows.of_matrix(self.take(samples), self.n_threads)

    def halves(self, task: Callable[[int, int], T], n_values: int | None = None) -> list[T]:
        """What a task gives for the first half of the rows and for the second, each a range of row numbers.

        Two threads take part where the task reads many values: all that are stored, or as many as `n_values` says.
        """
        middle, end = self.shape[0] // 2, self.shape[0]
        work = self.n_values if n_values is None else n_values
        threads = self.n_threads if work >= WORTH_A_THREAD else 1
        return together([lambda: task(0, middle), lambda: task(middle, end)], threads)

    def squares(self) -> Floats:
        """‖x_j‖² of each row, in float64."""
        if not self.is_sparse:
            return np.asarray(np.einsum("ij,ij->i", self.arrays[0], self.arrays[0], dtype=np.float64))
        from maxmargin._loops.linear.csr import squares_csr

        out = np.empty(self.shape[0])
        squares_csr(self.arrays[0], self.arrays[2], out)
        return out

    def signed_scores(self, y: Floats, w: Floats, constant: float, out: Floats | None = None) -> Floats:
        """y_j(⟨w, x_j⟩ + constant) of each row, in `out` if it is given."""
        from maxmargin._loops.linear.proximal_newton import signed_scores_csr, signed_scores_dense

        loop = signed_scores_csr if self.is_sparse else signed_scores_dense
        filled = np.empty(self.shape[0]) if out is None else out
        self.halves(lambda begin, end: loop(*self.arrays, y, w, constant, begin, end, filled))
        return filled

    def add(self, rows: Indices, weights: Floats, constant: float, out: Floats) -> None:
        """out += Σ weight_i (x_j, constant) over the listed rows j."""
        from maxmargin._loops.linear.proximal_newton import add_rows_csr, add_rows_dense

        (add_rows_csr if self.is_sparse else add_rows_dense)(*self.arrays, rows, weights, constant, out)

    def add_squares(self, rows: Indices, weights: Floats, constant: float, out: Floats) -> None:
        """out += Σ weight_i (x_j, constant)(x_j, constant)ᵀ over the listed rows j; the lower half of it at least."""
        if self.is_sparse:
            from maxmargin._loops.linear.proximal_newton import add_squares_csr

            add_squares_csr(*self.arrays, rows, weights, constant, out)
            return
        d = self.shape[1]
        step = max(1, BLOCK_VALUES // (d + 1))
        for start in range(0, len(rows), step):
            block = np.empty((len(rows[start : start + step]), d + 1))
            block[:, :d] = self.arrays[0][rows[start : start + step]]
            block[:, d] = constant
            out += block.T @ (block * weights[start : start + step, None])

    def add_column_squares(self, weights: Floats, constant: float, out: Floats) -> None:
        """out += Σ weight_j (x_j, constant)², entry by entry, over all rows j."""
        if self.is_sparse:
            from maxmargin._loops.linear.csr import add_column_squares_csr

            add_column_squares_csr(*self.arrays, weights, out)
        else:
            X = self.arrays[0]
            step = max(1, BLOCK_VALUES // X.shape[1])
            for start in range(0, len(weights), step):
                block = np.square(X[start : start + step], dtype=np.float64)
                out[:-1] += weights[start : start + step] @ block
        out[-1] += constant * constant * float(weights.sum())


class Signed:
    """Rows with their signs, each with a constant feature behind it: A = (y_j(x_j, s))_j as an operator.

    What it returns is overwritten by the next call: fresh memory costs more than the products do.
    """

    def __init__(self, rows: Rows, y: Floats, constant: float) -> None:
        self.rows, self.y, self.constant = rows, y, constant
        self._scores = np.empty(rows.shape[0])
        self._sums = np.empty((2, rows.shape[1] + 1))
        self._all = np.arange(rows.shape[0])

    def scores(self, w: Floats) -> Floats:
        """A w."""
        return self.rows.signed_scores(self.y, w, self.constant * float(w[-1]), self._scores)

    def combine(self, v: Floats) -> Floats:
        """Aᵀ v."""
        weights = v * self.y

        def half(begin: int, end: int) -> None:
            sums = self._sums[int(begin > 0)]
            sums[:] = 0.0
            self.rows.add(self._all[begin:end], weights[begin:end], self.constant, sums)

        self.rows.halves(half)
        self._sums[0] += self._sums[1]
        return np.asarray(self._sums[0])
