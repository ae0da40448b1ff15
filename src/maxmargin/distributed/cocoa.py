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
from dataclasses import replace
from itertools import count
from typing import NamedTuple

import numpy as np

from maxmargin.distributed.certificate import Candidates, judged, sides_of
from maxmargin.distributed.course import Course
from maxmargin.distributed.newton import newton
from maxmargin.distributed.tuning import TUNING
from maxmargin.distributed.workers.block import Site, Sums
from maxmargin.solvers.auto import Auto
from maxmargin.solvers.base import DRIVER, rounds_to_come
from maxmargin.solvers.linear import dual_cd
from maxmargin.typing import Floats


class Followed(NamedTuple):
    """The dual variables of sweeps, the last move followed by a step η; `round` counts the moves that the driver knows of."""

    round: int
    eta: float
    n_parts: int = 1


class Coordinates:
    """The dual variables of one partition, and what sweeps need of each sample."""

    def __init__(self, site: Site, at: Followed) -> None:
        cost, loss = site.piece.cost, site.plan.loss
        self.alpha, self.round = np.zeros(len(cost)), at.round
        self.upper, self.delta = loss.upper(cost), loss.dual_diagonal(cost)
        present = np.flatnonzero(cost > 0)
        self.moved, self.before = present[:0], self.alpha[:0]
        self.whole = dual_cd.Active.of(present, site.plan.seed)
        self.parts = [self.whole]  # of a sweep; they share their thresholds

    def begin(self, n_parts: int, is_full: bool) -> None:
        """Begin a sweep in parts, over what the last one has kept or over all samples, in a new random order of chunks."""
        from maxmargin._loops.linear.dual_cd import shuffle

        whole = self.whole
        chosen = whole.samples if is_full else np.concatenate([part.order[: part.count] for part in self.parts])
        order = np.empty_like(chosen)
        shuffle(chosen, len(chosen), dual_cd.DualCD.tuning.chunk, whole.seed, order)
        parts = np.array_split(order, n_parts)
        self.parts = [replace(whole, order=some, count=len(some), visits=np.empty_like(some)) for some in parts]


def coordinates(site: Site, at: Followed) -> Coordinates:
    """Those of one partition; they begin at zero where they were lost.

    A move of this very round is not followed: the driver never heard of it.
    """
    known: Coordinates | None = site.memory.sweeps
    if known is None or known.round not in (at.round - 1, at.round):
        known = site.memory.sweeps = Coordinates(site, at)
        if at.round > 0:
            site.carried["lost"] = 1
        return known
    eta = 0.0 if known.round == at.round else at.eta
    if eta != 1.0:
        known.alpha[known.moved] = known.before + eta * (known.alpha[known.moved] - known.before)
    known.round, known.moved, known.before = at.round, known.moved[:0], known.before[:0]
    return known


def alpha(site: Site, at: Followed) -> Floats:
    """The dual variables."""
    return coordinates(site, at).alpha


def moves(site: Site, at: Followed, w: Floats, numbers: tuple[float, float, float], part: int, is_full: bool) -> Sums:
    """Follow the last move, then visit a part of a sweep, from the weights w and the moves of the partitions before.

    `numbers` are those of `dual_cd.sweep`, the last of them σ'. A full sweep visits shrunk samples too. A sweep that is not cut
    into parts is several, as no other block waits for it; only the offset of a free bias has to follow each of them. The answer:
    Δw of all moves, what the driver needs to know of the dual along it, and the share of the gap that the samples showed before
    they moved.
    """
    own, (constant, b0, boost) = coordinates(site, at), numbers
    if part == 0 or len(own.parts) != at.n_parts:
        own.begin(at.n_parts, is_full)
    active = own.parts[part]
    if is_full:
        active.thresholds[:] = np.inf, -np.inf
    own.moved = samples = active.order[: active.count].copy()
    own.before = before = own.alpha[samples]
    so_far = site.carried.get("move", 0.0)
    all_moves = w + boost * so_far
    square = boost * (site.piece.squares + constant**2) + own.delta
    box = np.ones(len(site.y)), own.upper, own.delta, square
    for _ in range(1 if at.n_parts > 1 or site.plan.bias.is_free else dual_cd.DualCD.tuning.pace):
        dual_cd.sweep(site.piece.rows, site.y, box, own.alpha, all_moves, numbers, active)
        active.learn()
    all_moves -= w
    all_moves /= boost
    site.carried["move"] = all_moves
    move, y, delta = own.alpha[samples] - before, site.y[samples], own.delta[samples]
    return {
        "move": all_moves - so_far,
        "squared": float(np.dot(all_moves, all_moves) - np.dot(so_far, so_far)),
        "linear": float((1.0 - b0 * y - delta * before) @ move),
        "diagonal": float((delta * move) @ move),
        "sides": sides_of(y, move),
        "residual": float(active.report[dual_cd.RESIDUAL]),
        "active": active.count,
    }


