"""The state of SMO between its rounds: which samples are looked at and worked on, and what is known of the gap."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.bias import best_interval
from maxmargin.core.candidate import Candidate
from maxmargin.core.losses import Hinge
from maxmargin.core.problem import Problem
from maxmargin.kernel_matrix.matrix import KernelMatrix
from maxmargin.kernels import RBF
from maxmargin.kernels.tiles import is_sparse, take
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

    round_values: float = 6e7
    """Kernel values that one round may need, so that more than 40 000 active samples are given smaller working sets."""

    round_work: float = 4e7
    """Entries that the pairs of one round may pass over: about 50 ms."""

    sample_steps: int = 500
    """Steps of one round for each sample of a small working set: where that is not enough, the gap is looked at in between."""

    narrow: int = 64
    """Features up to which a compiled loop makes single rows; with more, a matrix product for many rows is worth waiting for."""

    share: float = 0.1
    """Share of its first violation to which a working set is solved."""

    whole_share: float = 1e-3
    """The same for all samples as one working set: nobody else is waiting."""

    pause: int = 5
    """Rounds between two looks for samples to leave out, and without progress before a small problem claims what it has."""

    claim: float = 0.9
    """Share of a gap that the estimate must reach to claim it; half of that after each claim that failed."""

    rough: float = 1e-4
    """Relative gap that float32 is good for at the end: it has 24 bits, and a gap is a difference of sums."""

    roughest: float = 3e-3
    """Relative gap that float32 is good for on the way to a smaller one."""

    slow_rounds: int = 10
    """Rounds in which the gap must halve; else the next working sets are twice as large."""

    worth: float = 0.02
    """Share of itself, or of what is missing, by which the dual value must rise to be progress: the gap of noisy data with a
    large cost stands still for long while the dual value climbs."""

    fine: float = 1e-7
    """Relative gap at which the free samples of a small problem are certain, and its last digits are computed."""

    face_below: float = 0.7
    """Relative gap below which the face is known well enough to go along it."""

    factor_below: float = 0.07
    """Relative gap below which the equations of the face are factored."""

    little: float = 0.01
    """Share of the first turn's gain below which a turn on the face is the last."""

    face_gain: float = 0.3
    """Share of the best round's gain below which a round of conjugate gradients is the last."""

    factored_gain: float = 0.02
    """The same with a factor, which makes each round worth more."""

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
        T[:d, :n], squares[:n] = side.rows.T, side.squares
        return cls(T, squares)


