"""Sequential minimal optimisation in working sets, for kernels.

    min_β  ½ βᵀKβ − tᵀβ    s.t.  lo ≤ β ≤ hi,   and Σβ = 0 where the bias is free

The working sets of Joachims (1999), each solved by the pairs of Fan, Chen & Lin (JMLR 2005). A round takes the samples that
violate most, computes only the kernel block between them, solves that, and then adds the rows of those that moved to the
gradient: each row is made in tiles and thrown away, unless it is dear and its sample free, so likely to move again. Samples that
sit clearly on a bound are left out of the gradient (shrunk); the certificate, which looks at all samples in float64,
brings back those that were left out wrongly and corrects what the gradient has drifted. Where no more than 4096 samples
are active, all of them may be the working set. Where rounds are slow, working sets grow; where they cannot, all free samples move
together now and then (`kernel_face`). Blocks are in float32, and for small gaps in float64 from 3e-3 on.

Few features make a single RBF row cheap. Then all samples are the working set from the start, and the compiled loop makes a row
when it first needs it: no round is spent on choosing. More than 4096 samples are given 32 MiB for that; if their rows need more,
working sets go on from where it came.
"""

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from maxmargin.core.candidate import Candidate
from maxmargin.core.dual import box, make_feasible
from maxmargin.core.losses import Hinge, SquaredHinge
from maxmargin.core.penalties import L2
from maxmargin.core.problem import Problem
from maxmargin.core.reduce import to_candidate
from maxmargin.core.workspace import Workspace
from maxmargin.solvers.base import Clock, Progress, Solver
from maxmargin.solvers.interrupts import deferred_interrupt
from maxmargin.solvers.refine import refine
from maxmargin.solvers.smo.kernel_columns import ROUGH, ROUGHEST, KernelColumns, precision_for
from maxmargin.solvers.smo.pace import goes_along, look_back
from maxmargin.solvers.smo.row_cache import RowCache
from maxmargin.solvers.smo.small_problems import is_suitable, solve_at_once
from maxmargin.solvers.smo.state import Active, State, climbs, estimate, shrink, working_size
from maxmargin.solvers.smo.working_kernel import WorkingKernel, padded
from maxmargin.solvers.smo.working_set import FEW, SIZE, bytes_for_rows, choose
from maxmargin.solvers.stall import FINEST, WINDOW, rounds_to_come
from maxmargin.threads import halves, together
from maxmargin.typing import Floats, Indices

SHARE, FINE_SHARE, WHOLE_SHARE = 0.1, 0.03, 1e-3
"""A working set is solved until its violation is this share of what it was; a small one further, as its steps cost less than
a round does, and one of all samples whose rows are made when needed furthest, as nobody else is waiting."""

SHRINK_EVERY = 5
"""Rounds between two looks for samples to leave out."""

SHRINK_BELOW = 0.3
"""Relative gap below which samples are left out: before, too little is known of them."""

WHOLE_WINDOW = 25
"""Rounds in which the dual value must rise where each round works on all samples, up to thousands of times."""

CLAIM = 0.9
"""A gap is claimed when the own estimate is this share of it; after each claim that failed, half of that."""

BYTES_PER_FEATURE = 2**20
"""Of kept rows (64 features at least): the first touch of fresh memory can cost more than computing short rows again."""

COARSE_ROUNDS = 40
"""Rounds in float32 in which the gap must fall by a tenth, or the dual value rise by much of it; else float64 goes on."""

REFINED, FINE, FINE_ROUNDS, IDLE_ROUNDS = 256, 1e-7, 20, 3
"""Up to so many samples the last digits cost nothing worth mentioning. They are looked for from this gap on, where it is certain
which samples are free; or after so many rounds; or after so many without progress."""


