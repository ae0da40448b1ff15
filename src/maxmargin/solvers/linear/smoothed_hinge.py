"""The smoothed problem of one proximal round, with its Newton step: what `ProximalNewton` solves again and again.

In its notation,

    min_w̃ ½w̃ᵀΛw̃ + τb + Σ c_j ℓ_σ(z_j),    θ_j = −ℓ_σ'(z_j) = clip(θ⁰_j + σ(r_j − z_j), 0, 1),    z_j = y_j F_j
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from maxmargin.core import Bias, Hinge, Loss
from maxmargin.solvers.linear import normal_equations as equations
from maxmargin.solvers.linear.normal_equations import Equations
from maxmargin.solvers.linear.rows import PIECE_VALUES, Rows
from maxmargin.threads import in_pieces
from maxmargin.typing import Floats


class Part(NamedTuple):
    """Some samples: their rows, labels, costs and targets (None: all 1); and τ, which their β are to sum up to."""

    rows: Rows
    y: Floats
    cost: Floats
    target: Floats | None = None
    total: float = 0.0


class SmoothedSums(ABC):
    """What Newton's method reads of a smoothed problem: the weights, and sums over samples, wherever these are."""

    top: float  # the upper bound of θ
    ridge: Floats  # Λ
    total: float  # τ
    sigma: float
    w: Floats
    residual: float  # Σ of the samples' shares of the gap
    loss: float
    gain: float  # what the last step promised, at half its slope

    @property
    @abstractmethod
    def gradient(self) -> Floats:
        """Λw̃ − Σ c_j θ_j y_j x̃_j, and τ behind it."""

    @abstractmethod
    def respond(self) -> None:
        """Set θ for the present weights, and bring the sums up to date."""

    @abstractmethod
    def next_round(self, growth: float) -> None:
        """Move the centre to θ and sharpen the corner; the bent samples keep their linear model for the first step."""

    @abstractmethod
    def newton_step(self, is_over: Callable[[], bool]) -> bool:
        """Move w to the best point along Newton's direction; False where there is none."""

    @property
    def primal(self) -> float:
        """P(w, b)."""
        return 0.5 * float((self.ridge * self.w) @ self.w) + self.loss + self.total * float(self.w[-1])

    @property
    def apart(self) -> float:
        """What keeps θ from being a dual point of w: ½‖w − w(cθ)‖², and the imbalance Σβ − τ where the bias is free."""
        g = self.gradient
        imbalance = abs(float(g[-1])) if self.ridge[-1] == 0.0 else 0.0
        with np.errstate(over="ignore"):  # far from the optimum, of costs near the end of float64's range
            return 0.5 * float((self.ridge * g) @ g) + imbalance

    @property
    def gap(self) -> float:
        """The relative gap of w and θ."""
        gap, primal = self.residual + self.apart, self.primal
        return gap / max(abs(primal), abs(primal - gap), np.finfo(float).tiny)


