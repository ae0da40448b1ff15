"""CoCoA⁺ on many blocks: sweeps of `DualCD`, all blocks at the same time.

Each block improves its own dual variables from the common weights w,

    max over Δα of the block's samples   D(α + Δα) with ‖w + Δw‖² replaced by ‖w‖² + 2⟨w, Δw⟩ + σ'‖Δw‖²

(Ma et al., ICML 2015); their moves are added up and followed by the step η that maximises the dual along their sum,

    η = (Σ_j (1 − y_j b₀ − δ_j α_j) Δα_j − ⟨w, Δw⟩) / (‖Δw‖² + Σ_j δ_j Δα_j²),     0 < η ≤ 1

σ' is at first the number of blocks, which is safe whatever the data are. How much the moves of different blocks really add up is
measured in each round, ‖Σ Δw_k‖² / Σ‖Δw_k‖², and σ' follows that; where it was chosen too small η is less than 1, and the dual
still rises. A sweep takes several rounds: the less the blocks move between two merges, the less they work against each other. A
free bias is handled as `DualCD` does, by the method of multipliers. Where sweeps crawl and there are more samples than features,
the proximal Newton method goes on from there.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from maxmargin.core import Status
from maxmargin.distributed.certificate import Candidates, DualPoint, sides_of
from maxmargin.distributed.course import Course
from maxmargin.distributed.newton import newton
from maxmargin.distributed.tuning import TUNING
from maxmargin.distributed.workers.messages import Command, Site, Sums
from maxmargin.solvers.auto import NEWTON_PRICE, ROOMY
from maxmargin.solvers.linear.dual_cd import (
    CLAIM,
    FULL_EVERY,
    PACE,
    RESIDUAL,
    Active,
    chunk_of,
    constant_feature,
    sweep,
)
from maxmargin.solvers.stall import FINEST, rounds_to_come
from maxmargin.typing import Floats


@dataclass(frozen=True)
class Followed(DualPoint):
    """The dual variables of sweeps, the last move followed by a step η; `round` counts the moves that the driver knows of."""

    round: int
    eta: float

    def alpha(self, site: Site) -> tuple[Floats, int]:
        """α of one partition."""
        coordinates, lost = self.coordinates(site)
        return coordinates.alpha, lost

    def coordinates(self, site: Site) -> "tuple[Coordinates, int]":
        """(Those of one partition, 1 where they were lost and begin at zero)."""
        known: Coordinates | None = site.memory.sweeps
        if known is None or known.round not in (self.round - 1, self.round):
            site.memory.sweeps = Coordinates(site, self)
            return site.memory.sweeps, int(self.round > 0)
        known.follow(self)
        return known, 0


class Coordinates:
    """The dual variables of one partition, and what sweeps need of each sample."""

    def __init__(self, site: Site, at: Followed) -> None:
        cost, loss = site.cost, site.plan.loss
        self.alpha, self.round = np.zeros(len(cost)), at.round
        self.upper, self.delta = loss.upper(cost), loss.dual_diagonal(cost)
        self.square, self.boost = self.delta, 0.0
        self.moved, self.before = site.present[:0], self.alpha[:0]
        self.whole = Active.of(site.present, site.plan.seed, chunk_of(site.rows, len(site.present)))
        self.parts = [self.whole]  # of a sweep

    def begin(self, n_parts: int, is_full: bool) -> None:
        """Begin a sweep in parts, over what the last one has kept or over all samples, in a new random order of chunks."""
        from maxmargin._loops.linear.dual_cd import shuffle

        whole = self.whole
        chosen = whole.samples if is_full else np.concatenate([part.order[: part.count] for part in self.parts])
        order = np.empty_like(chosen)
        shuffle(chosen, len(chosen), whole.chunk, whole.seed, order)
        if is_full:
            whole.thresholds[:] = np.inf, -np.inf
        else:
            whole.thresholds[:] = self.parts[0].thresholds
        self.parts = [
            replace(whole, order=some, count=len(some), visits=np.empty_like(some), thresholds=whole.thresholds.copy())
            for some in np.array_split(order, n_parts)
        ]

    def follow(self, at: Followed) -> None:
        """Follow the last move; but not one of this very round: the driver never heard of it, as it was interrupted."""
        eta = 0.0 if self.round == at.round else at.eta
        if eta != 1.0:
            self.alpha[self.moved] = self.before + eta * (self.alpha[self.moved] - self.before)
        self.moved, self.round = self.moved[:0], at.round
        self.before = self.before[:0]


@dataclass(frozen=True)
class Sweep(Command):
    """Follow the last move, then visit a part of the samples once, from the weights w.

    The answer: Δw of all moves, what the driver needs to know of the dual along it, and the share of the gap that the samples
    showed before they moved.
    """

    at: Followed
    w: Floats
    b0: float
    constant: float
    boost: float
    part: int
    n_parts: int
    is_full: bool  # the sweep visits all samples, shrunk or not

    def visit(self, site: Site, carried: dict[str, Any]) -> Sums:
        """The moves in one partition."""
        own, lost = self.at.coordinates(site)
        if own.boost != self.boost:
            own.square = self.boost * (site.squares + self.constant**2) + own.delta
            own.boost = self.boost
        if self.part == 0 or len(own.parts) != self.n_parts:
            own.begin(self.n_parts, self.is_full)
        active = own.parts[self.part]
        own.moved = samples = active.order[: active.count].copy()
        own.before = before = own.alpha[samples]
        if "w" not in carried:
            carried["w"] = self.w.copy()
        box = own.upper, own.delta, own.square
        sweep(site.rows, site.y, box, own.alpha, carried["w"], (self.constant, self.b0, self.boost), active)
        active.learn()
        move, y, delta = own.alpha[samples] - before, site.y[samples], own.delta[samples]
        return {
            "linear": float((1.0 - self.b0 * y - delta * before) @ move),
            "diagonal": float((delta * move) @ move),
            "sides": sides_of(y, move),
            "residual": float(active.report[RESIDUAL]),
            "active": active.count,
            "lost": lost,
        }

    def close(self, carried: dict[str, Any]) -> Sums:
        """Δw of the block."""
        move = (carried["w"] - self.w) / self.boost
        return {"move": move, "squared": float(move @ move)}


@dataclass(frozen=True)
class Recount(Command):
    """Add up Σ β_j (x_j, constant) and Σα of each class anew."""

    at: Followed
    size: int
    constant: float

    def visit(self, site: Site, carried: dict[str, Any]) -> Sums:
        """The sums over one partition."""
        alpha, w = self.at.alpha(site)[0], np.zeros(self.size)
        used = np.flatnonzero(alpha)
        site.rows.add(used, (alpha * site.y)[used], self.constant, w)
        return {"w": w, "sides": sides_of(site.y, alpha)}


class Ascent:
    """The weights, the offset of a free bias and the value of the dual of one problem."""

    def __init__(self, course: Course) -> None:
        task = course.task
        facts, plan = task.facts, task.plan
        self.course, self.task, self.bias = course, task, plan.bias
        self.w = np.zeros(plan.n_features + 1)
        self.b0, self.constant = task.first_bias(), plan.bias.scale
        if plan.bias.is_free:
            self.constant = constant_feature(facts.mean_square, sum(task.costs))
        self.boost, self.eta, self.round, self.dual = float(task.n_blocks), 0.0, 0, 0.0
        self.sides = np.zeros(2)
        self.missing: list[float] = []  # the share of the gap that each sweep has seen
        self.caution, self.n_active = CLAIM, facts.n_present

    @property
    def at(self) -> Followed:
        """Where the blocks are to be."""
        return Followed(self.round, self.eta)

    def sweep(self, is_full: bool) -> None:
        """One sweep over all samples that are not shrunk, in several rounds."""
        n_parts = self._parts(is_full)
        missing, self.n_active, overlap = 0.0, 0, 1.0
        total = np.zeros_like(self.w)  # of this sweep's weights, which swing about their mean
        for part in range(n_parts):
            n_lost = self.course.n_lost
            sums = self.course.ask(Sweep(self.at, self.w, self.b0, self.constant, self.boost, part, n_parts, is_full))
            if self.course.n_lost > n_lost:
                self.recount()
                return
            missing += sums["residual"]
            self.n_active += sums["active"]
            overlap = max(overlap, self._merge(sums))
            total += self.w
            self._present(total / (part + 1))
        self.boost = min(overlap, float(self.task.n_blocks))
        if self.bias.is_free:
            shift = self.constant * float(self.w[-1])
            missing += abs(shift) / self.constant**2
            self.b0 += shift
            self.dual -= (shift / self.constant) ** 2
        self.missing.append(missing)
        self._present(total / n_parts)

    def _parts(self, is_full: bool) -> int:
        """The rounds of a sweep."""
        facts, n_blocks = self.task.facts, self.task.n_blocks
        if n_blocks == 1 or not self.task.plan.is_kept:
            return 1
        share = 1.0 if is_full else self.n_active / facts.n_present
        return max(math.ceil(share * facts.n_values / n_blocks / TUNING.round_values), TUNING.fewest_rounds)

    def _merge(self, sums: Sums) -> float:
        """Follow the sum of all moves to the best point along it; how much the moves of different blocks add up."""
        move, squared = sums["move"], float(sums["squared"])
        rise = float(sums["linear"]) - float(self.w @ move)
        length = float(move @ move)
        curvature = length + float(sums["diagonal"])
        self.eta = min(1.0, rise / curvature) if curvature > 0.0 and rise > 0.0 else 0.0
        self.dual += self.eta * (rise - 0.5 * self.eta * curvature)
        self.sides = self.sides + self.eta * sums["sides"]
        self.w = self.w + self.eta * move
        self.round += 1
        return length / squared if squared > 0.0 else 1.0

    def recount(self) -> None:
        """Take the weights that the blocks' dual variables make: some of these were lost."""
        self.eta = 0.0
        sums = self.course.ask(Recount(self.at, len(self.w), self.constant))
        self.w, self.sides = sums["w"], sums["sides"]
        self.round += 1

    def _present(self, mean: Floats) -> None:
        looks = np.array(TUNING.looks)
        biases = np.array([self.constant * float(self.w[-1])])
        if self.bias.is_free:
            biases = self.b0 + np.concatenate((looks, -looks[1:]))
        self.course.present(self.gap, Candidates(mean[:-1], biases, self.at, self.sides))

    @property
    def gap(self) -> float:
        """The relative gap before the last sweep, about."""
        missing = self.missing[-1] if self.missing else np.inf
        return self.caution * missing / max(abs(self.dual) + missing, np.finfo(float).tiny)


