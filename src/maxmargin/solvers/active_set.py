"""Active sets in many decimal digits, for few samples whose costs or features differ by many orders of magnitude.

    min_α  ½ αᵀQα − qᵀα     s.t.  0 ≤ α ≤ u,       Q = Y(K + S² MMᵀ)Y + diag(1/2c) + δI,      q = r + S² YMτ

M tells which free bias a sample has: a huge penalty S² asks for Σβ = τ, and a tiny δ makes K definite, both
as far from K's own entries as only so many digits allow. Q is then positive definite. First all samples on the wrong side of a
bound change sides at once (block principal pivoting; Júdice & Pires, Comput. Oper. Res. 1994). That needs few solutions, but may
cycle; where it stops helping, one sample at a time is freed or stopped at its bound on the way to the next solution, so that the
objective falls.
"""

import decimal
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from maxmargin.core import Candidate, Problem, certify, to_candidate
from maxmargin.core.candidate import bias_totals, memberships
from maxmargin.core.products import dense_rows
from maxmargin.kernels import RBF, Linear, Polynomial
from maxmargin.solvers.base import Clock, Progress, Solver
from maxmargin.solvers.refine import outward, refine, stretch


@dataclass(frozen=True)
class ActiveSetTuning:
    """Numbers set by hand."""

    digits: int = 240
    """Decimal digits. Three eighths lie between K and δ, and as many between S² and K: twice the 36 of costs from 1e-18 to 1e18,
    and eighteen to spare. The rest is for what is computed with them."""

    samples: int = 64
    """Samples up to which n³ operations of a microsecond take a tenth of a second."""

    products: int = 2_000_000
    """Products of a Gram matrix that take a second or two."""

    chances: int = 10
    """Exchanges without fewer samples on the wrong side, until single ones move (Júdice & Pires); and solutions for each sample,
    at most: drawn problems needed up to four, but a K that is not definite may never end."""

    @property
    def apart(self) -> int:
        """Decimal digits between K and δ, and between S² and K."""
        return 3 * self.digits // 8


TUNING = ActiveSetTuning()
_CONTEXT = decimal.Context(prec=TUNING.digits, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX)
_exact: Any = np.frompyfunc(decimal.Decimal, 1, 1)

BELOW, FREE, ABOVE = -1, 0, 1


@dataclass
class _State:
    problem: Problem
    Q: Any
    q: Any
    upper: Any
    sides: Any  # BELOW, FREE or ABOVE for each sample that counts
    penalty: Any
    alpha: Any
    fewest: int
    chances: int = TUNING.chances
    steps: int = 0
    is_done: bool = False
    dense: Any = None  # the rows that make up w


