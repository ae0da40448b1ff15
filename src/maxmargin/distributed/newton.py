"""The proximal Newton method on many blocks: `ProximalNewton`, where each sum over samples is one over blocks.

The driver has the weights (`OverBlocks`), each block the smoothed problem of its own samples at these weights (`Smoothed`), so
that any number of blocks takes the same steps. A step costs one round where it is taken in full, and one more for each point that
the search along it tries; each proximal round costs one. With few features Newton's matrix travels, and the driver factors it;
with many, conjugate gradients ask for products, one round each.

A block remembers the centre θ⁰ alone; whatever else it keeps spares a pass over the data. Where it knows none, all θ⁰ are the
same number: every centre in the box is a beginning of the proximal method.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core import Problem
from maxmargin.distributed.certificate import Candidates, sides_of
from maxmargin.distributed.course import Course
from maxmargin.distributed.inputs import Samples
from maxmargin.distributed.tuning import TUNING
from maxmargin.distributed.workers.block import Site, Sums, stacked
from maxmargin.solvers import Budget, solve
from maxmargin.solvers.linear import normal_equations as equations
from maxmargin.solvers.linear import smoothed_hinge
from maxmargin.solvers.linear.proximal_newton import ProximalNewton, advance, level_of
from maxmargin.solvers.linear.smoothed_hinge import Smoothed
from maxmargin.typing import Floats


class At(NamedTuple):
    """Where Newton's method is: weights (the bias behind), σ, θ⁰ where none is known, and whether it has to be known."""

    w: Floats
    sigma: float
    centre: float
    has_begun: bool


class Local(Smoothed):
    """The smoothed problem of one partition, and products with its matrix if there are many features."""

    product: Any = None

    @property
    def alpha(self) -> Floats:
        """The dual variables cθ."""
        return np.asarray(self.cost * np.clip(self.theta, 0.0, self.top))

    def move(self, w: Floats) -> None:
        """Be at these weights, with θ where the scores put it."""
        if not np.array_equal(self.w, w):
            self.w = w
            self.rows.signed_scores(self.y, w, self.constant * float(w[-1]), self.z)
        self.respond()

    def sums(self) -> Sums:
        """Gradient, matrix (or its diagonal), losses, the partition's share of the gap, and Σα of each class."""
        totals = {
            "made": self.made.copy(),
            "residual": self.residual,
            "loss": self.loss,
            "sides": sides_of(self.y, self.alpha),
            "bent": self.n_bent,
        }
        if isinstance(self.equations, equations.Factored):
            return totals | {"gram": self.equations.gram.copy()}
        assert isinstance(self.equations, equations.Iterated)
        self.product, diagonal = self.equations.products(self.sigma, self.bent)
        return totals | {"diagonal": diagonal}


def present(site: Site, at: At) -> Local:
    """The smoothed problem of one partition: as it is remembered, or made again at these weights."""
    memory, plan = site.memory, site.plan
    if memory.newton is not None and memory.newton.sigma == at.sigma:
        return memory.newton  # type: ignore[no-any-return]
    if memory.centre is None and at.has_begun:
        site.carried["lost"] = 1
    kind = equations.Iterated if plan.is_wide else equations.Factored
    part = smoothed_hinge.Part(site.piece.rows, site.y, site.piece.cost)
    made = Local(plan.loss, plan.bias, part, at.w, at.sigma, _centre(site, at.centre), kind)
    memory.centre, memory.newton = made.centre, made if plan.is_kept else None
    return made


def _centre(site: Site, unknown: float) -> Floats:
    """θ⁰: that of the last round, or what coordinate descent has left, or a number for all samples."""
    memory, cost = site.memory, site.piece.cost
    if memory.centre is not None:
        return memory.centre
    if memory.sweeps is None:
        return np.full(len(cost), unknown)
    alpha: Floats = memory.sweeps.alpha
    return np.clip(np.divide(alpha, cost, out=np.zeros(len(cost)), where=cost > 0), 0.0, 1.0)


def respond(site: Site, at: At, growth: float | None = None) -> Sums:
    """Be at these weights, or enter the next proximal round there if `growth` is given; add up."""
    smooth = present(site, at)
    if growth is None:
        smooth.move(at.w)
    else:
        smooth.next_round(growth)
        site.memory.centre = smooth.centre
    return smooth.sums()


def aim(site: Site, at: At, direction: Floats) -> Sums:
    """Look along a direction from w (how fast the losses fall at some steps t), then take the full step and add up there."""
    smooth = present(site, at)
    dz = smooth.rows.signed_scores(smooth.y, direction, smooth.constant * float(direction[-1]))
    falls = np.array([smooth.fall(dz, t) for t in TUNING.looks])
    smooth.w = at.w + direction
    smooth.z += dz
    smooth.respond()
    return smooth.sums() | {"falls": falls}


def curve(site: Site, at: At, v: Floats) -> Sums:
    """A product with Newton's matrix, without Λ."""
    smooth = present(site, at)
    if smooth.product is None:
        smooth.sums()
    return {"product": smooth.product(v)}


def alpha(site: Site, at: At) -> Floats:
    """The dual variables."""
    return present(site, at).alpha


