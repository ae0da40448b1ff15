"""The proximal Newton method on many blocks: the driver's side.

The steps are those of `ProximalNewton` (see there for the mathematics): sums over samples become sums over blocks. A step costs
one round where it is taken in full, two where the search along it shortens it; each proximal round costs one more. Up to
`MOST_FACTORED` features Newton's matrix travels and is factored by the driver; beyond that conjugate gradients ask for
products, one round each.
"""

from collections.abc import Generator

import numpy as np

from maxmargin.core import Status
from maxmargin.core.losses import Hinge
from maxmargin.distributed.course import Course, Record, ending
from maxmargin.distributed.judgement import Dual
from maxmargin.distributed.messages import Sums
from maxmargin.distributed.steps import MOST_FACTORED, Aim, Curve, Respond
from maxmargin.solvers.conjugate_gradients import conjugate_gradient_rounds
from maxmargin.solvers.equations import MOST_ROUNDS, PRECISION, held, solve_factored
from maxmargin.solvers.proximal_newton import (
    FIRST_SIGMA,
    GROWTH,
    INNER,
    LONG,
    LONGEST,
    NEXT_SIGMA,
    PATIENCE,
    SLOW_GROWTH,
)
from maxmargin.solvers.smoothed import ENOUGH, constant_of, ridge_of
from maxmargin.typing import Floats

STEPS = np.array([0.0, 1.0, 0.7, 0.5, 0.35, 0.2, 0.1, 0.03, 0.01, 1e-3])
"""Where the search looks along a direction in one round; the slope is taken as linear between them."""


class NewtonSteps:
    """The weights of one problem and the sums that belong to them."""

    def __init__(self, record: Record, w: Floats, sigma: float) -> None:
        task = record.task
        self.record, self.task, self.w, self.sigma = record, task, w, sigma
        self.is_hinge = isinstance(task.loss, Hinge)
        self.ridge, self.constant = ridge_of(task.bias, task.n_features), constant_of(task.bias)
        self.version = 0
        self.sums = Sums()

    def respond(
        self, centre: float | str | None = None, growth: float | None = None, bend_all: bool = False
    ) -> Course[None]:
        """Have the sums at the present weights."""
        self.sums = yield Respond(self.w, self.sigma, self.version, centre, growth, bend_all)
        if growth is not None and self.is_hinge:
            self.sigma *= growth
        self._note()

    @property
    def gradient(self) -> Floats:
        """Λw̃ − Σ c_j θ_j y_j x̃_j."""
        return np.asarray(self.ridge * self.w - self.sums["made"])

    @property
    def primal(self) -> float:
        """P(w, b)."""
        return 0.5 * float((self.ridge * self.w) @ self.w) + float(self.sums["loss"])

    @property
    def apart(self) -> float:
        """What keeps θ from being a dual point of w."""
        g = self.gradient
        return 0.5 * float((self.ridge * g) @ g) + (abs(float(g[-1])) if self.task.bias.is_free else 0.0)

    @property
    def gap(self) -> float:
        """The relative gap of w and θ, as the sums have it."""
        return (float(self.sums["residual"]) + self.apart) / max(self.primal, np.finfo(float).tiny)

    def step(self) -> Course[bool]:
        """A step along Newton's direction; False where there is none that leads down."""
        direction = yield from self._direction()
        if direction is None:
            return False
        before = self.w
        sums = yield Aim(self.w, self.sigma, self.version, direction, STEPS)
        t = self._search(direction, sums["falls"])
        self.version += 1
        self.w, self.sums = before + direction, sums
        if t != 1.0:
            self.w, self.version = before + t * direction, self.version + 1
            yield from self.respond()
        self._note()
        return t > 0.0

    def _direction(self) -> Generator[Curve, Sums, Floats | None]:
        right = -self.gradient
        stiffness = self.sigma * self.task.mean_cost
        diagonal = held(self.ridge, stiffness)
        if self.task.n_features <= MOST_FACTORED:
            return solve_factored(self.sums["gram"], self.sigma, diagonal, right)
        rounds = conjugate_gradient_rounds(
            right, diagonal + self.sigma * self.sums["diagonal"], precision=PRECISION, most_rounds=MOST_ROUNDS
        )
        try:
            v = next(rounds)
            while True:
                sums = yield Curve(self.w, self.sigma, self.version, v)
                v = rounds.send(diagonal * v + self.sigma * sums["product"])
        except StopIteration as end:
            direction: Floats = end.value[0]
            return direction

    def _search(self, direction: Floats, falls: Floats) -> float:
        """The step at which the slope is about zero; 0 where the direction does not lead down."""
        flat, bend = float((self.ridge * self.w) @ direction), float((self.ridge * direction) @ direction)
        slopes = flat + STEPS * bend - falls
        steep = slopes[0]
        if not steep < 0.0:
            return 0.0
        if slopes[1] <= -ENOUGH * steep:
            return 1.0
        order = np.argsort(STEPS)
        t, slope = STEPS[order], slopes[order]
        high = int(np.argmax(slope > 0.0))
        low = high - 1
        return float(t[low] + (t[high] - t[low]) * slope[low] / (slope[low] - slope[high]))

    def _note(self) -> None:
        """What would be judged now."""
        bias = self.task.bias
        net = float(self.sums["made"][-1]) / self.constant if self.constant else 0.0
        dual = Dual.balanced(
            bias, float(self.sums["sum"]), net, at=self.w, sigma=self.sigma, version=self.version
        )  # fmt: skip
        self.record.gap = self.gap
        self.record.present = (self.w[:-1], np.array([self.constant * float(self.w[-1])]), dual)


def newton(record: Record, w: Floats, sigma: float, centre: float | str, is_near: bool) -> Course[Status]:
    """Proximal rounds of Newton steps until the gap is certified, or no longer falls."""
    record.route.append("ProximalNewton on blocks")
    steps = NewtonSteps(record, w, sigma if is_near else FIRST_SIGMA)
    yield from steps.respond(centre, bend_all=not is_near)
    caution, best, n_steps, last_progress, inner = 1.0, np.inf, 0, 0, 0
    while True:
        if caution * steps.gap <= record.task.tol and (n_steps or is_near):
            if (yield from record.judge()):
                return Status.SOLVED
            caution = min(2.0 * caution, 1e6)
        if steps.gap < 0.9 * best:
            best, last_progress = steps.gap, n_steps
        if n_steps - last_progress > PATIENCE:
            yield from record.judge()
            return ending(record)
        if steps.is_hinge and inner and (steps.apart <= INNER * float(steps.sums["residual"]) or inner >= LONGEST):
            yield from steps.respond(growth=GROWTH if inner < LONG else SLOW_GROWTH)
            inner = 0
        if not (yield from steps.step()):
            steps.version += 1
            yield from steps.respond()
            if not (yield from steps.step()):
                inner = LONGEST
        n_steps += 1
        inner += 1


def near(level: float) -> float:
    """σ where a solution is near whose support vectors have this mean θ."""
    return NEXT_SIGMA * level