@dataclass(frozen=True)
class SMO(Solver):
    """Sequential minimal optimisation: the solver for kernels.

    *Use it when* the kernel is not linear. *Needs* L2, hinge or squared hinge, finite costs; any kernel, an indefinite one for a
    stationary point. *Costs* about n × (support vectors) kernel values, by matrix products or sums over entries, on all cores;
    memory: one to two and a half copies of the data in float32, a block of at most 4096² values or rows of 128 MiB (a quarter of
    the budget at most) or, now and then, one of all free samples (half of the budget at most), and where rows are dear 1 MiB of
    kept ones for each feature (64 at least, half of the budget at most). *Equivalent to* InteriorPoint at its optimum.

    Parameters
    ----------
    n_threads : int
        Threads for kernel values; the answer does not depend on it.
    shrinking : bool
        Whether samples that sit clearly on a bound are left out until the certificate is asked.

    Examples
    --------
    >>> from maxmargin.kernels import RBF
    >>> from maxmargin.solvers import solve
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1.0, 1.0, 1.0, -1.0])
    >>> solution = solve(Problem(X, y, cost=np.full(4, 10.0), kernel=RBF(gamma=1.0)), SMO(), tol=1e-6)
    >>> np.round(solution.beta, 3), solution.status.name
    (array([-1.253,  1.253,  1.253, -1.253]), 'SOLVED')
    """

    n_threads: int = 1
    shrinking: bool = True
    takes_targets: ClassVar[bool] = True

    def accepts(self, problem: Problem) -> str | None:
        """Why a problem cannot be solved here, or None."""
        if not isinstance(problem.loss, Hinge | SquaredHinge) or not isinstance(problem.penalty, L2):
            return f"SMO solves the hinge and the squared hinge with L2, got {problem.loss!r} and {problem.penalty!r}."
        if problem.groups is not None:
            return "SMO moves pairs of one group only. Use InteriorPoint()."
        if problem.is_hard:
            return "SMO needs finite costs. Use ConstraintGeneration() for the hard margin."
        return None

    def window(self, problem: Problem) -> int:
        """Few rounds where each of them works on the whole problem."""
        return WHOLE_WINDOW if problem.n <= FEW else WINDOW

    def init(self, problem: Problem, workspace: Workspace, warm: Candidate | None) -> State:
        """β = 0, or the warm start's."""
        lo, hi = box(problem)
        # Σc_jξ_j² ≤ P(0, 0) = Σc at the optimum, where α_j = 2c_jξ_j: so far the squared hinge's box reaches, and no farther
        most = 2.0 * np.sqrt(problem.cost) * np.sqrt(problem.cost.sum()) * (1.0 + 1e-9)
        lo, hi = np.maximum(lo, -most), np.minimum(hi, most)
        on = problem.present
        beta, scores = np.zeros(problem.n), np.zeros(problem.n)
        if warm is not None or problem.total > 0.0:
            beta = make_feasible(problem, beta if warm is None else warm.beta)
            scores = problem.decision(problem.combine(beta), self.n_threads)
        delta = np.zeros(problem.n)
        delta[on] = problem.loss.dual_diagonal(problem.cost[on])
        everybody = Active(
            np.arange(problem.n), problem.y, problem.t, problem.cost, lo, hi, delta, beta, np.empty(problem.n)
        )
        state = State(problem, workspace.max_bytes, everybody, everybody, 0.0)
        self._restart(state, beta, scores, on)
        return state

    def step(self, state: State, tol: float, clock: Clock) -> Progress:
        """One round: a working set, its block, its solution, the gradient, the gap of the active samples."""
        with deferred_interrupt():
            rounds = self._at_once(state, tol, clock)
            if not rounds:
                if state.columns is None:
                    self._prepare(state, tol)
                if goes_along(state):
                    return _without_claim(state, tol)
                self._round(state, tol)
                rounds = 1
                estimate(state)
            state.rounds += rounds
            if state.gap < 0.9 * state.least_gap or climbs(state):
                state.least_gap, state.last_progress = min(state.gap, state.least_gap), state.rounds
                state.last_dual = state.dual
            look_back(state, self.n_threads)
            is_idle = state.rounds - state.last_progress > COARSE_ROUNDS
            if not state.is_exact and (is_idle or (tol < ROUGH and state.gap <= ROUGHEST)):
                self._be_exact(state, tol)
                return _without_claim(state, tol)
            if state.gap <= self._goal(state, tol) * CLAIM * 0.5 ** min(state.claims, 3):
                return Progress(0.0, rounds)  # asks for the check
            if self.shrinking and state.rounds - state.last_shrink >= SHRINK_EVERY and state.gap < SHRINK_BELOW:
                shrink(state)
            return _without_claim(state, tol, rounds)

    def finish(self, state: State, tol: float) -> Candidate:
        """The present β with its bias; the last digits where the problem is small."""
        problem, beta = state.problem, state.everybody.beta.copy()
        beta[state.active.samples] = state.active.beta
        beta = make_feasible(problem, beta)
        if problem.n <= REFINED and problem.kernel.psd is not False:
            state.judged = refine(problem, to_candidate(problem, beta))
        elif problem.is_linear:
            state.judged = to_candidate(problem, beta)
        else:
            b = state.b if problem.bias.is_free else problem.bias.scale**2 * float(beta.sum())
            state.judged = Candidate(beta, b, beta)
        return state.judged

    def heed(self, state: State, scores: Floats) -> None:
        """Take the exact gradient of all samples, and look again at those that were left out wrongly."""
        if state.judged is None:
            return
        state.claims += 1
        if state.problem.is_linear:
            scores = state.problem.decision(state.problem.combine(state.judged.beta))
        if state.claims > 1 and not state.is_exact:
            state.is_exact, state.columns = True, None
        self._begin_again(state, state.judged.beta, scores)

    def _goal(self, state: State, tol: float) -> float:
        """The gap to claim: a small problem is to know its free samples before its last digits are computed."""
        if state.problem.n > REFINED or state.problem.kernel.psd is False or state.rounds >= FINE_ROUNDS:
            return tol
        return min(tol, FINE) if state.rounds - state.last_progress < IDLE_ROUNDS else tol

    def _at_once(self, state: State, tol: float, clock: Clock) -> int:
        """The first rounds of a small problem, at once; 0 where there are none."""
        if state.rounds or state.active.beta.any() or not is_suitable(state.problem, tol):
            return 0
        return solve_at_once(state, CLAIM * tol, WHOLE_SHARE, clock.rounds_left)

    def _begin_again(self, state: State, beta: Floats, scores: Floats) -> None:
        """Look at all samples, and leave out who sits clearly on a bound."""
        self._restart(state, beta, scores, state.problem.present)
        if self.shrinking and len(state.active.samples) > working_size(state):
            estimate(state)
            shrink(state)

    def _restart(self, state: State, beta: Floats, scores: Floats, samples: Indices) -> None:
        """Begin again at β, whose scores are known, with these samples."""
        all_of = state.everybody
        constant = state.problem.bias.scale**2 * float(beta.sum())
        all_of.beta = beta.copy()
        all_of.g = scores + constant + all_of.delta * beta - all_of.t
        state.dual = 0.5 * float(beta @ (all_of.t - all_of.g))
        if state.source is None or len(samples) != len(state.active.samples):
            state.working, state.has_whole = np.empty(0, dtype=np.intp), False
            state.columns = state.columns if state.source is None else None
        # else the same samples are still the working set, and its rows stay
        state.active, state.last_shrink = all_of.restrict(samples), state.rounds
        if state.columns is not None and state.cache is not None:
            state.columns.begin(samples)
            state.cache.clear(len(samples))

    def _prepare(self, state: State, tol: float) -> None:
        """Choose the precision, and plan the memory: a quarter for the block, half for rows, as tiles and vectors need some."""
        samples = state.active.samples
        is_small = len(samples) <= FEW
        dtype = np.float64 if state.is_exact else precision_for(state.problem, tol, len(samples))
        state.is_exact = dtype == np.float64
        state.columns = KernelColumns(state.problem, dtype, self.n_threads)
        state.columns.begin(samples)
        worth = min(state.max_bytes // 2, BYTES_PER_FEATURE * max(64, state.problem.X.shape[1]))
        has_rows = bytes_for_rows(len(samples), state.max_bytes // 4) > 0
        state.source = state.columns.compiled(padded(len(samples))) if has_rows else None
        state.cache = RowCache(len(samples), dtype, 0 if is_small or state.columns.are_rows_cheap else worth)
        state.working, state.has_whole = np.empty(0, dtype=np.intp), False

    def _round(self, state: State, tol: float) -> None:
        """Choose a working set, solve it, and carry its moves into the gradient."""
        active = state.active
        count = len(active.samples)
        size = working_size(state)
        is_whole = size == count
        if not (is_whole and state.has_whole):
            last = state.working
            if is_whole:
                state.working, stay = np.arange(count), 0
            else:
                state.working, stay = choose(active.g, active.beta, active.lo, active.hi, last, size)
            state.kernel, state.has_whole = self._working_kernel(state, last, stay), is_whole
        at = state.working
        before, g_before = active.beta[at], active.g[at]
        share = FINE_SHARE if 2 * size <= SIZE else SHARE
        if state.source is not None:  # as far as the gap asks for, which shrinks about as the violation does
            share = max(WHOLE_SHARE, 0.5 * tol / max(state.gap, tol))
        active.beta[at] = state.kernel.solve(
            before, active.lo[at], active.hi[at], g_before, state.problem.bias.is_free, share
        )
        moves = active.beta[at] - before
        self._carry(state, moves, is_whole)
        state.dual -= 0.5 * float(moves @ (g_before + active.g[at]))
        if state.kernel.is_full:
            state.source, state.has_whole, state.working = None, False, np.empty(0, dtype=np.intp)

    def _working_kernel(self, state: State, last: Indices, stay: int) -> WorkingKernel:
        """K of the working set; what the last one had in common with it is copied."""
        from maxmargin._loops.smo.kernel_squares import mirror, take_square

        assert state.columns is not None
        active, at, K = state.active, state.working, state.kernel.K
        size, constant = len(at), state.problem.bias.scale**2
        if state.source is not None:
            room = bytes_for_rows(size, state.max_bytes // 4)
            return WorkingKernel.by_rows(state.source, active.delta, constant, room)
        shape = (padded(size),) * 2
        fits = state.spare.shape == shape and state.spare.dtype == state.columns.dtype
        out, state.spare = state.spare if fits else np.empty(shape, dtype=state.columns.dtype), K
        out[size:], out[:, size:] = 0.0, 0.0
        if stay:
            position = np.zeros(len(active.samples), dtype=np.intp)
            position[last] = np.arange(len(last))
            old = position[at[:stay]]
            together([partial(take_square, K, old, *half, out) for half in halves(stay)], self.n_threads)
        state.columns.block(at[stay:], at, out[stay:size, :size])
        if constant:
            out[stay:size, :size] += out.dtype.type(constant)
        together([partial(mirror, out, stay, size, *half) for half in halves(stay)], self.n_threads)
        new = np.arange(stay, size)
        out[new, new] += active.delta[at[stay:]].astype(out.dtype)
        return WorkingKernel.whole(out)

    def _carry(self, state: State, moves: Floats, is_whole: bool) -> None:
        """g += K · moves: from the block, from kept rows, or from rows computed now."""
        from maxmargin._loops.smo.pair_steps import add_rows

        assert state.columns is not None
        assert state.cache is not None
        active, cache = state.active, state.cache
        moved = np.flatnonzero(moves)
        if is_whole:
            add_rows(state.kernel.K, state.kernel.slot[moved], moves[moved], active.g, 0, len(active.g))
            return
        who, moves = state.working[moved], moves[moved]
        slots = cache.find(who)
        found = slots >= 0
        kept = (cache.rows, slots[found], moves[found], active.g)
        together([partial(add_rows, *kept, *half) for half in halves(len(active.g), 2048)], self.n_threads)
        missing = who[~found]
        is_free = (active.beta[missing] > active.lo[missing]) & (active.beta[missing] < active.hi[missing])
        places = np.full(len(missing), -1)
        places[is_free] = cache.reserve(missing[is_free])
        state.columns.add(missing, moves[~found], active.g, cache.rows, places)
        active.g[who] += active.delta[who] * moves
        active.g += state.problem.bias.scale**2 * float(moves.sum())

    def _be_exact(self, state: State, tol: float) -> None:
        """Go on in float64, from the exact gradient of the active samples."""
        state.is_exact, state.columns, state.missing = True, None, []
        problem, active, beta = state.problem, state.active, self.finish(state, tol).beta
        used = np.flatnonzero(beta)
        scores = problem.gram_times(used, beta[used], self.n_threads, active.samples)
        state.everybody.beta, active.beta = beta.copy(), beta[active.samples]
        active.g = scores + problem.bias.scale**2 * float(beta.sum()) + active.delta * active.beta - active.t


def _without_claim(state: State, tol: float, rounds: int = 1) -> Progress:
    """What a round reports; the dual value, and when it would end, only where sums are in float64."""
    if not state.is_exact:
        return Progress.without_claim(state.gap, tol, rounds)
    to_come = rounds_to_come(state.missing, max(tol, FINEST), len(state.missing) // 2)
    return Progress.without_claim(state.gap, tol, rounds, state.dual, to_come)
