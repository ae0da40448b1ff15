"""Coordinate descent in the weights, for the L1 penalty.

    min_w  Σ_k price_k |w_k| + Σ_j c_j ψ_j(z_j),     −ψ_j'(z) = θ_j = clip(θ⁰_j + σ(1 − z), 0, top),     z = A w

Squared hinge (θ⁰ = 0, σ = 2, top = ∞): the CDN method of Yuan, Chang, Hsieh & Lin (JMLR 2010), with Newton steps on the weights
that are not zero, their signs kept; where both have cost as much as an interior point of the whole problem, or crawl, that makes
a new beginning. Hinge (top = 1): a few rounds of the proximal method of multipliers (Rockafellar, 1976), after each of which θ⁰
moves to θ; they tell roughly which features and samples matter, and `LinearProgram` finds the corner that these make.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.linalg

from maxmargin.core.candidate import Candidate
from maxmargin.core.losses import Hinge, SquaredHinge
from maxmargin.core.penalties import L1
from maxmargin.core.problem import Problem
from maxmargin.solvers.base import Clock, Progress, Solver, deferred_interrupt
from maxmargin.solvers.l1.columns import Columns
from maxmargin.solvers.l1.equations import L1_EQUATIONS
from maxmargin.solvers.l1.highs import PROGRAMS
from maxmargin.solvers.l1.interior_point import L1Interior
from maxmargin.solvers.refine import straighten_dual
from maxmargin.typing import Floats, Indices


@dataclass(frozen=True)
class PrimalCDTuning:
    """Numbers of `PrimalCD`, chosen on the text sets of the benchmark `l1`."""

    smoothed_problems: int = 12
    """Rounds of the hinge before the linear programs."""
    sharpening: float = 1.2
    """Factor of σ from one round of the hinge to the next."""
    sweeps: int = 3
    """Sweeps over the chosen columns in a round, and Newton steps after them, at most; the hinge makes twice as many sweeps
    and no such steps."""
    halvings: int = 6
    """Times that a step of one weight, or of all, is shortened, at most."""


TUNING = PrimalCDTuning()


@dataclass
class _State:
    """The present weights with their scores z; `centre` is θ⁰."""

    problem: Problem
    columns: Columns
    top: float
    sigma: float
    centre: Floats
    w: Floats
    z: Floats
    square: Floats
    rng: Any
    most_work: float  # of the rounds before the interior point, in entries
    visited: Indices = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    rounds: int = 0
    least_gap: float = np.inf
    last_progress: int = 0
    work: float = 0.0  # of the rounds so far
    interior: L1Interior | None = None  # while it is the way

    @property
    def pull(self) -> Floats:
        """θ⁰ + σ(1 − z); samples are bent where it lies between 0 and the top."""
        return self.centre + self.sigma * (1.0 - self.z)

    @property
    def theta(self) -> Floats:
        """θ of each sample; c θ is its dual variable α."""
        return np.clip(self.pull, 0.0, self.top)

    @property
    def alpha(self) -> Floats:
        """The dual variables."""
        return self.columns.cost * self.theta

    def choose(self, u: Floats) -> None:
        """Visit the columns with a weight and those about to get one, given their slopes u = Aᵀα."""
        self.visited = np.flatnonzero((self.w != 0.0) | (np.abs(u) >= PROGRAMS.near_price * self.columns.price))

    def sweep(self) -> None:
        """Visit each chosen column once, in a random order."""
        from maxmargin._loops.l1.primal_cd import sweep

        columns, order = self.columns, self.rng.permutation(self.visited)
        indptr, *_ = arrays = columns.arrays
        sweep(
            *arrays,
            columns.cost,
            self.centre,
            self.sigma,
            self.top,
            columns.price,
            self.square,
            order,
            self.w,
            self.z,
            TUNING.halvings,
        )
        self.work += 2.0 * float((indptr[order + 1] - indptr[order]).sum())  # once for the slope, once for the step

    def value(self, w: Floats, z: Floats) -> float:
        """The smooth objective: ψ = (clip(v)² + 2 clip(v)(v − clip(v)))/2σ with v = θ⁰ + σ(1 − z), up to a constant."""
        v = self.centre + self.sigma * (1.0 - z)
        theta = np.clip(v, 0.0, self.top)
        losses = theta * (v - 0.5 * theta) / self.sigma
        return float(self.columns.price @ np.abs(w) + self.columns.cost @ losses)

    def newton_step(self) -> bool:
        """A step on the weights that are not zero; one that would change its sign stops at zero. False: nothing gained."""
        columns, v = self.columns, self.pull
        used = np.flatnonzero((self.w != 0.0) | (columns.price == 0.0))
        if len(used) == 0 or len(used) > L1_EQUATIONS.most_factored:
            return False
        bent = np.flatnonzero((v > 0.0) & (v < self.top))
        self.work += L1_EQUATIONS.dense_work(len(used) ** 2 * len(bent) + len(used) ** 3 / 3.0)
        A, part = columns.take(used), columns.block(bent, used)
        H = (part.T * (self.sigma * columns.cost[bent])) @ part
        g = columns.price[used] * np.sign(self.w[used]) - A.T @ self.alpha
        # each weight in the unit in which its curvature is 1, were all samples bent
        unit = 1.0 / np.sqrt(np.maximum(self.sigma * self.square[used], np.finfo(float).tiny))
        H *= unit * unit[:, None]
        # what sums over the samples may be rounded by: with more weights than bent samples a step is long, not infinite
        H[np.diag_indices(len(used))] += len(v) * np.finfo(float).eps
        factor, info = scipy.linalg.lapack.dpotrf(H, overwrite_a=True)
        if info != 0:
            return False
        step = -unit * scipy.linalg.lapack.dpotrs(factor, unit * g)[0]
        return bool(np.isfinite(step).all()) and self._search(used, step, A)

    def _search(self, used: Indices, step: Floats, A: Any) -> bool:
        """Take the whole step with what changes its sign cut off at zero; else as far as the first change of a sign."""
        old, price = self.w[used], self.columns.price[used]
        new = old + step
        crosses = (price > 0.0) & (new * old <= 0.0)
        if self._moves(used, np.where(crosses, 0.0, new), A):
            return True
        shares = np.where(crosses, old / np.where(crosses, -step, 1.0), 1.0)
        t = float(shares.min(initial=1.0))
        for _ in range(TUNING.halvings):
            new = old + t * step
            new[crosses & (shares <= t)] = 0.0
            if self._moves(used, new, A):
                return True
            t *= 0.5
        return False

    def _moves(self, used: Indices, new: Floats, A: Any) -> bool:
        """Take new weights if the objective is lower there."""
        w = self.w.copy()
        w[used] = new
        z = self.z + A @ (new - self.w[used])
        is_lower = self.value(w, z) < self.value(self.w, self.z)
        if is_lower:
            self.w, self.z = w, z
        return is_lower


@dataclass(frozen=True)
class PrimalCD(Solver):
    """Coordinate descent in the weights: the L1 penalty on data of any size.

    *Use it when* the penalty is L1. *Needs* the linear kernel, L1, hinge or squared hinge, finite costs. *Costs* O(non-zeros of
    the columns in use) a sweep and one pass over the data a round, ten to a hundred rounds; memory: a copy of the data by
    columns. With the hinge LinearProgram goes on from it. *Equivalent to* LinearProgram at its optimum.

    Parameters
    ----------
    seed : int
        Of the visiting order.

    Examples
    --------
    >>> from maxmargin.solvers import solve
    >>> X, y = np.array([[1.0, 0.5], [-1.0, 0.5]]), np.array([1.0, -1.0])
    >>> solution = solve(Problem(X, y, np.full(2, 2.0), loss=SquaredHinge(), penalty=L1()), PrimalCD(), tol=1e-9)
    >>> np.round(solution.w, 6)
    array([0.875, 0.   ])
    """

    seed: int = 0

    def accepts(self, problem: Problem) -> str | None:
        """Why a problem cannot be solved here, or None."""
        if not isinstance(problem.penalty, L1) or not isinstance(problem.loss, Hinge | SquaredHinge):
            return f"PrimalCD solves the hinge and the squared hinge with L1, got {problem.loss!r} and {problem.penalty!r}."
        if problem.is_hard:
            return "PrimalCD needs finite costs. A large one has the same answer where the classes can be separated."
        return None

    def init(self, problem: Problem, max_bytes: int, warm: Candidate | None) -> _State:
        """w = 0, or the warm start's; for the hinge with its θ."""
        columns = Columns.of(problem)
        w, centre = np.zeros(len(columns.price)), np.zeros(len(columns.cost))
        if warm is not None:
            w, alpha = columns.start(problem, warm)
            centre = alpha / columns.cost if columns.is_hinge else centre
        top, sigma = (1.0, 1.0) if columns.is_hinge else (np.inf, 2.0)
        return _State(
            problem, columns, top, sigma, centre, w, columns.scores(w), columns.squares(columns.cost),
            np.random.default_rng(self.seed), L1Interior.work(columns),
        )  # fmt: skip

    def step(self, state: _State, tol: float, clock: Clock) -> Progress:
        """One round: the columns that matter, sweeps over them, and the gap of the whole."""
        if state.interior is not None:
            return self._inside(state, state.interior, tol)
        columns = state.columns
        with deferred_interrupt():
            if state.rounds == 0:
                state.choose(columns.sums(state.alpha))
            for _ in range((2 if columns.is_hinge else 1) * TUNING.sweeps):
                state.sweep()
            for _ in range(0 if columns.is_hinge else TUNING.sweeps):
                if not state.newton_step():
                    break
            u = columns.sums(state.alpha)
            primal = columns.primal(state.w, state.z)
            gap = (primal - columns.dual(state.alpha, u)) / max(primal, np.finfo(float).tiny)
            state.choose(u)
            state.rounds += 1
            if gap < 0.9 * state.least_gap:
                state.least_gap, state.last_progress = gap, state.rounds
            if columns.is_hinge and gap > tol:
                state.centre = state.theta
                state.sigma *= TUNING.sharpening
        has_crawled = state.rounds - state.last_progress > L1_EQUATIONS.patience
        is_dear = gap > tol and state.work > state.most_work
        if columns.is_hinge:
            if gap <= tol or not (is_dear or state.rounds >= TUNING.smoothed_problems):
                return Progress(gap)
            return Progress(gap, is_final=has_crawled, candidate=self.finish(state, tol), to_come=np.inf)
        if not (has_crawled or is_dear):
            return Progress(gap)
        if not np.isfinite(state.most_work):
            return Progress(gap, is_final=True)
        left_behind = self.finish(state, tol)
        state.interior, state.most_work = L1Interior.of(columns), np.inf  # once
        return Progress(gap, candidate=left_behind)

    def _inside(self, state: _State, interior: L1Interior, tol: float) -> Progress:
        """One step of the interior point; where the gap has ceased to fall, the rounds go on from there."""
        interior.step(tol)
        if not interior.has_ended(tol):
            return Progress(interior.gap)
        left_behind = self.finish(state, tol)
        state.w = interior.guess()[0]
        state.z = state.columns.scores(state.w)
        state.choose(state.columns.sums(state.alpha))
        state.interior, state.last_progress, state.least_gap = None, state.rounds, np.inf
        return Progress.without_claim(interior.gap, tol)._replace(candidate=left_behind)

    def finish(self, state: _State, tol: float) -> Candidate:
        """The present weights, and θ as the dual point; or those of the interior point."""
        at = state if state.interior is None else state.interior
        found = state.columns.candidate(state.problem, at.w, at.alpha)
        return straighten_dual(state.problem, found, tol)
