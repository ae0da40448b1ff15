"""Coordinate descent on one block's samples while other blocks move theirs: the local work of CoCoA⁺.

    max over Δα of the block's samples   D(α + Δα) with ‖w + Δw‖² replaced by ‖w‖² + 2⟨w, Δw⟩ + σ'‖Δw‖²

(Ma et al., ICML 2015). With σ' as large as the number of blocks all moves can be added up and the dual never falls; how far to
follow their sum is then found exactly, as the dual is a parabola along it. The sweeps are those of `DualCD`.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from maxmargin.core.losses import Hinge
from maxmargin.distributed.workers.messages import Command, Memory, Site, Sums
from maxmargin.solvers.linear.dual_cd import (
    CHUNK_ROWS,
    CHUNK_VALUES,
    EAGER,
    FIELDS,
    HIGHEST,
    LOWEST,
    N_ACTIVE,
    RESIDUAL,
)
from maxmargin.typing import Floats, Indices


@dataclass
class Moved:
    """Which dual variables the last turn has moved, and from where."""

    samples: Indices
    before: Floats

    @classmethod
    def begin(cls, memory: Memory, samples: Indices) -> "Moved":
        """As these samples are now."""
        assert memory.alpha is not None
        copied = memory.scratch.array("samples", len(samples), np.int64)
        copied[:] = samples
        before = memory.scratch.array("before", len(samples))
        return cls(copied, np.take(memory.alpha, copied, out=before, mode="clip"))


def commit(memory: Memory, n: int, round_: int, eta: float) -> bool:
    """Follow the last move by a step η; True where nothing was known of the dual variables, which then begin at zero.

    A move of this very round is not followed: the driver never heard of it, as it was interrupted.
    """
    if memory.alpha is None or memory.stamp not in (round_ - 1, round_):
        memory.alpha, memory.moved, memory.stamp = np.zeros(n), None, round_
        return round_ > 0
    if memory.moved is not None:
        samples, before = memory.moved.samples, memory.moved.before
        step = 0.0 if memory.stamp == round_ else eta
        if step != 1.0:
            memory.alpha[samples] = before + step * (memory.alpha[samples] - before)
        memory.moved = None
    memory.stamp = round_
    return False


class Visits:
    """The samples of a partition in visiting order: a sweep goes once through those that are not shrunk, in several turns."""

    def __init__(self, samples: Indices, chunk: int, seed: int) -> None:
        self.samples, self.chunk = samples, chunk
        self.seed = np.random.SeedSequence(seed).generate_state(1, np.uint64) | np.uint64(1)
        self.order, self.kept = samples, [samples]
        self.thresholds = np.array([np.inf, -np.inf])
        self.highest, self.lowest = -np.inf, np.inf

    def begin(self, all_of_them: bool) -> None:
        """Begin a sweep over what the last one has kept, or over all samples, in chunks of neighbours in a new random order."""
        from maxmargin._loops.linear.dual_cd import shuffle

        chosen = self.samples if all_of_them else np.concatenate([*self.kept, self.samples[:0]])
        self.thresholds[:] = np.inf, -np.inf
        if not all_of_them:
            self.thresholds[0] = EAGER * self.highest if self.highest > 0 else np.inf
            self.thresholds[1] = EAGER * self.lowest if self.lowest < 0 else -np.inf
        self.order, self.kept, self.highest, self.lowest = np.empty_like(chosen), [], -np.inf, np.inf
        shuffle(chosen, len(chosen), self.chunk, self.seed, self.order)

    def turn(self, part: int, n_parts: int) -> Indices:
        """The samples of one of so many turns."""
        begin, end = (len(self.order) * i // n_parts for i in (part, part + 1))
        return self.order[begin:end]

    def learn(self, kept: Indices, report: Floats) -> None:
        """Remember who was not shrunk, and how large the violations were."""
        self.kept.append(kept)
        self.highest, self.lowest = max(self.highest, report[HIGHEST]), min(self.lowest, report[LOWEST])


@dataclass(frozen=True)
class Sweep(Command):
    """Follow the last move by η, then visit the samples from the weights w: part `part` of `n_parts` of a sweep.

    With several passes, all parts one after the other, so many times: several whole sweeps in one round.

    The answer: Δw of all moves, what the driver needs to know of the dual along it, and the share of the gap that the samples
    showed before they moved.
    """

    w: Floats
    b0: float
    constant: float
    boost: float
    eta: float
    round: int
    part: int
    n_parts: int
    passes: int  # 0: only this part
    is_full: bool  # the sweep that begins visits all samples, shrunk or not
    seed: int

    @property
    def n_passes(self) -> int:
        """Visits of each partition."""
        return self.passes * self.n_parts if self.passes else 1

    def visit(self, site: Site, shared: dict[str, Any]) -> Sums:
        """One turn in one partition."""
        memory, n = site.memory, len(site.y)
        is_first = memory.moved is None or memory.stamp != self.round
        is_fresh = commit(memory, n, self.round, self.eta) if is_first else False
        assert memory.alpha is not None
        if memory.visits is None:
            chunk = min(max(1, CHUNK_VALUES * n // max(site.rows.n_values, 1)), CHUNK_ROWS)
            memory.visits = Visits(site.present, chunk, self.seed)
            memory.visits.begin(True)
        elif is_first and self.part == 0:
            memory.visits.begin(self.is_full)
        if is_first:
            memory.turns = 0
            memory.moved = Moved.begin(
                memory, memory.visits.order if self.passes else memory.visits.turn(self.part, self.n_parts)
            )
        part = (self.part + memory.turns) % self.n_parts
        if memory.turns and part == 0:
            memory.visits.begin(False)
        is_last_sweep = memory.turns >= self.n_passes - self.n_parts
        memory.turns += 1
        order = memory.visits.turn(part, self.n_parts)
        if "w" not in shared:
            shared["w"] = memory.scratch.array("w", len(self.w))
            shared["w"][:] = self.w
        residual = self._turn(site, shared["w"], order) if len(order) else 0.0
        if not is_last_sweep:
            return Sums(is_fresh=is_fresh)
        return Sums({"visited": len(order), "residual": residual}, is_fresh=is_fresh)

    def _turn(self, site: Site, w: Floats, order: Indices) -> float:
        from maxmargin._loops.linear.dual_cd import sweep_csr, sweep_dense

        rows, memory, visits = site.rows, site.memory, site.memory.visits
        if memory.square is None or memory.boost != self.boost:
            memory.delta, memory.upper = site.loss.dual_diagonal(site.cost), site.loss.upper(site.cost)
            memory.square = self.boost * (site.squares + self.constant**2) + memory.delta
            memory.boost = self.boost
        report, buffer = np.zeros(len(FIELDS)), memory.scratch.array("visits", len(order), np.int64)
        (sweep_csr if rows.is_sparse else sweep_dense)(
            *rows.arrays, site.y, np.ones(len(site.y)), memory.upper, memory.delta, memory.square, memory.alpha, w,
            self.constant, self.b0, self.boost, order, len(order), visits.thresholds, visits.chunk, visits.seed, buffer, report,
        )  # fmt: skip
        visits.learn(order[: int(report[N_ACTIVE])], report)
        return float(report[RESIDUAL])

    def leave(self, site: Site, shared: dict[str, Any]) -> Sums:
        """Terms of the dual along the move that only the samples know: of Σα, of the offset, of the loss's own penalty."""
        memory = site.memory
        assert memory.alpha is not None
        assert memory.moved is not None
        samples, before = memory.moved.samples, memory.moved.before
        move = memory.scratch.array("move", len(samples))
        np.subtract(np.take(memory.alpha, samples, out=move, mode="clip"), before, out=move)
        total = float(move.sum())
        linear, diagonal = total, 0.0
        if self.b0 != 0.0:
            linear -= self.b0 * float(site.y[samples] @ move)
        if not isinstance(site.loss, Hinge):  # whose penalty is zero
            delta = site.loss.dual_diagonal(site.cost[samples])
            linear -= float((delta * before) @ move)
            diagonal = float((delta * move) @ move)
        return Sums({"linear": linear, "diagonal": diagonal, "sum move": total})

    def close(self, shared: dict[str, Any]) -> Sums:
        """Δw of the block."""
        move = shared["w"] if "w" in shared else self.w.copy()
        move -= self.w
        move /= self.boost
        return Sums({"move": move, "squared": float(move @ move)})


@dataclass(frozen=True)
class Recount(Command):
    """Follow the last move by η, and add up Σ β_j (x_j, constant) anew."""

    size: int
    constant: float
    eta: float
    round: int

    def visit(self, site: Site, shared: dict[str, Any]) -> Sums:
        """The sum over one partition."""
        commit(site.memory, len(site.y), self.round, self.eta)
        assert site.memory.alpha is not None
        w = np.zeros(self.size)
        used = np.flatnonzero(site.memory.alpha)
        site.rows.add(used, (site.memory.alpha * site.y)[used], self.constant, w)
        return Sums({"w": w, "sum": float(site.memory.alpha.sum())})
