"""An interior point of the L1 problem and its dual, for where coordinate descent crawls or no corner is found.

    primal   min Σ_k price_k |w_k| + Σ_j c_j ℓ(ξ_j)     s.t.  y_j⟨w, x̃_j⟩ + ξ_j − v_j = 1,   v ≥ 0,   ξ ≥ 0
    dual     max Σα − Σ_j c_j ℓ*(α_j / c_j)             s.t.  |u_k| ≤ price_k,  u_k = Σ_j α_j y_j x̃_jk,   α ≥ 0  (hinge: α ≤ c)

Mehrotra's predictor and corrector (SIAM J. Optim. 1992). With s± = price ∓ u and w = w⁺ − w⁻ the products s⁺w⁺, s⁻w⁻, αv and, for
the hinge, (c − α)ξ vanish at the optimum; the squared hinge has ξ = α/2c instead. Any weights have a primal value, and any α,
scaled into the cube |u| ≤ price, has a dual one: so each step has a gap, whatever the equations still miss.
"""

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from maxmargin.solvers.base import deferred_interrupt
from maxmargin.solvers.l1.columns import Columns
from maxmargin.solvers.l1.equations import Equations, work_of
from maxmargin.solvers.l1.tuning import TUNING
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
        return Point(
            self.alpha + dual * by.alpha,
            self.s + dual * by.s,
            self.w + primal * by.w,
            self.v + primal * by.v,
            self.xi + primal * by.xi,
            self.b + primal * by.b,
        )


