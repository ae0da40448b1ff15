"""The state of SMO between its rounds: which samples are looked at, what is known of the gap, which samples to leave out."""

from dataclasses import dataclass, field, replace

import numpy as np

from maxmargin.core.bias import squared_hinge_root
from maxmargin.core.candidate import Candidate
from maxmargin.core.losses import Hinge
from maxmargin.core.problem import Problem
from maxmargin.kernel_matrix.matrix import KernelMatrix, LoopColumns
from maxmargin.solvers.smo.working_set import SMOTuning, WorkingKernel
from maxmargin.typing import Floats, Indices


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
        """What rows of K that are made one by one may take: 0 where that is not worth while.

        Where the samples are many it is a bet on few support vectors: if it is lost, what was found is kept.
        """
        n, tuning = len(self.active.samples), self.tuning
        if not tuning.few < n <= tuning.many:
            return 0
        most = 8 * tuning.whole**2
        return min(self.max_bytes // 4, most if n <= tuning.whole else most // 4)

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

    def look_back(self) -> None:
        """After each round: every so often, see how fast the last ones were."""
        if self.gap < 0.9 * self.least_gap or self._climbs():
            self.least_gap, self.last_progress = min(self.gap, self.least_gap), self.rounds
            self.last_dual = self.dual
        if self.rounds % self.tuning.slow_rounds == 0:
            self.growth += int(self.gap > 0.5 * self.last_gap)
            self.last_gap = self.gap

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
            state.b = squared_hinge_root(F, active.y, active.cost, active.t, problem.total)
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
