"""The scores that a certificate needs, as exact as it needs them.

The gap is a sum over samples (MATH: P − D = Σ_j residual_j + ½‖w − w(β)‖²). With the hinge, the residual

    (c − α) max(0, m) + α max(0, −m),     m = 1 − y(f + b)

is 0 whatever f is, as long as α = 0 and m < 0, or α = c and m > 0: most samples. So all f are computed in float32 with a bound of
their error, and in float64 only those whose residual that could change. The values P and D then carry float32's errors of the
others: some 1e-8 of them, up to 1e-5 for large costs or data far from the origin. The gap is not computed from them.

The bound. f = Σ_j β_j k_j in float32 errs by Σ_j β_j k_j η_j with |η_j| ≤ η (see `Expansion`). Rounding errors of different terms
are independent, so that by Hoeffding's inequality the sum exceeds λη(Σ β_j² k_j²)^½ ≤ λη(max|β| Σ|β_j| k_j)^½ with probability
2 exp(−λ²/2); λ = 8. η is a worst case, and errors are about a hundredth of that. So some samples are computed both ways, and
whose residual is open is decided by twenty times the largest share of the bound that was seen among them. (A sample that this
leaves in float32 wrongly changes the gap by its cost times an error that is larger than twenty times those seen, no more.)
"""

import contextlib
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from maxmargin.core.candidate import Candidate
from maxmargin.core.losses import Hinge
from maxmargin.core.problem import Problem
from maxmargin.errors import NotSupportedError
from maxmargin.kernels import Expansion
from maxmargin.kernels.expansion import Rough
from maxmargin.kernels.tiles import row_width
from maxmargin.typing import Flags, Floats

MUCH_WORK, VALUE_WORK = 2e8, 16.0
"""Numbers to multiply up to which float64 costs nothing worth mentioning; a kernel value costs as many beside its features."""

CONFIDENCE = 8.0
"""λ above: one sum in 10¹³ may err by more."""

TRIED, SAFETY = 64, 20.0
"""So many samples, evenly spaced, show how large the errors are; others are granted so many times the largest."""

LEAST_SHARE = 1e-3
"""Of the bound, whatever was seen."""

NEGLIGIBLE = 1e-10
"""What float32 may change the gap by, as a share of the objective."""


class Scores(NamedTuple):
    """f_j for each sample, and by how much any of them may err that was left in float32."""

    values: Floats
    error: float = 0.0


def scores(problem: Problem, candidate: Candidate, n_threads: int = 1) -> Scores:
    """f_j = ⟨w, φ(x_j)⟩ for each sample; in float64 wherever the gap depends on more than its rough size.

    Cost: O(nnz), or n × (support vectors) kernel values. The same bits for any number of threads.
    """
    used = np.flatnonzero(candidate.w)
    work = problem.n * len(used) * (row_width(problem.X) + VALUE_WORK)
    if problem.is_linear or work <= MUCH_WORK or not isinstance(problem.loss, Hinge) or problem.is_hard:
        return Scores(problem.decision(candidate.w, n_threads))
    expansion = problem.expansion(used, candidate.w[used])
    if not expansion.has_bound:
        return Scores(problem.decision(candidate.w, n_threads))
    largest = float(np.abs(candidate.w).max())
    f, bound = np.empty(problem.n), np.empty(problem.n)
    for at, rough in _rough(problem, expansion, n_threads):
        f[at] = rough.sums[0, 0]
        bound[at] = CONFIDENCE * rough.relative[0] * np.sqrt(largest * rough.sizes[0])
    again = _open_samples(problem, candidate, f, bound * _share_seen(problem, expansion, f, bound, n_threads))
    if 2 * np.count_nonzero(again) > problem.n:
        return Scores(problem.decision(candidate.w, n_threads))
    for at, rows in problem.pieces():
        here = np.flatnonzero(again[at])
        f[np.arange(problem.n)[at][here]] = expansion(rows[here], n_threads, np.float64)[0, 0]
    return Scores(f, float(bound[~again].max(initial=0.0)))


def _rough(problem: Problem, expansion: Expansion, n_threads: int) -> Iterator[tuple[slice, Rough]]:
    """Sums in float32 for all samples, piece by piece; at once where their rows are ready and float32 suits them all."""
    packed, at_once = problem.packed, None
    if packed is not None:
        with contextlib.suppress(NotSupportedError):
            at_once = expansion.rough(packed, n_threads)
    if at_once is not None:
        yield slice(None), at_once
        return
    for at, rows in problem.pieces():
        yield at, expansion.rough(rows, n_threads)


def _share_seen(problem: Problem, expansion: Expansion, f: Floats, bound: Floats, n_threads: int) -> float:
    """The share of the bound that no error is expected to exceed, from those of some samples."""
    tried = np.arange(0, problem.n, -(-problem.n // TRIED))
    tried = tried[bound[tried] > 0]  # 0 where float32 was too coarse, and float64 is there already
    seen = 0.0
    for at, rows in problem.pieces(tried):
        exact, here = expansion(rows, n_threads, np.float64)[0, 0], tried[at]
        seen = max(seen, float((np.abs(f[here] - exact) / bound[here]).max()))
    return min(1.0, max(LEAST_SHARE, SAFETY * seen))


def _open_samples(problem: Problem, candidate: Candidate, f: Floats, error: Floats) -> Flags:
    """Whose residual the errors could change, or who may be the closest sample."""
    m = 1.0 - problem.y * (f + candidate.b)
    alpha = np.abs(candidate.beta)
    rest = problem.cost - alpha
    weight = np.where(m > error, rest, np.where(m < -error, alpha, np.maximum(rest, alpha)))
    size = float((problem.cost * np.maximum(m, 0.0)).sum()) + 0.5 * abs(float(candidate.w @ f))
    may_be_closest = m + error >= (m - error).max()
    return np.asarray((weight * error > NEGLIGIBLE * size / problem.n) | may_be_closest)
