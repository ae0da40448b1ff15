"""CoCoA⁺ on many blocks: the driver's side.

Each block improves its own dual variables from the common weights w, all at the same time (see `sweeps`); their moves are added up
and followed by the step η that maximises the dual along their sum,

    η = (Σ_j (1 − y_j b₀ − δ_j α_j) Δα_j − ⟨w, Δw⟩) / (‖Δw‖² + Σ_j δ_j Δα_j²),     0 < η ≤ 1

σ' is at first the number of blocks, which is safe whatever the data are. How much the moves of different blocks really add up is
measured in each round, ‖Σ Δw_k‖² / Σ‖Δw_k‖², and σ' follows that; where it was chosen too small η is less than 1, and the dual
still rises. A free bias is handled as `DualCD` does, by the method of multipliers. Where many more rounds are to come the proximal
Newton method goes on from there.
"""

import numpy as np

from maxmargin.core import Status
from maxmargin.distributed.course import NEARBY, Course, Record, ending
from maxmargin.distributed.judgement import Dual
from maxmargin.distributed.newton import near, newton
from maxmargin.distributed.steps import ALPHA
from maxmargin.distributed.sweeps import Recount, Sweep
from maxmargin.solvers.dual_cd import CLAIM, MULTIPLIER
from maxmargin.typing import Floats

FIRST_PASSES, PASSES = 2, 4
"""Sweeps over a block's samples in the first round, and in each other."""

CAREFUL = 1.15
"""σ' as a multiple of the measured overlap."""

CRAWL = 30
"""Rounds still to come, at their present pace, from which they are called slow."""

PACE = 6
"""Rounds over which their pace is measured."""


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
        self.missing: list[float] = []
        self.caution = CLAIM

    def advance(self) -> Course[None]:
        """One round; where a block had lost its dual variables, the weights are summed up anew first."""
        passes = FIRST_PASSES if self.round == 0 else PASSES
        sums = yield Sweep(self.w, self.b0, self.constant, self.boost, self.eta, self.round, passes, self._seed())
        if sums.is_fresh:
            yield from self._recount()
            return
        move, squared = sums["move"], float(sums["squared"])
        rise = float(sums["linear"]) - float(self.w @ move)
        curvature = float(move @ move) + float(sums["diagonal"])
        self.eta = min(1.0, rise / curvature) if curvature > 0.0 and rise > 0.0 else 0.0
        imbalance = float(self.w[-1]) / self.constant if self.task.bias.is_free else 0.0
        self.missing.append(float(sums["residual"]) + abs(imbalance))
        self.dual += self.eta * (rise - 0.5 * self.eta * curvature)
        self.total = float(sums["sum"]) + self.eta * float(sums["sum move"])
        self.w = self.w + self.eta * move
        if squared > 0.0:
            overlap = float(move @ move) / squared
            self.boost = min(max(CAREFUL * overlap, 1.0), float(self.task.n_blocks))
        self.round += 1
        self._note()
        if self.task.bias.is_free:
            shift = self.constant * float(self.w[-1])
            self.b0 += shift
            self.dual -= shift * shift / self.constant**2

    def _recount(self) -> Course[None]:
        self.record.n_lost += 1
        sums = yield Recount(len(self.w), self.constant, 0.0, self.round)
        self.w, self.eta = sums["w"], 0.0
        self.round += 1

    def _note(self) -> None:
        bias = self.task.bias
        net = float(self.w[-1]) / self.constant if self.constant else 0.0
        dual = Dual.balanced(bias, self.total, net, eta=self.eta, round=self.round)
        biases = np.array([self.constant * float(self.w[-1])])
        if bias.is_free:
            biases = self.b0 + self.constant * float(self.w[-1]) + NEARBY
        self.record.present = (self.w[:-1], biases, dual)
        self.record.gap = self.gap

    @property
    def gap(self) -> float:
        """The relative gap before the last round, about."""
        if not self.missing:
            return np.inf
        return self.caution * self.missing[-1] / max(abs(self.dual) + self.missing[-1], np.finfo(float).tiny)

    def rounds_to_come(self) -> float:
        """How many more rounds the tolerance asks for, if all gain what the last few did."""
        if len(self.missing) <= PACE:
            return 0.0
        now, then = self.missing[-1], self.missing[-1 - PACE]
        goal = max(self.task.tol, 1e-12) * abs(self.dual)
        if not now > goal:
            return 0.0
        return float(np.log(now / goal) / np.log(then / now)) * PACE if then > now and goal > 0.0 else np.inf

    def newton_start(self) -> Floats:
        """The weights as the Newton steps have them, the bias behind."""
        last = self.b0 if self.task.bias.is_free else float(self.w[-1])
        return np.append(self.w[:-1], last)

    def _seed(self) -> int:
        return self.task.seed


def cocoa(record: Record) -> Course[Status]:
    """Rounds of sweeps until the gap is certified; Newton steps where they are slow."""
    record.route.append("CoCoA⁺ of DualCD")
    ascent = Ascent(record)
    while True:
        yield from ascent.advance()
        if ascent.gap <= record.task.tol:
            if (yield from record.judge()):
                return Status.SOLVED
            ascent.caution = min(2.0 * ascent.caution, 1e3)
        if ascent.rounds_to_come() > CRAWL:
            yield from record.judge()
            level = ascent.total / max(record.task.cost_plus + record.task.cost_minus, np.finfo(float).tiny)
            method = newton(record, ascent.newton_start(), near(max(level, 1e-3)), ALPHA, is_near=True)
            return (yield from method)


__all__ = ["Ascent", "cocoa", "ending"]
