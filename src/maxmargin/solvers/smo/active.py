"""The samples that SMO looks at. Those of a regression are halved: a row that stands twice is one signed variable.

    min_s  ½ sᵀKs − tᵀs + Σ e_i|s_i|    s.t.  −c ≤ s ≤ c,       s = β⁺ + β⁻,   t = the middle of the tube, e = ε its half width

is the same as the problem of both halves, whose kernel rows are equal. The slope jumps by 2e where s = 0: s stops there before it
changes its sign.
"""

from dataclasses import dataclass, replace

import numpy as np

from maxmargin.core import Problem
from maxmargin.core.regression import folded, unfolded
from maxmargin.typing import Flags, Floats, Indices


@dataclass
class Active:
    """The samples that are looked at, and their share of all arrays; `beta` and `g` change.

    `width` is e of each sample where halves are folded, else 0.
    """

    samples: Indices
    y: Floats
    t: Floats
    cost: Floats
    lo: Floats
    hi: Floats
    delta: Floats
    group: Indices
    width: Floats
    beta: Floats
    g: Floats

    @classmethod
    def of(cls, problem: Problem, lo: Floats, hi: Floats, delta: Floats, beta: Floats) -> "Active":
        """All samples of a problem, those of a regression folded; g is not known yet."""
        n, t = problem.n, problem.t
        if not can_fold(problem):
            group = np.zeros(n, dtype=np.intp) if problem.groups is None else problem.groups
            return cls(np.arange(n), problem.y, t, problem.cost, lo, hi, delta, group, np.zeros(n), beta, np.empty(n))
        m = n // 2
        middle, group = 0.5 * (t[:m] + t[m:]), np.zeros(m, dtype=np.intp)
        width = 0.5 * (t[m:] - t[:m])
        own = problem.y[:m], middle, problem.cost[:m], lo[m:], hi[:m], delta[:m], group, width
        return cls(np.arange(m), *own, folded(beta), np.empty(m))

    @property
    def is_free(self) -> Flags:
        """Which samples are strictly inside their box, and not at a jump of their slope."""
        return np.asarray((self.beta > self.lo) & (self.beta < self.hi) & ((self.beta != 0.0) | (self.width == 0.0)))

    @property
    def slope(self) -> Floats:
        """The slope of the objective where β is not at a jump."""
        return self.g + np.sign(self.beta) * self.width

    def wants(self) -> tuple[Floats, Floats]:
        """How much each sample wants to rise, and to fall: −∞ where it must not."""
        rise = np.where(self.beta >= 0.0, self.width, -self.width)
        fall = np.where(self.beta > 0.0, self.width, -self.width)
        return np.where(self.beta < self.hi, -self.g - rise, -np.inf), np.where(self.beta > self.lo, self.g + fall, -np.inf)

    def price(self) -> float:
        """Σ e|β|: what the widths take off the dual value."""
        return float(self.width @ np.abs(self.beta))

    def restrict(self, kept: Indices) -> "Active":
        """Only these of them; what does not change is not copied where they are all."""
        if len(kept) == len(self.samples):
            return replace(self, beta=self.beta.copy(), g=self.g.copy())
        return Active(*(getattr(self, name)[kept] for name in self.__dataclass_fields__))

    def unfolded(self) -> "Active":
        """Both halves of the samples of a regression, each with its own target, β and g."""
        beta, t = unfolded(self.beta), np.concatenate([self.t - self.width, self.t + self.width])
        delta, count = np.tile(self.delta, 2), len(self.samples)
        f = self.g + self.t - self.delta * self.beta
        g = np.tile(f, 2) + delta * beta - t
        samples, y, cost, group = (
            np.tile(self.samples, 2),
            np.repeat([1.0, -1.0], count),
            np.tile(self.cost, 2),
            np.tile(self.group, 2),
        )
        lo, hi, width = unfolded(self.lo), unfolded(self.hi), np.zeros(2 * count)
        return Active(samples, y, t, cost, lo, hi, delta, group, width, beta, g)


def can_fold(problem: Problem) -> bool:
    """Whether the halves of a problem are the two sides of a tube around the same samples, with the same costs."""
    m = problem.period
    if m == problem.n or problem.groups is not None or problem.total != 0.0:
        return False
    return bool((problem.t[m:] >= problem.t[:m]).all()) and np.array_equal(problem.cost[:m], problem.cost[m:])
