"""The state of SMO between its rounds: which samples are looked at and worked on, and what is known of the gap."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core import Candidate, Hinge, Problem, make_feasible
from maxmargin.core.bias import best_interval
from maxmargin.core.regression import unfolded
from maxmargin.kernel_matrix.matrix import KernelMatrix
from maxmargin.kernels import RBF
from maxmargin.kernels.tiles import is_sparse, take
from maxmargin.solvers.base import DRIVER
from maxmargin.solvers.smo.active import Active
from maxmargin.typing import Block, Floats, Indices


@dataclass(frozen=True)
class SMOTuning:
    """The numbers of SMO that are set by hand; chosen on the benchmark kernel unless said otherwise."""

    few: int = 256
    """Samples up to which all of them are the working set, in float64, and the last digits are computed."""

    whole: int = 4096
    """Samples up to which all of them may be the working set: 64 MiB of float32."""

    size: int = 1536
    """Samples of a working set otherwise; half of them stay for the next round."""

    part: int = 8
    """Share of all samples, as a divisor, that a working set has at least where they are few for its size."""

    round_work: float = 4e7
    """Entries that the pairs of one round may pass over: about 50 ms."""

    sample_steps: int = 500
    """Steps of one round for each sample of a small working set: where that is not enough, the gap is looked at in between.
    Without it, 60 samples on a polynomial of unscaled values take 14 s instead of 0.4 s."""

    narrow: int = 64
    """Features up to which a compiled loop makes single rows; with more, a matrix product for many rows is worth waiting for."""

    share: float = 0.1
    """Share of its first violation to which a working set is solved."""

    rough: float = 1e-4
    """Relative gap that float32 is good for at the end: it has 24 bits, and a gap is a difference of sums."""

    roughest: float = 3e-3
    """Relative gap that float32 is good for on the way to a smaller one."""

    slow_rounds: int = 10
    """Rounds in which the gap must halve, or the next working sets are twice as large. Half as many lie between two looks for
    samples to leave out; so many pass without progress before a small problem claims what it has."""

    fine: float = 1e-7
    """Relative gap at which the free samples of a small problem are certain, and its last digits are computed."""

    factor_below: float = 0.07
    """Relative gap below which the equations of the face are factored."""

    little: float = 0.02
    """Share of the first turn's gain below which a turn on the face is the last, and of the best round's below which a round of
    conjugate gradients with a factor is; also the shortest step along the projected path."""

    face_gain: float = 0.3
    """The share for conjugate gradients without a factor, whose rounds are worth less."""

    window: int = 25
    """Rounds without progress after which float32 gives way to float64, a small problem computes its last digits from where it
    is, and one whose rounds work on all samples has stalled."""


def padded(size: int) -> int:
    """The next multiple of the chunk in which loops look at samples."""
    from maxmargin._loops.smo.pair_steps import CHUNK

    return -(-size // CHUNK) * CHUNK


class LoopColumns(NamedTuple):
    """k(x_i, x_k) = exp(⟨u_i, u_k⟩ − s_i − s_k): the u as the columns of T, the s as `squares`, padded with zeros."""

    T: Block
    squares: Block

    @classmethod
    def none(cls, dtype: Any) -> "LoopColumns":
        """For a loop that makes no rows."""
        return cls(np.empty((0, 0), dtype=dtype), np.empty(0, dtype=dtype))

    @classmethod
    def of(cls, matrix: KernelMatrix, size: int) -> "LoopColumns | None":
        """Of all samples, padded to so many; None for other kernels and sparse rows, and where the precision is too coarse."""
        kernel, dtype = matrix.kernel, matrix.dtype
        if not isinstance(kernel, RBF) or is_sparse(matrix.X):
            return None
        X = take(matrix.X, matrix.samples)
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            side = kernel.side(X, dtype, kernel.shift_of(X))
        if not np.isfinite(side.largest) or not kernel.suits(dtype, side):
            return None
        n, d = side.rows.shape
        T, squares = np.zeros((-(-d // 4) * 4, max(n, size)), dtype=dtype), np.zeros(max(n, size), dtype=dtype)
        T[:d, :n], squares[:n], squares[n:] = side.rows.T, side.squares, 1e30  # so far away that K is 0 there
        return cls(T, squares)


@dataclass
class WorkingKernel:
    """K of a working set, its size padded to whole chunks by zeros: all of it, or those of its rows that were needed so far.

    Row i stands in ``K[slot[i]]``; −1 where it is not there yet. `constant` and `delta` are what a penalised bias adds to all
    of K, and a squared loss to its diagonal.
    """

    K: Block
    slot: Indices
    diagonal: Block
    source: LoopColumns | None = None
    constant: float = 0.0
    delta: Block = field(default_factory=lambda: np.empty(0))
    used: int = 0
    is_full: bool = False

    @classmethod
    def whole(cls, K: Block) -> "WorkingKernel":
        """With all rows there."""
        return cls(K, np.arange(len(K)), K.diagonal().copy(), used=len(K))

    @classmethod
    def by_rows(cls, source: LoopColumns, delta: Floats, constant: float, max_bytes: int) -> "WorkingKernel":
        """With no row there yet but one of zeros, and room for as many as the memory holds: at least two."""
        (_, size), dtype, count = source.T.shape, source.T.dtype, len(delta)
        K = np.empty((min(size, max(3, max_bytes // (size * dtype.itemsize))), size), dtype=dtype)
        K[0] = 0.0
        slot, diagonal = np.full(size, -1), np.zeros(size, dtype=dtype)
        slot[count:], diagonal[:count] = 0, delta + 1.0 + constant
        return cls(K, slot, diagonal, source, constant, delta.astype(dtype), used=1)

    def solve(self, some: Active, group: Indices | None, share: float, tuning: SMOTuning) -> Floats:
        """β of the working set after pairs, each in one group of samples, until the violation is this share of what it was.

        Without groups no sum is fixed: the entry behind the samples takes what they move.
        """
        from maxmargin._loops.smo.pair_steps import IS_FULL, LARGE, USED, pair_steps

        count, size, dtype = len(some.beta), self.K.shape[1], self.K.dtype
        # targets far from 0 would leave few digits to the gradient, of which a free bias sees differences only
        shift = float(some.g.mean()) if group is not None and some.width.any() else 0.0
        wide = np.zeros((5, size))  # padded with entries that may not move
        wide[:, :count] = some.beta, some.lo, some.hi, some.g - shift, some.width
        if group is None:
            wide[1:3, count], group = (-1e300, 1e300), np.zeros(count + 1, dtype=np.intp)
        beta, lo, hi = wide[:3]
        gradient, width = wide[3:].astype(dtype)
        is_in = np.zeros((int(group.max()) + 1, size), dtype=np.bool_)
        is_in[group, np.arange(len(group))] = True
        up, down = np.where(beta >= 0.0, -width, width), np.where(beta > 0.0, width, -width)
        rise, fall = (np.where(is_in & may, way, dtype.type(-LARGE)) for may, way in ((beta < hi, up), (beta > lo, down)))
        eps = float(np.finfo(dtype).eps)
        source = LoopColumns.none(dtype) if self.source is None else self.source
        rows = np.array([self.used, 0])
        most_steps = min(int(tuning.round_work / size), tuning.sample_steps * size)
        pair_steps(
            self.K, self.slot, source.T, source.squares, self.delta.astype(dtype, copy=False),
            dtype.type(self.constant), self.diagonal, gradient, beta, lo, hi, width, rise, fall, 8.0 * eps, share,
            4.0 * eps * float(np.abs(gradient).max()), most_steps, rows, np.empty(0, dtype=np.intp),
        )  # fmt: skip
        self.used, self.is_full = int(rows[USED]), bool(rows[IS_FULL])
        return np.asarray(beta[:count])


@dataclass
class State:
    """What a run holds."""

    problem: Problem
    max_bytes: int
    everybody: Active
    active: Active
    dual: float
    tuning: SMOTuning
    biases: Floats  # of each group
    gap: float = np.inf
    matrix: KernelMatrix | None = None
    source: LoopColumns | None = None
    working: Indices = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    kernel: WorkingKernel | None = None
    has_whole: bool = False
    rounds: int = 0
    last_shrink: int = 0
    growth: int = 0  # how often working sets were doubled
    last_gap: float = np.inf  # when the rounds were last found slow, or not
    face: Iterator[None] | None = None  # the step on the face that is under way
    next_face: int = 0  # the round from which another is allowed
    face_wait: int = 0  # rounds between the last two
    rise: float = 0.0  # of the dual value in the rounds before the last step
    old_dual: float = -np.inf  # when the rounds were last found slow, or not
    missing: list[float] = field(default_factory=list)  # the least part of D that was missing, after each round
    was_judged: bool = False
    is_exact: bool = False
    judged: Candidate | None = None  # that of the last check, until the next round

    @property
    def is_folded(self) -> bool:
        """Whether a sample stands for both of its halves."""
        return len(self.everybody.samples) < self.problem.n

    @property
    def b(self) -> Any:
        """The bias, or those of the groups."""
        return float(self.biases[0]) if self.problem.groups is None else self.biases

    def forget_working_set(self) -> None:
        """Begin the next round with an empty one."""
        self.working, self.has_whole, self.kernel = np.empty(0, dtype=np.intp), False, None

    def bytes_for_rows(self) -> int:
        """What rows of K that are made one by one may take: 0 where that is not worth while."""
        n, whole = len(self.active.samples), self.tuning.whole
        return min(self.max_bytes // 4, np.dtype(np.float64).itemsize * whole**2) if self.tuning.few < n <= whole else 0

    def working_size(self) -> int:
        """How many samples the next working set has; its block may take a quarter of the memory.

        All of them where they are few, else as many as a bounded round can treat; twice as many each time that proved slow.
        """
        active, tuning = self.active, self.tuning
        n_active = len(active.samples)
        if self.source is not None:
            return n_active
        itemsize = 8 if self.matrix is None else self.matrix.dtype.itemsize
        room = max(64, int((self.max_bytes // 4 / itemsize) ** 0.5))
        whole = tuning.whole if 2 * np.count_nonzero(active.beta) >= n_active else tuning.few
        if n_active <= min(whole, room):
            return n_active
        usual = min(tuning.size, max(tuning.few, self.problem.n // tuning.part))
        return int(min(usual * 2 ** min(self.growth, 4), n_active, tuning.whole, room))

    def stands_still(self, rounds: int) -> bool:
        """Whether what is missing has not fallen by a tenth in so many rounds."""
        return len(self.missing) > rounds and self.missing[-1] > DRIVER.tenth * self.missing[-1 - rounds]

    def full_beta(self) -> Floats:
        """β of all samples, feasible."""
        beta = self.everybody.beta.copy()
        beta[self.active.samples] = self.active.beta
        return make_feasible(self.problem, unfolded(beta) if self.is_folded else beta)


@np.errstate(over="ignore", invalid="ignore")
def estimate(state: State) -> None:
    """The bias, and the relative gap as far as the active samples tell; 1 where it leaves float64."""
    missing, problem = 0.0, state.problem
    is_part = len(state.active.samples) < len(state.everybody.samples)
    for q in range(len(state.biases)):
        some = state.active.unfolded() if state.is_folded else state.active
        if problem.groups is not None:
            some = some.restrict(np.flatnonzero(some.group == q))
        if len(some.samples):
            state.biases[q], residual = _bias_and_residual(problem, some, q, is_part)
            missing += residual
    gap = missing / max(abs(state.dual) + missing, np.finfo(float).tiny)
    state.gap = gap if np.isfinite(gap) else 1.0
    least = state.missing[-1] if state.missing else np.inf
    state.missing.append(min(least, missing / max(abs(state.dual), np.finfo(float).tiny)))


def _bias_and_residual(problem: Problem, some: Active, q: int, is_part: bool) -> tuple[float, float]:
    """The best bias of the active samples of group q, or of all, and what they miss to the dual value."""
    if isinstance(problem.loss, Hinge):
        from maxmargin._loops.smo.hinge_gap import look

        # Σβ = τ: those left out at their upper bound pull the bias with −Σ of their β, and the total with τ
        return look(some.g, some.y, some.beta, some.cost, problem.bias.is_free)  # type: ignore[no-any-return]
    F, b = some.g + some.t - some.delta * some.beta, 0.0  # with a penalised bias
    if problem.bias.is_free:
        total = problem.total if problem.totals is None else float(problem.totals[q])
        if is_part and np.isfinite(problem.loss.lipschitz):  # those left out at an upper bound have the rest of it
            total = float(some.beta.sum())
        b = best_interval(problem.loss, F, some.y, some.cost, some.t, total).middle
    m = some.y * (some.t - F - b)
    return b, float(problem.loss.residual(m, np.abs(some.beta), some.cost).sum())


def shrink(state: State) -> None:
    """Leave out the samples that sit on a bound, further from the margin than any violation reaches."""
    active = state.active
    state.last_shrink = state.rounds
    if len(active.samples) <= state.working_size():
        return
    both = active.unfolded() if state.is_folded else active
    F = both.g + both.t - both.delta * both.beta + state.biases[both.group]
    inside = both.y * (both.t - F)
    upper = np.abs(both.lo + both.hi)
    alpha = np.abs(both.beta)
    violation = np.where(alpha < upper, inside, 0.0), np.where(alpha > 0, -inside, 0.0)
    reach = max(float(violation[0].max()), float(violation[1].max()), 0.0)
    stays = ~(((alpha == 0) & (inside < -reach)) | ((alpha == upper) & (inside > reach)))
    if state.is_folded:
        stays = stays[: len(active.samples)] | stays[len(active.samples) :]
    stays[state.working] = True
    kept = np.flatnonzero(stays)
    if len(kept) > 0.8 * len(stays):
        return
    state.everybody.beta[active.samples] = active.beta
    position = np.zeros(len(stays), dtype=np.intp)
    position[kept] = np.arange(len(kept))
    state.working, state.has_whole = position[state.working], False
    state.active = active.restrict(kept)
    if state.matrix is not None:
        state.matrix.restrict(kept)
