"""The proximal Newton method on many blocks: `ProximalNewton`, where each sum over samples is one over blocks.

The driver has the weights (`OverBlocks`), each block the smoothed problem of its own samples at these weights (`Smoothed`), so
that any number of blocks takes the same steps. A step costs one round where it is taken in full, and one more for each point that
the search along it tries; each proximal round costs one. With few features Newton's matrix travels, and the driver factors it; with
many, conjugate gradients ask for products, one round each.

A block remembers the centre θ⁰ alone; whatever else it keeps spares a pass over the data. Where it knows none, all θ⁰ are the
same number: every centre in the box is a beginning of the proximal method.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from maxmargin.core import Status
from maxmargin.core.losses import Hinge
from maxmargin.distributed.certificate import Candidates, DualPoint, sides_of
from maxmargin.distributed.course import Course
from maxmargin.distributed.tuning import TUNING
from maxmargin.distributed.workers.messages import Command, Site, Sums
from maxmargin.solvers.linear.conjugate_gradients import conjugate_gradients
from maxmargin.solvers.linear.normal_equations import (
    MOST_ROUNDS,
    PRECISION,
    Factored,
    Iterated,
    held,
    solve_factored,
)
from maxmargin.solvers.linear.proximal_newton import NEXT_SIGMA, advance
from maxmargin.solvers.linear.rows import Rows, Signed
from maxmargin.solvers.linear.smoothed_hinge import (
    ENOUGH,
    SMOOTH_SIGMA,
    Part,
    Smoothed,
    SmoothedSums,
    constant_of,
    flat_point,
    ridge_of,
)
from maxmargin.typing import Floats, Indices


@dataclass(frozen=True)
class At(DualPoint):
    """Where Newton's method is: weights (the bias behind), σ, θ⁰ where none is known, and the number of this state."""

    w: Floats
    sigma: float
    centre: float
    version: int

    def alpha(self, site: Site) -> tuple[Floats, int]:
        """cθ of one partition."""
        lost = int(site.memory.centre is None)
        smooth = present(site, self).smooth
        return smooth.cost * np.clip(smooth.theta, 0.0, smooth.top), lost


@dataclass
class Steps:
    """The smoothed problem of one partition, the number of the state that it is in, and its bent samples' rows, once gathered."""

    smooth: Smoothed
    version: int
    bent: tuple[Indices, Rows] | None = None


def present(site: Site, at: At) -> Steps:
    """The smoothed problem of one partition at these weights: as it is remembered, moved, or made again."""
    steps: Steps | None = site.memory.newton
    if steps is None or (steps.version != at.version and steps.smooth.sigma != at.sigma):
        smooth = Smoothed.over(
            site.plan.loss, site.plan.bias, Part(site.rows, site.y, site.cost), at.w, at.sigma, _centre(site, at.centre),
            Iterated if site.plan.is_wide else Factored,
        )  # fmt: skip
        return remembered(site, smooth, at.version)
    if steps.version != at.version:
        smooth = steps.smooth
        smooth.w = at.w
        smooth.rows.signed_scores(smooth.y, at.w, smooth.constant * float(at.w[-1]), smooth.z)
        smooth.respond()
        return remembered(site, smooth, at.version)
    return steps


def _centre(site: Site, unknown: float) -> Floats:
    """θ⁰: that of the last round, or what coordinate descent has left, or a number for all samples."""
    if site.memory.centre is not None:
        return site.memory.centre
    if site.memory.sweeps is not None:
        alpha: Floats = site.memory.sweeps.alpha
        return np.clip(np.divide(alpha, site.cost, out=np.zeros(len(alpha)), where=site.cost > 0), 0.0, 1.0)
    return np.full(len(site.y), unknown)


def remembered(site: Site, smooth: Smoothed, version: int) -> Steps:
    """Keep the centre; and all of it where the data stay in memory anyway."""
    steps = Steps(smooth, version)
    site.memory.centre, site.memory.newton = smooth.centre, steps if site.plan.is_kept else None
    return steps


def sums_of(smooth: Smoothed) -> Sums:
    """Gradient, matrix (or its diagonal), losses, the partition's share of the gap, and Σα of each class."""
    alpha = smooth.cost * np.clip(smooth.theta, 0.0, smooth.top)
    totals = {
        "made": smooth.made[0] + smooth.made[1],
        "residual": smooth.residual,
        "loss": smooth.loss,
        "sides": sides_of(smooth.y, alpha),
        "bent": smooth.n_bent,
    }
    if isinstance(smooth.equations, Factored):
        return totals | {"gram": smooth.equations.gram[0] + smooth.equations.gram[1]}
    diagonal = np.zeros(len(smooth.w))
    smooth.rows.add_column_squares(np.where(smooth.bent, smooth.cost, 0.0), smooth.constant, diagonal)
    return totals | {"diagonal": diagonal}


@dataclass(frozen=True)
class Respond(Command):
    """Be at these weights, enter the next proximal round if `growth` is given, and add up."""

    at: At
    growth: float | None = None

    def visit(self, site: Site, carried: dict[str, Any]) -> Sums:
        """The sums of one partition."""
        lost = int(self.at.version > 0 and site.memory.centre is None)
        smooth = present(site, self.at).smooth
        if self.growth is not None:
            smooth.next_round(self.growth)
            remembered(site, smooth, self.at.version + 1)
        return sums_of(smooth) | {"lost": lost}


