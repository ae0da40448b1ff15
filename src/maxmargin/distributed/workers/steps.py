"""A block's part in the proximal Newton method: sums over its samples of the smoothed problem, at weights that the driver
chooses.

The method is that of `ProximalNewton`; its sums over samples (gradient, Newton's matrix, losses, slopes along a step) are sums
over blocks, so that any number of blocks takes the same steps as one machine does. A block remembers the centre θ⁰ alone;
whatever else it keeps spares a pass over the data. A block that has lost its centre takes one from the scores: every centre in
the box is a beginning of the proximal method.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from maxmargin.distributed.workers.messages import Command, Memory, Site, Sums
from maxmargin.solvers.linear.normal_equations import Equations, Factored, Iterated
from maxmargin.solvers.linear.rows import Signed
from maxmargin.solvers.linear.smoothed_hinge import Part, Smoothed
from maxmargin.typing import Floats

MOST_FACTORED = 1000
"""Features up to which the d × d matrix travels; with more, conjugate gradients ask for products with it."""

ALPHA, SCORES = "alpha", "scores"
"""Where a centre comes from: the dual variables that sweeps have left, or the scores."""


@dataclass(frozen=True)
class At:
    """Where Newton's method is: weights (the bias behind), σ, the number of this state, and the share of the cost that counts."""

    w: Floats
    sigma: float
    version: int
    share: float = 1.0


def kind_of(d: int) -> type[Equations]:
    """How Newton's equations are solved."""
    return Factored if d <= MOST_FACTORED else Iterated


@dataclass(frozen=True)
class Respond(Command):
    """Be there, and add up.

    centre : a number for all θ⁰, `ALPHA`, `SCORES`, or None for the present one. growth : first move the centre to θ and
    multiply σ by it. bend_all : count all samples as bent.
    """

    at: At
    centre: float | str | None = None
    growth: float | None = None
    bend_all: bool = False

    def visit(self, site: Site, shared: dict[str, Any]) -> Sums:
        """The sums of one partition."""
        memory = site.memory
        is_fresh = self.centre is None and memory.centre is None
        smooth = memory.smooth
        w, version = self.at.w, self.at.version
        if smooth is None or self.centre is not None or (self.growth is not None and memory.version != version):
            smooth = built(site, self.at, self.centre)
        elif memory.version != version:
            smooth.w = w
            smooth.rows.signed_scores(smooth.y, w, smooth.constant * float(w[-1]), smooth.z)
            smooth.respond()
        if self.growth is not None:
            smooth.next_round(self.growth)
        if self.bend_all:
            smooth.bend_all()
        remember(site, smooth, version)
        return sums_of(smooth, is_fresh)


@dataclass(frozen=True)
class Raise(Command):
    """Let a larger share of the cost count, and add up: an α at its bound stays there, the others stay as they are."""

    before: At
    at: At

    def visit(self, site: Site, shared: dict[str, Any]) -> Sums:
        """The sums of one partition."""
        is_fresh, smooth = site.memory.centre is None, present(site, self.before)
        theta = np.clip(smooth.theta, 0.0, smooth.top)
        site.memory.centre = np.where(theta >= 1.0, 1.0, theta * (self.before.share / self.at.share))
        smooth = built(site, self.at, None)
        remember(site, smooth, self.at.version)
        return sums_of(smooth, is_fresh)


@dataclass(frozen=True)
class Aim(Command):
    """Look along a direction from w (how fast the losses fall at steps t), then take the full step and add up there."""

    at: At
    direction: Floats
    steps: Floats

    def visit(self, site: Site, shared: dict[str, Any]) -> Sums:
        """The sums of one partition."""
        is_fresh, smooth = site.memory.centre is None, present(site, self.at)
        dz = smooth.rows.signed_scores(smooth.y, self.direction, smooth.constant * float(self.direction[-1]))
        falls = np.array([smooth.fall(dz, float(t)) for t in self.steps])
        smooth.w = self.at.w + self.direction
        smooth.z += dz
        smooth.respond()
        remember(site, smooth, self.at.version + 1)
        sums = sums_of(smooth, is_fresh)
        sums.totals["falls"] = falls
        return sums