def cocoa(course: Course) -> Status:
    """Sweeps until the gap is certified; Newton steps where they are slow."""
    course.route.append("CoCoA⁺ of DualCD")
    ascent, task, is_full, n_sweeps = Ascent(course), course.task, True, 0
    is_roomy = task.facts.n_present >= ROOMY * task.plan.n_features
    while True:
        ascent.sweep(is_full)
        n_sweeps += 1
        seems_done = ascent.gap <= task.tol
        if seems_done and (is_full or task.n_blocks == 1):
            estimate, n_lost = ascent.gap, course.n_lost
            if course.judge():
                return Status.SOLVED
            if course.n_lost > n_lost:
                ascent.recount()
            ascent.caution *= min(max(course.trace[-1].relative_gap / max(estimate, FINEST), 1.5), 10.0)
        is_full = seems_done or n_sweeps % FULL_EVERY == 0 or ascent.n_active == 0
        to_come = rounds_to_come(ascent.missing, max(task.tol, FINEST) * abs(ascent.dual), PACE)
        if (is_roomy and to_come > NEWTON_PRICE) or course.is_stalled(ascent.gap):
            course.judge()
            course.gaps = course.gaps[:1]
            level = float(ascent.sides.sum()) / sum(task.costs)
            last = ascent.b0 if task.plan.bias.is_free else float(ascent.w[-1])
            return newton(course, np.append(ascent.w[:-1], last), max(level, 1e-3))
