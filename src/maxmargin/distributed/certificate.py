"""The certificate of a distributed fit: the parts of all blocks, added up; the formulas are those of `core`.

Each block judges its own samples (`Part`) and adds up what they make (`Made`). The driver adds these, weighs w against w(β) and
assembles the certificate. Where rounding costs too much of the gap that is asked for, it asks once more: for w(β), and for the
slacks that cost most, in twice the working precision.

β lies in its box by construction. Where the bias is free its heavier side is scaled down, so that Σβ = 0 up to rounding; what is
left is taken from one sample, as `core.certificate` does.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core import Bias, Certificate, products
from maxmargin.core.certificate.certify import assembled
from maxmargin.core.certificate.pairs import Made, is_too_rough, of_sums
from maxmargin.core.certificate.parts import TINY, Part, Samples
from maxmargin.core.certificate.scores import FINEST, Charges, LinearScores, Table, limits
from maxmargin.distributed.workers.block import Site, Sums
from maxmargin.typing import Floats

Ask = Callable[..., Sums]
"""Has each block carry out a command; the sums of their answers."""

Point = tuple[Any, ...]
"""A dual point: a function that gives the α of a site, and what it needs to know beside that."""


class Candidates(NamedTuple):
    """What could be judged: weights, some biases of which the best counts, and a dual point with its Σα of each class."""

    w: Floats
    biases: Floats
    point: Point
    sides: Floats


def judged(
    site: Site, w: Floats, biases: Floats, point: Point, factors: Floats, most: Floats | None = None, twice: bool = False
) -> Sums:
    """The sums of the certificate of (w, b) with a dual point, for the first of some b; for the others the losses alone.

    α is multiplied by a factor for each class. In twice the working precision are computed slacks whose `Charges` are beyond
    `most`, and w(β) if it is to be made `twice`.
    """
    function, *arguments = point
    (X, _, squares, _, cost), y, loss = site.piece, site.y, site.plan.loss
    alpha = np.clip(function(site, *arguments), 0.0, loss.upper(cost)) * np.where(y > 0, *factors)
    alpha = np.where(cost > 0, alpha, 0.0)
    lengths, on = products.lengths_above(X, squares), np.flatnonzero(cost > 0)
    ways = LinearScores(Table(X, y, lengths, np.broadcast_to(products.entries(X), len(y))), w, float(biases[0]))
    scores = ways.first()
    charges = Charges.of(loss, scores, alpha, cost)
    if most is not None:
        again = np.flatnonzero(charges.beyond(most) & (cost > 0))
        scores.put(again, ways.twice(again))
    samples = Samples(scores.slack, scores.slack_error, alpha, cost, y).some(on)
    return {
        "part": Part.of(loss, samples, lengths=(lambda j: lengths[on[j]]) if site.plan.bias.is_free else None),
        "made": Made.of(X, alpha * y, lengths, is_twice=twice),
        "charges": charges.sums,
        "losses": np.array([float(cost @ loss.value(y * (scores.values + b))) for b in biases]),
        "sides": sides_of(y, alpha),
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


def judge(ask: Ask, candidates: Candidates, bias: Bias, tol: float) -> tuple[float, Certificate]:
    """(b, certificate) of the best of some candidates."""
    w, biases, point, sides = candidates
    factors = balanced(sides) if bias.is_free else np.ones(2)
    sums = ask(judged, w, biases, point, factors)
    b = biases[[int(np.argmin(sums["losses"]))]]
    is_lopsided = bias.is_free and abs(np.subtract(*sums["sides"])) > FINEST * sums["sides"].sum()
    if is_lopsided or b[0] != biases[0]:
        factors = factors * balanced(sums["sides"]) if is_lopsided else factors
        sums = ask(judged, w, b, point, factors)

    def pair_of(sums: Sums) -> Any:
        return of_sums(bias, w, float(b[0]), sums["part"], sums["made"])

    part, pair = sums["part"], pair_of(sums)
    most = limits(sums["charges"], pair.value + part.loss, part.count, tol)
    is_made_twice = is_too_rough(pair, part, tol)
    if is_made_twice or np.isfinite(most).any():
        sums = ask(judged, w, b, point, factors, most, is_made_twice)
    return float(b[0]), assembled(sums["part"], pair_of(sums), is_free=bias.is_free, tol=tol)