@dataclass
class WorkingKernel:
    """K of a working set, its size padded to whole chunks: all of it, or those of its rows that were needed so far.

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
        """With no row there yet, and room for as many as the memory holds: at least two."""
        dtype, size = source.T.dtype, source.T.shape[1]
        capacity = min(size, max(2, max_bytes // (size * dtype.itemsize)))
        K = np.empty((capacity, size), dtype=dtype)
        K[0] = 0.0  # read, and multiplied by 0, before it is filled
        extra = np.zeros(size, dtype=dtype)
        extra[: len(delta)] = delta
        diagonal = extra + dtype.type(1.0 + constant)
        return cls(K, np.full(size, -1), diagonal, source, constant, extra)

    def solve(
        self, beta: Floats, lo: Floats, hi: Floats, g: Floats, is_free: bool, share: float, tuning: SMOTuning
    ) -> Floats:
        """β after pairs, or single steps where the bias is not free, until the violation is this share of what it was.

        Single steps crawl along what hardly bends, such as twins of both classes; where they did not end, pairs follow.
        """
        from maxmargin._loops.smo.pair_steps import IS_FULL, N_FIELDS, STEPS, USED, pair_steps, single_steps

        count, size, dtype = len(beta), self.K.shape[1], self.K.dtype
        wide = np.zeros((4, size))  # padded with entries that may not move
        wide[:, :count] = beta, lo, hi, g
        beta, lo, hi = wide[:3]
        gradient = wide[3].astype(dtype)
        rise, fall = (np.where(may, 0.0, -1e30).astype(dtype) for may in (beta < hi, beta > lo))
        eps = float(np.finfo(dtype).eps)
        source = LoopColumns.none(dtype) if self.source is None else self.source
        report = np.zeros(N_FIELDS)
        report[USED] = self.used
        most_steps = min(int(tuning.round_work / size), tuning.sample_steps * size)
        for steps in (pair_steps,) if is_free else (single_steps, pair_steps):
            steps(
                self.K, self.slot, source.T, source.squares, self.delta.astype(dtype, copy=False),
                dtype.type(self.constant), self.diagonal, gradient, beta, lo, hi, rise, fall, 8.0 * eps, share,
                4.0 * eps * float(np.abs(gradient).max()), most_steps, report,
            )  # fmt: skip
            if report[STEPS] < most_steps:
                break
        self.used, self.is_full = int(report[USED]), bool(report[IS_FULL])
        return beta[:count]


@dataclass
class Active:
    """The samples that are looked at, and their share of all arrays; `beta` and `g` change."""

    samples: Indices
    y: Floats
    t: Floats
    cost: Floats
    lo: Floats
    hi: Floats
    delta: Floats
    beta: Floats
    g: Floats

    def restrict(self, kept: Indices) -> "Active":
        """Only these of them; what does not change is not copied where they are all."""
        if len(kept) == len(self.samples):
            return replace(self, beta=self.beta.copy(), g=self.g.copy())
        return Active(*(getattr(self, name)[kept] for name in self.__dataclass_fields__))


@dataclass
class State:
    """What a run holds."""

    problem: Problem
    max_bytes: int
    everybody: Active
    active: Active
    dual: float
    tuning: SMOTuning
    b: float = 0.0
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
    least_gap: float = np.inf
    last_dual: float = -np.inf
    last_progress: int = 0
    missing: list[float] = field(
        default_factory=list
    )  # least part of the dual value that was missing, after each round
    claims: int = 0
    is_exact: bool = False
    judged: Candidate | None = None

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
        usual = min(
            tuning.size, max(tuning.few, self.problem.n // tuning.part), max(128, tuning.round_values // n_active)
        )
        return int(min(usual * 2 ** min(self.growth, 4), n_active, tuning.whole, room))

    def note_progress(self) -> None:
        """After each round: whether the gap or the dual value has changed by something worth while."""
        if self.gap < 0.9 * self.least_gap or self._climbs():
            self.least_gap, self.last_progress = min(self.gap, self.least_gap), self.rounds
            self.last_dual = self.dual

    def _climbs(self) -> bool:
        """Whether the dual value has risen by something worth while."""
        missing = min(self.gap * abs(self.dual) / max(1.0 - self.gap, 1e-16), np.finfo(float).max)
        return self.dual - self.last_dual > self.tuning.worth * min(missing, abs(self.dual))


@np.errstate(over="ignore", invalid="ignore")
def estimate(state: State) -> None:
    """The bias, and the relative gap as far as the active samples tell; 1 where it leaves float64."""
    active, problem = state.active, state.problem
    if isinstance(problem.loss, Hinge):
        from maxmargin._loops.smo.hinge_gap import look

        # Σβ = τ: those left out at their upper bound pull the bias with −Σ of their β, and the total with τ
        b, missing, _ = look(active.g, active.y, active.t, active.beta, active.cost, problem.bias.is_free)
        state.b = b
    else:
        F = active.g + active.t - active.delta * active.beta  # with a penalised bias
        if problem.bias.is_free:
            # Σβ = τ: samples left out at an upper bound pull the bias with −Σ of their β
            total = problem.total if len(active.beta) == problem.n else float(active.beta.sum())
            state.b = best_interval(problem.loss, F, active.y, active.cost, active.t, total).middle
        m = active.y * (active.t - F - state.b)
        missing = float(problem.loss.residual(m, np.abs(active.beta), active.cost).sum())
    gap = missing / max(abs(state.dual) + missing, np.finfo(float).tiny)
    state.gap = gap if np.isfinite(gap) else 1.0
    least = state.missing[-1] if state.missing else np.inf
    state.missing.append(min(least, missing / max(abs(state.dual), np.finfo(float).tiny)))


def shrink(state: State) -> None:
    """Leave out the samples that sit on a bound, further from the margin than any violation reaches."""
    active = state.active
    state.last_shrink = state.rounds
    if len(active.samples) <= state.working_size():
        return
    F = active.g + active.t - active.delta * active.beta + state.b
    inside = active.y * (active.t - F)
    upper = np.abs(active.lo + active.hi)
    alpha = np.abs(active.beta)
    violation = np.where(alpha < upper, inside, 0.0), np.where(alpha > 0, -inside, 0.0)
    reach = max(float(violation[0].max()), float(violation[1].max()), 0.0)
    stays = ~(((alpha == 0) & (inside < -reach)) | ((alpha == upper) & (inside > reach)))
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
