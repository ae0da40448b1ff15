"""Where the exact optimum lies, given a certified model: a ball for w*, an interval for b*, and so an interval for F*(x).

With gap = P(w, b) − D(β), strong convexity gives

    w* ∈ ball(½(w + w(β)), r),      r² = gap − ¼‖w − w(β)‖²,      and so  w* ∈ ball(w, r + ½‖w − w(β)‖)

With r_j = radius·√k_jj every score f*_j lies in f_j ± r_j. The best bias is non-increasing in every score, so

    b* ∈ [b⁻(f + r), b⁺(f − r)]

the lower end of the argmin at one extreme and the upper end at the other. Hence
F*(x) ∈ f(x) ± radius·√k(x, x) + [b⁻, b⁺].
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from maxmargin.core.bias_bounds import bias_at_least, bias_at_most
from maxmargin.core.candidate import Candidate
from maxmargin.core.certificate.certify import Certificate
from maxmargin.core.certificate.pairs import lengths_of
from maxmargin.core.certificate.scores import Scores
from maxmargin.core.certificate.scores import scores as scores_of
from maxmargin.core.problem import Problem
from maxmargin.core.solution import Solution
from maxmargin.errors import NotSupportedError
from maxmargin.rounding import UNIT
from maxmargin.typing import Floats


class OptimumBall(NamedTuple):
    """w* lies within `radius` of the candidate's w, b* in [b_lower, b_upper].

    `constant` is the feature that a penalised bias belongs to: it counts in the length of x.
    """

    radius: float
    b_lower: float
    b_upper: float
    constant: float = 0.0

    def interval(self, f: Floats, error: Floats, lengths: Floats) -> tuple[Floats, Floats]:
        """The ends of F*(x), from f = ⟨w, φ(x)⟩, a bound of its error, and an upper bound of ‖φ(x)‖."""
        reach = self.radius * np.hypot(lengths, self.constant) * (1.0 + 8.0 * UNIT) + error
        low, high = f + self.b_lower - reach, f + self.b_upper + reach
        slip = 8.0 * UNIT * (np.abs(f) + reach + max(abs(self.b_lower), abs(self.b_upper)))
        return low - slip, high + slip


def has_ball(problem: Problem, certificate: Certificate) -> bool:
    """Whether the gap bounds a distance: a convex problem with finite costs, and a finite gap."""
    is_convex = problem.loss.convex and certificate.convex and not certificate.assumed_psd
    return is_convex and problem.penalty.strongly_convex and not problem.is_hard and math.isfinite(certificate.gap)


def optimum_ball(
    problem: Problem, candidate: Candidate, certificate: Certificate, scores: Scores | None = None
) -> OptimumBall:
    """The ball of a certified candidate; L2 only.

    Cost: two passes over the data where the bias is free, one where the candidate's scores are known, else nothing.
    """
    if not problem.penalty.strongly_convex:
        raise NotSupportedError(f"{problem.penalty!r} is not strongly convex, so a gap bounds no distance.")
    radius = certificate.radius
    if problem.bias.kind == "none":
        return OptimumBall(radius, 0.0, 0.0)
    if problem.bias.kind == "penalized":
        return OptimumBall(radius, candidate.b, candidate.b, problem.bias.scale)
    scores = scores_of(problem, candidate) if scores is None else scores
    f, lengths = scores.values, lengths_of(problem)(np.arange(problem.n))
    reaches = (radius * lengths + scores.error + 4.0 * UNIT * np.abs(f)) * (1.0 + 8.0 * UNIT)
    return OptimumBall(radius, bias_at_least(problem, f + reaches).lower, bias_at_most(problem, f - reaches).upper)


def optimum_balls(problems: Sequence[Problem], solutions: Sequence[Solution]) -> list[OptimumBall]:
    """The balls of the problems of one fit; none where one of them has none."""
    balls = []
    for problem, solution in zip(problems, solutions, strict=True):
        if solution.certificate is None or not has_ball(problem, solution.certificate):
            return []
        balls.append(optimum_ball(problem, solution, solution.certificate, solution.scores))
    return balls
