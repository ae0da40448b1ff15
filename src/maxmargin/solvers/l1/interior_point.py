"""An interior point of the L1 problem and its dual, for where coordinate descent crawls or no corner is found.

    primal   min Σ_k price_k |w_k| + Σ_j c_j ℓ(ξ_j)     s.t.  A w + ξ − v = 1,   v ≥ 0,   ξ ≥ 0
    dual     max Σα − Σ_j c_j ℓ*(α_j / c_j)             s.t.  |u_k| ≤ price_k,  u = Aᵀα,   α ≥ 0  (hinge: α ≤ c)

Mehrotra's predictor and corrector (SIAM J. Optim. 1992). With s± = price ∓ u and w = w⁺ − w⁻ the products s⁺w⁺, s⁻w⁻, αv and, for
the hinge, (c − α)ξ vanish at the optimum; the squared hinge has ξ = α/2c instead. Any weights have a primal value, and any α,
scaled into the cube |u| ≤ price, has a dual one: so each step has a gap, whatever the equations still miss.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from maxmargin.solvers.base import deferred_interrupt
from maxmargin.solvers.l1.columns import Columns
from maxmargin.solvers.l1.equations import L1_EQUATIONS, Equations, work_of
from maxmargin.typing import Floats

SIGN = np.array([[1.0], [-1.0]])
"""Of w⁺ and w⁻."""


class Point(NamedTuple):
    """The variables, or a direction of them. `w` and `s` have a row for each sign; a free bias is `b`."""

    alpha: Floats
    s: Floats
    w: Floats
    v: Floats
    xi: Floats
    b: float

    def moved(self, by: "Point", dual: float, primal: float) -> "Point":
        """The point after a step of these lengths."""
        changes: Any = zip(self, (dual, dual, primal, primal, primal, primal), by, strict=True)
        return Point(*(value + t * change for value, t, change in changes))


class Products(NamedTuple):
    """s w, α v and (c − α) ξ; or what they are to become."""

    s_w: Floats
    alpha_v: Floats
    left_xi: Floats

    @property
    def total(self) -> float:
        """Their sum, which is the gap of a feasible point."""
        return float(self.s_w.sum() + self.alpha_v.sum() + self.left_xi.sum())


@dataclass
class L1Interior:
    """The present point, with the best weights and the best dual point so far, what is on its way to a bound at that bound."""

    columns: Columns
    unit: Floats  # of the weights that are told, in those of the columns here
    at: Point
    w: Floats
    alpha: Floats
    primal: float
    dual: float = 0.0
    left: list[float] = field(default_factory=list)
    is_broken: bool = False

    @classmethod
    def of(cls, columns: Columns) -> "L1Interior":
        """Begin with α in the middle of its box, balanced where the bias is free, and all products alike."""
        units, columns = columns.units, columns.evened()
        cost, price = columns.cost, columns.price
        alpha = _balanced(columns, 0.5 * cost)
        mu = L1_EQUATIONS.first_products * float(alpha.mean())
        has_price = price > 0.0
        s = np.tile(np.where(has_price, price + np.abs(columns.sums(alpha)), 1.0), (2, 1))
        xi = mu / (cost - alpha) if columns.is_hinge else alpha / (2.0 * cost)
        at = Point(alpha, s, np.where(has_price, mu / s, 0.0), mu / alpha, xi, 0.0)
        return cls(columns, units / columns.units, at, np.zeros(len(price)), np.zeros(len(cost)), float(cost.sum()))

    @staticmethod
    def work(columns: Columns) -> float:
        """What it will cost, in entries passed over, some nanoseconds each: what others may cost before it is the better way."""
        return L1_EQUATIONS.usual_steps * work_of(columns)

    @property
    def gap(self) -> float:
        """The relative gap of the best weights and the best dual point."""
        return (self.primal - self.dual) / self.primal

    def has_ended(self, tol: float) -> bool:
        """Whether others should go on: the gap has ceased to fall, or the corner is near and `tol` asks for more."""
        return self.has_stalled or tol < self.gap <= L1_EQUATIONS.close

    @property
    def has_stalled(self) -> bool:
        """Whether the gap has ceased to fall, or the arithmetic has ended."""
        left, patience = self.left, L1_EQUATIONS.patience
        return self.is_broken or (len(left) > patience and min(left[-patience:]) > 0.9 * min(left[:-patience]))

    def step(self, tol: float) -> None:
        """Predict, correct, go; keep what is better than before."""
        with deferred_interrupt(), np.errstate(all="ignore"):  # what is not finite ends it
            new = self._ahead()
            self.is_broken = not all(np.isfinite(value).all() for value in new)
            if not self.is_broken:
                self.at = new
                self._keep(tol)
            self.left.append(self.gap * self._products(self.at).total)

    def _ahead(self) -> Point:
        """The next point."""
        at, columns = self.at, self.columns
        bend = at.xi / (columns.cost - at.alpha) if columns.is_hinge else 0.5 / columns.cost
        equations = Equations.of(columns, (at.w / at.s).sum(axis=0), at.v / at.alpha + bend)
        products = self._products(at)
        count = 2 * int((columns.price > 0.0).sum()) + len(at.alpha) * (2 if columns.is_hinge else 1)
        mu = products.total / count
        guess = self._direction(equations, bend, Products(*(-value for value in products)), 0.1 * mu)
        target = mu * (self._products(at.moved(guess, *self._lengths(guess))).total / products.total) ** 3
        wanted = Products(
            np.where(columns.price > 0.0, target - products.s_w - guess.s * guess.w, 0.0),
            target - products.alpha_v - guess.alpha * guess.v,
            target - products.left_xi + guess.alpha * guess.xi if columns.is_hinge else products.left_xi,
        )
        way = self._direction(equations, bend, wanted, 0.1 * min(mu, max(target, 0.01 * mu)))
        return at.moved(way, *(min(1.0, L1_EQUATIONS.short_of * length) for length in self._lengths(way)))

    def _products(self, at: Point) -> Products:
        left_xi = (self.columns.cost - at.alpha) * at.xi if self.columns.is_hinge else np.zeros(1)
        return Products(at.s * at.w, at.alpha * at.v, left_xi)

    def _direction(self, equations: Equations, bend: Floats, wanted: Products, slack: float) -> Point:
        """How the variables change for the products to change as wanted, to first order, and the constraints to hold.

        `slack`: what a product αv may miss by.
        """
        at, columns = self.at, self.columns
        has_price = columns.price > 0.0
        row_misses = columns.scores(self._net()) - 1.0 + at.xi - at.v
        u = columns.sums(at.alpha)
        column_misses = np.where(has_price, columns.price - SIGN * u - at.s, 0.0)
        rho = (SIGN * (wanted.s_w - at.w * column_misses) / at.s).sum(axis=0)
        cost = columns.cost
        xi = wanted.left_xi / (cost - at.alpha) if columns.is_hinge else at.alpha / (2.0 * cost) - at.xi
        right = wanted.alpha_v / at.alpha - xi - row_misses
        answer = equations.solve(rho, right, float(u[-1]) if columns.is_free else 0.0, slack / at.alpha)
        s = column_misses - np.where(has_price, SIGN * answer.u, 0.0)
        xi = xi + bend * answer.alpha
        v = columns.scores(answer.w) + xi + row_misses
        b = float(answer.w[-1]) if columns.is_free else 0.0
        return Point(answer.alpha, s, (wanted.s_w - at.w * s) / at.s, v, xi, b)

    def _lengths(self, way: Point) -> tuple[float, float]:
        """(Dual, primal): how far to the boundary. The squared hinge ties ξ to α, and goes as far in both."""
        at = self.at
        dual = min(_longest(at.alpha, way.alpha), _longest(at.s, way.s))
        primal = min(_longest(at.w, way.w), _longest(at.v, way.v))
        if self.columns.is_hinge:
            return min(dual, _longest(self.columns.cost - at.alpha, -way.alpha)), min(primal, _longest(at.xi, way.xi))
        return min(dual, primal), min(dual, primal)

    def _net(self) -> Floats:
        w: Floats = self.at.w[0] - self.at.w[1]
        if self.columns.is_free:
            w[-1] = self.at.b
        return w

    def _keep(self, tol: float) -> None:
        """Keep what is better than before; of the dual points, the one with samples at their bounds if it is good enough."""
        columns, (w, bound) = self.columns, self.guess()
        primal = columns.primal(w / self.unit, columns.scores(w / self.unit))
        if primal < self.primal:
            self.primal, self.w = primal, w
        for alpha in (_balanced(columns, self.at.alpha), _balanced(columns, bound)):
            dual = columns.dual(alpha, columns.sums(alpha))
            is_enough = self.primal - dual <= tol * self.primal
            if dual > self.dual or is_enough:
                self.dual, self.alpha = dual, alpha

    def guess(self) -> tuple[Floats, Floats]:
        """The present weights and dual point, what is on its way to a bound at that bound: who takes part in the corner.

        A weight vanishes where it is smaller by the largest weight than its slack is by the price.
        """
        at, price, w = self.at, self.columns.price, self._net()
        vanishes = np.abs(w) * price <= float(np.abs(w).max(initial=0.0)) * at.s.min(axis=0)
        share = at.alpha / self.columns.cost
        alpha = np.where(share < np.minimum(1.0, at.v), 0.0, at.alpha)
        if self.columns.is_hinge:
            alpha = np.where(1.0 - share < np.minimum(1.0, at.xi), self.columns.cost, alpha)
        return np.where(vanishes & (price > 0.0), 0.0, w) * self.unit, alpha


def _balanced(columns: Columns, alpha: Floats) -> Floats:
    """α with both classes' sums made the smaller of the two, where the bias is free."""
    if not columns.is_free:
        return alpha
    y = columns.block(np.arange(len(alpha)), np.array([len(columns.price) - 1]))[:, 0]
    of_class = np.where(y > 0.0, alpha[y > 0.0].sum(), alpha[y < 0.0].sum())
    factors: Floats = np.divide(of_class.min(), of_class, out=np.zeros_like(of_class), where=of_class > 0.0)
    return alpha * factors


def _longest(value: Floats, way: Floats) -> float:
    """The longest step ≤ 1 that leaves no value negative."""
    falls = way < 0.0
    return min(1.0, float((value[falls] / -way[falls]).min(initial=1.0)))
