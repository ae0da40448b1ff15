"""The Lagrangian of the soft and of the hard margin, its two extremes, and the gap between them.

    L(w, b, ξ, α, λ) = ½‖w‖² + Σ c_jξ_j + Σ α_j(1 − y_jF_j − ξ_j) − Σ λ_jξ_j,      α, λ ≥ 0

    max over α, λ   ½‖w‖² + Σ c_jξ_j    if ξ ≥ 0 and y_jF_j ≥ 1 − ξ_j for all j,  else +∞
    min over w, b, ξ   Σα_j − ½‖w(α)‖²    if α + λ = c and (with a free bias) Σα_jy_j = 0,  else −∞

The hard margin has neither ξ nor λ, and no upper bound of α. A penalised bias counts in ½‖w‖² as the weight of its constant
feature.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from maxmargin.analysis import separability
from maxmargin.analysis.witness import Check, NotSeparable, Undecided
from maxmargin.core import L2, Candidate, Hinge, Problem
from maxmargin.core.certificate.scores import scores
from maxmargin.errors import InvalidInputError, NotSupportedError
from maxmargin.rounding import UNIT, shown_below
from maxmargin.typing import Floats


def lagrangian(problem: Problem, w: Any, b: float, xi: Any = None, alpha: Any = None, lam: Any = None) -> float:
    """Evaluate L(w, b, ξ, α, λ), at any point, feasible or not. O(nnz), with a kernel n values for each w_j ≠ 0.

    Parameters
    ----------
    problem : Problem
        A soft margin with the hinge, or a hard margin; the L2 penalty.
    w : array
        A vector of the feature space: d weights if the kernel is linear, else the n coefficients of Σ w_jφ(x_j).
    b : float
        The bias; 0 if the problem has none.
    xi, alpha, lam : arrays (n,)
        Slacks, and multipliers ≥ 0 of y_jF_j ≥ 1 − ξ_j (α) and of ξ_j ≥ 0 (λ). The hard margin has α only.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import Problem, theory
    >>> problem = Problem(np.array([[-1.0], [1.0]]), np.array([-1.0, 1.0]), cost=np.array([2.0, 2.0]))
    >>> theory.lagrangian(problem, [1.0], 0.5, xi=[0.5, 0.0], alpha=[1.0, 1.0], lam=[1.0, 1.0])
    0.5
    """
    point = _Point.of(problem, w, b, xi)
    alpha, lam = _multiplier(problem, alpha, "alpha"), _multiplier_of_slacks(problem, lam)
    return point.objective + float(alpha @ (point.m - point.xi)) - float(lam @ point.xi)


def max_over_multipliers(problem: Problem, w: Any, b: float, xi: Any = None) -> float:
    """Maximise L over the multipliers: the objective if (w, b, ξ) is feasible, else +∞.

    A violated constraint of whatever size makes it +∞, since its multiplier may grow without end. O(nnz).

    Parameters
    ----------
    problem, w, b, xi
        As in :func:`lagrangian`.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import Problem, theory
    >>> problem = Problem(np.array([[-1.0], [1.0]]), np.array([-1.0, 1.0]), cost=np.array([np.inf, np.inf]))
    >>> theory.max_over_multipliers(problem, [1.0], 0.0), theory.max_over_multipliers(problem, [0.5], 0.0)
    (0.5, inf)
    """
    point = _Point.of(problem, w, b, xi)
    return point.objective if point.is_feasible else math.inf


def dual_function(problem: Problem, alpha: Any, lam: Any = None) -> float:
    """Minimise L over w, b and ξ: Σα − ½‖w(α)‖², or −∞ where L has no lower end.

    That is where α_j + λ_j ≠ c_j for some j (then ξ_j runs off) or, with a free bias, where Σα_jy_j ≠ 0 (then b does). Both are
    judged up to the rounding of the sums. O(nnz), with a kernel n values for each α_j > 0.

    Parameters
    ----------
    problem : Problem
        As in :func:`lagrangian`.
    alpha, lam : arrays (n,)
        Multipliers ≥ 0. Without `lam` it is c − α, the only one that can give a finite value; the hard margin has none.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import Problem, theory
    >>> problem = Problem(np.array([[-1.0], [1.0]]), np.array([-1.0, 1.0]), cost=np.array([2.0, 2.0]))
    >>> theory.dual_function(problem, [0.5, 0.5]), theory.dual_function(problem, [0.5, 0.25])
    (0.5, -inf)
    """
    _check(problem)
    alpha = _multiplier(problem, alpha, "alpha")
    if lam is not None:
        lam = _multiplier_of_slacks(problem, lam)
        if not problem.is_hard and (np.abs(alpha + lam - problem.cost) > 4.0 * UNIT * problem.cost).any():
            return -math.inf
    return problem.dual(alpha * problem.y)


@dataclass(frozen=True, eq=False)
class DualityGap:
    """P − D of a pair, as a sum of terms that are ≥ 0 where both are feasible: a proof of weak duality for this pair.

        P − D = ½‖w − w(α)‖² + Σ α_j(ξ_j − m_j) + Σ λ_jξ_j,      m_j = 1 − y_jF_j

    Where the sum is 0, each term is: w = w(α), and complementary slackness holds. The pair is then optimal on both sides. Made by
    :func:`weak_duality`.

    Attributes
    ----------
    primal, dual : float
        P, +∞ if (w, b, ξ) is infeasible; D, −∞ where the dual function is.
    apart : float
        ½‖w − w(α)‖², the constant feature of a penalised bias included.
    slackness : array (n,)
        α_j(ξ_j − m_j): the multiplier of the margin times its room.
    price : array (n,)
        λ_jξ_j: the multiplier of ξ ≥ 0 times the slack; zeros for the hard margin.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import Problem, theory
    >>> problem = Problem(np.array([[-1.0], [1.0]]), np.array([-1.0, 1.0]), cost=np.array([2.0, 2.0]))
    >>> best = theory.weak_duality(problem, [1.0], 0.0, alpha=[0.5, 0.5])
    >>> best.gap, best.slackness, best.price
    (0.0, array([0., 0.]), array([0., 0.]))
    """

    primal: float
    dual: float
    apart: float
    slackness: Floats
    price: Floats

    @property
    def gap(self) -> float:
        """P − D, as the sum; +∞ if a side is infeasible."""
        if not math.isfinite(self.primal) or not math.isfinite(self.dual):
            return math.inf
        return self.apart + float(self.slackness.sum()) + float(self.price.sum())

    def __str__(self) -> str:
        head = f"P = {self.primal:.6g}, D = {self.dual:.6g}"
        if not math.isfinite(self.gap):
            return f"{head}: one of the two is infeasible, so the gap is infinite."
        parts = f"½‖w − w(α)‖² = {self.apart:.4g}, Σα(ξ − m) = {self.slackness.sum():.4g}, Σλξ = {self.price.sum():.4g}"
        return f"{head}, P − D = {self.gap:.6g}: {parts}."


def weak_duality(problem: Problem, w: Any, b: float, xi: Any = None, alpha: Any = None, lam: Any = None) -> DualityGap:
    """Compare any primal point with any multipliers: P ≥ D, with the difference split into its causes. O(nnz).

    Parameters
    ----------
    problem, w, b, xi, alpha, lam
        As in :func:`lagrangian`; without `lam` it is c − α, without `xi` the hinge losses max(0, m).

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import Problem, theory
    >>> problem = Problem(np.array([[-1.0], [1.0]]), np.array([-1.0, 1.0]), cost=np.array([2.0, 2.0]))
    >>> pair = theory.weak_duality(problem, [2.0], 0.0, alpha=[0.25, 0.25])
    >>> print(pair)
    P = 2, D = 0.375, P − D = 1.625: ½‖w − w(α)‖² = 1.125, Σα(ξ − m) = 0.5, Σλξ = 0.
    """
    point = _Point.of(problem, w, b, xi, fill=True)
    dual, alpha = dual_function(problem, alpha, lam), _multiplier(problem, alpha, "alpha")
    if lam is None and not problem.is_hard:
        lam = problem.cost - alpha
    price = np.zeros(problem.n) if problem.is_hard else np.asarray(lam, dtype=np.float64) * point.xi
    beta = alpha * problem.y
    apart = problem.residual(point.w, point.b, point.f, beta, problem.image(beta))
    primal = point.objective if point.is_feasible else math.inf
    return DualityGap(primal, dual, apart, alpha * (point.xi - point.m), price)


@dataclass(frozen=True, eq=False)
class SlaterPoint:
    """A point where no constraint is active: with it, strong duality holds.

    Attributes
    ----------
    w, b, xi
        y_jF_j > 1 − ξ_j and ξ_j > 0 for each sample; the hard margin has no ξ (None) and y_jF_j > 1.
    room : float
        How far the closest constraint is from being active.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import Problem, theory
    >>> problem = Problem(np.array([[-1.0], [1.0]]), np.array([-1.0, 1.0]), cost=np.full(2, np.inf))
    >>> print(theory.slater_point(problem).check())
    Each constraint has room, beyond the rounding of float64.
    """

    w: Floats
    b: float
    xi: Floats | None
    room: float
    problem: Problem

    def check(self) -> Check:
        """Verify every strict inequality beyond the rounding of its sum."""
        found = scores(self.problem, Candidate(self.w, self.b, np.zeros(self.problem.n)))
        F = found.values + self.b
        room = self.problem.y * F - 1.0 + (0.0 if self.xi is None else self.xi)
        error = found.error + 8.0 * UNIT * (1.0 + np.abs(F) + abs(self.b))
        holds = bool((room > error).all()) and (self.xi is None or bool((self.xi > 0).all()))
        word = "has" if holds else "has not"
        return Check(holds, False, f"Each constraint {word} room, beyond the rounding of float64.")

    def __str__(self) -> str:
        return f"A Slater point: each constraint has room, {shown_below(self.room, 4)} or more."


def slater_point(problem: Problem) -> SlaterPoint | NotSeparable | Undecided:
    """Find a point at which every constraint holds strictly, or the witness that there is none.

    Soft margin: w = 0, b = 0, ξ = 2 will do for any data. Hard margin: twice a hyperplane with y_jF_j ≥ 1, which exists exactly
    if the samples are separable; otherwise the witness of `separability` proves that no point is feasible at all. Cost: O(n), or
    that of `separability`.

    Parameters
    ----------
    problem : Problem
        As in :func:`lagrangian`.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import Problem, theory
    >>> X, y = np.array([[-1.0], [1.0], [2.0]]), np.array([-1.0, 1.0, -1.0])
    >>> point = theory.slater_point(Problem(X, y, cost=np.ones(3)))
    >>> point.xi, bool(point.check())
    (array([2., 2., 2.]), True)
    >>> print(theory.slater_point(Problem(X, y, cost=np.full(3, np.inf))))
    Not separable: weighted means of the two classes coincide, shown by 3 samples.
    """
    _check(problem)
    if not problem.is_hard:
        return SlaterPoint(problem.zero(), 0.0, np.full(problem.n, 2.0), 1.0, problem)
    found = separability.separability(problem)
    if not found.is_separable:
        return found  # type: ignore[return-value]
    closest = float((problem.y * (problem.decision(found.w) + found.b)).min())  # type: ignore[union-attr]
    w, b = 2.0 * found.w / closest, 2.0 * found.b / closest  # type: ignore[union-attr]
    room = float((problem.y * (problem.decision(w) + b)).min()) - 1.0
    return SlaterPoint(w, b, None, room, problem)


@dataclass(frozen=True, eq=False)
class _Point:
    """A primal point, its scores f, m = 1 − yF, and its objective."""

    w: Floats
    b: float
    f: Floats
    m: Floats
    xi: Floats
    objective: float
    is_feasible: bool

    @classmethod
    def of(cls, problem: Problem, w: Any, b: float, xi: Any, fill: bool = False) -> "_Point":
        """Check and evaluate; `fill` takes the hinge losses where no ξ is given."""
        _check(problem)
        w = np.asarray(w, dtype=np.float64)
        if w.shape != problem.zero().shape:
            raise InvalidInputError(
                f"w has shape {w.shape} where {problem.zero().shape} is wanted: a vector of the feature space."
            )
        if problem.bias.kind == "none" and b != 0:
            raise InvalidInputError(f"b = {b!r} where the problem has no bias. Use b = 0.")
        f = problem.decision(w)
        m = problem.slack(f + b)
        if problem.is_hard:
            if xi is not None:
                raise InvalidInputError("The hard margin has no slacks. Leave xi out.")
            slacks = np.zeros(problem.n)
        else:
            slacks = np.maximum(m, 0.0) if xi is None and fill else _per_sample(problem, xi, "xi")
        paid = 0.0 if problem.is_hard else float(problem.cost @ slacks)
        is_feasible = bool((slacks >= 0).all() and (m <= slacks).all())
        return cls(w, float(b), f, m, slacks, problem.regularizer(w, b, f) + paid, is_feasible)


def _check(problem: Problem) -> None:
    """Only the problems whose Lagrangian the module writes down."""
    is_known = (
        problem.is_classification and isinstance(problem.penalty, L2) and (problem.is_hard or isinstance(problem.loss, Hinge))
    )
    if not is_known:
        raise NotSupportedError(
            f"The Lagrangian is written for classification with the hinge, or hard, and the L2 penalty; got {problem.loss!r} and "
            f"{problem.penalty!r}. Use Problem(..., loss=Hinge(), penalty=L2())."
        )
    if problem.is_hard and (problem.cost == 0).any():
        raise NotSupportedError("A sample of cost 0 has no constraint in a hard margin. Leave its row out.")


def _multiplier(problem: Problem, values: Any, name: str) -> Floats:
    """A number ≥ 0 for each sample."""
    array = _per_sample(problem, values, name)
    if not (array >= 0).all():
        raise InvalidInputError(f"{name} has a negative entry, {array.min():.6g}. A multiplier of an inequality is ≥ 0.")
    return array


def _multiplier_of_slacks(problem: Problem, lam: Any) -> Floats:
    """λ; the hard margin has none, which counts as zeros."""
    if not problem.is_hard:
        return _multiplier(problem, lam, "lam")
    if lam is not None and np.any(lam):
        raise InvalidInputError("The hard margin has no slacks, and so no λ. Leave lam out.")
    return np.zeros(problem.n)


def _per_sample(problem: Problem, values: Any, name: str) -> Floats:
    array = np.asarray(np.nan if values is None else values, dtype=np.float64)
    if array.shape != (problem.n,) or np.isnan(array).any():
        got = "nothing" if values is None else f"shape {array.shape}"
        raise InvalidInputError(f"{name} must have one number for each of the {problem.n} samples, got {got}.")
    return array
