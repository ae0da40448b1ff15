"""Generalisation bounds, on numbers or on a fitted model.

The functions of `maxmargin.analysis.bounds` take numbers; `of_model` measures those numbers on a fitted model and its training
data. Theorems speak of the distribution, a sample only hints at it: what `of_model` gives are plug-in figures, and they say so.
"""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from maxmargin.analysis import bounds as theorems
from maxmargin.analysis.bounds import *  # noqa: F403
from maxmargin.analysis.bounds import Bound
from maxmargin.core import Candidate, Hinge, Problem, Regularization
from maxmargin.core.certificate.parts import count_groups
from maxmargin.errors import InvalidInputError
from maxmargin.estimators.inspect import stored_problems
from maxmargin.estimators.per_sample import anatomies
from maxmargin.estimators.stochastic.perceptron import Perceptron
from maxmargin.estimators.wrapped import unwrapped
from maxmargin.kernels import Linear

__all__ = ["of_model"]
__all__ += theorems.__all__


FREE_BIAS = "the bias, unknown to the theorem, counts as the weight of a constant feature; this model does not penalise it"
"""What is assumed beyond a theorem where the bias of a model is free."""


def of_model(estimator: Any, X: Any, y: Any, *, delta: float = 0.05) -> dict[str, Bound]:
    """Every bound that applies to a fitted binary model, with the numbers measured on its training data.

    ρ = max_j ‖φ(x_j)‖. The theorems are about hyperplanes through the origin; a bias b is the weight b/s of a constant feature s.
    A penalised bias has its s. A free one takes the s with the smallest value, and the bound says that this was assumed.

    Parameters
    ----------
    estimator
        A fitted binary classifier of this library, or a Pipeline, a search or a FrozenEstimator that holds one. The bounds are
        about the machine on the rows that the steps before it make of X; where a fit changes these steps, they assume that it
        did not look at the samples.
    X, y
        Its training data, in their order.
    delta : float
        The probability with which a bound may fail.

    Returns
    -------
    dict of str to Bound
        "hard_margin" for the hard margin; "soft_margin" for the hinge with the L2 penalty and the same cost for all samples,
        at the λ = 1/(2·cost·m) that was used; "perceptron_updates" where the model separates its training data (the number of
        updates of a `Perceptron` with or without an intercept, like the model); "leave_one_out_support" for convex losses with
        the L2 penalty; "vc_rate" for the linear kernel. What a theorem does not cover is left out.

    Examples
    --------
    >>> from maxmargin import HardMarginSVC, bounds
    >>> X, y = [[-3.0], [-2.0], [2.0], [4.0]], [0, 0, 1, 1]
    >>> found = bounds.of_model(HardMarginSVC().fit(X, y), X, y)
    >>> int(found["perceptron_updates"]), found["hard_margin"].vacuous, found["hard_margin"].plug_in
    (4, True, True)
    """
    whole = unwrapped(estimator)
    estimator, X = whole.machine, whole.saw(X, y)
    if len(getattr(estimator, "classes_", "01")) != 2:
        raise InvalidInputError(f"The bounds are about two classes, this model has {len(estimator.classes_)}.")
    found: dict[str, Bound] = {}
    if not isinstance(estimator, Perceptron):
        stored = stored_problems(estimator, X, y)
        stored.warn_of_other_data()
        found = _of_objective(*stored.problems[0], delta, is_ramp=hasattr(estimator, "outliers_"))
    elif anatomies(estimator, X, y) and getattr(estimator, "witness_", None) is not None:  # a model file keeps none
        w, b, problem = estimator.witness_.w, estimator.witness_.b, estimator.witness_.problem
        found = _updates(problem, _Ball(problem, Candidate(w, b, np.zeros(problem.n))))
    if isinstance(getattr(estimator, "kernel_", Linear()), Linear):
        d = estimator.n_features_in_ + int(estimator.fit_intercept)
        found["vc_rate"] = theorems.vc_rate(d=d, m=len(y))
    if whole.learners:
        assumed = f"the steps before the machine ({whole.learners}) do not depend on the samples; they were fitted on them"
        found = {name: replace(bound, assumptions=(*bound.assumptions, assumed)) for name, bound in found.items()}
    return found


def _of_objective(problem: Problem, candidate: Candidate, delta: float, is_ramp: bool) -> dict[str, Bound]:
    """Of a model that minimises something; the theorems on convex losses do not cover the last step of a ramp.

    Hard margin: s² = ρ|b|/‖w‖ gives the smallest product of radius and norm, ρ‖w‖ + |b|. Soft margin: the corollary at the
    model's own λ; s² = λ|b|√(m/2) makes λb²/s² + 2s²/(λm) smallest, |b|√(8/m).
    """
    ball, found = _Ball(problem, candidate), {}
    is_covered = problem.penalty.strongly_convex and problem.loss.convex and not is_ramp
    cost = np.unique(problem.cost[problem.present])
    if problem.is_hard and ball.closest > 0:
        rho, _, gamma = ball.with_constant(math.sqrt(ball.rho * abs(ball.b) / ball.norm) or float(ball.b != 0.0))
        found["hard_margin"] = theorems.hard_margin(rho=rho, gamma=gamma, m=ball.m, delta=delta, plug_in=True)
    elif is_covered and isinstance(problem.loss, Hinge) and not problem.is_hard and len(cost) == 1:
        lam = Regularization.sum(float(cost[0])).to("tikhonov", ball.m).value
        rho, norm, _ = ball.with_constant(problem.bias.scale or math.sqrt(lam * abs(ball.b) * math.sqrt(ball.m / 2)))
        found["soft_margin"] = theorems.soft_margin(hinge_loss=ball.hinge, norm=norm, lam=lam, rho=rho, m=ball.m, plug_in=True)
    if problem.bias.is_free:
        found = {name: replace(bound, assumptions=(*bound.assumptions, FREE_BIAS)) for name, bound in found.items()}
    found |= _updates(problem, ball)
    if is_covered:
        _, on, inside = count_groups(problem.loss, problem.cost, candidate.beta * problem.y)
        found["leave_one_out_support"] = theorems.leave_one_out_support(n_support=on + inside, m=ball.m, plug_in=True)
    return found


def _updates(problem: Problem, ball: "_Ball") -> dict[str, Bound]:
    """Of the perceptron, whose constant feature is 1."""
    rho, _, gamma = ball.with_constant(0.0 if problem.bias.kind == "none" else 1.0)
    return {"perceptron_updates": theorems.perceptron_updates(rho=rho, gamma=gamma)} if ball.closest > 0 else {}


class _Ball:
    """What is measured on a model: m samples within ρ, ‖w‖, b, the mean hinge loss and min_j y_jF_j.

    Of all samples, those included that the last convex step of a ramp loss leaves out.
    """

    def __init__(self, problem: Problem, candidate: Candidate) -> None:
        f = problem.decision(candidate.w)
        z = problem.y * (f + candidate.b)
        squares = problem.diag().max(), problem.norm2(candidate.w, f)
        self.rho, self.norm = (math.sqrt(max(float(square), 0.0)) for square in squares)
        self.m, self.b = problem.n, float(candidate.b)
        self.hinge, self.closest = float(np.maximum(0.0, 1.0 - z).mean()), float(z.min())

    def with_constant(self, s: float) -> tuple[float, float, float]:
        """(ρ, ‖w‖, γ) of the samples with b as the weight of a constant feature s; s = 0 only where b = 0."""
        rho, norm = math.hypot(self.rho, s), math.hypot(self.norm, self.b / s if s else 0.0)
        return rho, norm, min(self.closest / norm, rho) if norm else rho
