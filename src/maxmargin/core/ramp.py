"""The ramp loss as a sequence of convex problems.

    ramp(z) = min(1, [1 − z]₊),     R(w, b) = Ω(w) + Σ_j c_j ramp(y_j F_j)

For any set S of samples, ramp ≤ 1 on S and ramp ≤ hinge elsewhere, so R(w, b) ≤ Q_S(w, b) + Σ_S c_j with the convex

    Q_S(w, b) = Ω(w) + Σ_{j ∉ S} c_j [1 − y_j F_j]₊

and with equality where S = {j : y_j F_j < 0}. Minimising Q_S from there can only lower R. (Collobert, Sinz, Weston & Bottou,
ICML 2006, linearise: on S they have max(1, z) where we have 1. Ours lies below, so a step goes down at least as far; where no
sample of S ends beyond z = 1 the two steps are the same, and so are the points at which both end.)
"""

from dataclasses import replace
from typing import Any

import numpy as np

from maxmargin.core.losses import Hinge
from maxmargin.core.problem import Problem
from maxmargin.typing import Floats


def convex_step(problem: Problem, is_outlier: Any) -> Problem:
    """Q_S: the hinge problem without the samples of S, given as a mask.

    Examples
    --------
    >>> from maxmargin.core.losses import Ramp
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([-1.0, 1.0, 1.0])
    >>> convex_step(Problem(X, y, np.ones(3), loss=Ramp()), np.array([False, True, False])).cost
    array([1., 0., 1.])
    """
    return replace(problem, loss=Hinge(), cost=np.where(is_outlier, 0.0, problem.cost))


def outliers(problem: Problem, f: Floats, b: float) -> Any:
    """The mask of S = {j : y_j F_j < 0, c_j > 0}, given f = `decision(w)`: the samples whose loss has reached 1."""
    return (problem.y * (f + b) < 0.0) & (problem.cost > 0.0)
