"""The certificate by reductions: what `certify` computes on one machine, as sums over blocks.

    gap = Σ_j r_j + ½‖w − w(β)‖²,      w(β) = Σ_j β_j x_j summed anew

β lies in its box by construction. Where the bias is free its heavier side is scaled down so that Σβ = 0; what rounding leaves of
the sum is charged to the gap, at |b| (and at least one margin) a unit.
"""

import math
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import numpy as np

from maxmargin.core import Bias, Certificate
from maxmargin.core.certificate import INSIDE, ON, OUTSIDE, TINY, Groups, groups_by
from maxmargin.distributed.messages import Command, Site, Sums
from maxmargin.distributed.steps import built, remember
from maxmargin.distributed.sweeps import commit
from maxmargin.typing import Floats


@dataclass(frozen=True)
class Dual:
    """Which dual point is judged: that of the sweeps, their last move followed by η; or (σ given) that of Newton's weights."""

    plus: float  # factors of the α of each class, which make Σβ zero
    minus: float
    eta: float = 0.0
    round: int = 0
    at: Floats | None = None
    sigma: float | None = None
    version: int = 0

    @classmethod
    def balanced(cls, bias: Bias, total: float, net: float, **which: Any) -> "Dual":
        """Scaled so that Σβ = 0 where the bias is free, given Σα and Σβ."""
        plus, minus = 0.5 * (total + net), 0.5 * (total - net)
        if not bias.is_free or min(plus, minus) <= 0.0:
            scale = 0.0 if bias.is_free else 1.0
            return cls(scale, scale, **which)
        return cls(min(1.0, minus / plus), min(1.0, plus / minus), **which)


@dataclass(frozen=True)
class Judge(Command):
    """The terms of the certificate of (w, b) with a dual point, for each of several b; kkt and groups for the first of them."""

    w: Floats
    biases: Floats
    dual: Dual

    def visit(self, site: Site, shared: dict[str, Any]) -> Sums:
        """The terms of one partition."""
        alpha, is_fresh = self._alpha(site)
        y, cost, loss, on = site.y, site.cost, site.loss, site.present
        alpha = alpha * np.where(y > 0, self.dual.plus, self.dual.minus)
        made = np.zeros(len(self.w) + 1)
        used = np.flatnonzero(alpha)
        site.rows.add(used, (alpha * y)[used], 1.0, made)
        f = site.rows.signed_scores(y, np.append(self.w, 0.0), 0.0)[on]
        y, cost, alpha = y[on], cost[on], alpha[on]
        losses, residuals = np.empty(len(self.biases)), np.empty(len(self.biases))
        for i, b in enumerate(self.biases):
            z = f + y * b
            losses[i] = cost @ loss.value(z)
            residuals[i] = loss.residual(1.0 - z, alpha, cost).sum()
        z = f + y * self.biases[0]
        group = np.bincount(groups_by(loss, cost, alpha), minlength=4)
        return Sums(
            {
                "made": made,
                "losses": losses,
                "residuals": residuals,
                "gain": float(alpha.sum() - loss.dual_penalty(alpha, cost).sum()),
                "groups": group[[OUTSIDE, ON, INSIDE]],
            },
            least={"closest": float(z.min(initial=np.inf))},
            most={"violation": float(loss.kkt_violation(1.0 - z, alpha, cost).max(initial=0.0))},
            is_fresh=is_fresh,
        )

    def _alpha(self, site: Site) -> tuple[Floats, bool]:
        memory, dual = site.memory, self.dual
        if dual.sigma is None:
            is_fresh = commit(memory, len(site.y), dual.round, dual.eta)
            assert memory.alpha is not None
            return np.clip(memory.alpha, 0.0, site.loss.upper(site.cost)), is_fresh
        assert dual.at is not None
        is_fresh, smooth = memory.centre is None, memory.smooth
        if smooth is None or memory.version != dual.version:
            smooth = built(site, dual.at, dual.sigma, None)
            remember(site, smooth, dual.version)
        return site.cost * np.clip(smooth.theta, 0.0, smooth.top), is_fresh


def judge(
    w: Floats, biases: Floats, dual: Dual, bias: Bias
) -> Generator[Command, Sums, tuple[float, Certificate | None]]:
    """(b, certificate) of the best of some biases; None where a block had lost its dual variables."""
    sums = yield Judge(w, biases, dual)
    at = int(np.argmin(sums["losses"] + _bias_penalty(bias, biases)))
    if at > 0:
        biases = biases[[at]]
        sums = yield Judge(w, biases, dual)
        at = 0
    if sums.is_fresh:
        return float(biases[0]), None
    return float(biases[0]), certificate_of(w, float(biases[0]), bias, sums)


def certificate_of(w: Floats, b: float, bias: Bias, sums: Sums) -> Certificate:
    """The numbers that the sums prove."""
    made, net = sums["made"][:-1], float(sums["made"][-1])
    constant = b / bias.scale if bias.kind == "penalized" else 0.0
    apart = float((w - made) @ (w - made)) + (constant - bias.scale * net) ** 2
    primal = 0.5 * (float(w @ w) + constant**2) + float(sums["losses"][0])
    dual = float(sums["gain"]) - 0.5 * (float(made @ made) + (bias.scale * net) ** 2)
    gap = float(sums["residuals"][0]) + 0.5 * apart + (abs(net) * max(1.0, abs(b)) if bias.is_free else 0.0)
    norm, closest = math.sqrt(float(w @ w)), sums.least["closest"]
    return Certificate(
        primal=primal,
        dual=dual,
        gap=gap,
        relative_gap=gap / max(abs(primal), abs(dual), TINY) if math.isfinite(gap) else math.inf,
        kkt_violation=sums.most["violation"],
        groups=Groups(*(int(count) for count in sums["groups"])),
        margin=closest / norm if norm > 0 else math.nan,
        distance=math.sqrt(apart),
    )


def _bias_penalty(bias: Bias, biases: Floats) -> Floats:
    return 0.5 * (biases / bias.scale) ** 2 if bias.kind == "penalized" else np.zeros(len(biases))