@dataclass(frozen=True)
class Aim(Command):
    """Look along a direction from w (how fast the losses fall at some steps t), then take the full step and add up there."""

    at: At
    direction: Floats

    def visit(self, site: Site, carried: dict[str, Any]) -> Sums:
        """The sums of one partition."""
        lost = int(site.memory.centre is None)
        smooth = present(site, self.at).smooth
        dz = smooth.rows.signed_scores(smooth.y, self.direction, smooth.constant * float(self.direction[-1]))
        falls = np.array([smooth.fall(dz, t) for t in TUNING.looks])
        smooth.w = self.at.w + self.direction
        smooth.z += dz
        smooth.respond()
        remembered(site, smooth, self.at.version + 1)
        return sums_of(smooth) | {"falls": falls, "lost": lost}


@dataclass(frozen=True)
class Curve(Command):
    """Σ_bent c_j ⟨x̃_j, v⟩ x̃_j: a product with Newton's matrix, without its diagonal."""

    at: At
    v: Floats

    def visit(self, site: Site, carried: dict[str, Any]) -> Sums:
        """The product of one partition."""
        lost = int(site.memory.centre is None)
        steps = present(site, self.at)
        smooth = steps.smooth
        if steps.bent is None:
            steps.bent = smooth.rows.gathered(np.flatnonzero(smooth.bent))
        samples, rows = steps.bent
        A = Signed(rows, np.ones(len(samples)), smooth.constant)
        weights = np.where(smooth.bent[samples], smooth.cost[samples], 0.0)
        return {"product": A.combine(weights * A.scores(self.v)).copy(), "lost": lost}


class OverBlocks(SmoothedSums):
    """The smoothed problem of all blocks: its weights, and the sums that belong to them."""

    def __init__(self, course: Course, w: Floats, level: float) -> None:
        task = course.task
        is_hinge = isinstance(task.plan.loss, Hinge)
        self.course, self.task, self.w, self.version, self.gain = course, task, w, 0, np.inf
        self.top, self.sigma = (1.0, NEXT_SIGMA * level) if is_hinge else (np.inf, SMOOTH_SIGMA)
        self.centre = 0.5 * level
        self.ridge, self.constant = ridge_of(task.plan.bias, task.plan.n_features), constant_of(task.plan.bias)
        self._learn(course.ask(Respond(self.at)))

    @property
    def at(self) -> At:
        """Where the blocks are to be."""
        return At(self.w, self.sigma, self.centre, self.version)

    @property
    def gradient(self) -> Floats:
        """Λw̃ − Σ c_j θ_j y_j x̃_j."""
        return np.asarray(self.ridge * self.w - self.sums["made"])

    def respond(self) -> None:
        """The sums are those of the present weights already, unless bent samples keep their linear model."""
        if self.has_model:
            self._move(self.w)

    def next_round(self, growth: float) -> None:
        """Move the centre to θ and sharpen the corner; the bent samples keep their linear model for the first step."""
        sums = self.course.ask(Respond(self.at, growth))
        self.sigma, self.version = self.sigma * growth, self.version + 1
        self._learn(sums, has_model=True)

    def newton_step(self, is_over: Callable[[], bool]) -> bool:
        """Move w to the best point along Newton's direction; False where there is none."""
        direction, w = self._direction(is_over), self.w
        if direction is None:
            return False
        sums = self.course.ask(Aim(self.at, direction))
        steps = np.array(TUNING.looks)
        flat, bend = float((self.ridge * w) @ direction), float((self.ridge * direction) @ direction)
        slopes = flat + steps * bend - sums["falls"]
        self.w, self.version, self.gain = w + direction, self.version + 1, -0.5 * slopes[0]
        self._learn(sums)
        if not slopes[0] < 0.0:
            self._move(w)
            return False
        if slopes[-1] > -ENOUGH * slopes[0]:
            at = int(np.argmax(slopes > 0.0))

            def slope(t: float) -> float:
                self._move(w + t * direction)
                return float(self.gradient @ direction)

            flat_point(slope, tuple(steps[at - 1 : at + 1]), tuple(slopes[at - 1 : at + 1]), -ENOUGH * slopes[0])
        return True

    def _direction(self, is_over: Callable[[], bool]) -> Floats | None:
        right, sums = -self.gradient, self.sums
        ridge = held(self.ridge, sums["bent"], self.sigma * self.task.mean_cost)
        if "gram" in sums:
            return solve_factored(sums["gram"], self.sigma, ridge, right)

        def times(v: Floats) -> Floats:
            return np.asarray(ridge * v + self.sigma * self.course.ask(Curve(self.at, v))["product"])

        diagonal = ridge + self.sigma * sums["diagonal"]
        return conjugate_gradients(
            times, right, diagonal, precision=PRECISION, most_rounds=MOST_ROUNDS, is_over=is_over
        )[0]

    def _move(self, w: Floats) -> None:
        self.w, self.version = w, self.version + 1
        self._learn(self.course.ask(Respond(self.at)))

    def _learn(self, sums: Sums, has_model: bool = False) -> None:
        """Take over the sums, and say what would be judged now."""
        self.sums, self.residual, self.loss, self.has_model = sums, sums["residual"], sums["loss"], has_model
        b = np.array([self.constant * float(self.w[-1])])
        self.course.present(self.gap, Candidates(self.w[:-1], b, self.at, sums["sides"]))


def newton(course: Course, w: Floats, level: float) -> Status:
    """Proximal rounds of Newton steps until the gap is certified or no longer falls; `level` is the support vectors' mean θ."""
    course.route.append("ProximalNewton on blocks")
    smooth = OverBlocks(course, w, level)
    caution, inner = 1.0, 0
    while True:
        if caution * smooth.gap <= course.task.tol:
            if course.judge():
                return Status.SOLVED
            caution *= 2.0
        if course.is_stalled(smooth.gap):
            return course.ending()
        inner = advance(smooth, inner, lambda: False)
