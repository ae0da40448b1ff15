"""The ξα estimates: error, recall and precision from one fitted model, without retraining.

    d = #{i : 2α_i R² + ξ_i ≥ 1}      error ≈ d/n      recall ≈ 1 − d₊/n₊      precision ≈ (n₊ − d₊)/(n₊ − d₊ + d₋)

R² is the largest k(x, x). The lemma behind them says that all other samples are classified correctly. At the exact optimum of a
machine without a free bias, and with a positive semi-definite kernel, that is a theorem (α_i k_ii + ξ_i < 1 suffices), and the
error is at most d/n. With a free bias it takes 2R² for a bound of max ‖φ_i − φ_j‖², which needs k ≥ 0, and a bias that is unique:
where either fails the exact error can be larger. A fit also stops at a gap. So these are estimates, and are printed as such.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from maxmargin.analysis.leave_one_out.full import Full
from maxmargin.typing import Floats


class Verdict(Enum):
    """What one model says of a left-out sample; each value is its sentence."""

    CORRECT = "The lemma says that it would be classified correctly."
    WRONG = "It is a training error; of an exact optimum, that is a leave-one-out error."
    OPEN = "It may go either way; the estimate counts it as an error."

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, eq=False)
class XiAlpha:
    """Estimates of the leave-one-out error, recall and precision from one model.

    Attributes
    ----------
    error, recall, precision : float
        Estimates, pessimistic as a rule; recall and precision are those of the positive class. All are weighted by the
        samples' weights. They are bounds of the exact values at the exact optimum of a machine without a free bias.
    alpha, xi, number : arrays (n,)
        The dual variable, the slack, and 2α_iR² + ξ_i, which is compared with 1.
    radius2 : float
        R².
    verdicts : array of Verdict (n,)
        By the number: below 1 correct, a slack above 1 wrong, otherwise open.
    """

    error: float
    recall: float
    precision: float
    alpha: Floats
    xi: Floats
    number: Floats
    radius2: float
    verdicts: Any

    def __str__(self) -> str:
        return f"ξα estimates: error ≈ {self.error:.2%}, recall ≈ {self.recall:.2%}, precision ≈ {self.precision:.2%}"


def xi_alpha(full: Full, weights: Floats) -> XiAlpha:
    """The estimates of one binary problem whose samples have these weights; O(n)."""
    problem = full.problem
    on = problem.cost > 0
    radius2 = float(full.squares[on].max())
    return estimated(problem.y, np.abs(full.beta), slacks(full), radius2, np.where(on, weights, 0.0))


def slacks(full: Full) -> Floats:
    """ξ = max(0, 1 − yF)."""
    return np.maximum(1.0 - full.problem.y * (full.f + full.b), 0.0)


def estimated(y: Floats, alpha: Floats, xi: Floats, radius2: float, mass: Floats) -> XiAlpha:
    """The estimates from α and ξ of each sample and its weight; a sample of which they are not known (NaN) is open."""
    number = 2.0 * alpha * radius2 + xi
    may_fail = ~(number < 1.0)
    positive = y > 0
    n_plus, d_plus = float(mass[positive].sum()), float(mass[positive & may_fail].sum())
    d_minus = float(mass[~positive & may_fail].sum())
    kept = n_plus - d_plus
    verdicts = np.full(len(y), Verdict.CORRECT, dtype=object)
    verdicts[may_fail] = Verdict.OPEN
    verdicts[xi > 1.0] = Verdict.WRONG
    return XiAlpha(
        error=(d_plus + d_minus) / float(mass.sum()),
        recall=kept / n_plus,
        precision=kept / (kept + d_minus) if kept + d_minus > 0 else 0.0,
        alpha=alpha,
        xi=xi,
        number=number,
        radius2=radius2,
        verdicts=verdicts,
    )
