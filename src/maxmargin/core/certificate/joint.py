"""The certificate of a joint problem: what its samples and its weights add to the gap, bounded from above.

    P(W, b) − D(β) = Σ_j R_j + ½ Σ_m ‖w_m − w_m(β)‖²,     R_j = Σ_m η_jm (max_l G_jl − G_jm) ≥ 0,     G_jm = e_jm + F_m(x_j)

for any W, b and any η ≥ 0 with Σ_m η_jm = c_j, which is β_j^m = c_j [m = y_j] − η_jm; and with Σ_j β_j^m = 0 where the biases are
free. What is stored are the η of the wrong classes; that of the class of the sample is the exact rest of c_j.

Two things may keep the stored numbers from being such a point by rounding, and both are charged. The η of a sample may exceed c_j
together: they are multiplied by a factor a few roundings below 1. The columns may not add up to 0: what class m has too much,
|r|, is moved in one sample from class to class, which changes R_j by |r||G_jl − G_jm| and W(β) by √2|r|‖x_j‖.
"""

import math
from typing import NamedTuple

import numpy as np

from maxmargin.core import products
from maxmargin.core.candidate import Candidate
from maxmargin.core.certificate.pairs import Pair, weigh
from maxmargin.core.certificate.parts import BLOCK_SAMPLES, INSIDE, ON, OUTSIDE, TINY, Groups
from maxmargin.core.joint import JointProblem
from maxmargin.rounding import UNIT, exact_sum, gamma, length_above, raised, sum_above
from maxmargin.typing import Floats, Indices


class Judged(NamedTuple):
    """The sums over all samples, the pair of W and W(β), and what balanced columns cost: see `_loops.certificate.assemble`."""

    residual: float
    plain: float
    loss: float
    loss_below: float
    gain: float
    violation: float
    groups: Groups
    pair: Pair
    charge: float = 0.0
    lost: float = 0.0
    moved: float = 0.0


class _Slacks(NamedTuple):
    """G of samples as computed, (n, k), and bounds of their errors."""

    values: Floats
    error: Floats

    def behind(self) -> tuple[Floats, Floats]:
        """max_l G_jl − G_jm for each class, as computed and from above; 0 where no other class can be ahead."""
        plain = self.values.max(axis=1, keepdims=True) - self.values
        reach = self.error + 4.0 * UNIT * (np.abs(self.values) + self.error)  # value ± error rounds too
        high = self.values + reach
        two = np.partition(high, -2, axis=1)[:, -2:]
        of_others = np.where(np.arange(high.shape[1]) == high.argmax(axis=1)[:, np.newaxis], two[:, :1], two[:, 1:])
        return plain, np.maximum(of_others - (self.values - reach), 0.0) * (1.0 + 4.0 * UNIT)


def judged(problem: JointProblem, candidate: Candidate) -> Judged:
    """Judge a candidate from the data alone: β is made feasible first. Cost: two products of the data with k columns."""
    shares, n, k = problem.shares(candidate.beta), problem.n, problem.n_classes
    total = shares.sum(axis=1)
    is_split = np.count_nonzero(shares, axis=1) > 1
    rounded = np.where(is_split, gamma(k + 2) * total, 0.0)  # of the sum that is β of the sample's class
    trimmed = np.where(is_split & (total + rounded > problem.cost), 2.0 * rounded, 0.0)
    sums, behind_spare = np.zeros(6), np.zeros((n, k) if problem.bias.is_free else (0, 0))
    groups = np.zeros(3, dtype=np.intp)
    lengths = problem.lengths
    for start in range(0, n, BLOCK_SAMPLES):
        at = slice(start, start + BLOCK_SAMPLES)
        behind = _add(problem, candidate, np.arange(n)[at], shares[at], total[at], sums, groups)
        if problem.bias.is_free:
            behind_spare[at] = behind
    residual, plain, losses, below, size, violation = sums.tolist()
    lost = 4.0 * n * k * TINY
    pair = _pair(problem, candidate, shares, float(raised((rounded + 2.0 * trimmed) @ lengths, n)))
    found = Judged(
        residual=raised(residual, n * k) + lost,
        plain=plain,
        loss=raised(losses, n + 4) + lost,
        loss_below=below * (1.0 - gamma(n + 4)),
        gain=size * (1.0 - gamma(n * k + 4)) - sum_above(trimmed),
        violation=violation,
        groups=Groups(*groups.tolist()),
        pair=pair,
    )
    if not problem.bias.is_free:
        return found
    charge, lost, moved = _price_of_balance(problem, shares, behind_spare, sum_above(trimmed), pair)
    return found._replace(charge=charge, lost=lost, moved=moved)