@dataclass(frozen=True)
class Curve(Command):
    """Σ_bent c_j ⟨x̃_j, v⟩ x̃_j: a product with Newton's matrix, without its diagonal."""

    at: At
    v: Floats

    def visit(self, site: Site, shared: dict[str, Any]) -> Sums:
        """The product of one partition."""
        memory = site.memory
        is_fresh, smooth = memory.centre is None, present(site, self.at)
        if memory.bent is None:
            memory.bent = smooth.rows.gathered(np.flatnonzero(smooth.bent))
        samples, rows = memory.bent
        weights = np.where(smooth.bent[samples], smooth.cost[samples], 0.0)
        A = Signed(rows, np.ones(len(samples)), smooth.constant)
        product = A.combine(weights * A.scores(self.v)).copy()
        if not site.is_kept:
            memory.bent = None
        return Sums({"product": product}, is_fresh=is_fresh)


def present(site: Site, at: At) -> Smoothed:
    """The smoothed problem of one partition: as it is remembered, or made again."""
    smooth = site.memory.smooth
    if smooth is None or site.memory.version != at.version:
        smooth = built(site, at, None)
        remember(site, smooth, at.version)
    return smooth


def built(site: Site, at: At, centre: float | str | None) -> Smoothed:
    """The smoothed problem of one partition, made anew."""
    n, memory, w = len(site.y), site.memory, at.w
    if centre is None and memory.centre is not None:
        theta = memory.centre
    elif centre == ALPHA and memory.alpha is not None:
        ratio = np.divide(memory.alpha, site.cost, out=np.zeros(n), where=site.cost > 0)
        theta = np.clip(ratio, 0.0, 1.0)
    elif isinstance(centre, float):
        theta = np.full(n, centre)
    else:
        constant = 1.0 if site.bias.is_free else site.bias.scale
        z = site.rows.signed_scores(site.y, w, constant * float(w[-1]))
        theta = np.clip(0.5 + at.sigma * (1.0 - z), 0.0, 1.0)
    memory.centre = theta
    kind = kind_of(site.rows.shape[1])
    cost = site.cost if at.share == 1.0 else at.share * site.cost
    return Smoothed.over(site.loss, site.bias, Part(site.rows, site.y, cost), w, at.sigma, theta, kind)


def remember(site: Site, smooth: Smoothed, version: int) -> None:
    """Keep the centre; and all of it where the data stay in memory anyway."""
    memory: Memory = site.memory
    memory.centre, memory.version, memory.bent = smooth.centre, version, None
    memory.smooth = smooth if site.is_kept else None


def sums_of(smooth: Smoothed, is_fresh: bool) -> Sums:
    """Gradient, matrix (or its diagonal), losses, and the partition's share of the gap."""
    alpha = smooth.cost * np.clip(smooth.theta, 0.0, smooth.top)
    totals: dict[str, Any] = {
        "made": smooth.made[0] + smooth.made[1],
        "residual": smooth.residual,
        "loss": smooth.loss,
        "sum": float(alpha.sum()),
        "bent": smooth.n_bent,
        "used": float(np.minimum(smooth.theta[smooth.theta > 0], 1.0).sum()),
        "n used": int(np.count_nonzero(smooth.theta > 0)),
        "n full": int(np.count_nonzero(smooth.theta >= 1.0)),
    }
    if isinstance(smooth.equations, Factored):
        totals["gram"] = smooth.equations.gram[0] + smooth.equations.gram[1]
    else:
        totals["diagonal"] = np.zeros(len(smooth.w))
        weights = np.where(smooth.bent, smooth.cost, 0.0)
        smooth.rows.add_column_squares(weights, smooth.constant, totals["diagonal"])
    return Sums(totals, is_fresh=is_fresh)
