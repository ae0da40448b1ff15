"""Sequential minimal optimisation in working sets, for kernels.

    min_β  ½ βᵀKβ − tᵀβ    s.t.  lo ≤ β ≤ hi,   and Σβ = τ, over all samples or each group, where the bias is free

The working sets of Joachims (1999), each solved by the pairs of Fan, Chen & Lin (JMLR 2005). A round takes the samples that
violate most, computes only the kernel block between them, solves that, and then adds the rows of those that moved to the
gradient: each row is made in tiles and thrown away, unless it is expensive and its sample free, so likely to move again. Samples
that sit clearly on a bound are left out of the gradient (shrunk); the certificate, which looks at all samples in float64, brings
back those that were left out wrongly and corrects what the gradient has drifted. Where no more than 4096 samples are active, all
of them may be the working set. Where rounds are slow, working sets grow; where they cannot, all free samples move together now
and then (`face`). Blocks are in float32, and for small gaps in float64 from 3e-3 on.

Few features make a single RBF row cheap. Then up to 4096 samples are the working set from the start, and the compiled loop makes
a row when it first needs it: no round is spent on choosing. If the rows need more memory than there is, working sets go on from
where it came.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from maxmargin.core import Candidate, Problem, make_feasible, to_candidate
from maxmargin.core.candidate import bias_totals, box
from maxmargin.core.certificate.scores import scored
from maxmargin.core.regression import folded
from maxmargin.kernels import RBF, Sigmoid
from maxmargin.solvers.base import DRIVER, Clock, Progress, Solver, deferred_interrupt, rounds_to_come
from maxmargin.solvers.refine import refine
from maxmargin.solvers.smo.active import Active
from maxmargin.solvers.smo.face import goes_along, look_back
from maxmargin.solvers.smo.state import LoopColumns, SMOTuning, State, WorkingKernel, estimate, padded, shrink
from maxmargin.typing import Flags, Floats, Indices


@dataclass(frozen=True)
class SMO(Solver):
    """Sequential minimal optimisation: the solver for kernels.

    *Use it when* the kernel is not linear. *Needs* L2, a loss with a quadratic dual (hinge, squared hinge), finite costs; any
    kernel, an indefinite one for a stationary point. *Costs* about n × (support vectors) kernel values, by matrix products or
    sums over entries, on all cores; memory: one to two and a half copies of the data in float32, a block of at most 4096² values
    or rows of 128 MiB (a quarter of the budget at most), and where rows are expensive kept ones (half of the budget at most).
    *Equivalent to* InteriorPoint at its optimum.

    Parameters
    ----------
    n_threads : int
        Threads for kernel values; the answer does not depend on it.
    shrinking : bool
        Whether samples that sit clearly on a bound are left out until a gap is certified.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import Problem
    >>> from maxmargin.solvers import SMO
    >>> from maxmargin.kernels import RBF
    >>> from maxmargin.solvers import solve
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1.0, 1.0, 1.0, -1.0])
    >>> solution = solve(Problem(X, y, cost=np.full(4, 10.0), kernel=RBF(gamma=1.0)), SMO(), tol=1e-6)
    >>> np.round(solution.beta, 3), solution.status.name
    (array([-1.253,  1.253,  1.253, -1.253]), 'SOLVED')
    """

    n_threads: int = 1
    shrinking: bool = True
    margin = "soft"
    takes_targets: ClassVar[bool] = True
    tuning: ClassVar[SMOTuning] = SMOTuning()

    def init(self, problem: Problem, max_bytes: int, warm: Candidate | None) -> State:
        """β = 0, or the warm start's."""
        lo, hi = box(problem)
        on = problem.present
        delta = np.zeros(problem.n)
        delta[on] = problem.loss.dual_diagonal(problem.cost[on])
        # ½δ_jα_j² ≤ c_jℓ_j at the optimum, and all losses together are at most P(0, 0): so far a box without end reaches
        most = np.sqrt(2.0 * float(problem.cost @ problem.loss.value(1.0 - problem.y * problem.t))) * (1.0 + 1e-9)
        most = most / np.sqrt(np.where(delta > 0.0, delta, np.nan))
        lo, hi = np.fmax(lo, -most), np.fmin(hi, most)
        beta, f = np.zeros(problem.n), np.zeros(problem.n)
        if warm is not None or problem.total > 0.0 or problem.groups is not None:
            beta = make_feasible(problem, filled(problem, hi - lo) if warm is None else warm.beta)
            f = problem.decision(problem.combine(beta), self.n_threads)
        everybody = Active.of(problem, lo, hi, delta, beta)
        biases = np.zeros(1 if problem.totals is None else len(problem.totals))
        state = State(problem, max_bytes, everybody, everybody, 0.0, self.tuning, biases)
        self._restart(state, beta, f)
        return state

    def step(self, state: State, tol: float, clock: Clock) -> Progress:
        """One round: a working set, its block, its solution, the gradient, the gap of the active samples."""
        tuning = self.tuning
        with deferred_interrupt():
            if state.judged is not None:
                self._look_again(state)
            if state.matrix is None:
                self._prepare(state, tol)
            if state.face is not None and goes_along(state):
                return _without_claim(state, tol)
            self._round(state, tol)
            estimate(state)
            state.rounds += 1
            if state.rounds % tuning.slow_rounds == 0:
                look_back(state, self.n_threads)
            is_near = tol < tuning.rough and state.gap <= tuning.roughest
            if not state.is_exact and (is_near or state.stands_still(tuning.window)):
                self._be_exact(state)
                return _without_claim(state, tol)
            if state.gap <= self._goal(state, tol):
                return Progress(state.gap)
            if self.shrinking and 2 * (state.rounds - state.last_shrink) >= tuning.slow_rounds:
                shrink(state)
            return _without_claim(state, tol)

    def finish(self, state: State, tol: float) -> Candidate:
        """The present β with its bias and its exact scores; the last digits where the problem is small."""
        problem, beta = state.problem, state.full_beta()
        if self._is_refined(problem):
            candidate = refine(problem, to_candidate(problem, beta), tol)
        elif problem.is_linear:
            candidate = to_candidate(problem, beta)
        else:
            b = state.b if problem.bias.is_free else problem.bias.scale**2 * float(beta.sum())
            candidate = Candidate(beta, b, beta)
        state.judged = candidate if candidate.scores is not None else scored(problem, candidate, tol, self.n_threads)
        return state.judged

    def _look_again(self, state: State) -> None:
        """Go on after a check: take the exact gradient of all samples, those among them that were left out wrongly.

        Where that happens twice, float32 has misled the estimate.
        """
        problem, judged = state.problem, state.judged
        assert judged is not None
        if state.was_judged and not state.is_exact:
            state.is_exact, state.matrix = True, None
        state.was_judged, state.judged = True, None
        is_same = not problem.is_linear  # refined weights are not those of β
        f = judged.scores.values if is_same else problem.decision(problem.combine(judged.beta))
        self._restart(state, judged.beta, f)
        if self.shrinking and len(state.active.samples) > state.working_size():
            estimate(state)
            shrink(state)

    def _is_refined(self, problem: Problem) -> bool:
        """Whether the last digits cost nothing worth mentioning."""
        most = self.tuning.few * problem.period // (2 * problem.n - problem.period)  # of halves a third: all take part twice
        return problem.n <= most and problem.kernel.psd is not False

    def _goal(self, state: State, tol: float) -> float:
        """The gap to claim: a small problem is to know its free samples before its last digits are computed."""
        tuning = self.tuning
        if not self._is_refined(state.problem) or state.rounds >= tuning.window:
            return tol
        fine = tuning.fine if state.problem.groups is None else DRIVER.finest  # groups have no Newton steps for the last digits
        return tol if state.stands_still(tuning.slow_rounds) else min(tol, fine)

    def _restart(self, state: State, beta: Floats, f: Floats) -> None:
        """Begin again at β, whose scores are known, with all samples."""
        all_of = state.everybody
        samples = np.flatnonzero(all_of.cost > 0.0)
        beta, f = (folded(beta), f[: len(all_of.samples)]) if state.is_folded else (beta.copy(), f)
        all_of.beta, constant = beta, state.problem.bias.scale**2 * float(beta.sum())
        all_of.g = f + constant + all_of.delta * beta - all_of.t
        state.dual = 0.5 * float(beta @ (all_of.t - all_of.g)) - all_of.price()
        is_same = len(samples) == len(state.active.samples)
        if state.matrix is not None and not (state.source is not None and is_same):
            state.forget_working_set()
            if state.source is not None:
                state.matrix = None
            else:
                state.matrix.reset(state.problem.row(samples))
        # else the same samples are still the working set, and its rows stay
        state.active, state.last_shrink = all_of.restrict(samples), state.rounds

    def _prepare(self, state: State, tol: float) -> None:
        """Choose the precision, and plan the memory: a quarter for the block, half for rows, as tiles and vectors need some."""
        problem, samples, tuning = state.problem, state.active.samples, self.tuning
        width = problem.X.shape[1]
        dtype: Any = np.float64 if state.is_exact else self._precision(problem, tol, len(samples))
        state.is_exact = dtype == np.float64
        matrix = problem.kernel_matrix(dtype, 0, self.n_threads)
        matrix.reset(problem.row(samples))
        may_make_rows = state.bytes_for_rows() > 0 and width <= tuning.narrow
        state.source = LoopColumns.of(matrix, padded(len(samples) + (not problem.bias.is_free))) if may_make_rows else None
        if len(samples) > tuning.few and state.source is None and not matrix.are_rows_cheap:
            matrix.max_bytes = state.max_bytes // 2
        state.matrix = matrix
        state.forget_working_set()

    def _precision(self, problem: Problem, tol: float, count: int) -> Any:
        """float32 or float64 for a gap and so many samples.

        float32 where kernel values are bounded and the samples not few; where they are many also on the way to a gap that
        leaves no room for its rounding.
        """
        few = self.tuning.few if tol >= self.tuning.rough else self.tuning.whole
        return np.float32 if isinstance(problem.kernel, RBF | Sigmoid) and count > few else np.float64

    def _round(self, state: State, tol: float) -> None:
        """Choose a working set, solve it, and carry its moves into the gradient."""
        active, tuning = state.active, self.tuning
        size = state.working_size()
        is_whole = size == len(active.samples)
        if not (is_whole and state.has_whole):
            last, stay = state.working, 0
            if is_whole:
                state.working = np.arange(size)
            else:
                rise, fall = active.wants()
                b = state.biases[active.group]
                state.working, stay = choose(rise - b, fall + b, active.is_free, last, size)
            state.kernel, state.has_whole = self._working_kernel(state, last, stay), is_whole
        assert state.kernel is not None
        at = state.working
        some, is_free = active.restrict(at), state.problem.bias.is_free
        share = tuning.share
        if state.source is not None:
            # no other sample is waiting: as far as the gap asks for, or as three working sets would go
            share = max(share**3, 0.5 * tol / max(state.gap, tol))
        active.beta[at] = state.kernel.solve(some, some.group if is_free else None, share, tuning)
        moves = active.beta[at] - some.beta
        self._carry(state, moves, is_whole)
        state.dual -= 0.5 * float(moves @ (some.g + active.g[at])) - some.price()
        state.dual -= float(some.width @ np.abs(active.beta[at]))
        if state.kernel.is_full:
            state.source = None
            state.forget_working_set()

    def _working_kernel(self, state: State, last: Indices, stay: int) -> WorkingKernel:
        """K of the working set; what the last one had in common with it is copied."""
        from maxmargin._loops.smo.kernel_squares import mirror, take_square

        assert state.matrix is not None
        active, at = state.active, state.working
        size, constant = len(at), state.problem.bias.scale**2
        if state.source is not None:
            return WorkingKernel.by_rows(state.source, active.delta, constant, state.bytes_for_rows())
        wide = padded(size + (not state.problem.bias.is_free))
        out = np.empty((wide, wide), dtype=state.matrix.dtype)
        out[size:], out[:, size:] = 0.0, 0.0
        if stay:
            assert state.kernel is not None
            position = np.zeros(len(active.samples), dtype=np.intp)
            position[last] = np.arange(len(last))
            take_square(state.kernel.K, position[at[:stay]], out)
        state.matrix.block(at[stay:], at, out[stay:size, :size])
        if constant:
            out[stay:size, :size] += out.dtype.type(constant)
        mirror(out, stay, size)
        new = np.arange(stay, size)
        out[new, new] += active.delta[at[stay:]].astype(out.dtype)
        return WorkingKernel.whole(out)

    def _carry(self, state: State, moves: Floats, is_whole: bool) -> None:
        """g += K · moves: from the block, from kept rows, or from rows computed now."""
        from maxmargin._loops.smo.pair_steps import add_rows

        assert state.matrix is not None
        assert state.kernel is not None
        active, moved = state.active, np.flatnonzero(moves)
        if is_whole:
            add_rows(state.kernel.K, state.kernel.slot[moved], moves[moved], active.g, 0, len(active.g))
            return
        at, moves = state.working[moved], moves[moved]
        state.matrix.add(at, moves, active.g, active.is_free[at])
        active.g[at] += active.delta[at] * moves
        active.g += state.problem.bias.scale**2 * float(moves.sum())

    def _be_exact(self, state: State) -> None:
        """Go on in float64, from the exact gradient of the active samples."""
        state.is_exact, state.matrix, state.missing = True, None, []
        problem, active, beta = state.problem, state.active, state.full_beta()
        used = np.flatnonzero(beta)
        f = problem.gram_times(used, beta[used], self.n_threads, active.samples)
        beta = folded(beta) if state.is_folded else beta
        state.everybody.beta, active.beta = beta.copy(), beta[active.samples]
        active.g = f + problem.bias.scale**2 * float(beta.sum()) + active.delta * active.beta - active.t


