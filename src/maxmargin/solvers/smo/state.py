"""The state of SMO between its rounds: who is looked at, what is known of the gap, whom to leave out."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from maxmargin.core.bias import squared_hinge_root
from maxmargin.core.candidate import Candidate
from maxmargin.core.losses import Hinge
from maxmargin.core.problem import Problem
from maxmargin.kernel_matrix.compiled import CompiledRows
from maxmargin.solvers.smo.kernel_columns import KernelColumns
from maxmargin.solvers.smo.row_cache import RowCache
from maxmargin.solvers.smo.working_kernel import WorkingKernel
from maxmargin.solvers.smo.working_set import size_for
from maxmargin.typing import Block, Floats, Indices

WORTH = 0.02
"""It is progress too if the dual value rises by this part of itself or of what is missing: the gap of noisy data with a large
cost stands still for long while the dual value climbs."""


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
class Pace:
    """How fast the rounds were when they were last looked at, and what is done about it."""

    gap: float = np.inf
    dual: float = -np.inf
    growth: int = 0  # how often working sets were doubled
    face: Iterator[None] | None = None  # the step on the face that is under way
    next_face: int = 0  # the round from which another is allowed
    wait: int = 0  # rounds between the last two
    rise: float = 0.0  # of the dual in the rounds before the last


@dataclass
class State:
    """What a run holds; `spare` is of K's size, as fresh memory costs more than its values."""

    problem: Problem
    max_bytes: int
    everybody: Active
    active: Active
    dual: float
    b: float = 0.0
    gap: float = np.inf
    columns: KernelColumns | None = None
    cache: RowCache | None = None
    working: Indices = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    kernel: WorkingKernel = field(default_factory=WorkingKernel.nothing)
    spare: Block = field(default_factory=lambda: np.empty((0, 0)))
    has_whole: bool = False
    source: CompiledRows | None = None
    rounds: int = 0
    last_shrink: int = 0
    least_gap: float = np.inf
    last_dual: float = -np.inf
    missing: list[float] = field(
        default_factory=list
    )  # the least part of the dual value that was missing, after each round
    pace: Pace = field(default_factory=Pace)
    last_progress: int = 0
    claims: int = 0
    is_exact: bool = False
    judged: Candidate | None = None

    def let_go(self) -> None:
        """Give up the working set and its kernel: their memory is needed."""
        self.working, self.has_whole = np.empty(0, dtype=np.intp), False
        self.kernel, self.spare = WorkingKernel.nothing(), np.empty((0, 0))


def working_size(state: State) -> int:
    """How many samples the next working set has; its block may take a quarter of the memory."""
    active = state.active
    if state.source is not None:
        return len(active.samples)
    itemsize = 8 if state.columns is None else state.columns.dtype.itemsize
    n_support = int(np.count_nonzero(active.beta))
    return size_for(state.problem.n, len(active.samples), n_support, state.max_bytes // 4, itemsize, state.pace.growth)


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


def climbs(state: State) -> bool:
    """Whether the dual value has risen by something worth while."""
    missing = min(state.gap * abs(state.dual) / max(1.0 - state.gap, 1e-16), np.finfo(float).max)
    return state.dual - state.last_dual > WORTH * min(missing, abs(state.dual))


def shrink(state: State) -> None:
    """Leave out the samples that sit on a bound, further from the margin than any violation reaches."""
    active = state.active
    state.last_shrink = state.rounds
    if len(active.samples) <= working_size(state):
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
    if state.columns is not None and state.cache is not None:
        state.columns.restrict(kept)
        state.cache.restrict(kept)
