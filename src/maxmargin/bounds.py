"""Generalisation bounds, on numbers or on a fitted model.

The functions of `maxmargin.analysis.bounds` take numbers; `of_model` measures those numbers on a fitted model and its training
data. Theorems speak of the distribution, a sample only hints at it: what `of_model` gives are plug-in figures, and they say so.
"""

import math
from typing import Any

import numpy as np

from maxmargin.analysis.bounds import (
    Bound,
    hard_margin,
    hard_margin_delta,
    hard_margin_gamma,
    hard_margin_samples,
    leave_one_out_support,
    perceptron_margin,
    perceptron_updates,
    soft_margin,
    soft_margin_best,
    soft_margin_lambda,
    soft_margin_samples,
    vc_rate,
)
from maxmargin.core.certificate import count_groups
from maxmargin.errors import InvalidInputError
from maxmargin.estimators.inspect import stored_problems

__all__ = [
    "Bound",
    "hard_margin",
    "hard_margin_delta",
    "hard_margin_gamma",
    "hard_margin_samples",
    "leave_one_out_support",
    "of_model",
    "perceptron_margin",
    "perceptron_updates",
    "soft_margin",
    "soft_margin_best",
    "soft_margin_lambda",
    "soft_margin_samples",
    "vc_rate",
]


def of_model(estimator: Any, X: Any, y: Any, *, delta: float = 0.05) -> dict[str, Bound]:
    """Every bound that applies to a fitted binary model, with the numbers measured on its training data.

    ρ = max_j ‖φ(x_j)‖ and B = ‖w‖. The theorems are about hyperplanes through the origin; a bias b is the weight b/s of a
    constant feature s, and s² = ρ|b|/‖w‖ gives the smallest product: ρB = ρ‖w‖ + |b|. Where the model separates its samples
    (min_j y_jF_j = m > 0), γ = m/B.

    Parameters
    ----------
    estimator
        A fitted binary classifier of this library.
    X, y
        Its training data, in their order.
    delta : float
        The probability with which a bound may fail.

    Returns
    -------
    dict of str to Bound
        "hard_margin" and "perceptron_updates" where the model separates its training data; "soft_margin_best",
        "leave_one_out_support"; "vc_rate" for the linear kernel.

    Examples
    --------
    >>> from maxmargin import HardMarginSVC, bounds
    >>> X, y = [[-3.0], [-2.0], [2.0], [4.0]], [0, 0, 1, 1]
    >>> found = bounds.of_model(HardMarginSVC().fit(X, y), X, y)
    >>> int(found["perceptron_updates"]), found["hard_margin"].vacuous, found["hard_margin"].plug_in
    (4, True, True)
    """
    problems = stored_problems(estimator, X, y)
    if len(problems) != 1:
        raise InvalidInputError(f"The bounds are about two classes, this model has {len(estimator.classes_)}.")
    problem, candidate = problems[0]
    on = problem.present
    f = problem.decision(candidate.w)
    z = (problem.y * (f + candidate.b))[on]
    norm = math.sqrt(max(problem.norm2(candidate.w, f), 0.0))
    rho = float(np.sqrt(max(problem.diag()[on].max(), 0.0)))
    m = len(on)
    radius, B = _with_bias(rho, norm, candidate.b)
    support = count_groups(problem, candidate.beta * problem.y)
    found = {}
    if z.min() > 0:
        gamma = float(z.min()) / B
        found["hard_margin"] = hard_margin(rho=radius, gamma=gamma, m=m, delta=delta, plug_in=True)
        found["perceptron_updates"] = perceptron_updates(rho=radius, gamma=gamma)
    hinge = float(np.maximum(0.0, 1.0 - z).mean())
    if B > 0:
        found["soft_margin_best"] = soft_margin_best(hinge_loss=hinge, B=B, rho=radius, m=m, plug_in=True)
    found["leave_one_out_support"] = leave_one_out_support(n_support=support.on + support.inside, m=m, plug_in=True)
    if problem.is_linear:
        d = problem.X.shape[1] + int(problem.bias.kind != "none")
        found["vc_rate"] = vc_rate(d=d, m=m)
    return found


def _with_bias(rho: float, norm: float, b: float) -> tuple[float, float]:
    """(radius, norm) of the samples and weights with the bias as the weight of the best constant feature."""
    if b == 0.0 or norm == 0.0 or rho == 0.0:
        return math.hypot(rho, 1.0 if b else 0.0), math.hypot(norm, b)
    s = math.sqrt(rho * abs(b) / norm)
    return math.hypot(rho, s), math.hypot(norm, b / s)
