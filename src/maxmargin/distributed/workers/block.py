"""A block at work: its partitions, prepared once if they stay in memory, loaded in each round if not."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from maxmargin.core import Bias, loss_from_name
from maxmargin.distributed.partition import Samples, Source, Survey, checked, survey, widened
from maxmargin.distributed.workers.messages import Command, Commands, Memory, Site, Sums
from maxmargin.distributed.workers.steps import MOST_FACTORED
from maxmargin.kernels.tiles import distinct
from maxmargin.solvers.linear.rows import Rows
from maxmargin.threads import one_blas_thread
from maxmargin.typing import Floats, Indices, Matrix


@dataclass(frozen=True)
class Plan:
    """What all blocks must know before the first round."""

    classes: Any
    cost: float  # of a sample of weight 1, but for the factor of its class
    factors: Floats
    positives: tuple[int, ...]  # the class that each binary problem tells from the rest
    n_features: int
    loss: str
    bias: Bias
    keep: bool


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
        found = []
        for i in range(len(self.sources)):
            samples = self._load(i)
            found.append(survey(samples, self.first + i))
        return found

    def prepare(self, plan: Plan) -> None:
        """Take over the classes and costs; wide partitions that stay become one, so that sweeps can mix their samples."""
        self.plan, self.keep, self.n_pieces = plan, plan.keep, len(self.sources)
        if plan.keep and plan.n_features > MOST_FACTORED and self.n_pieces > 1:
            self._pieces = {0: joined([self._piece(i) for i in range(self.n_pieces)])}
            self.n_pieces = 1
        if not plan.keep or self.n_pieces == 1:
            self._samples.clear()

    def answer(self, commands: Commands) -> dict[int, Sums]:
        """One round: each command on each partition."""
        shared: dict[int, dict[str, Any]] = {k: {} for k in commands}
        sums: dict[int, list[Sums]] = {k: [] for k in commands}
        passes = max(command.n_passes for command in commands.values())
        turns = [(p, i) for p in range(passes) for i in range(self.n_pieces)]
        if not self.keep:  # load each partition once
            turns.sort(key=lambda turn: turn[1])
        at, piece = -1, None
        with one_blas_thread():
            for p, i in turns:
                if i != at:
                    piece = None  # before the next one is loaded
                    at, piece = i, self._piece(i)
                assert piece is not None
                for k, command in commands.items():
                    if p < command.n_passes:
                        sums[k] += self._visited(k, i, piece, command, shared[k], p == command.n_passes - 1)
            return {k: Sums.merged([*sums[k], command.close(shared[k])]) for k, command in commands.items()}

    def _visited(
        self, k: int, i: int, piece: Piece, command: Command, shared: dict[str, Any], is_last: bool
    ) -> list[Sums]:
        site = self._site(k, i, piece)
        found = [command.visit(site, shared)]
        return [*found, command.leave(site, shared)] if is_last else found

    def part(self, share: float, seed: int) -> Part:
        """A random part of the samples that count: this share of each class, at least one, their costs raised to match."""
        rng = np.random.default_rng((seed, self.first))
        chosen: list[Part] = []
        for i in range(self.n_pieces):
            _, rows, _, labels, cost = self._piece(i)
            picks, raised = [], []
            for label in np.unique(labels[cost > 0]):
                members = np.flatnonzero((labels == label) & (cost > 0))
                size = min(len(members), max(1, round(share * len(members))))
                picks.append(rng.permutation(members)[:size])
                raised.append(np.full(size, len(members) / size))
            if picks:
                samples, factor = np.concatenate(picks), np.concatenate(raised)
                chosen.append(Part(rows.take(samples), labels[samples], cost[samples] * factor))
        return stacked(chosen, self.plan.n_features if self.plan else 0)

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
        signs = memory.signs
        if signs is None:
            signs = np.where(piece.labels == self.plan.positives[k], 1.0, -1.0)
            memory.signs = signs if self.keep else None
        loss = loss_from_name(self.plan.loss)
        return Site(piece.X, piece.rows, piece.squares, signs, piece.cost, loss, self.plan.bias, memory, self.keep)


def joined(pieces: Sequence[Piece]) -> Piece:
    """Several pieces as one."""
    matrices, _, *others = zip(*pieces, strict=True)
    X = stacked_matrix(matrices)
    return Piece(X, Rows.of_matrix(X), *(np.concatenate(column) for column in others))


def stacked_matrix(matrices: Sequence[Matrix]) -> Matrix:
    """Several matrices as one, sparse if one of them is."""
    if any(sp.issparse(X) for X in matrices):
        return sp.csr_array(sp.vstack([sp.csr_array(X) for X in matrices], format="csr"))
    return np.concatenate(matrices)


def stacked(parts: Sequence[Part], d: int) -> Part:
    """Several parts as one."""
    if not parts:
        return Part(np.empty((0, d)), np.empty(0, np.intp), np.empty(0))
    X = stacked_matrix([part.X for part in parts])
    return Part(X, np.concatenate([part.labels for part in parts]), np.concatenate([part.cost for part in parts]))
