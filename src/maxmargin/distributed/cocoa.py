"""CoCoA⁺ on many blocks: the driver's side.

Each block improves its own dual variables from the common weights w, all at the same time (see `sweeps`); their moves are added
up and followed by the step η that maximises the dual along their sum,

    η = (Σ_j (1 − y_j b₀ − δ_j α_j) Δα_j − ⟨w, Δw⟩) / (‖Δw‖² + Σ_j δ_j Δα_j²),     0 < η ≤ 1

σ' is at first the number of blocks, which is safe whatever the data are. How much the moves of different blocks really add up is
measured in each round, ‖Σ Δw_k‖² / Σ‖Δw_k‖², and σ' follows that; where it was chosen too small η is less than 1, and the dual
still rises. A free bias is handled as `DualCD` does, by the method of multipliers. Where sweeps crawl and there are more samples
than features, the proximal Newton method goes on from there.
"""

import math

import numpy as np

from maxmargin.core import Status
from maxmargin.distributed.certificate import Dual
from maxmargin.distributed.newton import near, newton
from maxmargin.distributed.one_problem import NEARBY, Course, Record
from maxmargin.distributed.workers.messages import Sums
from maxmargin.distributed.workers.steps import ALPHA
from maxmargin.distributed.workers.sweeps import Recount, Sweep
from maxmargin.solvers.auto import ROOMY
from maxmargin.solvers.linear.dual_cd import CLAIM, MULTIPLIER
from maxmargin.typing import Floats

PASSES = 3
"""Sweeps in a round where there is one block only, or where the partitions are not kept; one where the offset of a free bias
has to follow."""

VALUES, FEWEST_PARTS = 1_500_000, 6
"""A sweep is made in so many rounds that a block visits about so many values in each; in so many at least. The less the blocks
move between two merges, the less they work against each other."""

FULL_EVERY = 20
"""Sweeps after which all samples are visited again, shrunk or not."""

CAREFUL, GRID = 1.05, 1.2
"""σ' as a multiple of the measured overlap, at least, rounded up to a power: most rounds then keep that of the last."""

CRAWL = 30
"""Sweeps still to come, at their present pace, from which they are called slow."""

PACE = 6
"""Sweeps over which their pace is measured."""

PATIENCE = 300
"""Sweeps (or half of all sweeps) in which the gap must fall by a tenth; else the Newton steps go on."""