class Half(NamedTuple):
    """Weights with their primal value, or a dual point with its dual value."""

    value: float
    at: Floats


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
    """The present point, with the best weights and the best dual point so far. Weights are in units in which |x̃| ≤ 1."""

    columns: Columns
    y: Floats
    cost: Floats
    is_hinge: bool
    units: Floats
    price: Floats
    at: Point
    bare: "Half"
    full: "Half"
    dual: "Half"
    bound: "Half"
    left: list[float] = field(default_factory=list)
    is_broken: bool = False

    @classmethod
    def of(cls, columns: Columns, y: Floats, cost: Floats, is_hinge: bool) -> "L1Interior":
        """Begin with α in the middle of its box, balanced where the bias is free, and all products alike."""
        columns = replace(columns, matrix=columns.matrix.astype(np.float64, copy=False))
        units = columns.sizes()
        price = columns.price / units
        alpha = 0.5 * cost
        if price[-1] == 0.0:
            alpha *= _balance(cost, y)
        mu = TUNING.far_inside * float(alpha.mean())
        has_price = price > 0.0
        s = np.tile(np.where(has_price, price + np.abs(columns.sums(alpha * y) / units), 1.0), (2, 1))
        xi = mu / (cost - alpha) if is_hinge else alpha / (2.0 * cost)
        at = Point(alpha, s, np.where(has_price, mu / s, 0.0), mu / alpha, xi, 0.0)
        zero = Half(float(cost.sum()), np.zeros(len(price)))
        nothing = Half(0.0, np.zeros(len(y)))
        return cls(columns, y, cost, is_hinge, units, price, at, zero, zero, nothing, nothing)

    @staticmethod
    def work(columns: Columns, n: int) -> float:
        """What it will cost, in entries passed over, some nanoseconds each: what others may cost before it is the better way."""
        return TUNING.steps_inside * work_of(n, len(columns.price), columns.n_values)

    @property
    def gap(self) -> float:
        """The relative gap of the best weights that have zeros."""
        return (self.bare.value - self.dual.value) / self.bare.value

    @property
    def w(self) -> Floats:
        """The best weights that have zeros, in the data's units and with that of the bias behind them."""
        return self.bare.at / self.units

    @property
    def full_w(self) -> Floats:
        """The best weights; none of them need be zero."""
        return self.full.at / self.units

    def alpha(self, tol: float) -> Floats:
        """The best dual point that has samples at their bounds if that is good enough, else the best of all."""
        return (self.bound if self.bare.value - self.bound.value <= tol * self.bare.value else self.dual).at

    def guess(self) -> tuple[Floats, Floats]:
        """The last weights and the last dual point, what is on its way to a bound at that bound: who takes part in the corner."""
        return self._bare() / self.units, self._bound()

    @property
    def has_stalled(self) -> bool:
        """Whether the gap has ceased to fall, or the arithmetic has ended."""
        left, idle = self.left, TUNING.patience
        return self.is_broken or (len(left) > idle and min(left[-idle:]) > 0.9 * min(left[:-idle]))

    def step(self) -> None:
        """Predict, correct, go; keep what is better than before."""
        with deferred_interrupt(), np.errstate(all="ignore"):  # what is not finite ends it
            new = self._ahead()
            self.is_broken = not all(np.isfinite(value).all() for value in new)
            if not self.is_broken:
                self.at = new
                self._keep()
            left = (self.full.value - self.dual.value) / self.full.value
            self.left.append(left * self._products(self.at).total)

    def _ahead(self) -> Point:
        """The next point."""
        at, left = self.at, self.cost - self.at.alpha
        bend = at.xi / left if self.is_hinge else 0.5 / self.cost
        theta = (at.w / at.s).sum(axis=0)
        equations = Equations.of(self.columns, self.y, self.units, self.price, theta, at.v / at.alpha + bend)
        products = self._products(at)
        mu = products.total / self._count
        guess = self._direction(equations, bend, Products(*(-value for value in products)), 0.1 * mu)
        target = mu * (self._products(at.moved(guess, *self._lengths(guess))).total / products.total) ** 3
        wanted = Products(
            np.where(self.price > 0.0, target - products.s_w - guess.s * guess.w, 0.0),
            target - products.alpha_v - guess.alpha * guess.v,
            target - products.left_xi + guess.alpha * guess.xi if self.is_hinge else products.left_xi,
        )
        way = self._direction(equations, bend, wanted, 0.1 * min(mu, max(target, 0.01 * mu)))
        dual, primal = self._lengths(way)
        return at.moved(way, min(1.0, TUNING.short_of * dual), min(1.0, TUNING.short_of * primal))

    @property
    def _count(self) -> int:
        return 2 * int((self.price > 0.0).sum()) + len(self.y) * (2 if self.is_hinge else 1)

    def _products(self, at: Point) -> Products:
        left_xi = (self.cost - at.alpha) * at.xi if self.is_hinge else np.zeros(1)
        return Products(at.s * at.w, at.alpha * at.v, left_xi)

    def _direction(self, equations: Equations, bend: Floats, wanted: Products, slack: float) -> Point:
        """How the variables change for the products to change as wanted, to first order, and the constraints to hold.

        `slack`: what a product αv may miss by.
        """
        at, price = self.at, self.price
        w = self._net(at)
        row_misses = self.y * self._scores(w) - 1.0 + at.xi - at.v
        u = self._sums(at.alpha)
        column_misses = np.where(price > 0.0, price - SIGN * u - at.s, 0.0)
        rho = (SIGN * (wanted.s_w - at.w * column_misses) / at.s).sum(axis=0)
        xi = wanted.left_xi / (self.cost - at.alpha) if self.is_hinge else at.alpha / (2.0 * self.cost) - at.xi
        right = wanted.alpha_v / at.alpha - xi - row_misses
        answer = equations.solve(rho, right, float(u[-1]) if price[-1] == 0.0 else 0.0, slack / at.alpha)
        s = column_misses - np.where(price > 0.0, SIGN * answer.u, 0.0)
        xi = xi + bend * answer.alpha
        v = self.y * self._scores(answer.w) + xi + row_misses
        b = float(answer.w[-1]) if price[-1] == 0.0 else 0.0
        return Point(answer.alpha, s, (wanted.s_w - at.w * s) / at.s, v, xi, b)

    def _lengths(self, way: Point) -> tuple[float, float]:
        """(Dual, primal): how far to the boundary. The squared hinge ties ξ to α, and goes as far in both."""
        at = self.at
        dual = min(_longest(at.alpha, way.alpha), _longest(at.s, way.s))
        primal = min(_longest(at.w, way.w), _longest(at.v, way.v))
        if self.is_hinge:
            return min(dual, _longest(self.cost - at.alpha, -way.alpha)), min(primal, _longest(at.xi, way.xi))
        return min(dual, primal), min(dual, primal)

    def _net(self, at: Point) -> Floats:
        w: Floats = at.w[0] - at.w[1]
        if self.price[-1] == 0.0:
            w[-1] = at.b
        return w

    def _scores(self, w: Floats) -> Floats:
        return self.columns.all_scores(w / self.units)

    def _sums(self, alpha: Floats) -> Floats:
        return self.columns.sums(alpha * self.y) / self.units

    def _keep(self) -> None:
        full, bare = self._net(self.at), self._bare()
        self.full = min(self.full, Half(self._primal(full), full), key=lambda half: half.value)
        self.bare = min(self.bare, Half(self._primal(bare), bare), key=lambda half: half.value)
        self.bound = max(self.bound, self._dual(self._bound()), key=lambda half: half.value)
        self.dual = max(self.dual, self.bound, self._dual(self.at.alpha), key=lambda half: half.value)

    def _bare(self) -> Floats:
        """The weights with those on their way to zero at zero: smaller by the largest weight than their slack by the price."""
        w = self._net(self.at)
        vanishes = np.abs(w) * self.price <= float(np.abs(w).max(initial=0.0)) * self.at.s.min(axis=0)
        return np.where(vanishes & (self.price > 0.0), 0.0, w)

    def _primal(self, w: Floats) -> float:
        m = np.maximum(1.0 - self.y * self._scores(w), 0.0)
        return float(self.price @ np.abs(w) + self.cost @ (m if self.is_hinge else m * m))

    def _dual(self, alpha: Floats) -> Half:
        """D of α balanced, where the bias is free, and scaled into the cube."""
        if self.price[-1] == 0.0:
            alpha = alpha * _balance(alpha, self.y)
        alpha = alpha / self.columns.stretch(self.columns.sums(alpha * self.y))
        conjugates = 0.0 if self.is_hinge else float((alpha * alpha / (4.0 * self.cost)).sum())
        return Half(float(alpha.sum()) - conjugates, alpha)

    def _bound(self) -> Floats:
        """α with those on their way to a bound of the box at that bound."""
        at = self.at
        share = at.alpha / self.cost
        alpha = np.where(share < np.minimum(1.0, at.v), 0.0, at.alpha)
        return np.where(1.0 - share < np.minimum(1.0, at.xi), self.cost, alpha) if self.is_hinge else alpha


def _balance(alpha: Floats, y: Floats) -> Floats:
    """Factors ≤ 1 of the samples that make both classes' sums of α the smaller of the two."""
    of_class = np.where(y > 0.0, alpha[y > 0.0].sum(), alpha[y < 0.0].sum())
    factors: Floats = np.divide(of_class.min(), of_class, out=np.zeros_like(of_class), where=of_class > 0.0)
    return factors


def _longest(value: Floats, way: Floats) -> float:
    """The longest step ≤ 1 that leaves no value negative."""
    falls = way < 0.0
    return min(1.0, float((value[falls] / -way[falls]).min(initial=1.0)))
