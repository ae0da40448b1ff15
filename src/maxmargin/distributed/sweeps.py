"""Coordinate descent on one block's samples while other blocks move theirs: the local work of CoCoA⁺.

    max over Δα of the block's samples   D(α + Δα) with ‖w + Δw‖² replaced by ‖w‖² + 2⟨w, Δw⟩ + σ'‖Δw‖²

(Ma et al., ICML 2015). With σ' as large as the number of blocks all moves can be added up and the dual never falls; how far to
follow their sum is then found exactly, as the dual is a parabola along it. The sweeps are those of `DualCD`.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from maxmargin.distributed.messages import Command, Memory, Site, Sums
from maxmargin.solvers.dual_cd import CHUNK_ROWS, CHUNK_VALUES, RESIDUAL, Active
from maxmargin.typing import Floats


def commit(memory: Memory, n: int, round_: int, eta: float) -> bool:
    """Follow the last trial by a step η; True where nothing was known of the dual variables, which then begin at zero."""
    if memory.alpha is None or memory.stamp not in (round_ - 1, round_):
        memory.alpha, memory.trial, memory.stamp = np.zeros(n), None, round_
        return round_ > 0
    if memory.trial is not None:
        if eta == 1.0:
            memory.alpha = memory.trial
        elif eta > 0.0:
            memory.alpha = memory.alpha + eta * (memory.trial - memory.alpha)
        memory.trial = None
    memory.stamp = round_
    return False


@dataclass(frozen=True)
class Sweep(Command):
    """Follow the last move by η, then sweep over the samples `passes` times from the weights w.

    The answer: Δw of all moves, what the driver needs to know of the dual along it, and the share of the gap that the samples
    showed before they moved.
    """

    w: Floats
    b0: float
    constant: float
    boost: float
    eta: float
    round: int
    passes: int
    seed: int

    @property
    def n_passes(self) -> int:
        """Sweeps."""
        return self.passes

    def visit(self, site: Site, shared: dict[str, Any]) -> Sums:
        """One sweep over one partition."""
        memory, n = site.memory, len(site.y)
        sums = Sums()
        if memory.trial is None or memory.stamp != self.round:
            sums.is_fresh = commit(memory, n, self.round, self.eta)
            assert memory.alpha is not None
            memory.trial = memory.alpha.copy()
            if memory.active is None or not site.is_kept:
                memory.active = Active.of(site.present, self.seed)
            memory.active.unshrink()
            sums.totals["residual"] = 0.0
        w = shared.setdefault("w", self.w.copy())
        residual = self._sweep(site, w)
        if "residual" in sums.totals:
            sums.totals["residual"] = residual
        memory.active.learn()
        if not site.is_kept and memory.active.count == 0:
            memory.active.unshrink()
        return sums

    def _sweep(self, site: Site, w: Floats) -> float:
        from maxmargin._loops.dual_cd import sweep_csr, sweep_dense

        rows, memory, active = site.rows, site.memory, site.memory.active
        if len(active.samples) == 0:
            return 0.0
        delta, upper = site.loss.dual_diagonal(site.cost), site.loss.upper(site.cost)
        square = self.boost * (site.squares + self.constant**2) + delta
        chunk = min(max(1, CHUNK_VALUES * len(active.samples) // max(rows.n_values, 1)), CHUNK_ROWS)
        (sweep_csr if rows.is_sparse else sweep_dense)(
            *rows.arrays, site.y, upper, delta, square, memory.trial, w, self.constant, self.b0, self.boost,
            active.order, active.count, active.thresholds, chunk, active.seed, active.visits, active.report,
        )  # fmt: skip
        return float(active.report[RESIDUAL])

    def leave(self, site: Site, shared: dict[str, Any]) -> Sums:
        """Terms of the dual along the move that only the samples know."""
        memory = site.memory
        assert memory.alpha is not None
        assert memory.trial is not None
        return dual_terms(site, memory.alpha, memory.trial, self.b0)

    def close(self, shared: dict[str, Any]) -> Sums:
        """Δw of the block."""
        move = (shared["w"] - self.w) / self.boost if "w" in shared else np.zeros_like(self.w)
        return Sums({"move": move, "squared": float(move @ move)})


def dual_terms(site: Site, alpha: Floats, trial: Floats, b0: float) -> Sums:
    """What Σα, the offset and the loss's own penalty add to the dual along a move, and to its curvature."""
    delta = site.loss.dual_diagonal(site.cost)
    move = trial - alpha
    linear = float(move @ (1.0 - site.y * b0) - (delta * alpha) @ move)
    return Sums(
        {
            "linear": linear,
            "diagonal": float((delta * move) @ move),
            "sum": float(alpha.sum()),
            "sum move": float(move.sum()),
        }
    )


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
        return Sums({"w": w})
