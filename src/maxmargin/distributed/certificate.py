"""The certificate of a distributed fit: the parts of all blocks, added up; the formulas are those of `core`.

Each block judges its own samples (`Part`) and adds up what they make (`Made`). The driver adds these, weighs w against w(β) and
assembles the certificate. Where rounding costs too much of the gap that is asked for, it asks once more: for w(β), and for the
slacks that cost most, in twice the working precision.

β lies in its box by construction. Where the bias is free its heavier side is scaled down, so that Σβ = 0 up to rounding; what is
left is taken from one sample, as `core.certificate` does.
"""

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from maxmargin.core import Bias, Certificate, products
from maxmargin.core.certificate.certify import assembled
from maxmargin.core.certificate.pairs import Made, is_too_rough, of_sums
from maxmargin.core.certificate.parts import Part, Samples
from maxmargin.core.certificate.scores import Charges, LinearScores, Table, limits
from maxmargin.distributed.workers.messages import Command, Site, Sums
from maxmargin.distributed.workers.steps import At, present
from maxmargin.distributed.workers.sweeps import commit
from maxmargin.typing import Floats

BALANCED = 1e-12
"""Share of Σα that Σβ may be: up to there the certificate takes it from one sample, and counts what that costs."""


@dataclass(frozen=True)
class Dual:
    """Which dual point is judged: that of the sweeps, their last move followed by η; or that of Newton's weights."""

    plus: float  # factors of the α of each class, which make Σβ zero
    minus: float
    eta: float = 0.0
    round: int = 0
    at: At | None = None

    @classmethod
    def balanced(cls, bias: Bias, total: float, net: float, **which: Any) -> "Dual":
        """Scaled so that Σβ = 0 where the bias is free, given Σα and Σβ."""
        plus, minus = 0.5 * (total + net), 0.5 * (total - net)
        if not bias.is_free or min(plus, minus) <= 0.0:
            scale = 0.0 if bias.is_free else 1.0
            return cls(scale, scale, **which)
        return cls(min(1.0, minus / plus), min(1.0, plus / minus), **which)

    def mended(self, sides: Floats) -> "Dual":
        """The same, given what Σα of each class turned out to be."""
        plus, minus = sides
        if abs(plus - minus) <= BALANCED * (plus + minus):
            return self
        if min(plus, minus) <= 0.0:
            return replace(self, plus=0.0, minus=0.0)
        return replace(self, plus=self.plus * min(1.0, minus / plus), minus=self.minus * min(1.0, plus / minus))


@dataclass(frozen=True)
class Finer:
    """What is computed in twice the working precision: slacks whose `Charges` are beyond these limits, and w(β) if it shall."""

    limits: Floats
    is_made_twice: bool

    @property
    def is_needed(self) -> bool:
        """Whether there is anything."""
        return self.is_made_twice or not bool(np.isinf(self.limits).all())


ROUGH = Finer(np.array([np.inf, np.inf]), False)
"""Float64 for everything."""


@dataclass(frozen=True)
class Judge(Command):
    """The sums of the certificate of (w, b) with a dual point, for the first of some b; for the others the losses alone."""

    w: Floats
    biases: Floats
    dual: Dual
    finer: Finer = ROUGH

    def visit(self, site: Site, shared: dict[str, Any]) -> Sums:
        """The sums of one partition."""
        alpha, is_fresh = self._alpha(site)
        y, cost, loss, on = site.y, site.cost, site.loss, site.present
        alpha = np.where(cost > 0, alpha * np.where(y > 0, self.dual.plus, self.dual.minus), 0.0)
        lengths = products.lengths_above(site.X, site.squares)
        entries = np.broadcast_to(products.entries(site.X), len(y))
        ways = LinearScores(Table(site.X, y, lengths, entries), self.w, float(self.biases[0]))
        found = ways.first()
        charges = Charges.of(loss, found, alpha, cost)
        again = np.flatnonzero(charges.beyond(self.finer.limits) & (cost > 0))
        if len(again):
            found.put(again, ways.twice(again))
        samples = Samples(*(array[on] for array in (found.slack, found.slack_error, alpha, cost, y)))
        part = Part.of(loss, samples, lengths=(lambda j: lengths[on[j]]) if site.bias.is_free else None)
        made = Made.of(site.X, alpha * y, lengths, is_twice=self.finer.is_made_twice)
        losses = np.array([float(cost @ loss.value(y * (found.values + b))) for b in self.biases])
        sides = np.array([float(alpha[y > 0].sum()), float(alpha[y < 0].sum())])
        totals = {"part": part, "made": made, "charges": charges.sums, "losses": losses, "sides": sides}
        return Sums(totals, is_fresh=is_fresh)

    def _alpha(self, site: Site) -> tuple[Floats, bool]:
        memory, dual = site.memory, self.dual
        if dual.plus == dual.minus == 0.0:
            return np.zeros(len(site.y)), False
        if dual.at is None:
            is_fresh = commit(memory, len(site.y), dual.round, dual.eta)
            assert memory.alpha is not None
            return np.clip(memory.alpha, 0.0, site.loss.upper(site.cost)), is_fresh
        is_fresh, smooth = memory.centre is None, present(site, dual.at)
        return smooth.cost * np.clip(smooth.theta, 0.0, smooth.top), is_fresh


def judge(
    w: Floats, biases: Floats, dual: Dual, bias: Bias, tol: float
) -> Generator[Command, Sums, tuple[float, Certificate | None]]:
    """(b, certificate) of the best of some biases; None where a block had lost its dual variables."""
    sums = yield Judge(w, biases, dual)
    at = int(np.argmin(sums["losses"]))
    b, mended = float(biases[at]), dual.mended(sums["sides"]) if bias.is_free else dual
    if (at > 0 or mended is not dual) and not sums.is_fresh:
        dual = mended
        sums = yield Judge(w, biases[[at]], dual)
    if sums.is_fresh:
        return b, None
    part: Part = sums["part"]
    pair = of_sums(bias, w, b, part, sums["made"])
    most = limits(sums["charges"], pair.value + part.loss, part.count, tol)
    finer = Finer(most, is_too_rough(pair, part, tol))
    if finer.is_needed:
        sums = yield Judge(w, biases[[at]], dual, finer)
        if sums.is_fresh:
            return b, None
        part = sums["part"]
        pair = of_sums(bias, w, b, part, sums["made"])
    return b, assembled(part, pair, is_free=bias.is_free, tol=tol)
