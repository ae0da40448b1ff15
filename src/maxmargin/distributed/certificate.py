"""The certificate of a distributed fit: the parts of all blocks, added up; the formulas are those of `core`.

Each block judges its own samples (`Part`) and adds up what they make (`Made`). The driver adds these, weighs w against w(β) and
assembles the certificate. Where rounding costs too much of the gap that is asked for, it asks once more: for w(β), and for the
slacks that cost most, in twice the working precision.

β lies in its box by construction. Where the bias is free its heavier side is scaled down, so that Σβ = 0 up to rounding; what is
left is taken from one sample, as `core.certificate` does.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core import Bias, Certificate, products
from maxmargin.core.certificate.certify import assembled
from maxmargin.core.certificate.pairs import Made, is_too_rough, of_sums
from maxmargin.core.certificate.parts import TINY, Part, Samples
from maxmargin.core.certificate.scores import FINEST, Charges, LinearScores, Table, limits
from maxmargin.distributed.workers.messages import Command, Site, Sums
from maxmargin.typing import Floats


class DualPoint(ABC):
    """Where the dual variables of each partition come from."""

    @abstractmethod
    def alpha(self, site: Site) -> tuple[Floats, int]:
        """(α of one partition, 1 where what was known of them is lost)."""


class Candidates(NamedTuple):
    """What could be judged: weights, some biases of which the best counts, and a dual point with its Σα of each class."""

    w: Floats
    biases: Floats
    point: DualPoint
    sides: Floats


@dataclass(frozen=True)
class Judge(Command):
    """The sums of the certificate of (w, b) with a dual point, for the first of some b; for the others the losses alone.

    α is multiplied by a factor for each class. Slacks whose `Charges` are beyond the limits `most` are computed in twice the
    working precision, and so is w(β) where `is_made_twice`.
    """

    w: Floats
    biases: Floats
    point: DualPoint
    factors: Floats
    most: Floats | None = None
    is_made_twice: bool = False

    def visit(self, site: Site, carried: dict[str, Any]) -> Sums:
        """The sums of one partition."""
        alpha, lost = self.point.alpha(site)
        y, cost, loss, on = site.y, site.cost, site.plan.loss, site.present
        alpha = np.where(cost > 0, np.clip(alpha, 0.0, loss.upper(cost)) * np.where(y > 0, *self.factors), 0.0)
        lengths = products.lengths_above(site.X, site.squares)
        entries = np.broadcast_to(products.entries(site.X), len(y))
        ways = LinearScores(Table(site.X, y, lengths, entries), self.w, float(self.biases[0]))
        found = ways.first()
        charges = Charges.of(loss, found, alpha, cost)
        if self.most is not None:
            again = np.flatnonzero(charges.beyond(self.most) & (cost > 0))
            found.put(again, ways.twice(again))
        samples = Samples(found.slack, found.slack_error, alpha, cost, y).some(on)
        return {
            "part": Part.of(loss, samples, lengths=(lambda j: lengths[on[j]]) if site.plan.bias.is_free else None),
            "made": Made.of(site.X, alpha * y, lengths, is_twice=self.is_made_twice),
            "charges": charges.sums,
            "losses": np.array([float(cost @ loss.value(y * (found.values + b))) for b in self.biases]),
            "sides": sides_of(y, alpha),
            "lost": lost,
        }


def sides_of(y: Floats, alpha: Floats) -> Floats:
    """Σα of the positives, and of the negatives."""
    return np.array([float(alpha[y > 0].sum()), float(alpha[y < 0].sum())])


def balanced(sides: Floats) -> Floats:
    """Factors of the α of each class that make Σβ zero, given Σα of each.

    Examples
    --------
    >>> balanced(np.array([4.0, 2.0])), balanced(np.array([4.0, 0.0]))
    (array([0.5, 1. ]), array([0., 0.]))
    """
    return np.asarray(sides.min() / np.maximum(sides, TINY))


def judge(ask: Callable[[Command], Sums], candidates: Candidates, bias: Bias, tol: float) -> tuple[float, Certificate]:
    """(b, certificate) of the best of some candidates."""
    w, biases, point, sides = candidates
    factors = balanced(sides) if bias.is_free else np.ones(2)
    sums = ask(Judge(w, biases, point, factors))
    at = int(np.argmin(sums["losses"]))
    is_off = bias.is_free and abs(np.subtract(*sums["sides"])) > FINEST * sums["sides"].sum()
    if is_off:
        factors = factors * balanced(sums["sides"])
    b = biases[[at]]
    if at > 0 or is_off:
        sums = ask(Judge(w, b, point, factors))
    part: Part = sums["part"]
    pair = of_sums(bias, w, float(b[0]), part, sums["made"])
    most = limits(sums["charges"], pair.value + part.loss, part.count, tol)
    is_made_twice = is_too_rough(pair, part, tol)
    if is_made_twice or np.isfinite(most).any():
        sums = ask(Judge(w, b, point, factors, most, is_made_twice))
        part = sums["part"]
        pair = of_sums(bias, w, float(b[0]), part, sums["made"])
    return float(b[0]), assembled(part, pair, is_free=bias.is_free, tol=tol)
