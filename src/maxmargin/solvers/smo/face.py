"""Steps on the face of the box, for kernels: all free samples move together.

    min_Δ  ½ΔᵀK_FF Δ + ⟨g_F, Δ⟩    s.t.  lo ≤ β + Δ ≤ hi,   and ΣΔ = 0 where the bias is free

Noisy data with a large cost leave thousands of samples free, and their equations are ill-conditioned: pairs find the face and
then crawl along it. Here K_FF is held in memory. A turn goes along the solution of conjugate gradients as far as the projected
path falls (Moré & Toraldo, SIAM J. Optim. 1991); who has reached a bound stays there for the next turns. Near the solution a
Cholesky factor in the same square makes the equations easy. Samples that ought to leave their bounds are left to the pairs.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from maxmargin.kernels import RBF
from maxmargin.solvers.linear.conjugate_gradients import conjugate_gradients
from maxmargin.solvers.smo.factored_square import SharedSquare
from maxmargin.solvers.smo.kernel_columns import KernelColumns
from maxmargin.solvers.smo.state import State
from maxmargin.typing import Floats, Indices

FEWEST = 256
"""Free samples from which their common step is worth the trouble."""

BELOW, FACTORED_BELOW = 0.7, 0.07
"""Relative gaps: below the first the face is known well enough to go along it, below the second to solve its equations."""

TURNS, LITTLE = 25, 0.01
"""Turns of one step at most; one that gains less than this share of the first is the last."""

MOST_ROUNDS, PRECISION = 25, 0.1
"""Conjugate-gradient rounds of one turn, and the share of the residual that may remain."""

ENOUGH, FACTORED_ENOUGH = 0.3, 0.02
"""A round that gains less than this share of the best round's gain is the last."""

LENGTHS = (1.0, 0.5, 0.25, 0.12, 0.06, 0.03, 0.015, 0.007)
"""Step lengths along the projected path that are tried, until one gains less than the one before."""


def free_samples(state: State) -> Indices:
    """Positions of the active samples strictly inside their box."""
    active = state.active
    return np.flatnonzero((active.beta > active.lo) & (active.beta < active.hi))


def is_worth_it(state: State) -> bool:
    """Whether a step on the face may help, and its square fits into half of the memory."""
    if state.problem.kernel.psd is False or state.source is not None or not state.gap < BELOW:
        return False
    count = len(free_samples(state))
    return count >= FEWEST and count**2 * _precision(state).itemsize <= state.max_bytes // 2


def along_the_face(state: State, n_threads: int) -> Iterator[None]:
    """One step on the face, in pieces of a second or less; β and g change with the last of them, if the dual rises."""
    active, at = state.active, free_samples(state)
    state.let_go()
    face = Face(state, at, n_threads)
    yield
    if state.gap < FACTORED_BELOW:
        yield from face.square.factor()
    yield from face.turns()
    g_before, moves = active.g.copy(), face.beta - active.beta[at]
    moved = np.flatnonzero(moves)
    who, moves = at[moved], moves[moved]
    assert state.columns is not None
    state.columns.add(who, moves, active.g, np.empty((0, 0), state.columns.dtype), np.full(len(who), -1))
    active.g[who] += active.delta[who] * moves
    active.g += state.problem.bias.scale**2 * float(moves.sum())
    gain = -0.5 * float(moves @ (g_before[who] + active.g[who]))
    if gain > 0.0:
        active.beta[at] = face.beta
        state.dual += gain
    else:
        active.g = g_before


class Face:
    """The free samples: where they are, how they may move, and what of their gradient is left."""

    def __init__(self, state: State, at: Indices, n_threads: int) -> None:
        active, problem, columns, where = state.active, state.problem, state.columns, at
        K = np.empty((len(at), len(at)), dtype=_precision(state))
        if columns is None or columns.dtype != K.dtype:
            columns, where = KernelColumns(problem, K.dtype, n_threads), np.arange(len(at))
            columns.begin(active.samples[at])
        columns.block(where, where, K)
        K += K.dtype.type(problem.bias.scale**2)
        K.reshape(-1)[:: len(at) + 1] += active.delta[at].astype(K.dtype)
        self.square = SharedSquare(K, n_threads)
        self.beta, self.g = active.beta[at], active.g[at]
        self.lo, self.hi = active.lo[at], active.hi[at]
        self.has_sum = problem.bias.is_free
        self.may_move: Any = np.ones(len(at), dtype=np.bool_)

    def turns(self) -> Iterator[None]:
        """Turn after turn, as long as they gain something worth while."""
        first = 0.0
        for _ in range(TURNS):
            gain = self._turn()
            first = max(first, gain)
            if gain <= LITTLE * first:
                return
            yield

    def _turn(self) -> float:
        """Go along the solution of the equations as far as the projected path falls; what it gained."""
        direction = self._direction()
        best_gain, best, best_change = 0.0, self.beta, np.empty(0)
        for length in LENGTHS:
            trial = self._projected(self.beta + length * direction)
            move = trial - self.beta
            change = self.square.times(move)
            gain = -float(move @ self.g) - 0.5 * float(move @ change)
            if gain > best_gain:
                best_gain, best, best_change = gain, trial, change.copy()
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
            precision=PRECISION,
            most_rounds=MOST_ROUNDS,
            enough=FACTORED_ENOUGH if square.is_factored else ENOUGH,
            precondition=_without_sum(solve, solve(mask.astype(np.float64))) if self.has_sum else solve,
        )
        return direction

    def _projected(self, beta: Floats) -> Floats:
        """Into the box; where Σβ must stay, what that changes is spread over those that are still inside."""
        out = np.clip(beta, self.lo, self.hi)
        if not self.has_sum:
            return out
        total, size = float(self.beta.sum()), float(np.abs(self.beta).sum())
        for _ in range(len(LENGTHS)):
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
