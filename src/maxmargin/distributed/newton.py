"""The proximal Newton method on many blocks: the driver's side.

The steps are those of `ProximalNewton` (see there for the mathematics): sums over samples become sums over blocks. A step costs
one round where it is taken in full, two where the search along it shortens it; each proximal round costs one more. Up to
`MOST_FACTORED` features Newton's matrix travels and is factored by the driver; beyond that conjugate gradients ask for
products, one round each. From w = 0 it begins with a part of the cost where C is large, as `ProximalNewton` does.
"""

from collections.abc import Generator

import numpy as np

from maxmargin.core import Status
from maxmargin.core.losses import Hinge
from maxmargin.distributed.certificate import Dual
from maxmargin.distributed.one_problem import Course, Record, Task, ending
from maxmargin.distributed.workers.messages import Sums
from maxmargin.distributed.workers.steps import MOST_FACTORED, Aim, At, Curve, Raise, Respond
from maxmargin.solvers.linear.conjugate_gradients import conjugate_gradient_rounds
from maxmargin.solvers.linear.normal_equations import MOST_ROUNDS, PRECISION, held, solve_factored
from maxmargin.solvers.linear.proximal_newton import (
    FIRST_SIGMA,
    GROWTH,
    INNER,
    LONG,
    LONGEST,
    NEXT_SIGMA,
    ROUGH,
    SLOW_GROWTH,
    cost_shares,
)
from maxmargin.solvers.linear.smoothed_hinge import ENOUGH, SMOOTH_SIGMA, constant_of, ridge_of
from maxmargin.typing import Floats

STEPS = np.array([0.0, 1.0, 0.7, 0.5, 0.35, 0.2, 0.1, 0.03, 0.01, 1e-3])
"""Where the search looks along a direction in the first round; the slope is taken as linear between them."""

MOST_LOOKS = 10
"""Rounds of the search after that, at most."""

STEEP = 0.5
"""The search ends before the lowest point where the slope is down to this share of the slope at its start."""

PATIENCE = 120
"""Newton steps in which the gap must fall by a tenth; else they have ended."""