@dataclass(frozen=True)
class ActiveSet(Solver):
    """Principal pivoting in 240 decimal digits: a few dozen samples, whatever their scale.

    *Use it when* other solvers end short of the goal on few samples: costs of 1e12 beside 1e-12, features of 1e9 beside 1.
    *Needs* a loss with a quadratic dual, the L2 penalty, a positive semi-definite kernel, at most 64 samples. *Costs* n³/3
    operations of about a microsecond for each exchange, and there are few. *Equivalent to* InteriorPoint at its optimum. What is
    left of the gap is the rounding of β, w and b to float64: little, but not where K is nearly singular and β cancels.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import Problem
    >>> from maxmargin.solvers import ActiveSet, solve
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> solution = solve(Problem(X, y, cost=np.array([1e-12, 1e12, 1e12, 1.0])), ActiveSet(), tol=1e-9)
    >>> solution.beta, solution.w, solution.b
    (array([ 0., -2.,  2.,  0.]), array([2.]), -3.0)
    """

    needs_psd: ClassVar[bool] = True
    takes_targets: ClassVar[bool] = True
    is_precise: ClassVar[bool] = True

    def accepts(self, problem: Problem) -> str | None:
        """Why a problem cannot be solved here, or None."""
        n, d = len(problem.present), problem.X.shape[1]
        if n > TUNING.samples or n * n * d > TUNING.products:
            return f"ActiveSet takes up to {TUNING.samples} samples, and n²d ≤ {TUNING.products}; got n = {n}, d = {d}."
        return super().accepts(problem)

    def window(self, problem: Problem) -> int:
        """All of its steps: they end by themselves, and tell nothing of the dual value before that."""
        return TUNING.chances * len(problem.present)

    def init(self, problem: Problem, max_bytes: int, warm: Candidate | None) -> _State:
        """All samples at α = 0, or where the warm start has them."""
        on = problem.present
        with decimal.localcontext(_CONTEXT):
            y, cost = _exact(problem.y[on]), problem.cost[on]
            X, K = _features_and_gram(problem)
            if problem.bias.kind == "penalized":
                K = K + decimal.Decimal(problem.bias.scale) ** 2
            largest = max(max(K.diagonal()), decimal.Decimal(1))
            penalty = largest.scaleb(TUNING.apart)
            members, totals = _exact(memberships(problem)), _exact(bias_totals(problem))
            q = _exact(np.ones(len(on)) if problem.target is None else problem.target[on])
            if len(totals):
                K = K + penalty * (members @ members.T)
                q = q + penalty * y * (members @ totals)
            Q = K * np.outer(y, y)
            at = np.diag_indices(len(on))
            Q[at] = Q[at] + largest.scaleb(-TUNING.apart) + _exact(problem.loss.dual_diagonal(cost))
        upper = _exact(problem.loss.upper(cost))
        sides = np.full(len(on), BELOW)
        if warm is not None:
            alpha = warm.beta[on] * problem.y[on]
            sides = np.where(alpha <= 0.0, BELOW, np.where(alpha >= problem.loss.upper(cost), ABOVE, FREE))
        return _State(problem, Q, q, upper, sides, penalty, None, len(on) + 1, dense=X)

    def step(self, state: _State, tol: float, clock: Clock) -> Progress:
        """One solution for the free samples, and the change of sides that it asks for."""
        with decimal.localcontext(_CONTEXT):
            goal = _solved(state)
            if state.chances:
                state.alpha, moving = goal, np.flatnonzero(_wrong(state, goal))
                self._exchange(state, moving)
            else:
                moving = self._descend(state, goal)
        state.is_done, state.steps = not len(moving), state.steps + 1
        is_final = state.is_done or state.steps >= TUNING.chances * len(state.sides)
        return Progress(float(not state.is_done), is_final=is_final)

    @staticmethod
    def _exchange(state: _State, moving: Any) -> None:
        """Let all samples on the wrong side change sides; at the last chance the solution becomes feasible."""
        if len(moving) < state.fewest:
            state.fewest, state.chances = len(moving), TUNING.chances
        else:
            state.chances -= 1
        was_free = state.sides[moving] == FREE
        state.sides[moving] = np.where(was_free, np.where(state.alpha[moving] < 0, BELOW, ABOVE), FREE)
        if not state.chances:
            state.alpha = np.clip(state.alpha, 0, state.upper)
            state.sides = np.where(state.alpha == 0, BELOW, np.where(state.alpha == state.upper, ABOVE, FREE))

    @staticmethod
    def _descend(state: _State, goal: Any) -> Any:
        """Go towards the goal until a sample meets its bound, or free the sample that gains most; the one that changed sides."""
        free = np.flatnonzero(state.sides == FREE)
        way = goal[free] - state.alpha[free]
        bounds = np.where(way < 0, _exact(np.zeros(len(free))), state.upper[free])
        beyond = np.flatnonzero(np.where(way < 0, goal[free] < bounds, goal[free] > bounds))
        if len(beyond):
            shares = (bounds[beyond] - state.alpha[free[beyond]]) / way[beyond]
            k = int(np.argmin(shares))
            state.alpha[free] += shares[k] * way
            moving = free[beyond[k]]
            state.alpha[moving] = bounds[beyond[k]]
            state.sides[moving] = BELOW if way[beyond[k]] < 0 else ABOVE
            return np.array([moving])
        state.alpha = goal
        wrong = np.flatnonzero(_wrong(state, goal))
        if len(wrong):
            wrong = wrong[[int(np.argmax(np.abs(_slope(state, goal)[wrong])))]]
            state.sides[wrong] = FREE
        return wrong

    def finish(self, state: _State, tol: float) -> Candidate:
        """β, w and b rounded once, and what then lies inside the margin by rounding alone moved out of it."""
        problem = state.problem
        if state.alpha is None:
            return to_candidate(problem, np.zeros(problem.n))
        candidate = self._candidate(state, state.alpha)
        found = to_candidate(problem, candidate.beta, candidate.w, candidate.b)
        if not state.is_done:
            return found
        found = refine(problem, found)
        if certify(problem, found).relative_gap <= tol or problem.is_hard:
            return found
        tries = [found, refine(problem, candidate)]
        for errors in (1.0, 2.0):  # from the candidate itself: refinements may have taken another bias
            if problem.is_linear:
                tries.append(outward(problem, candidate, errors))
            else:
                tries.append(self._farther(state, candidate, errors))
        return min(tries, key=lambda one: certify(problem, one).relative_gap)

    def _farther(self, state: _State, candidate: Candidate, errors: float) -> Candidate:
        """The candidate with its free samples as far outside the margin as their errors ask for (`refine.outward`)."""
        factor = stretch(state.problem, candidate, errors)
        with decimal.localcontext(_CONTEXT):
            alpha = _solved(replace(state, q=state.q * decimal.Decimal(factor)))
        return self._candidate(state, alpha)

    @staticmethod
    def _candidate(state: _State, alpha: Any) -> Candidate:
        """β, w and b of these α, each rounded once."""
        problem, on = state.problem, state.problem.present
        beta = np.zeros(problem.n)
        with decimal.localcontext(_CONTEXT):
            signed = np.clip(alpha, 0, state.upper) * _exact(problem.y[on])
            beta[on] = signed.astype(np.float64)
            if problem.bias.is_free and problem.groups is None:
                _balance(beta, problem.loss.upper(problem.cost), problem.total)
            w = None if state.dense is None else _rounded(signed @ state.dense, state.dense[state.sides == FREE])
            b = state.penalty * (memberships(problem).T.astype(int) @ signed - _exact(bias_totals(problem)))
            if problem.bias.kind == "penalized":
                b = np.array([signed.sum() * decimal.Decimal(problem.bias.scale) ** 2])
        b = float(b.sum()) if problem.groups is None else b.astype(np.float64)
        return Candidate(problem.combine(beta) if w is None else w, b, beta)