def filled(problem: Problem, room: Floats) -> Floats:
    """The first samples at their bounds, as many as the total of each group asks for: few support vectors to begin with."""
    groups = np.zeros(problem.n, dtype=np.intp) if problem.groups is None else problem.groups
    beta = np.zeros(problem.n)
    for g, total in enumerate(bias_totals(problem).tolist()):
        at = np.flatnonzero((groups == g) & (problem.y * total > 0.0))
        before = np.cumsum(room[at]) - room[at]
        beta[at] = np.sign(total) * np.clip(abs(total) - before, 0.0, room[at])
    return beta


def _without_claim(state: State, tol: float) -> Progress:
    """What a round reports; the dual value, and when it would end, only where sums are in float64."""
    if not state.is_exact:
        return Progress.without_claim(state.gap, tol, 1)
    to_come = rounds_to_come(state.missing, max(tol, DRIVER.finest), len(state.missing) // 2)
    return Progress.without_claim(state.gap, tol, 1, state.dual, to_come)


def choose(rise: Floats, fall: Floats, is_free: Flags, last: Indices, size: int) -> tuple[Indices, int]:
    """The next working set, and how many at its head stay from the last one, `last`.

    Up to half of it stays: free samples first, then those that came last. The rest are the samples that most want to rise,
    and as many that most want to fall. O(n).
    """
    stay = np.concatenate((last[is_free[last]], last[~is_free[last]][::-1]))[: size // 2]
    rise[stay] = fall[stay] = -np.inf
    up = largest(rise, (size - len(stay)) // 2)
    fall[up] = -np.inf
    down = largest(fall, size - len(stay) - len(up))
    return np.concatenate((stay, up, down)), len(stay)


def largest(values: Floats, most: int) -> Indices:
    """The positions of the `most` largest of the values that are not −∞, or of all of these; of equal ones the first."""
    least = np.partition(values, -most)[-most] if 0 < most < len(values) else -np.inf
    above = np.flatnonzero(values > least)
    equal = np.flatnonzero(values == least) if least > -np.inf else above[:0]
    return np.concatenate((above, equal))[:most]
