"""The samples as methods that visit one after another want them: their order, and rows or kernel values of a few at a time."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from maxmargin.core import Problem
from maxmargin.solvers.base import DRIVER
from maxmargin.solvers.linear.rows import Rows
from maxmargin.typing import Floats, Indices

WHOLE_GRAM = DRIVER.few_samples
"""Samples up to which the Gram matrix is kept whole, if the budget of memory allows it: 32 MB."""

CALL_VALUES = WHOLE_GRAM * WHOLE_GRAM
"""Stored values that one compiled call visits: some 20 ms."""

GRAM_VISITS = 256
"""Visits whose Gram matrix is computed at a time; fewer where their rows of K would take more than 32 MB."""

MANY_VALUES = 100_000
"""Data of more stored values leave the fast memory, where a row after a random one costs several times its own length."""

NEIGHBOURS = 4
"""Neighbours that are visited together in large data. Where they are alike (covtype), 20 of them cost four times the epochs."""

ORDERS = ("permuted", "uniform", "given")


def epochs_of(samples: Indices, order: str, seed: int, n_values: int = 0) -> Iterator[Indices]:
    """Epoch after epoch, as many visits as there are samples, of data with so many stored values; the same for the same seed.

    "permuted" puts all samples into a fresh random order; of large data (more than 100 000 stored values) 4 neighbours
    stay together, as memory is read fastest in order. "uniform" draws with replacement. "given" keeps the order of the samples.

    Examples
    --------
    >>> next(epochs_of(np.arange(4), "given", seed=0))
    array([0, 1, 2, 3])
    >>> sorted(next(epochs_of(np.arange(4), "permuted", seed=0)).tolist())
    [0, 1, 2, 3]
    """
    from maxmargin._loops.linear.dual_cd import shuffle

    samples = samples.astype(np.int64)
    state = np.random.SeedSequence(seed).generate_state(1, np.uint64) | np.uint64(1)
    draws, chunk = np.random.default_rng(state), NEIGHBOURS if n_values > MANY_VALUES else 1
    while True:
        if order == "permuted":
            permuted = np.empty_like(samples)
            shuffle(samples, len(samples), chunk, state, permuted)
            yield permuted
        else:
            yield samples if order == "given" else draws.choice(samples, len(samples))


@dataclass
class Samples:
    """Rows, or a kernel with the scores ⟨v, φ̃_j⟩ of all samples for the vector v that a method keeps.

    φ̃ has the constant feature `scale` behind it: kernel values are k(x, z) + scale². K holds them all, if it is not too large.
    """

    rows: Rows | None
    scale: float
    problem: Any = None
    kernel_rows: Any = None
    K: Floats | None = None
    scores: Floats = field(default_factory=lambda: np.empty(0))

    @classmethod
    def of(cls, problem: Problem, max_bytes: int) -> "Samples":
        """Those of a problem; v = 0."""
        scale, n, K = problem.bias.scale, problem.n, None
        if problem.is_linear:
            return cls(Rows.of(problem), scale)
        if n <= WHOLE_GRAM and 8 * n * n <= max_bytes:
            K = problem.gram(np.arange(n), np.arange(n)) + scale**2
        return cls(None, scale, problem, problem.kernel_matrix(max_bytes=max_bytes), K, np.zeros(n))

    @property
    def n_values(self) -> int:
        """Stored values, or kernel values, that an epoch visits."""
        return self.rows.n_values if self.rows is not None else len(self.scores) ** 2

    @property
    def size(self) -> int:
        """Entries of v: a weight for each feature and one for the constant, or a coefficient for each sample."""
        return self.rows.shape[1] + 1 if self.rows is not None else len(self.scores)

    def cut(self, order: Indices, batch: int = 1) -> Iterator[Indices]:
        """Visits cut into what one compiled call should do: whole batches."""
        if self.rows is not None:
            most = CALL_VALUES * self.rows.shape[0] // max(self.rows.n_values, 1)
        else:
            most = min(GRAM_VISITS, CALL_VALUES // max(len(order), 1))
        most = max(1, most // batch) * batch
        return (order[i : i + most] for i in range(0, len(order), most))

    def arrays(self, visits: Indices) -> tuple[Any, ...]:
        """Visits as the loops take them: dense rows, sparse rows, a Gram matrix and its scores; all but one are empty."""
        nothing, no_matrix = np.empty(0), np.empty((0, 0))
        no_rows = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.uint32), nothing
        if self.rows is None:
            K = self.K
            G = self.problem.gram(visits, visits) + self.scale**2 if K is None else K[visits[:, None], visits]
            return no_matrix, *no_rows, G, self.scores[visits]
        if self.rows.is_sparse:
            return no_matrix, *self.rows.arrays, no_matrix, nothing
        return *self.rows.arrays, *no_rows, no_matrix, nothing

    def follow(self, before: Floats, after: Floats, factor: float = 1.0) -> None:
        """Bring the scores up to date: v was multiplied by a factor and changed. Only what changed needs rows of K."""
        if self.rows is None:
            self.scores *= factor
            self.scores += self.times(after - factor * before)

    def times(self, coefficients: Floats) -> Floats:
        """K times coefficients, many of them zero."""
        used = np.flatnonzero(coefficients)
        v = coefficients[used]
        if self.K is not None:
            return np.asarray(v @ self.K[used])
        return np.asarray(v @ self.kernel_rows.get(used) + self.scale**2 * float(v.sum()))


def split_bias(vector: Floats, problem: Problem) -> tuple[Floats, float]:
    """(w, b) of a vector of the feature space with its constant feature."""
    scale = problem.bias.scale
    if problem.is_linear:
        return vector[:-1].copy(), scale * float(vector[-1])
    return vector.copy(), scale * scale * float(vector.sum())


def largest_square(problem: Problem) -> float:
    """ρ² = max ‖φ̃_j‖² of the samples that count."""
    return float(problem.diag(problem.present).max()) + problem.bias.scale**2
