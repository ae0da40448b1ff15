"""Steps on the face of the box, for kernels: all free samples move together.

    min_Δ  ½ΔᵀK_FF Δ + ⟨g_F, Δ⟩    s.t.  lo ≤ β + Δ ≤ hi,   and ΣΔ = 0 where the bias is free

Noisy data with a large cost leave thousands of samples free, and their equations are ill-conditioned: pairs find the face and
then crawl along it. Here K_FF is held in memory. A turn goes along the solution of conjugate gradients as far as the projected
path falls (Moré & Toraldo, SIAM J. Optim. 1991); a sample that has reached a bound stays there for the next turns. Near the
solution a Cholesky factor in the same square makes the equations easy. Samples that ought to leave their bounds are left to the
pairs.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.linalg import get_blas_funcs, get_lapack_funcs

from maxmargin.kernels import RBF
from maxmargin.kernels.tiles import TILE_ROWS
from maxmargin.solvers.linear.rows import conjugate_gradients
from maxmargin.solvers.smo.state import State, estimate
from maxmargin.threads import in_pieces
from maxmargin.typing import Block, Floats, Indices


def free_samples(state: State) -> Indices:
    """Positions of the active samples strictly inside their box."""
    return np.flatnonzero(state.active.is_free)


def is_worth_it(state: State) -> bool:
    """Whether a step on the face may help, and its square fits into half of the memory."""
    problem = state.problem
    if problem.kernel.psd is False or problem.groups is not None or state.source is not None or not state.gap < 1.0:
        return False
    count = len(free_samples(state))
    return count >= state.tuning.few and count**2 * _precision(state).itemsize <= state.max_bytes // 2


def look_back(state: State, n_threads: int) -> None:
    """See how fast the last rounds were: larger working sets are next, then a step on the face."""
    slow = state.tuning.slow_rounds
    size, is_slow = state.working_size(), state.gap > 0.5 * state.last_gap
    state.growth += int(is_slow)
    is_due = state.rounds >= state.next_face and (is_slow or state.face_wait == slow)
    if is_due and state.working_size() < 2 * size and is_worth_it(state):
        state.face, state.rise = along_the_face(state, n_threads), state.dual - state.old_dual
    state.last_gap, state.old_dual = state.gap, state.dual


def goes_along(state: State) -> bool:
    """Make the next piece of a step on the face; False where none is under way.

    A step that raises the dual by less than the rounds before it did makes the next one wait twice as long.
    """
    slow, before = state.tuning.slow_rounds, state.dual
    if state.face is None:
        return False
    if next(state.face, state) is state:  # that was the last piece
        state.face = None
        state.face_wait = slow if state.dual - before > state.rise else max(2 * state.face_wait, 2 * slow)
        state.next_face = state.rounds + state.face_wait
        estimate(state)
        state.last_gap, state.old_dual = state.gap, state.dual
    return True


def along_the_face(state: State, n_threads: int) -> Iterator[None]:
    """One step on the face, in pieces of a second or less; β and g change with the last of them, if the dual rises."""
    active, at = state.active, free_samples(state)
    state.forget_working_set()
    face = Face(state, at, n_threads)
    yield
    if state.gap < state.tuning.factor_below:
        face.square.factor()
        yield
    yield from face.turns()
    g_before, moves = active.g.copy(), face.beta - active.beta[at]
    moved = np.flatnonzero(moves)
    which, moves = at[moved], moves[moved]
    assert state.matrix is not None
    state.matrix.add(which, moves, active.g, np.zeros(len(which), dtype=np.bool_))
    active.g[which] += active.delta[which] * moves
    active.g += state.problem.bias.scale**2 * float(moves.sum())
    price = np.sign(active.beta[which]) * active.width[which]
    gain = -0.5 * float(moves @ (g_before[which] + active.g[which])) - float(moves @ price)
    if gain > 0.0:
        active.beta[at] = face.beta
        state.dual += gain
    else:
        active.g = g_before


class Face:
    """The free samples: where they are, how they may move, and what of their gradient is left."""

    def __init__(self, state: State, at: Indices, n_threads: int) -> None:
        active, problem, matrix, where = state.active, state.problem, state.matrix, at
        K = np.empty((len(at), len(at)), dtype=_precision(state))
        if matrix is None or matrix.dtype != K.dtype:
            matrix, where = problem.kernel_matrix(K.dtype, 0, n_threads), np.arange(len(at))
            matrix.reset(problem.row(active.samples[at]))
        matrix.block(where, where, K)
        K += K.dtype.type(problem.bias.scale**2)
        K.reshape(-1)[:: len(at) + 1] += active.delta[at].astype(K.dtype)
        self.square, self.tuning = SharedSquare(K, n_threads), state.tuning
        some = active.restrict(at)
        self.beta, self.g, keeps_sign = some.beta, some.slope, some.width > 0.0
        self.lo = np.where(keeps_sign & (some.beta > 0.0), 0.0, some.lo)
        self.hi = np.where(keeps_sign & (some.beta < 0.0), 0.0, some.hi)
        self.has_sum = problem.bias.is_free
        self.may_move: Any = np.ones(len(at), dtype=np.bool_)

    def turns(self) -> Iterator[None]:
        """Turn after turn, as long as they gain something worth while."""
        first = 0.0
        for _ in range(self.tuning.window):
            gain = self._turn()
            first = max(first, gain)
            if gain <= self.tuning.little * first:
                return
            yield

    def _turn(self) -> float:
        """Go along the solution of the equations as far as the projected path falls; what it gained."""
        direction = self._direction()
        best_gain, best, best_change, length = 0.0, self.beta, np.empty(0), 1.0
        while length > self.tuning.little:
            trial = self._projected(self.beta + length * direction)
            move = trial - self.beta
            change = self.square.times(move)
            gain = -float(move @ self.g) - 0.5 * float(move @ change)
            length *= 0.5
            if gain > best_gain:
                best_gain, best, best_change = gain, trial, change
            elif best_gain > 0.0:
                break
        if best_gain > 0.0:
            self.beta, self.g = best, self.g + best_change
            self.may_move &= (self.beta > self.lo) & (self.beta < self.hi)
        return best_gain

    def _direction(self) -> Floats:
        mask, square = self.may_move, self.square

        def among_movers(v: Floats) -> Floats:
            return np.where(mask, v, 0.0)

        def solve(v: Floats) -> Floats:
            return among_movers(square.solve(v))

        direction, _ = conjugate_gradients(
            lambda v: among_movers(square.times(v)),
            among_movers(-self.g),
            square.scale,
            precision=self.tuning.share,
            most_rounds=self.tuning.window,
            enough=self.tuning.little if square.is_factored else self.tuning.face_gain,
            precondition=_without_sum(solve, solve(mask.astype(np.float64))) if self.has_sum else solve,
        )
        return direction

    def _projected(self, beta: Floats) -> Floats:
        """Into the box; where Σβ must stay, what that changes is spread over those that are still inside."""
        out = np.clip(beta, self.lo, self.hi)
        if not self.has_sum:
            return out
        total, size = float(self.beta.sum()), float(np.abs(self.beta).sum())
        for _ in range(self.tuning.slow_rounds):
            lack = total - float(out.sum())
            inside = self.may_move & (out > self.lo) & (out < self.hi)
            count = np.count_nonzero(inside)
            if abs(lack) <= 1e-12 * size or not count:
                break
            out = np.clip(out + np.where(inside, lack / count, 0.0), self.lo, self.hi)
        return out


def _without_sum(solve: Callable[[Floats], Floats], ones: Floats) -> Callable[[Floats], Floats]:
    """The same solution among the vectors whose sum is zero; `ones` is that of the vector of ones."""
    total = float(ones.sum())

    def projected(v: Floats) -> Floats:
        out = solve(v)
        return out - ones * (float(out.sum()) / total) if total else out

    return projected


def _precision(state: State) -> Any:
    """float32 where the values of the kernel are between 0 and 1: the face needs no better equations."""
    return np.dtype(np.float32 if isinstance(state.problem.kernel, RBF) else np.float64)


class SharedSquare:
    """K, symmetric and C-contiguous, above the diagonal, and after `factor` its Cholesky factor below it.

    Both are operators: Kv and (K + ridge)⁻¹v. A product costs n² reads of half the matrix, a solution as many, a factor n³/3
    operations. The same bits for any number of threads.
    """

    def __init__(self, K: Block, n_threads: int) -> None:
        self.K, self.n_threads, self.is_factored = K, n_threads, False
        self.diagonal = K.diagonal().astype(np.float64)
        mean = float(self.diagonal.mean())
        self.scale = np.maximum(self.diagonal, 1e-12 * mean + np.finfo(float).tiny)
        self.ridge = float(np.finfo(K.dtype).eps) ** 0.5 * mean  # what rounding needs, and more: half of the digits
        self._solve = get_blas_funcs("trsv", (K,))

    def times(self, v: Floats) -> Floats:
        """Kv."""
        from maxmargin._loops.smo.symmetric import add_symmetric

        def part(begin: int, end: int) -> Floats:
            out = np.zeros(len(v))
            add_symmetric(self.K, self.diagonal, v, begin, end, out)
            return out

        return np.asarray(np.sum(in_pieces(part, len(v), self.n_threads, TILE_ROWS), axis=0))

    def solve(self, v: Floats) -> Floats:
        """(K + ridge)⁻¹v about, in the precision of K; v over the diagonal without a factor."""
        if not self.is_factored:
            return np.asarray(v / self.scale)
        half = self._solve(self.K.T, v.astype(self.K.dtype), lower=0, trans=1)
        return np.asarray(self._solve(self.K.T, half, lower=0, trans=0), dtype=np.float64)

    def factor(self) -> None:
        """Put the factor below the diagonal; not where K is not positive enough."""
        self.K.reshape(-1)[:: len(self.K) + 1] += self.K.dtype.type(self.ridge)
        _, is_bad = get_lapack_funcs("potrf", (self.K,))(self.K.T, lower=0, overwrite_a=1, clean=0)
        self.is_factored = not is_bad
