"""A block at work: its partitions, prepared once if they stay in memory, loaded in each round if not."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from maxmargin.distributed.facts import Survey, survey
from maxmargin.distributed.partition import Samples, Source, checked, widened
from maxmargin.distributed.workers.messages import Commands, Memory, Plan, Site, Sums, added
from maxmargin.kernels.inner import distinct
from maxmargin.solvers.linear.rows import Rows
from maxmargin.threads import one_blas_thread
from maxmargin.typing import Floats, Indices, Matrix


class Piece(NamedTuple):
    """A partition: X as it was given, and the same as the loops want it."""

    X: Matrix
    rows: Rows
    squares: Floats
    labels: Indices
    cost: Floats


class Part(NamedTuple):
    """A few samples for the driver, with their labels and their costs."""

    X: Any
    labels: Indices
    cost: Floats


class Block:
    """Some partitions and what is remembered of them."""

    def __init__(self, sources: Sequence[Source], first: int, keep: bool) -> None:
        self.sources, self.first, self.keep = list(sources), first, keep
        self.plan: Plan | None = None
        self.n_pieces = len(self.sources)
        self.memories: dict[tuple[int, int], Memory] = {}
        self._samples: dict[int, Samples] = {}
        self._pieces: dict[int, Piece] = {}

    def survey(self) -> list[Survey]:
        """Load and check all partitions; they stay if they shall."""
        return [survey(self._load(i)) for i in range(len(self.sources))]

    def prepare(self, plan: Plan) -> None:
        """Take over the classes and costs; wide partitions that stay become one, so that sweeps can mix their samples."""
        self.plan, self.keep = plan, plan.is_kept
        if plan.is_kept and plan.is_wide:
            pieces = [self._piece(i) for i in range(self.n_pieces)]
            self._samples.clear()
            X = stacked([piece.X for piece in pieces])
            others = (np.concatenate(column) for column in list(zip(*pieces, strict=True))[2:])
            self.n_pieces, self._pieces = 1, {0: Piece(X, Rows.of_matrix(X), *others)}
        elif not plan.is_kept:
            self._samples.clear()

    def answer(self, commands: Commands) -> dict[int, Sums]:
        """One round: each command on each partition."""
        carried: dict[int, dict[str, Any]] = {k: {} for k in commands}
        sums: dict[int, list[Sums]] = {k: [] for k in commands}
        with one_blas_thread():
            for i in range(self.n_pieces):
                piece = self._piece(i)
                for k, command in commands.items():
                    sums[k].append(command.visit(self._site(k, i, piece), carried[k]))
                del piece  # before the next one is loaded
            return {k: added([*sums[k], command.close(carried[k])]) for k, command in commands.items()}

    def part(self, share: float) -> Part:
        """A random part of the samples that count: this share of each class, at least one, their costs raised to match."""
        assert self.plan is not None
        chosen: list[Part] = []
        for i in range(self.n_pieces):
            rng = np.random.default_rng((self.plan.seed, self.first + i))
            piece = self._piece(i)
            factor = np.zeros(len(piece.cost))
            for label in np.unique(piece.labels[piece.cost > 0]):
                members = np.flatnonzero((piece.labels == label) & (piece.cost > 0))
                size = max(1, round(share * len(members)))
                factor[rng.permutation(members)[:size]] = len(members) / size
            some = np.flatnonzero(factor)
            chosen.append(Part(piece.rows.take(some), piece.labels[some], (piece.cost * factor)[some]))
        return joined(chosen)

    def _load(self, i: int) -> Samples:
        if i in self._samples:
            return self._samples[i]
        samples = checked(self.sources[i], self.first + i)
        if self.keep:
            self._samples[i] = samples
        return samples

    def _piece(self, i: int) -> Piece:
        assert self.plan is not None
        if i in self._pieces:
            return self._pieces[i]
        X, y, weights, _ = self._load(i)
        labels = np.searchsorted(self.plan.classes, y).astype(np.intp)
        X = widened(X, self.plan.n_features)
        X = distinct(X) if sp.issparse(X) else X  # entries of one place are one number, as in `Problem`
        rows = Rows.of_matrix(X)
        piece = Piece(X, rows, rows.squares(), labels, self.plan.cost * weights * self.plan.factors[labels])
        if self.keep:
            self._pieces[i] = piece
        return piece

    def _site(self, k: int, i: int, piece: Piece) -> Site:
        assert self.plan is not None
        memory = self.memories.setdefault((k, i), Memory())
        y = np.where(piece.labels == self.plan.positives[k], 1.0, -1.0) if memory.y is None else memory.y
        memory.y = y if self.keep else None
        return Site(piece.X, piece.rows, piece.squares, y, piece.cost, self.plan, memory)


def joined(parts: Sequence[Part]) -> Part:
    """Several parts as one."""
    matrices, labels, costs = zip(*parts, strict=True)
    return Part(stacked(matrices), np.concatenate(labels), np.concatenate(costs))


def stacked(matrices: Sequence[Matrix]) -> Matrix:
    """Several matrices as one, sparse if one of them is."""
    if any(sp.issparse(X) for X in matrices):
        return sp.csr_array(sp.vstack([sp.csr_array(X) for X in matrices], format="csr"))
    return np.concatenate(matrices)