class OverBlocks(smoothed_hinge.SmoothedSums):
    """The smoothed problem of all blocks: its weights, and the sums that belong to them."""

    total, has_begun = 0.0, False

    def __init__(self, course: Course, w: Floats, level: float) -> None:
        plan = course.plan
        self.course, self.gain, self.centre = course, np.inf, 0.5 * level
        self.top, self.sigma = smoothed_hinge.corner_of(plan.loss, 2.0 * equations.TUNING.growth * level)
        self.ridge = smoothed_hinge.ridge_of(plan.bias, plan.n_features)
        self.constant = smoothed_hinge.constant_of(plan.bias)
        self._move(w)
        course.method = self

    @property
    def at(self) -> At:
        """Where the blocks are to be."""
        return At(self.w, self.sigma, self.centre, self.has_begun)

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
        sums = self.course.ask(respond, self.at, growth)
        self.sigma *= growth
        self._learn(sums, has_model=True)

    def newton_step(self, is_over: Callable[[], bool]) -> bool:
        """Move w to the best point along Newton's direction; False where there is none."""
        direction, w = self._direction(is_over), self.w
        if direction is None:
            return False
        sums = self.course.ask(aim, self.at, direction)
        steps = np.array(TUNING.looks)
        flat, bend = float((self.ridge * w) @ direction), float((self.ridge * direction) @ direction)
        slopes = flat + steps * bend - sums["falls"]
        self.w, self.gain = w + direction, -0.5 * slopes[0]
        self._learn(sums)
        if not slopes[0] < 0.0:
            self._move(w)
            return False

        def slope(t: float) -> float:
            self._move(w + t * direction)
            return float(self.gradient @ direction)

        enough = -equations.TUNING.inexact * slopes[0]
        if slopes[-1] > enough:
            at = int(np.argmax(slopes > 0.0))
            between = slice(at - 1, at + 1)
            smoothed_hinge.flat_point(slope, steps[between], slopes[between], enough)
        return True

    def _direction(self, is_over: Callable[[], bool]) -> Floats | None:
        right, sums = -self.gradient, self.sums
        mean_cost = sum(self.course.costs) / self.course.facts.n_present
        ridge = equations.held(self.ridge, sums["bent"], self.sigma * mean_cost)
        if "gram" in sums:
            return equations.solve_factored(sums["gram"], self.sigma, ridge, right)

        def product(v: Floats) -> Floats:
            return np.asarray(self.course.ask(curve, self.at, v)["product"])

        return equations.solve_iterated(product, sums["diagonal"], ridge, right, is_over)

    def _move(self, w: Floats) -> None:
        self.w = w
        self._learn(self.course.ask(respond, self.at))

    def _learn(self, sums: Sums, has_model: bool = False) -> None:
        self.sums, self.residual, self.loss = sums, sums["residual"], sums["loss"]
        self.has_model, self.has_begun = has_model, True

    def candidates(self) -> Candidates:
        """What would be judged now."""
        b = np.array([self.constant * float(self.w[-1])])
        return Candidates(self.w[:-1], b, (alpha, self.at), self.sums["sides"])


def newton(course: Course, w: Floats, level: float) -> None:
    """Proximal rounds of Newton steps until the gap is certified or no longer falls; `level` is the support vectors' mean θ."""
    course.route.append("ProximalNewton on blocks")
    smooth, caution, inner = OverBlocks(course, w, level), 1.0, 0
    while not course.is_stalled(smooth.gap):
        if caution * smooth.gap <= course.tol:
            if course.judge():
                return
            caution *= 2.0
        inner = advance(smooth, inner, lambda: False)


def sampled(site: Site, share: float) -> Sums:
    """A random part of the samples that count, and their costs raised to match: this share of each class, at least one."""
    (_, rows, _, labels, cost), rng = site.piece, np.random.default_rng((site.plan.seed, site.number))
    factor = np.zeros(len(cost))
    for label in np.unique(labels[cost > 0]):
        members = np.flatnonzero((labels == label) & (cost > 0))
        size = max(1, round(share * len(members)))
        factor[rng.permutation(members)[:size]] = len(members) / size
    some = np.flatnonzero(factor)
    return {"parts": [Samples(rows.matrix[some], labels[some], (cost * factor)[some])]}


def newton_from_parts(course: Course, parts: Sequence[Samples]) -> None:
    """The same from the solution of a random part of the samples, which this process finds by itself."""
    plan, rounds, (X, labels, costs, _) = course.plan, course.rounds, zip(*parts, strict=True)
    y, cost = np.where(np.concatenate(labels) == course.positive, 1.0, -1.0), np.concatenate(costs)
    budget = Budget(seconds=max(course.clock.seconds_left, 0.0), stop=lambda: rounds.status is not None)
    problem = Problem(stacked(X), y, cost=cost, loss=plan.loss, bias=plan.bias)
    found = solve(problem, ProximalNewton(plan.seed), tol=equations.TUNING.rough, budget=budget)
    w = np.append(found.w, found.b / (plan.bias.scale or 1.0))
    newton(course, w, level_of(np.abs(found.beta) / cost))
