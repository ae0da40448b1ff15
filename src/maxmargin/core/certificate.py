"""The certificate: how far a candidate is from the best possible, recomputed from the data.

For any w, b and any feasible β, with m_j = 1 − y_j F_j,

    gap = P(w, b) − D(β) = Σ_j r_j + Ω(w) + Ω*(w(β)) − ⟨w, w(β)⟩,      r_j = c_j ℓ(m_j) + c_j ℓ*(α_j) − α_j m_j ≥ 0

(hinge and L2: Σ_j (c_j − α_j)[m_j]₊ + α_j[−m_j]₊ + ½‖w − w(β)‖²). Every term is non-negative, so nothing cancels: a gap
of 1e-15 is as trustworthy as one of 1e-3, which P − D by subtraction is not.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from maxmargin.core.candidate import Candidate
from maxmargin.core.dual import make_feasible
from maxmargin.core.losses import Loss
from maxmargin.core.problem import Problem
from maxmargin.core.scores import scores as scores_of
from maxmargin.errors import NotSupportedError
from maxmargin.typing import Floats, Indices

TINY = float(np.finfo(np.float64).tiny)
EPS = float(np.finfo(np.float64).eps)

BLOCK_SAMPLES = 8192
"""Samples that are judged at a time: 64 kB an array."""


class Groups(NamedTuple):
    """How many samples lie outside the margin (α = 0), on it (0 < α < c), and inside or wrong (α = c)."""

    outside: int
    on: int
    inside: int


@dataclass(frozen=True)
class Certificate:
    """Frozen numbers that prove how good a model is.

    Attributes
    ----------
    primal, dual : float
        P(w, b) and D(β): the optimum lies between them.
    gap, relative_gap : float
        P − D without cancellation, and gap / max(|P|, |D|).
    kkt_violation : float
        The largest violation of complementary slackness, in units of the margin or of the cost, whichever is smaller.
    groups : Groups
        Samples outside, on, and inside the margin.
    margin : float
        The geometric margin min_j y_j F_j / ‖w‖; negative where a training sample is misclassified.
    distance : float
        ‖w − w(β)‖.
    convex : bool
        False where the kernel is not positive semi-definite: then the gap tells stationarity, not optimality.
    assumed_psd : bool
        True where the kernel's positive semi-definiteness was taken on trust (a callable, a precomputed matrix).

    Examples
    --------
    >>> from maxmargin.core.problem import Problem
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> problem = Problem(X, y, cost=np.full(4, 10.0))
    >>> best = Candidate(w=np.array([2.0]), b=-3.0, beta=np.array([0.0, -2.0, 2.0, 0.0]))
    >>> print(certify(problem, best))
    Optimal to rounding: the objective 2 is proved to be within a relative 0 of the best possible. The closest sample is
    0.5 from the hyperplane, on its right side. Samples: 2 outside the margin, 2 on it, 0 inside it or wrong.
    """

    primal: float
    dual: float
    gap: float
    relative_gap: float
    kkt_violation: float
    groups: Groups
    margin: float
    distance: float
    convex: bool = True
    assumed_psd: bool = False

    @property
    def radius(self) -> float:
        """The optimum w* lies within this distance of ½(w + w(β)), for the L2 penalty: √(gap − ¼‖w − w(β)‖²)."""
        return math.sqrt(max(self.gap - 0.25 * self.distance**2, 0.0)) if self.convex else math.inf

    def __str__(self) -> str:
        return " ".join(part for part in (self._verdict(), self._margin_sentence(), self._groups_sentence()) if part)

    def _verdict(self) -> str:
        gap = f"{self.relative_gap:.2g}"
        if not math.isfinite(self.gap):
            return "Proves nothing: this model does not separate the samples, as the hard margin demands."
        if not self.convex:
            return (
                f"Stationary to a relative {gap} (objective {self.primal:.7g}); the kernel is not positive semi-definite, "
                "so a better optimum may exist."
            )
        lead = "Optimal to rounding" if self.relative_gap <= 1e-12 else "Certified"
        trust = " if the kernel is positive semi-definite" if self.assumed_psd else ""
        return f"{lead}{trust}: the objective {self.primal:.7g} is proved to be within a relative {gap} of the best possible."

    def _margin_sentence(self) -> str:
        if not math.isfinite(self.margin):
            return ""
        if self.margin > 0:
            return f"The closest sample is {self.margin:.4g} from the hyperplane, on its right side."
        return f"The worst sample is {-self.margin:.4g} beyond the hyperplane, on its wrong side."

    def _groups_sentence(self) -> str:
        return (
            f"Samples: {self.groups.outside} outside the margin, {self.groups.on} on it, "
            f"{self.groups.inside} inside it or wrong."
        )


def certify(problem: Problem, candidate: Candidate, scores: Floats | None = None) -> Certificate:
    """Judge a candidate in float64, from the data alone.

    β is made feasible first (clipped into the box, balanced). For the hard margin (w, b) is scaled so that the closest
    sample has margin 1. Cost: O(nnz) for a linear problem; n × (support vectors) kernel values otherwise, in blocks of
    bounded size, of which `core.scores` says how exact they are; `scores` spares that where they are known already.
    """
    if not problem.loss.convex:
        raise NotSupportedError(f"{problem.loss!r} is not convex, so it has no duality gap. Certify its convex steps.")
    if problem.bias.kind == "none" and candidate.b != 0.0:
        raise NotSupportedError(f"The problem has no bias, but the candidate has b = {candidate.b!r}.")
    on = problem.counted
    beta = make_feasible(problem, candidate.beta)
    w, b = candidate.w, candidate.b
    f = scores_of(problem, candidate).values if scores is None else scores
    z = problem.y * (f + b)
    closest = float(z[on].min())
    image = f if not problem.is_linear and np.array_equal(w, beta) else problem.image(beta)
    if problem.is_linear and (shrink := problem.penalty.shrink(image)) < 1.0:  # L1: ‖w(β)‖_∞ ≤ 1, as computed
        beta, image = beta * (shrink * (1.0 - EPS)), image * (shrink * (1.0 - EPS))
    alpha = beta * problem.y
    norm = math.sqrt(max(problem.norm2(w, f), 0.0))
    dual = problem.dual_from(beta, image)
    if problem.is_hard and closest > 0:
        w, b, f, z = w / closest, b / closest, f / closest, np.maximum(z / closest, 1.0)
        primal = problem.regularizer(w, b, f)
    else:
        primal = problem.primal_from(w, b, f)
    apart = problem.residual(w, b, f, beta, image)
    if math.isfinite(primal):
        residual, violation = _slackness(problem, 1.0 - z[on], alpha[on], problem.cost[on])
        gap = residual + apart
    else:
        gap = violation = math.inf
    return Certificate(
        primal=primal,
        dual=dual,
        gap=gap,
        relative_gap=gap / max(abs(primal), abs(dual), TINY) if math.isfinite(gap) else math.inf,
        kkt_violation=violation,
        groups=count_groups(problem, alpha),
        margin=closest / norm if norm > 0 else math.nan,
        distance=math.sqrt(2.0 * apart) if problem.penalty.strongly_convex else math.nan,
        convex=problem.kernel.psd is not False and _looks_psd(problem, beta, image),
        assumed_psd=problem.kernel.psd is None,
    )


def _slackness(problem: Problem, m: Floats, alpha: Floats, cost: Floats) -> tuple[float, float]:
    """(Σ_j r_j, the largest violation of complementary slackness), over so many samples at a time that memory stays fast."""
    residual = violation = 0.0
    step = len(m) if problem.is_hard else BLOCK_SAMPLES  # a hard margin measures each α by the largest
    for start in range(0, len(m), step):
        at = slice(start, start + step)
        residual += float(problem.loss.residual(m[at], alpha[at], cost[at]).sum())
        worst = problem.loss.kkt_violation(m[at], alpha[at], cost[at]).max()
        violation = float(np.maximum(violation, worst))
    return residual, violation


OUTSIDE, ON, INSIDE, ABSENT = range(4)
"""The groups of complementary slackness: α = 0, 0 < α < c, α = c; and a sample without cost, which has no α."""


def group_of_each(problem: Problem, alpha: Floats) -> Indices:
    """The group of each sample by its α: `OUTSIDE` the margin, `ON` it, `INSIDE` it or wrong, or `ABSENT`."""
    return groups_by(problem.loss, problem.cost, alpha)


def groups_by(loss: Loss, cost: Floats, alpha: Floats) -> Indices:
    """The same from the loss and the costs alone."""
    group = np.full(len(cost), ABSENT, dtype=np.intp)
    on = slice(None) if (cost > 0).all() else np.flatnonzero(cost > 0)
    upper = loss.upper(cost[on])
    inside = np.isfinite(upper) & (alpha[on] >= upper * (1 - 1e-12))
    if np.isinf(upper).all() and not np.isinf(cost).any():
        inside = alpha[on] > 0  # squared hinge: a positive α is a positive slack
    group[on] = np.where(alpha[on] <= 0, OUTSIDE, np.where(inside, INSIDE, ON))
    return group


def count_groups(problem: Problem, alpha: Floats) -> Groups:
    """Count the samples outside, on and inside the margin by their α."""
    count = np.bincount(group_of_each(problem, alpha), minlength=4)
    return Groups(int(count[OUTSIDE]), int(count[ON]), int(count[INSIDE]))


def _looks_psd(problem: Problem, beta: Floats, image: Floats) -> bool:
    """False where βᵀKβ is negative beyond rounding: the kernel betrays itself."""
    if problem.is_linear:
        return True
    return problem.norm2(beta, image) >= -1e-9 * float(np.abs(beta) @ np.abs(image))