class Ascent:
    """The weights, the offset of a free bias and the value of the dual of one problem."""

    def __init__(self, course: Course) -> None:
        self.course, self.plan, self.facts, self.bias = course, course.plan, course.facts, course.plan.bias
        self.w, self.sides = np.zeros(self.plan.n_features + 1), np.zeros(2)
        self.b0, self.constant = course.first_bias(), self.bias.scale
        if self.bias.is_free:
            mean_square = self.facts.squares / self.facts.n_present
            self.constant = dual_cd.constant_feature(mean_square, sum(course.costs))
        n_blocks, tuning = self.plan.n_blocks, dual_cd.DualCD.tuning
        self.n_parts = 1  # the rounds of a sweep: several where blocks disturb each other
        if n_blocks > 1 and self.plan.is_kept:
            self.n_parts = max(math.ceil(self.facts.n_values / n_blocks / TUNING.round_values), tuning.pace)
        self.boost, self.eta, self.round, self.n_lost, self.dual = float(n_blocks), 0.0, 0, 0, 0.0
        self.missing: list[float] = []  # the share of the gap that each sweep has seen
        self.caution, self.n_active = tuning.claim, 0
        self.mean = self.w.copy()  # of this sweep's weights, which swing about it
        course.method = self

    @property
    def at(self) -> Followed:
        """Where the blocks are to be."""
        return Followed(self.round, self.eta, self.n_parts)

    def sweep(self, is_full: bool) -> None:
        """One sweep over all samples that are not shrunk, in several rounds."""
        missing, self.n_active, overlap = 0.0, 0, 1.0
        for part in range(self.n_parts):
            numbers = self.constant, self.b0, self.boost
            sums = self.course.ask(moves, self.at, self.w, numbers, part, is_full)
            if self.course.n_lost > self.n_lost:  # now, or while something was judged
                self.recount()
                return
            missing += sums["residual"]
            self.n_active += sums["active"]
            overlap = max(overlap, self._merge(sums))
            self.mean += (self.w - self.mean) / (part + 1)
        self.boost = min(overlap, float(self.plan.n_blocks))
        if self.bias.is_free:
            shift = self.constant * float(self.w[-1])
            missing += abs(shift) / self.constant**2
            self.b0 += shift
            self.dual -= (shift / self.constant) ** 2
        self.missing.append(missing)

    def _merge(self, sums: Sums) -> float:
        """Follow the sum of all moves to the best point along it; how much the moves of different blocks add up."""
        move, length = sums["move"], float(sums["move"] @ sums["move"])
        rise, curvature = sums["linear"] - float(self.w @ move), length + sums["diagonal"]
        self.eta = min(1.0, rise / curvature) if curvature > 0.0 and rise > 0.0 else 0.0
        self.dual += self.eta * (rise - 0.5 * self.eta * curvature)
        self.sides = self.sides + self.eta * sums["sides"]
        self.w += self.eta * move
        self.round += 1
        return length / sums["squared"] if sums["squared"] > 0.0 else 1.0

    def recount(self) -> None:
        """Take the weights that the blocks' dual variables make: some of these were lost."""
        self.eta = 0.0
        sums = self.course.ask(judged, self.w[:-1], np.zeros(1), (alpha, self.at), np.ones(2))
        self.w, self.sides = np.append(sums["made"].high, self.constant * sums["part"].total), sums["sides"]
        self.round += 1
        self.n_lost = self.course.n_lost

    def candidates(self) -> Candidates:
        """What would be judged now."""
        looks, biases = np.array(TUNING.looks), np.array([self.constant * float(self.w[-1])])
        if self.bias.is_free:
            biases = self.b0 + np.concatenate((looks, -looks[1:]))
        return Candidates(self.mean[:-1].copy(), biases, (alpha, self.at), self.sides)

    @property
    def gap(self) -> float:
        """The relative gap before the last sweep, about."""
        missing = self.missing[-1] if self.missing else np.inf
        return self.caution * missing / max(abs(self.dual) + missing, np.finfo(float).tiny)


def cocoa(course: Course) -> None:
    """Sweeps until the gap is certified; Newton steps where they are slow."""
    course.route.append("CoCoA⁺ of DualCD")
    ascent, plan, tuning, is_full = Ascent(course), course.plan, dual_cd.DualCD.tuning, True
    is_roomy = course.facts.n_present >= Auto.tuning.roomy * plan.n_features
    for n_sweeps in count(1):
        ascent.sweep(is_full)
        seems_done = ascent.gap <= course.tol
        if seems_done and (is_full or plan.n_blocks == 1):
            if course.judge():
                return
            ascent.caution *= 1.5
        is_full = seems_done or n_sweeps % tuning.full_every == 0 or ascent.n_active == 0
        to_come = rounds_to_come(ascent.missing, max(course.tol, DRIVER.finest) * abs(ascent.dual), tuning.pace)
        if (is_roomy and to_come > Auto.tuning.newton_price) or course.is_stalled(ascent.gap):
            break
    course.judge()
    course.gaps = course.gaps[:1]
    level = float(ascent.sides.sum()) / sum(course.costs)
    last = ascent.b0 if plan.bias.is_free else float(ascent.w[-1])
    newton(course, np.append(ascent.w[:-1], last), max(level, 1e-3))