def _add(
    problem: JointProblem, candidate: Candidate, on: Indices, shares: Floats, total: Floats, sums: Floats, groups: Indices
) -> Floats:
    """Add what samples `on` have to the sums and the groups; returns by how much each class may be behind the first one."""
    X, cost, labels = problem.X[on[0] : on[-1] + 1], problem.cost[on], problem.labels[on]
    b, everybody = np.asarray(candidate.b), np.arange(len(on))
    f = products.scores(X, candidate.w.T)
    terms, lengths = products.entries(X), problem.lengths[on]
    error = np.array([products.product_errors(terms, lengths, length_above(w)) for w in candidate.w]).T
    F = f + b
    wrong = np.ones_like(F)
    wrong[everybody, labels] = 0.0
    G = F + wrong
    slacks = _Slacks(G, (error + UNIT * (np.abs(F) + np.abs(G))) * (1.0 + 8.0 * UNIT))
    plain, behind = slacks.behind()
    full = shares.copy()
    full[everybody, labels] = np.maximum(cost - total, 0.0) * (1.0 + 4.0 * UNIT) + gamma(shares.shape[1] + 2) * total
    own, reach = plain[everybody, labels], behind[everybody, labels]
    least = np.maximum(2.0 * own - reach - 8.0 * UNIT * np.abs(G).max(axis=1), 0.0)  # errors are the same on both sides
    sums[0] += float((full * behind).sum()) * (1.0 + 4.0 * UNIT)
    sums[1] += float((full * plain).sum())
    sums[2] += float(cost @ reach) * (1.0 + 4.0 * UNIT)
    sums[3] += float(cost @ least) * (1.0 - 4.0 * UNIT)
    sums[4] += float(shares.sum())
    counts = cost > 0.0
    part = full[counts] / cost[counts, np.newaxis]
    sums[5] = max(float(sums[5]), float(np.minimum(plain[counts], part).max(initial=0.0)))
    is_inside, is_outside = total[counts] >= cost[counts] * (1.0 - 1e-12), total[counts] == 0.0
    groups[OUTSIDE] += np.count_nonzero(is_outside)
    groups[INSIDE] += np.count_nonzero(is_inside)
    groups[ON] += np.count_nonzero(~is_outside & ~is_inside)
    return behind


def _pair(problem: JointProblem, candidate: Candidate, shares: Floats, slip: float) -> Pair:
    """Of all weights and what β makes of the data, one class after the other; `slip` is what β itself errs by, times ‖x‖."""
    beta, s = problem.signed(shares), problem.bias.scale
    made, sizes = problem.combine(beta), np.abs(beta)
    bulk = sum_above(sizes.sum(axis=1) * problem.lengths)  # ‖Σ_j γ|β_j||x_j|‖ ≤ γ Σ_j ‖β_j‖₁‖x_j‖
    lost = 8.0 * (problem.n + 1) * math.sqrt(made.size) * TINY
    error = raised(float(gamma(problem.n + 2)) * raised(bulk, 8) + 2.0 * slip + lost, 4)
    w, w_error = candidate.w.ravel(), 0.0
    vector = made.ravel()
    if problem.bias.kind == "penalized":
        own = np.asarray(candidate.b) / s
        w, w_error = np.append(w, own), 4.0 * UNIT * length_above(own)
        columns = s * float(sizes.sum())
        error = raised(error + (gamma(problem.n + 4) + 4.0 * gamma(problem.n_classes + 2)) * columns, 8)
        vector = np.append(vector, s * beta.sum(axis=0))
    return weigh(w, vector, error, w_error)


def _price_of_balance(
    problem: JointProblem, shares: Floats, behind: Floats, trimmed: float, pair: Pair
) -> tuple[float, float, float]:
    """(what is added to the gap, taken from D, how far W(β) moves) where what a class has too much is moved, sample by sample.

    Class m gives to the class with the most η, or takes from it. A sample gives η of one class to another, so it needs that much;
    all the moves together never need more than each giving sample has.
    """
    labels, k = problem.labels, problem.n_classes
    rest = np.array([_column(shares, labels, m) for m in range(k)])
    apart = np.abs(rest) * (1.0 + 4.0 * UNIT) + 2.0 * trimmed
    if not apart.any():
        return 0.0, 0.0, 0.0
    full, everybody = shares.copy(), np.arange(problem.n)
    total = shares.sum(axis=1)
    full[everybody, labels] = np.maximum(problem.cost - total - gamma(k + 8) * (problem.cost + total), 0.0)
    givers = full.argmax(axis=0)
    hub = int(full[givers, np.arange(k)].argmax())
    needed = float(apart.sum()) * 2.0
    charge = moved = 0.0
    for m in np.flatnonzero(apart > 0.0).tolist():
        if m == hub:
            continue
        # β of class m falls by r where r > 0: its η grows, and the hub gives; or else the class itself gives
        ways = [(hub, m), (m, hub)] if abs(rest[m]) <= 2.0 * trimmed else [(hub, m) if rest[m] > 0.0 else (m, hub)]
        at = [(int(givers[giving]), giving, taking) for giving, taking in ways]
        if any(full[j, giving] < needed for j, giving, _ in at):
            return math.inf, math.inf, math.inf
        charge += float(apart[m]) * max(float(behind[j, taking]) for j, _, taking in at)
        moved += math.sqrt(2.0) * float(apart[m]) * max(float(problem.lengths[j]) for j, _, _ in at)
    charge = raised(charge + moved * pair.distance + 0.5 * moved * moved, 4 * k)
    lost = raised(float(apart.sum()) + moved * math.sqrt(2.0 * pair.conjugate) + 0.5 * moved * moved, 4 * k)
    return charge, lost, raised(moved, 4 * k)


def _column(shares: Floats, labels: Indices, m: int) -> float:
    """Σ_j β_j^m, rounded once."""
    terms = np.append(shares[labels == m].ravel(), -shares[labels != m, m])
    return exact_sum(terms[terms != 0.0])
