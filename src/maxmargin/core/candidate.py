"""A point to be judged, and how it is made from a dual point β alone.

The dual's feasible set is lo ≤ β ≤ hi, and Σβ = τ where the bias is free (0 in classification).
"""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from maxmargin.core.bias import best_bias, best_biases
from maxmargin.core.joint import JointProblem
from maxmargin.core.problem import Problem
from maxmargin.rounding import gamma
from maxmargin.typing import Floats


@dataclass(frozen=True)
class Candidate:
    """A point to be judged: w (a vector of the feature space), the bias b, and a dual point β, which gives the lower bound.

    b is a number, or an array where the problem has groups. `scores` are those that
    `core.certificate.scores.scored` has found; what `dataclasses.replace` makes has none.
    """

    w: Floats
    b: Any
    beta: Floats
    scores: Any = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in ("w", "beta"):
            object.__setattr__(self, name, np.asarray(getattr(self, name), dtype=np.float64))


def nothing(problem: Problem | JointProblem) -> Candidate:
    """w = 0 with a bias that suits it, and β = 0 or what a total makes of it."""
    if isinstance(problem, JointProblem):
        beta = problem.zeros()
        return Candidate(problem.combine(beta), problem.biases(beta), beta)
    return to_candidate(problem, np.zeros(problem.n))


def to_candidate(problem: Problem, beta: Floats, w: Floats | None = None, b: float | None = None) -> Candidate:
    """The model that a dual point makes: w(β), its best bias, and for the hard margin both scaled to min yF = 1.

    `w`, and a penalised `b`, may be given where they are known better than the sums Σβ_jφ(x_j) and s²Σβ_j can tell: large β that
    cancel lose digits there.
    """
    beta = make_feasible(problem, beta)
    w = problem.combine(beta) if w is None else w
    if not problem.is_hard and not problem.bias.is_free:
        known = b is not None and problem.bias.kind == "penalized"
        return Candidate(w, b if known else best_bias(problem, beta, beta).middle, beta)
    f = problem.decision(w)
    b = best_biases(problem, beta, f)
    if problem.is_hard:
        on = problem.present
        closest = float((problem.y[on] * (f[on] + b)).min())
        if closest > 0:
            w, b, beta = w / closest, b / closest, beta / closest
    return Candidate(w, b, beta)


def box(problem: Problem) -> tuple[Floats, Floats]:
    """(lo, hi) of the signed dual: [0, u] where y = +1, [−u, 0] where y = −1, u the loss's largest α."""
    upper = problem.loss.upper(problem.cost)
    positive = problem.y > 0
    return np.where(positive, 0.0, -upper), np.where(positive, upper, 0.0)


def make_feasible(problem: Problem, beta: Floats) -> Floats:
    """β clipped into its box; for a free bias with its heavier side scaled down, so that Σβ = τ up to rounding."""
    lo, hi = box(problem)
    beta = np.clip(beta, lo, hi)
    if not problem.bias.is_free:
        return beta
    if problem.groups is None:
        return reach(beta, hi, problem.total)
    assert problem.totals is not None
    for g, total in enumerate(problem.totals.tolist()):
        at, sign = problem.groups == g, math.copysign(1.0, total)
        beta[at] = sign * reach(sign * beta[at], (hi if sign > 0 else -lo)[at], abs(total))
    return beta


def balance(beta: Floats) -> Floats:
    """Scale the heavier side down, which cannot leave the box; zeros where one side has nothing.

    Σβ is then 0 up to the rounding of a sum: the certificate takes what is left from one sample, and counts what that costs.
    """
    positive = beta > 0
    plus, minus = float(beta[positive].sum()), -float(beta[~positive].sum())
    if min(plus, minus) <= 0.0:
        return np.zeros_like(beta)
    if abs(plus - minus) <= gamma(len(beta)) * (plus + minus):
        return beta
    return np.where(positive == (plus > minus), beta * (min(plus, minus) / max(plus, minus)), beta)


def reach(beta: Floats, hi: Floats, total: float) -> Floats:
    """Change β so that Σβ equals `total` ≥ 0, or exceeds it by rounding only; the certificate removes the excess from one sample.

    A sum that is too large: the positive side is scaled down. One that is too small: the negative side is scaled down, and where
    that is not enough the positive one moves towards its bounds.
    """
    if total == 0.0:
        return balance(beta)
    share = 4.0 * gamma(len(beta))
    for _ in range(2):
        positive = beta > 0
        plus, minus = float(beta[positive].sum()), -float(beta[~positive].sum())
        goal = total + share * (plus + minus + total)
        enough = total + 0.25 * (goal - total)  # at least the total, whatever the sums round
        if enough <= plus - minus <= goal + share * goal:
            return beta
        if plus - minus > goal:
            return np.where(positive, beta * ((minus + goal) / plus), beta)
        if plus >= goal:
            return np.where(positive, beta, beta * ((plus - goal) / minus))
        beta = np.where(positive, beta, 0.0)
        room = np.where(np.isfinite(hi), hi, total) - beta
        if not room.any():
            break
        of_others = np.where(beta > 0.0, 0.0, room)
        if float(room.sum()) - float(of_others.sum()) > 2.0 * (goal - plus):  # those in use have enough: no others come in
            room = room - of_others
        beta = np.minimum(beta + room * min((goal - plus) / float(room.sum()), 1.0), hi)
    return beta


def bias_totals(problem: Problem) -> Floats:
    """The total of each free bias."""
    return np.full(int(problem.bias.is_free), problem.total) if problem.totals is None else problem.totals


def memberships(problem: Problem) -> Floats:
    """(samples that count, free biases): 1 where a bias is the sample's."""
    on = problem.present
    if problem.groups is None:
        return np.ones((len(on), int(problem.bias.is_free)))
    assert problem.totals is not None
    return np.asarray(problem.groups[on, None] == np.arange(len(problem.totals)), dtype=np.float64)