class Smoothed(SmoothedSums):
    """The smoothed problem over some rows, at the present weights.

    It begins at weights w, with θ where the scores put it; a smooth loss has its own σ and centre. `by` solves the equations.
    """

    def __init__(
        self, loss: Loss, bias: Bias, part: Part, w: Floats, sigma: float, centre: Floats, by: type[Equations] | None = None
    ) -> None:
        (n, d), is_hinge = part.rows.shape, isinstance(loss, Hinge)
        self.rows, self.y, self.cost, self.total, self.w = part.rows, part.y, part.cost, part.total, w
        self.target = np.ones(n) if part.target is None else part.target
        self.ridge, self.constant = ridge_of(bias, d), constant_of(bias)
        self.top, self.sigma = corner_of(loss, sigma)
        self.z = self.rows.signed_scores(self.y, w, self.constant * w[d])
        self.centre = centre if is_hinge else np.zeros(n)  # θ⁰
        self.base, self.theta, self.bent = np.empty(n), np.zeros(n), np.zeros(n, dtype=np.bool_)
        self.made = np.zeros(d + 1)  # Σ c_j θ_j y_j x̃_j
        if by is None:
            by = equations.Factored if d <= equations.TUNING.factored else equations.Iterated
        self.equations = by(self.rows, self.cost, self.constant, self.ridge)
        self.n_bent = self.most_bent = 0
        self.gain = np.inf
        self.respond()

    def respond(self, *, keep: bool = False) -> None:
        """Set θ for the present scores, and bring the sums up to date; `keep`: as the bent samples' linear model has it."""
        from maxmargin._loops.linear.proximal_newton import respond

        n = len(self.y)
        moved, turned, change = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n)

        def piece(begin: int, end: int) -> tuple[int, int, int, int, float, float]:
            return respond(  # type: ignore[no-any-return]
                self.centre, self.sigma, self.z, self.target, self.cost, self.top, keep, begin, end,
                self.base, self.theta, self.bent, moved, change, turned,
            )  # fmt: skip

        pieces = in_pieces(piece, n, self.rows.n_threads, self.rows.least_rows())
        self.n_bent, self.residual, self.loss = map(sum, list(zip(*pieces, strict=True))[3:])
        self.most_bent = max(self.most_bent, self.n_bent)
        change = np.concatenate([change[begin : begin + count] for begin, count, *_ in pieces])
        moved = np.concatenate([moved[begin : begin + count] for begin, count, *_ in pieces])
        turned = np.concatenate([turned[begin : begin + count] for begin, _, count, *_ in pieces])
        self.rows.add(moved, change * self.y[moved], self.constant, self.made)
        samples = np.where(turned < 0, ~turned, turned)
        self.equations.turn(samples, np.where(turned < 0, -1.0, 1.0) * self.cost[samples])

    def bend_all(self) -> None:
        """Count all samples as bent: from w = 0 the next step is then that of least squares."""
        straight = np.flatnonzero(~self.bent)
        self.equations.turn(straight, self.cost[straight])
        self.bent[:] = True

    def next_round(self, growth: float) -> None:
        """Move the centre to θ and sharpen the corner; the bent samples keep their linear model for the first step."""
        self.centre = np.clip(self.theta, 0.0, self.top)
        self.sigma *= growth
        if 4 * self.n_bent < self.most_bent:  # the sums have lost digits to samples that are no longer in them
            self.most_bent, self.made[:] = 0, 0.0
            self.equations.forget()
            used, bent = np.flatnonzero(self.theta), np.flatnonzero(self.bent)
            self.rows.add(used, (self.y * self.cost * self.theta)[used], self.constant, self.made)
            self.equations.turn(bent, self.cost[bent])
        self.respond(keep=True)

    def fall(self, dz: Floats, t: float) -> float:
        """Σ c_j θ_j dz_j after a step t along dz: how fast the losses fall there."""
        from maxmargin._loops.linear.proximal_newton import fall

        def piece(begin: int, end: int) -> float:
            return float(fall(self.base, dz, self.cost, self.sigma, t, self.top, begin, end))

        return sum(in_pieces(piece, len(dz), self.rows.n_threads, PIECE_VALUES // 3))  # three numbers a sample

    @property
    def gradient(self) -> Floats:
        """Λw̃ − Σ c_j θ_j y_j x̃_j, and τ behind it."""
        gradient = self.ridge * self.w - self.made
        gradient[-1] += self.total
        return np.asarray(gradient)

    def newton_step(self, is_over: Callable[[], bool]) -> bool:
        """Move w to the best point along Newton's direction; False where there is none."""
        direction = self.equations.solve(-self.gradient, self.sigma, self.bent, is_over)
        if direction is None:
            return False
        dz = self.rows.signed_scores(self.y, direction, self.constant * direction[-1])
        t = self._search(direction, dz)
        self.w = self.w + t * direction
        self.z += t * dz
        return t > 0.0

    def _search(self, direction: Floats, dz: Floats) -> float:
        """The step t ∈ (0, 1] that makes the slope small (regula falsi); 0 where the direction does not lead down."""
        flat, bend = float((self.ridge * self.w) @ direction), float((self.ridge * direction) @ direction)
        flat += self.total * float(direction[-1])

        def slope(t: float) -> float:
            return flat + t * bend - self.fall(dz, t)

        steep = slope(0.0)
        self.gain = -0.5 * steep
        if not steep < 0.0:
            return 0.0
        at_high = slope(1.0)
        enough = -equations.TUNING.inexact * steep
        return 1.0 if at_high <= enough else flat_point(slope, (0.0, 1.0), (steep, at_high), enough)


def flat_point(slope: Callable[[float], float], ends: Iterable[float], at_ends: Iterable[float], enough: float) -> float:
    """Where the slope is at most `enough`, between a step that ends downhill and one that ends uphill (regula falsi)."""
    (low, high), (at_low, at_high), was = ends, at_ends, np.nan
    for _ in range(60):
        t = (low * at_high - high * at_low) / (at_high - at_low)
        here = slope(t)
        if abs(here) <= enough or not low < t < high:
            break
        # Illinois: an end that stays twice loses half of its weight.
        if here > 0.0:
            at_low *= 0.5 if at_high == was else 1.0
            high, at_high = t, here
        else:
            at_high *= 0.5 if at_low == was else 1.0
            low, at_low = t, here
        was = here
    return t


def corner_of(loss: Loss, sigma: float) -> tuple[float, float]:
    """(The upper bound of θ, σ): the squared hinge is smooth already, and its σ is its second derivative."""
    return (1.0, sigma) if isinstance(loss, Hinge) else (np.inf, 2.0)


def ridge_of(bias: Bias, d: int) -> Floats:
    """The diagonal of Λ: ones, and behind them a zero for a free bias."""
    ridge = np.ones(d + 1)
    ridge[d] = 0.0 if bias.is_free else 1.0
    return ridge


def constant_of(bias: Bias) -> float:
    """The constant feature that the bias is the weight of; 0: none."""
    return 1.0 if bias.is_free else bias.scale