class NewtonSteps:
    """The weights of one problem and the sums that belong to them."""

    def __init__(self, record: Record, w: Floats, sigma: float) -> None:
        task = record.task
        self.record, self.task, self.w = record, task, w
        self.is_hinge = isinstance(task.loss, Hinge)
        self.sigma = sigma if self.is_hinge else SMOOTH_SIGMA
        self.share, self.gain = 1.0, np.inf  # of the cost; what the last step promised, at half its slope
        self.ridge, self.constant = ridge_of(task.bias, task.n_features), constant_of(task.bias)
        self.version = 0
        self.sums = Sums()

    def respond(
        self, centre: float | str | None = None, growth: float | None = None, bend_all: bool = False
    ) -> Course[None]:
        """Have the sums at the present weights."""
        self.sums = yield Respond(self.at, centre, growth, bend_all)
        if growth is not None and self.is_hinge:
            self.sigma *= growth
        self._note()

    def raise_cost(self, share: float) -> Course[None]:
        """Let a larger share of the cost count."""
        before, ratio = self.at, self.share / share
        full, used = int(self.sums["n full"]), int(self.sums["n used"])
        if self.is_hinge:
            self.sigma = near((full + ratio * (float(self.sums["used"]) - full)) / used if used else 1.0)
        self.share, self.version, self.gain = share, self.version + 1, np.inf
        self.sums = yield Raise(before, self.at)
        self._note()

    @property
    def at(self) -> At:
        """Where the blocks are to be."""
        return At(self.w, self.sigma, self.version, self.share)

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
        before, sums = self.w, (yield Aim(self.at, direction, STEPS))
        slopes = self._slopes(direction, sums["falls"])
        self.version += 1
        self.w, self.sums, self.gain = before + direction, sums, -0.5 * slopes[0]
        if not slopes[0] < 0.0:
            yield from self._move(before)
            return False
        self._note()
        if slopes[1] > -ENOUGH * slopes[0]:
            return (yield from self._search(before, direction, slopes))
        return True

    def _direction(self) -> Generator[Curve, Sums, Floats | None]:
        right = -self.gradient
        diagonal = held(self.ridge, int(self.sums["bent"]), self.sigma * self.share * self.task.mean_cost)
        if self.task.n_features <= MOST_FACTORED:
            return solve_factored(self.sums["gram"], self.sigma, diagonal, right)
        rounds = conjugate_gradient_rounds(
            right, diagonal + self.sigma * self.sums["diagonal"], precision=PRECISION, most_rounds=MOST_ROUNDS
        )
        try:
            v = next(rounds)
            while True:
                sums = yield Curve(self.at, v)
                v = rounds.send(diagonal * v + self.sigma * sums["product"])
        except StopIteration as end:
            direction: Floats = end.value[0]
            return direction

    def _slopes(self, direction: Floats, falls: Floats) -> Floats:
        """Of the smoothed objective, at each of the `STEPS` along a direction."""
        flat, bend = float((self.ridge * self.w) @ direction), float((self.ridge * direction) @ direction)
        return flat + STEPS * bend - falls

    def _search(self, before: Floats, direction: Floats, slopes: Floats) -> Course[bool]:
        """Go where the slope is small (regula falsi, from the two steps between which it changes its sign).

        False: no step was found that surely leads down, and the weights are what they were.
        """
        order = np.argsort(STEPS)
        end = int(np.argmax(slopes[order] > 0.0))
        (low, high), (at_low, at_high) = STEPS[order][end - 1 : end + 1], slopes[order][end - 1 : end + 1]
        steep, was = float(slopes[0]), np.nan
        for _ in range(MOST_LOOKS):
            t = float((low * at_high - high * at_low) / (at_high - at_low))
            yield from self._move(before + t * direction)
            here = float(self.gradient @ direction)
            if STEEP * steep <= here <= -ENOUGH * steep:
                return True
            # Illinois: an end that stays twice loses half of its weight.
            if here > 0.0:
                at_low *= 0.5 if at_high == was else 1.0
                high, at_high = t, here
            else:
                at_high *= 0.5 if at_low == was else 1.0
                low, at_low = t, here
            was = here
        if here > 0.0:  # perhaps too far: the objective is known to fall up to `low`
            yield from self._move(before + low * direction)
        return bool(low > 0.0)

    def _move(self, w: Floats) -> Course[None]:
        self.w, self.version = w, self.version + 1
        yield from self.respond()

    def _note(self) -> None:
        """What would be judged now."""
        bias = self.task.bias
        net = float(self.sums["made"][-1]) / self.constant if self.constant else 0.0
        dual = Dual.balanced(bias, float(self.sums["sum"]), net, at=self.at)
        self.record.gap = self.gap
        self.record.present = (self.w[:-1], np.array([self.constant * float(self.w[-1])]), dual)


def newton(record: Record, w: Floats, sigma: float, centre: float | str, is_near: bool) -> Course[Status]:
    """Proximal rounds of Newton steps until the gap is certified, or no longer falls."""
    record.route.append("ProximalNewton on blocks")
    steps = NewtonSteps(record, w, sigma if is_near else FIRST_SIGMA)
    steps.share, *shares = [1.0] if is_near else shares_of(record.task)
    yield from steps.respond(centre, bend_all=not is_near)
    caution, best, n_steps, last_progress, inner = 1.0, np.inf, 0, 0, 0
    while True:
        if shares and (steps.gain <= ROUGH * steps.primal or inner > LONGEST):
            yield from steps.raise_cost(shares.pop(0))
            best, last_progress, inner = np.inf, n_steps, 0
        if not shares and caution * steps.gap <= record.task.tol and (n_steps or is_near):
            if (yield from record.judge()):
                return Status.SOLVED
            caution = min(2.0 * caution, 1e6)
        if steps.gap < 0.9 * best:
            best, last_progress = steps.gap, n_steps
        if not shares and n_steps - last_progress > PATIENCE:
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


def shares_of(task: Task) -> list[float]:
    """The shares of the cost that count, one after the other."""
    return cost_shares(task.mean_cost * (task.mean_square + task.bias.scale**2))


def near(level: float) -> float:
    """σ where a solution is near whose support vectors have this mean θ."""
    return NEXT_SIGMA * level
