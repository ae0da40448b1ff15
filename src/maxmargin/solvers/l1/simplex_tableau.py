"""The L1 hinge problem on some columns and some rows, from a corner nearby: exchanges in a dense tableau.

    min_w  Σ_k price_k |w_k| − ⟨push, w⟩ + Σ_j c_j max(0, m_j),     m = 1 − A w

The program of `highs.py` without its reach. Its lines are the weights w_k and the m_j; a corner is a set S of weights and as many
rows M with m_j = 0, w_S = B⁻¹1 with B = A_{M,S}. What it cannot do (no end to the fall, singular B, too many steps) it leaves to
HiGHS.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg

from maxmargin.solvers.base import Clock, deferred_interrupt
from maxmargin.solvers.l1.columns import Columns
from maxmargin.solvers.l1.highs import PROGRAMS, Corner, objective_unit
from maxmargin.typing import Floats, Indices


@dataclass
class Tableau:
    """Line k ≥ 0 is the weight of the k-th column here, line −1 − j is m of the j-th row here."""

    columns: Columns
    chosen: Indices
    rows: Indices
    entries: Floats
    T: Floats
    value: Floats
    active: Indices
    others: Indices

    @classmethod
    def near(cls, columns: Columns, chosen: Indices, rows: Indices, w: Floats, likely: Any) -> "Tableau | None":
        """The corner of the columns that have a weight in `w`, and of as many rows, likely ones first."""
        used = np.flatnonzero((w[chosen] != 0.0) | (columns.price[chosen] == 0.0))
        if len(rows) * len(used) == 0 or len(rows) * len(chosen) > PROGRAMS.most_entries:
            return None
        entries = columns.block(rows, chosen)
        used = used[np.argsort(columns.price[chosen[used]] > 0.0, kind="stable")]  # a free bias cannot stay out
        likelihood = np.where(likely[rows], 1.0, PROGRAMS.less_likely)
        U, swaps, _ = scipy.linalg.lapack.dgetrf(entries[:, used] * likelihood[:, None])
        order = np.arange(len(rows))
        for i, j in enumerate(swaps):
            order[i], order[j] = order[j], order[i]
        is_regular = np.abs(np.diagonal(U)) > PROGRAMS.smallest_pivot * PROGRAMS.less_likely
        S, M = used[: len(is_regular)][is_regular], order[: len(is_regular)][is_regular]
        if len(S) == 0:
            return None
        out, off = np.setdiff1d(np.arange(len(chosen)), S), np.setdiff1d(np.arange(len(rows)), M)
        inverse, is_singular = scipy.linalg.lapack.dgetri(*scipy.linalg.lapack.dgetrf(entries[np.ix_(M, S)])[:2])
        if is_singular:
            return None
        # w_S = B⁻¹(1 − m_M − A_{M,out} w_out) put into the rows that are off the margin
        of_weights = np.hstack([-inverse, -inverse @ entries[np.ix_(M, out)]])
        of_rows = -entries[np.ix_(off, S)] @ of_weights
        of_rows[:, len(M) :] -= entries[np.ix_(off, out)]
        w_S = inverse.sum(axis=1)
        value = np.concatenate([w_S, 1.0 - entries[np.ix_(off, S)] @ w_S])
        return cls(
            columns, chosen, rows, entries, np.vstack([of_weights, of_rows]), value,
            np.concatenate([-1 - M, out]), np.concatenate([S, -1 - off]),
        )  # fmt: skip

    def extend(self, chosen: Indices, rows: Indices) -> None:
        """Take in the columns and the rows that are not here yet: the same corner."""
        new = np.setdiff1d(chosen, self.chosen)
        fresh = self.columns.block(self.rows, new)
        is_row, is_active_row = self.others < 0, self.active < 0
        block = self.T[:, is_active_row] @ fresh[-1 - self.active[is_active_row]]
        block[is_row] -= fresh[-1 - self.others[is_row]]
        self.active = np.append(self.active, len(self.chosen) + np.arange(len(new)))
        self.T, self.entries = np.hstack([self.T, block]), np.hstack([self.entries, fresh])
        self.chosen = np.append(self.chosen, new)
        new = np.setdiff1d(rows, self.rows)
        fresh = self.columns.block(new, self.chosen)
        is_weight, is_out = self.others >= 0, self.active >= 0
        S = self.others[is_weight]
        block = -fresh[:, S] @ self.T[is_weight]
        block[:, is_out] -= fresh[:, self.active[is_out]]
        self.value = np.append(self.value, 1.0 - fresh[:, S] @ self.value[is_weight])
        self.others = np.append(self.others, -1 - len(self.rows) - np.arange(len(new)))
        self.T, self.entries = np.vstack([self.T, block]), np.vstack([self.entries, fresh])
        self.rows = np.append(self.rows, new)

    def lowest(self, push: Floats, clock: Clock) -> Corner | None:
        """The lowest corner, its columns and rows in ascending order; `push` is that of all columns. None where it gives up."""
        from maxmargin._loops.l1.simplex_exchange import DONE, TIRED, descend

        d, price = len(self.chosen), self.columns.price[self.chosen]
        unit = objective_unit(price)
        price, push, top = price * unit, push[self.chosen] * unit, self.columns.cost[self.rows] * unit
        below = np.concatenate([-price - push, np.zeros(len(top))])
        above = np.concatenate([price - push, top[::-1]])
        side, g = np.where(self.value > 0.0, 1.0, -1.0), np.empty(d)
        how, left = TIRED, PROGRAMS.steps_a_column * d
        while how == TIRED and left > 0:
            if clock.spent() is not None:
                return Corner(np.zeros(d), np.zeros(len(top)), was_stopped=True)
            turn = min(left, 1 + PROGRAMS.most_entries // self.T.size)
            with deferred_interrupt():
                how = descend(
                    self.T, self.value, side, self.active, self.others, below, above, g,
                    PROGRAMS.accuracy, PROGRAMS.smallest_pivot, turn,
                )  # fmt: skip
            left -= turn
        is_weight = self.others >= 0
        if how != DONE or not is_weight.any():
            return None
        # once more from the data, without the rounding of the steps
        S, M = self.others[is_weight], -1 - self.active[self.active < 0]
        alpha = np.zeros(len(top))
        off = -1 - self.others[~is_weight]
        alpha[off] = np.where(side[~is_weight] > 0.0, top[off], 0.0)
        slopes = np.where(side[is_weight] > 0.0, above[S], below[S])
        LU, swaps, _ = scipy.linalg.lapack.dgetrf(self.entries[np.ix_(M, S)])
        w = np.zeros(d)
        w[S] = scipy.linalg.lapack.dgetrs(LU, swaps, np.ones(len(M)))[0]
        alpha[M] = scipy.linalg.lapack.dgetrs(LU, swaps, slopes - alpha @ self.entries[:, S], trans=1)[0]
        if not (np.isfinite(w).all() and np.isfinite(alpha).all()):
            return None
        return Corner(w[np.argsort(self.chosen)], (np.clip(alpha, 0.0, top) / unit)[np.argsort(self.rows)])
