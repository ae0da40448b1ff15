"""The last digits: Newton on the samples that lie on the margin.

Once it is known which α are 0, which are c and which are free, the optimality conditions are linear:

    K_FF δ + D δ + b = t_F − (Kβ)_F − Dβ_F        Σ(β + δ) = τ (free bias)

solved by least squares (K_FF may be singular) and repeated with fresh residuals, so that the error of a round is the
rounding of its residual and not of its matrix. A round is kept only if the certificate improves.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import scipy.linalg
import scipy.optimize

from maxmargin.core import L1, Candidate, Hinge, Problem, certify, products, to_candidate
from maxmargin.core.bias import weighted_quantiles
from maxmargin.core.candidate import box
from maxmargin.core.certificate.scores import scored, scores
from maxmargin.core.products import combine_twice, dense_rows
from maxmargin.rounding import UNIT, exact_sum
from maxmargin.typing import Floats, Indices


@dataclass(frozen=True)
class RefineTuning:
    """How much the last digits may cost, and what is still a last digit."""

    free: int = 1200
    """Free samples up to which their equations are solved, O(free³) a round. Their rows, made dense, may have as many values as
    the matrix of these equations."""

    small: int = 50_000
    """Values of X up to which the last digits cost nothing worth mentioning, whatever the tolerance. Chosen by hand."""

    slight: float = 0.1
    """Slack up to which a candidate may be stretched: ½‖w‖² grows by twice as much, relatively."""


REFINE = RefineTuning()


def refine(problem: Problem, candidate: Candidate, tol: float = 0.0) -> Candidate:
    """The candidate, or a better one with the same support; costs O(free³) a round.

    Each way to improve it is repeated while it halves the gap, until little but rounding is left. The others follow Newton's only
    while the gap is above `tol`.
    """
    if problem.groups is not None:
        return candidate
    best = scored(problem, candidate, tol) if tol > 0.0 else candidate
    best_gap = certify(problem, best, best.scores, tol=tol).relative_gap
    farther = (
        *(straighten, to_kink, partial(straighten, errors=2.0), outward, partial(outward, errors=2.0)),
        partial(straighten_rounded, tol=tol),
    )
    for improve in (_newton_round, *farther):
        has_halved = True
        while has_halved:
            trial = improve(problem, best)
            gap = certify(problem, trial).relative_gap
            has_halved = gap < 0.5 * best_gap
            if gap < best_gap:
                best, best_gap = trial, gap
        if best_gap <= max(tol, 64.0 * UNIT):
            break
    return best


def _newton_round(problem: Problem, candidate: Candidate) -> Candidate:
    """Put the clear cases on their bounds and solve for the free ones."""
    snapped, free = snap(problem, candidate)
    if 0 < len(free) <= REFINE.free:
        snapped = newton(problem, snapped, candidate.b, free)
    return to_candidate(problem, snapped)


def straighten(problem: Problem, candidate: Candidate, errors: float = 0.0) -> Candidate:
    """A linear candidate whose w (for L1: what of it is not 0) is corrected so that its free samples lie on the margin.

    Large β that cancel leave digits of w behind in the sum Σβ_jx_j. The shortest δ with ⟨w + δ, x_j⟩ + b = y_j on the margin
    brings them back; what it costs, ½‖δ‖², is part of the gap. With `errors` each sample is to lie outside by so many times the
    bound of its own error: rows far from the origin err most, and δ reaches them at little cost.
    """
    _, free = snap(problem, candidate)
    if not (problem.is_linear and 0 < len(free) <= REFINE.free and len(free) * problem.X.shape[1] <= REFINE.free**2):
        return candidate
    moves: Any = np.flatnonzero(candidate.w) if isinstance(problem.penalty, L1) else slice(None)
    X = dense_rows(problem.X, problem.row(free))
    aim = problem.t[free]
    if errors and problem.is_classification and not problem.is_hard:
        error = scores(problem, candidate).slack_error + _roundings(problem, candidate)
        aim = aim * (1.0 + errors * error[free])
    missing, X = aim - X @ candidate.w - candidate.b, X[:, moves]
    if problem.bias.is_free:
        X, missing = X - X.mean(axis=0), missing - missing.mean()
    w = candidate.w.copy()
    w[moves] += scipy.linalg.lstsq(X, missing, lapack_driver="gelsy")[0]
    return to_candidate(problem, candidate.beta, w)


def straighten_rounded(problem: Problem, candidate: Candidate, tol: float) -> Candidate:
    """The same as `straighten_dual` for L2, if rounded β can be what keeps Σβ_jx_j away from w."""
    if not problem.is_linear or problem.is_hard or isinstance(problem.penalty, L1):
        return candidate
    used = np.flatnonzero(candidate.beta)
    granularity = UNIT * float(np.abs(candidate.beta[used]) @ problem.lengths[used])
    apart = float(np.linalg.norm(candidate.w - problem.combine(candidate.beta)))
    return straighten_dual(problem, candidate, tol) if 0.0 < apart <= 4.0 * granularity else candidate


def straighten_dual(problem: Problem, candidate: Candidate, tol: float) -> Candidate:
    """A candidate whose β is corrected so that Σβ_jx_j is w (for L1: ±1 where w is not 0), and Σβ is 0 if the bias is free.

    The rounding of large β that cancel breaks this; with L1 what exceeds ±1 scales all of D down. The first correction is the
    smallest one relative to |β|. It rounds too, so the next ones fall more and more on small β, whose digits are finer, at last
    with a smaller safety distance. With L1 samples outside the margin take up the rest. The best result is returned, or the
    candidate itself. Nothing is tried if the gap is at most `tol`.
    """
    best, gap, is_l1 = candidate, certify(problem, candidate, tol=tol).relative_gap, isinstance(problem.penalty, L1)
    used, active = np.flatnonzero(candidate.beta), np.flatnonzero(candidate.w)
    if gap <= tol or not 0 < len(used) * (len(active) + 1) <= REFINE.free**2:
        return candidate
    for errors in (0.0, 2.0) if is_l1 and active.size and isinstance(problem.loss, Hinge) else ():
        trial = straighten(problem, candidate, errors)
        found = certify(problem, trial, tol=tol).relative_gap
        if found < gap:
            best, gap = trial, found
    columns = _pulls(problem, used, active)
    for power, spare in ((1.0, 4.0), (0.0, 4.0), (-1.0, 4.0), (-1.0, 1.0)) if columns.shape[1] else ():
        sizes = np.abs(best.beta[used])
        largest = float(sizes.max() if power > 0.0 else np.sort(sizes)[: columns.shape[1]].max())
        slip = spare * UNIT * largest * float(problem.lengths.max())  # what Σβ may miss by, times the longest row
        aim = np.sign(candidate.w[active]) * max(1.0 - slip, 0.0) if is_l1 else candidate.w[active]
        missing = _missing(problem, best.beta, active, aim)
        shares = np.clip(sizes / sizes.max(), UNIT**2, 1.0) ** power
        rows = (columns * shares[:, None]).T
        lengths = np.linalg.norm(rows, axis=1)
        lengths[lengths == 0.0] = 1.0  # a feature that no β moves: nothing is gained there
        step = scipy.linalg.lstsq(rows / lengths[:, None], missing / lengths, lapack_driver="gelsy")[0] * shares
        beta = best.beta.copy()
        beta[used] += step
        trial = replace(best, beta=np.clip(beta, *box(problem)))
        for each in (trial, _topped_up(problem, trial, active)) if is_l1 else (trial,):
            found = certify(problem, each, tol=tol).relative_gap
            if found < gap:
                best, gap = each, found
        if gap <= tol or not best.beta[used].any():
            break
    return best


def _pulls(problem: Problem, samples: Indices, active: Indices) -> Floats:
    """What a unit of β adds to Σβ_jx_j at the active features, and to Σβ if the bias is free: a row for each sample."""
    columns = dense_rows(problem.X[problem.row(samples)][:, active])
    return np.column_stack((columns, np.ones(len(samples)))) if problem.bias.is_free else columns


def _missing(problem: Problem, beta: Floats, active: Indices, aim: Floats) -> Floats:
    """What Σβ_jx_j lacks of its aim at the active features, and Σβ of 0 if the bias is free."""
    high, low = combine_twice(problem.X, beta, problem.rows)
    missing = aim - high[active] - low[active]
    return np.append(missing, -exact_sum(beta)) if problem.bias.is_free else missing


def _topped_up(problem: Problem, candidate: Candidate, active: Indices) -> Candidate:
    """A candidate whose Σβ_jx_j is brought to the edge of the cube, as far as samples outside the margin can.

    Their β is 0, so small changes are exact and cheap. All of them push outward, which rounded large β cannot guarantee.
    """
    outside = np.flatnonzero((candidate.beta == 0.0) & (problem.cost > 0.0))
    missing = _missing(problem, candidate.beta, active, np.sign(candidate.w[active]) * (1.0 - 64.0 * UNIT))
    if not 0 < len(outside) * len(missing) <= REFINE.free**2:
        return candidate
    pulls = _pulls(problem, outside, active) * problem.y[outside, None]
    sizes = np.linalg.norm(pulls, axis=1)
    sizes[sizes == 0.0] = 1.0
    try:
        amounts, _ = scipy.optimize.nnls((pulls / sizes[:, None]).T, missing)
    except RuntimeError:  # more steps than it allows itself
        return candidate
    beta = candidate.beta.copy()
    beta[outside] = problem.y[outside] * amounts / sizes
    return replace(candidate, beta=np.clip(beta, *box(problem)))


def to_kink(problem: Problem, candidate: Candidate) -> Candidate:
    """A candidate with its free bias at the kink where the slope changes sign, whatever `best_bias` counts as flat.

    Where costs differ by more than 1e12, what is flat beside the largest ones is steep for the others.
    """
    if not (problem.bias.is_free and problem.groups is None and isinstance(problem.loss, Hinge)) or problem.is_hard:
        return candidate
    on = problem.present
    y, cost = problem.y[on], problem.cost[on]
    kinks = problem.t[on] - problem.decision(candidate.w)[on]
    balance = float(cost[y > 0].sum()) - problem.total
    return replace(candidate, b=weighted_quantiles(kinks, cost, balance)[0])


def outward(problem: Problem, candidate: Candidate, errors: float = 1.0) -> Candidate:
    """A candidate stretched until samples that rounding alone may put inside the margin are surely not there.

    If a cost is far above its α, a slack of 1e-16 can cost more than ½‖w‖². In a kernel machine β at its bounds cannot be scaled,
    so only the free ones change, until all free samples lie that far out. The new β has errors of the same size as the old, so
    callers try one error, then two.
    """
    factor = stretch(problem, candidate, errors)
    if factor == 1.0:
        return candidate
    if problem.is_linear:
        beta = np.clip(candidate.beta * factor, *box(problem))
        return Candidate(candidate.w * factor, candidate.b * factor, beta)
    snapped, free = snap(problem, candidate)
    if not 0 < len(free) <= REFINE.free:
        return candidate
    farther = replace(problem, target=np.full(problem.n, factor))
    return to_kink(farther, to_candidate(farther, newton(farther, snapped, candidate.b, free)))


def stretch(problem: Problem, candidate: Candidate, errors: float = 1.0) -> float:
    """The margin to reach instead of 1, so that samples lie outside in spite of so many times the bound of their errors."""
    if problem.is_hard or not problem.is_classification:
        return 1.0
    found = scores(problem, candidate)
    reaches = found.slack + errors * found.slack_error
    if problem.is_linear:  # the stretched w and b are rounded once more
        reaches = reaches + _roundings(problem, candidate)
    on = problem.present
    on = on[np.abs(reaches[on]) < REFINE.slight]
    alpha, cost = np.abs(candidate.beta[on]), problem.cost[on]
    # a sample inside by q costs (c − α)q, one outside αq: the best stretch is a quantile of all q
    reach = weighted_quantiles(reaches[on], cost, float((cost - alpha).sum()))[0] if len(on) else 0.0
    return (1.0 + 8.0 * UNIT) / (1.0 - reach) if reach > 0.0 else 1.0


def _roundings(problem: Problem, candidate: Candidate) -> Floats:
    """What the rounding of w and b may change of each decision value: of large features with small weights not much."""
    sizes = products.scores(abs(problem.X), np.abs(candidate.w), problem.rows)
    return np.asarray(2.0 * UNIT * (sizes + abs(candidate.b)))


def snap(problem: Problem, candidate: Candidate) -> tuple[Floats, Indices]:
    """β with its clear cases put on their bounds, and the samples left free.

    A sample whose α is nearer to 0 than its margin is to 1 belongs outside; likewise at the upper bound: complementary
    slackness decides, not a threshold.
    """
    on = problem.present
    y, cost = problem.y[on], problem.cost[on]
    alpha = np.maximum(candidate.beta[on] * y, 0.0)
    beyond = -problem.slack(problem.decision(candidate.w)[on] + candidate.b, on)
    upper = problem.loss.upper(cost)
    capped = np.isfinite(upper)
    largest = max(float(alpha.max()), np.finfo(float).tiny)
    at_zero = alpha / np.minimum(upper, largest) <= beyond
    at_top = capped & ~at_zero & (1.0 - alpha / np.where(capped, upper, 1.0) <= -beyond)
    alpha[at_zero] = 0.0
    alpha[at_top] = upper[at_top]
    beta = np.zeros(problem.n)
    beta[on] = y * alpha
    return beta, on[~at_zero & ~at_top]


def newton(problem: Problem, beta: Floats, b: float, free: Indices) -> Floats:
    """β after one Newton step on the free samples, not yet clipped."""
    K = problem.gram(free, free)
    K[np.diag_indices(len(free))] += problem.loss.dual_diagonal(problem.cost[free])
    given = problem.decision(problem.combine(beta))[free]
    residual = problem.t[free] - given - problem.loss.dual_diagonal(problem.cost[free]) * beta[free]
    if problem.bias.kind == "penalized":
        K += problem.bias.scale**2
        residual -= problem.bias.scale**2 * beta.sum()
    if problem.bias.is_free:
        unit = max(float(np.abs(K).max()), np.finfo(float).tiny)
        ones = np.full((len(free), 1), unit)
        K = np.block([[K, ones], [ones.T, np.zeros((1, 1))]])
        residual = np.append(residual - b, unit * (problem.total - beta.sum()))
    # Symmetric scaling by the diagonal keeps samples of very different length apart.
    length = np.sqrt(np.maximum(np.abs(K).max(axis=0), np.finfo(float).tiny))
    step = scipy.linalg.lstsq(K / np.outer(length, length), residual / length, lapack_driver="gelsy")[0] / length
    out = beta.copy()
    out[free] += step[: len(free)]
    runs_away = not UNIT**2 * np.abs(out).max() <= np.abs(beta).max()  # the system was singular; NaN included
    return beta if runs_away else out