def _features_and_gram(problem: Problem) -> tuple[Any, Any]:
    """(the rows that make up w, K), by the kernel's formula in all digits; other kernels' values are their definition."""
    on, kernel = problem.present, problem.kernel
    if not isinstance(kernel, Linear | Polynomial | RBF):
        K = _exact(problem.gram(on, on))
        return None, (K + K.T) / 2
    X = _exact(dense_rows(problem.X, problem.row(on)))
    K = X @ X.T
    if isinstance(kernel, Linear):
        return X, K
    if isinstance(kernel, Polynomial):
        return None, (decimal.Decimal(kernel.gamma) * K + decimal.Decimal(kernel.coef0)) ** kernel.degree
    squares = K.diagonal()
    exponent = decimal.Decimal(kernel.gamma) * (K + K - squares[:, None] - squares)
    return None, np.frompyfunc(decimal.Decimal.exp, 1, 1)(exponent)


def _balance(beta: Any, upper: Any, total: float) -> None:
    """Let the smallest β inside their bounds take what the rounding of all β leaves of Σβ − τ."""
    excess = _exact(beta).sum() - decimal.Decimal(total)
    inside = np.flatnonzero((beta != 0.0) & (np.abs(beta) < upper))
    for k in inside[np.argsort(-np.abs(beta[inside]), kind="stable")]:
        new = float(decimal.Decimal(beta[k]) - excess)
        if new * beta[k] > 0.0 and abs(new) < upper[k]:
            excess += decimal.Decimal(new) - decimal.Decimal(beta[k])
            beta[k] = new


def _rounded(w: Any, rows: Any) -> Any:
    """w in float64, each entry rounded up or down so that ⟨w, x⟩ of the given rows errs least.

    Rows far from the origin err by the same amount: the errors of the entries can balance each other.
    """
    nearest = w.astype(np.float64)
    missed = (_exact(nearest) - w).astype(np.float64)
    other = np.nextafter(nearest, np.where(missed > 0.0, -np.inf, np.inf))
    errors = np.stack([missed, (_exact(other) - w).astype(np.float64)])
    columns = rows.astype(np.float64).T
    total = np.zeros(len(rows))
    for k in np.argsort(-np.abs(errors).max(axis=0) * np.linalg.norm(columns, axis=1), kind="stable"):
        both = total + errors[:, k, None] * columns[k]
        better = int(np.argmin(np.square(both).sum(axis=1)))
        nearest[k], total = (nearest[k], other[k])[better], both[better]
    return nearest


def _solved(state: _State) -> Any:
    """The best α with the samples that are not free on their bounds."""
    free, above = np.flatnonzero(state.sides == FREE), np.flatnonzero(state.sides == ABOVE)
    alpha = _exact(np.zeros(len(state.sides)))
    alpha[above] = state.upper[above]
    if len(free):
        right = state.q[free]
        if len(above):
            right = right - state.Q[np.ix_(free, above)] @ alpha[above]
        alpha[free] = _solve(state.Q[np.ix_(free, free)], right)
    return alpha


def _slope(state: _State, alpha: Any) -> Any:
    """q − Qα: how fast the objective falls with each α."""
    return state.q - state.Q @ alpha


def _wrong(state: _State, alpha: Any) -> Any:
    """Free samples beyond a bound, and samples at a bound that should leave it."""
    beyond, slope = (alpha < 0) | (alpha > state.upper), _slope(state, alpha)
    return np.where(state.sides == FREE, beyond, np.where(state.sides == BELOW, slope > 0, slope < 0))


def _solve(A: Any, right: Any) -> Any:
    """x with Ax = right, A symmetric and positive definite: elimination without exchanges; A is overwritten."""
    n, x = len(A), right.copy()
    for k in range(n - 1):
        factors = A[k + 1 :, k] / A[k, k]
        A[k + 1 :, k + 1 :] -= np.outer(factors, A[k, k + 1 :])
        x[k + 1 :] -= factors * x[k]
    for k in range(n - 1, -1, -1):
        x[k] = (x[k] - A[k, k + 1 :] @ x[k + 1 :]) / A[k, k] if k < n - 1 else x[k] / A[k, k]
    return x
