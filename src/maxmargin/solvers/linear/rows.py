"""The rows of a linear problem as the loops want them, the passes over them, and conjugate gradients with them.

A pass is cut into pieces that depend on the data only, each with its own sums, which are joined in order: the bits do not depend
on the number of threads.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from maxmargin.core import Problem
from maxmargin.solvers.base import Solver
from maxmargin.threads import in_pieces
from maxmargin.typing import Floats, Indices, Matrix

PIECE_VALUES = 500_000
"""Values that a piece of a pass reads at least: from twice as many on a second thread gains more than waking it costs (0.1 to
0.4 ms). Of dense rows twice as many are copied and scaled at a time."""

STEP_LENGTHS = np.exp2(-np.arange(8.0))
"""Step lengths along the projected path that are tried, until one gains less than the one before."""


@dataclass(frozen=True)
class RowSolver(Solver):
    """A solver in the weights: what both of them need, and their settings."""

    seed: int = 0
    n_threads: int = 1
    margin, is_linear = "soft", True
    takes_targets: ClassVar[bool] = True

    def accepts(self, problem: Problem) -> str | None:
        """Why a problem cannot be solved here, or None."""
        if problem.groups is not None:
            return f"{self.name} has one bias, got groups of samples. Use SMO()."
        return super().accepts(problem)


@dataclass(frozen=True)
class Rows:
    """(indptr, indices, data) of a CSR matrix with unsigned indices, or one C-contiguous dense matrix.

    Where they stand `twice`, the arrays hold the first half of them, and the second half has the other sign: a regression.
    """

    arrays: tuple[Any, ...]
    shape: tuple[int, int]
    n_threads: int = 1
    twice: bool = False

    @classmethod
    def of(cls, problem: Problem, n_threads: int = 1) -> "Rows":
        """The rows of a problem's samples, each in its place; canonical CSR and C-contiguous data are not copied."""
        return cls.of_matrix(problem.X if problem.rows is None else problem.X[problem.rows], n_threads)

    @classmethod
    def shared_by_halves(cls, problem: Problem, n_threads: int = 1) -> "Rows":
        """The same for sums and products alone: those of a regression are not copied either."""
        half = problem.period
        if half == problem.n or problem.rows is None or problem.X.shape[0] != half:
            return cls.of(problem, n_threads)
        if not np.array_equal(problem.rows[:half], np.arange(half)):
            return cls.of(problem, n_threads)
        rows = cls.of_matrix(problem.X, n_threads)
        return cls(rows.arrays, (2 * half, rows.shape[1]), n_threads, twice=True)

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
        return cls((X.indptr.astype(np.int64, copy=False), indices, X.data), X.shape, n_threads)

    @property
    def is_sparse(self) -> bool:
        """Whether the loops for CSR rows apply."""
        return len(self.arrays) == 3

    @property
    def n_values(self) -> int:
        """Values of all rows."""
        return int(self.arrays[-1].size) * (1 + self.twice)

    @property
    def n_stored(self) -> int:
        """Rows that the arrays hold."""
        return self.shape[0] // (1 + self.twice)

    def stored(self, samples: Indices) -> Indices:
        """The places in the arrays of these samples' rows."""
        return samples % self.n_stored if self.twice else samples

    @property
    def matrix(self) -> Matrix:
        """The stored rows as a matrix that SciPy or NumPy can multiply with."""
        if not self.is_sparse:
            return self.arrays[0]
        indptr, indices, data = self.arrays
        signed = indices.view(f"i{indices.dtype.itemsize}")
        return sp.csr_array((data, signed, indptr.astype(signed.dtype)), shape=(self.n_stored, self.shape[1]))

    def take(self, samples: Indices) -> "Rows":
        """Copies of some rows."""
        return Rows.of_matrix(self.matrix[self.stored(samples)], self.n_threads)

    def gathered(self, samples: Indices) -> tuple[Indices, "Rows"]:
        """(samples, their rows): a copy of these rows, or all samples as they are where that would be most of the data."""
        if 2 * len(samples) > self.shape[0]:
            return np.arange(self.shape[0]), self
        return samples, self.take(samples)

    def least_rows(self, n_sums: int = 0) -> int:
        """Rows of a piece at least: it reads four values for each of its sums, so that these cost little."""
        return max(1, math.ceil(max(PIECE_VALUES, 4 * n_sums) * self.shape[0] / max(self.n_values, 1)))

    def signed_scores(self, y: Floats, w: Floats, constant: float, out: Floats | None = None) -> Floats:
        """y_j(⟨w, x_j⟩ + constant) of each row, in `out` if it is given."""
        from maxmargin._loops.linear.proximal_newton import signed_scores_csr, signed_scores_dense

        loop = signed_scores_csr if self.is_sparse else signed_scores_dense
        filled = np.empty(self.shape[0]) if out is None else out
        task = partial(loop, *self.arrays, y, w, constant)
        in_pieces(lambda begin, end: task(begin, end, filled), self.n_stored, self.n_threads, self.least_rows())
        if self.twice:
            np.negative(filled[: self.n_stored], out=filled[self.n_stored :])
        return filled

    def add(self, rows: Indices, weights: Floats, constant: float, out: Floats) -> None:
        """out += Σ weight_i (x_j, constant) over the listed rows j."""
        from maxmargin._loops.linear.proximal_newton import add_rows_csr, add_rows_dense

        loop, rows = add_rows_csr if self.is_sparse else add_rows_dense, self.stored(rows)
        least = self.least_rows(out.size)
        self._add_up(lambda some, its, sums: loop(*self.arrays, some, its, constant, sums), rows, weights, out, least)

    def add_squares(self, rows: Indices, weights: Floats, constant: float, out: Floats) -> None:
        """out += Σ weight_i (x_j, constant)(x_j, constant)ᵀ over the listed rows j; the lower half of it at least."""
        from maxmargin._loops.linear.proximal_newton import add_squares_csr

        d, rows = self.shape[1], self.stored(rows)
        step = max(1, 2 * PIECE_VALUES // (d + 1))
        # Each value of a row is multiplied with all of them; four pieces at most, as each has a matrix of its own.
        least = self.least_rows(out.size) * self.shape[0] // max(self.n_values, 1) + 1 if self.is_sparse else step
        least = max(least, len(rows) // 4)

        def of_dense_rows(some: Indices, its: Floats, sums: Floats) -> None:
            for start in range(0, len(some), step):
                block = np.full((len(some[start : start + step]), d + 1), constant)
                block[:, :d] = self.matrix[some[start : start + step]]
                sums += block.T @ (block * its[start : start + step, None])

        def of_sparse_rows(some: Indices, its: Floats, sums: Floats) -> None:
            add_squares_csr(*self.arrays, some, its, constant, sums)

        self._add_up(of_sparse_rows if self.is_sparse else of_dense_rows, rows, weights, out, least)

    def _add_up(
        self, task: Callable[[Indices, Floats, Floats], None], rows: Indices, weights: Floats, out: Floats, least: int
    ) -> None:
        """Let a task add its sums over pieces of the listed rows to `out`; several pieces have sums of their own."""

        def piece(begin: int, end: int) -> Floats:
            sums = out if end - begin == len(rows) else np.zeros_like(out)
            task(rows[begin:end], weights[begin:end], sums)
            return sums

        for sums in in_pieces(piece, len(rows), self.n_threads, least):
            if sums is not out:
                out += sums


class Signed:
    """Rows with their signs, each with a constant feature behind it: A = (y_j(x_j, s))_j as an operator.

    What it returns is overwritten by the next call: fresh memory costs more than the products do.
    """

    def __init__(self, rows: Rows, y: Floats, constant: float) -> None:
        self.rows, self.y, self.constant = rows, y, constant
        self._scores, self._sums = np.empty(rows.shape[0]), np.empty(rows.shape[1] + 1)
        self._all = np.arange(rows.shape[0])

    def scores(self, w: Floats) -> Floats:
        """A w."""
        return self.rows.signed_scores(self.y, w, self.constant * float(w[-1]), self._scores)

    def combine(self, v: Floats) -> Floats:
        """Aᵀ v."""
        self._sums[:] = 0.0
        self.rows.add(self._all, v * self.y, self.constant, self._sums)
        return self._sums


def conjugate_gradients(
    times: Callable[[Floats], Floats],
    right: Floats,
    diagonal: Floats,
    *,
    precision: float = 0.0,
    most_rounds: float = math.inf,
    enough: float = 0.0,
    is_over: Callable[[], bool] = lambda: False,
    precondition: Callable[[Floats], Floats] | None = None,
) -> tuple[Floats, int]:
    """(x, rounds): some way from 0 to the solution of Ax = right, preconditioned by A's diagonal, or as `precondition` says.

    It ends when the residual is `precision` times what it was, after `most_rounds`, or with a round that gains less than `enough`
    times the best one. A direction in which A is flat, as duplicates make it, ends it too, and so does `is_over`.
    """
    if precondition is None:

        def precondition(r: Floats) -> Floats:
            return r / diagonal

    x, r = np.zeros_like(right), right.copy()
    z = precondition(r)
    p, rz = z.copy(), float(r @ z)
    largest, rounds, goal = 0.0, 0, precision**2 * rz
    while rounds < most_rounds and rz > goal and not (rounds and is_over()):
        rounds += 1
        Ap = times(p)
        curvature = float(p @ Ap)
        if not curvature > 1e-12 * float(p @ (diagonal * p)):
            break
        gain = rz * rz / curvature
        x += (rz / curvature) * p
        if gain < enough * largest:
            break
        largest = max(largest, gain)
        r -= (rz / curvature) * Ap
        z = precondition(r)
        rz, old = float(r @ z), rz
        p = z + (rz / old) * p
    return x, rounds