class Ascent:
    """The weights, the offset of a free bias and the value of the dual of one problem."""

    def __init__(self, record: Record) -> None:
        task = record.task
        self.record, self.task = record, task
        self.w = np.zeros(task.n_features + 1)
        self.constant = task.bias.scale
        if task.bias.is_free:
            self.constant = max(
                MULTIPLIER * float(np.sqrt(task.mean_square)), (task.cost_plus + task.cost_minus) ** -0.5
            )
        self.b0 = task.first_bias()
        self.boost = float(task.n_blocks)
        self.eta, self.round, self.dual, self.total = 0.0, 0, 0.0, 0.0
        self.missing: list[float] = []  # the share of the gap that each sweep has seen
        self.was_full: list[bool] = []
        self.caution = CLAIM
        self.n_active = task.n_samples
        self.mean, self.n_mean = np.zeros_like(self.w), 0  # of the weights of this sweep, which swing about their mean

    def sweep(self, is_full: bool) -> Course[None]:
        """One sweep over all samples that are not shrunk, in as many rounds as its size asks for."""
        task = self.task
        n_parts, passes = FEWEST_PARTS if task.is_kept else 1, 1 if task.bias.is_free else PASSES
        if task.n_blocks > 1 and task.is_kept:
            share = self.n_active / task.n_samples if not is_full else 1.0
            n_parts, passes = max(math.ceil(share * task.most_values / VALUES), FEWEST_PARTS), 0
        missing, visited = 0.0, 0
        self.mean, self.n_mean = np.zeros_like(self.w), 0
        for part in range(1 if passes else n_parts):
            sums = yield Sweep(
                self.w, self.b0, self.constant, self.boost, self.eta, self.round, part, n_parts, passes, is_full,
                task.seed,
            )  # fmt: skip
            if sums.is_fresh:
                self.record.n_lost += 1
                yield from self.recount()
                return
            missing += float(sums["residual"])
            visited += int(sums["visited"])
            self._merge(sums)
        self.n_active = visited
        if task.bias.is_free:
            shift = self.constant * float(self.w[-1])
            missing += abs(float(self.w[-1])) / self.constant
            self.b0 += shift
            self.dual -= shift * shift / self.constant**2
            self._note()
        self.missing.append(missing)
        self.was_full.append(is_full)

    def _merge(self, sums: Sums) -> None:
        """Follow the sum of all moves to the best point along it."""
        move, squared = sums["move"], float(sums["squared"])
        rise = float(sums["linear"]) - float(self.w @ move)
        curvature = float(move @ move) + float(sums["diagonal"])
        self.eta = min(1.0, rise / curvature) if curvature > 0.0 and rise > 0.0 else 0.0
        self.dual += self.eta * (rise - 0.5 * self.eta * curvature)
        self.total += self.eta * float(sums["sum move"])
        self.w = self.w + self.eta * move
        self.mean, self.n_mean = self.mean + self.w, self.n_mean + 1
        if squared > 0.0:
            overlap = float(move @ move) / squared
            wanted = GRID ** math.ceil(math.log(max(CAREFUL * overlap, 1.0), GRID))
            self.boost = min(wanted, float(self.task.n_blocks))
        self.round += 1
        self._note()

    def recount(self) -> Course[None]:
        """Take the weights that the blocks' dual variables make: some of these were lost."""
        sums = yield Recount(len(self.w), self.constant, 0.0, self.round)
        self.w, self.total, self.eta = sums["w"], float(sums["sum"]), 0.0
        self.round += 1

    def _note(self) -> None:
        bias = self.task.bias
        net = float(self.w[-1]) / self.constant if self.constant else 0.0
        dual = Dual.balanced(bias, self.total, net, eta=self.eta, round=self.round)
        biases = np.array([self.constant * float(self.w[-1])])
        if bias.is_free:
            biases = self.b0 + NEARBY
        w = self.mean / self.n_mean if self.n_mean else self.w
        self.record.present = (w[:-1], biases, dual)
        self.record.gap = self.gap

    @property
    def gap(self) -> float:
        """The relative gap before the last sweep, about."""
        if not self.missing:
            return np.inf
        return self.caution * self.missing[-1] / max(abs(self.dual) + self.missing[-1], np.finfo(float).tiny)

    def sweeps_to_come(self) -> float:
        """How many more sweeps the tolerance asks for, if all gain what the last few did."""
        if len(self.missing) <= PACE:
            return 0.0
        now, then = self.missing[-1], self.missing[-1 - PACE]
        goal = max(self.task.tol, 1e-12) * abs(self.dual)
        if not now > goal:
            return 0.0
        return float(np.log(now / goal) / np.log(then / now)) * PACE if then > now and goal > 0.0 else np.inf

    def is_stalled(self) -> bool:
        """Whether the gap has not fallen by a tenth in many sweeps."""
        recent = max(PATIENCE, len(self.missing) // 2)
        return len(self.missing) > recent and min(self.missing[-recent:]) > 0.9 * min(self.missing[:-recent])

    def newton_start(self) -> Floats:
        """The weights as the Newton steps have them, the bias behind."""
        last = self.b0 if self.task.bias.is_free else float(self.w[-1])
        return np.append(self.w[:-1], last)


def cocoa(record: Record) -> Course[Status]:
    """Rounds of sweeps until the gap is certified; Newton steps where they are slow."""
    record.route.append("CoCoA⁺ of DualCD")
    ascent, is_full, n_sweeps = Ascent(record), True, 0
    is_roomy = record.task.n_samples >= ROOMY * record.task.n_features
    while True:
        yield from ascent.sweep(is_full)
        n_sweeps += 1
        seems_done = ascent.gap <= record.task.tol
        if seems_done and (is_full or record.task.n_blocks == 1):
            estimate, n_lost = ascent.gap, record.n_lost
            if (yield from record.judge()):
                return Status.SOLVED
            if record.n_lost > n_lost:
                yield from ascent.recount()
            ascent.caution *= min(max(record.last_gap / max(estimate, 1e-300), 1.5), 10.0)
        is_full = seems_done or n_sweeps % FULL_EVERY == 0 or ascent.n_active == 0
        if (is_roomy and ascent.sweeps_to_come() > CRAWL) or ascent.is_stalled():
            yield from record.judge()
            level = ascent.total / max(record.task.cost_plus + record.task.cost_minus, np.finfo(float).tiny)
            method = newton(record, ascent.newton_start(), near(max(level, 1e-3)), ALPHA, is_near=True)
            return (yield from method)
