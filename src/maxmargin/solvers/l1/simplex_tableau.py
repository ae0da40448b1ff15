"""The L1 hinge problem on some columns and some rows, from a corner nearby: exchanges in a dense tableau.

    min_w  Σ_k price_k |w_k| − ⟨push, w⟩ + Σ_j c_j max(0, m_j),     m_j = 1 − y_j⟨w, x̃_j⟩

The program of `highs` without its reach. Its lines are the weights w_k and the m_j; a corner is a set S of weights and
as many rows M with m_j = 0, w_S = B⁻¹1 with B = (y_j x̃_jk)_{M,S}. Rows and columns that join later extend the tableau. What it
cannot do (no end to the fall, singular B, too many steps) it leaves to HiGHS.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg

from maxmargin.solvers.base import Clock, deferred_interrupt
from maxmargin.solvers.l1.columns import Columns
from maxmargin.solvers.l1.highs import Corner
from maxmargin.solvers.l1.tuning import TUNING
from maxmargin.typing import Floats, Indices


@dataclass
class Tableau:
    """Line k ≥ 0 is the weight of the k-th column here, line −1 − j is m of the j-th row here."""

    columns: Columns
    y: Floats
    chosen: Indices
    rows: Indices
    entries: Floats  # y_j x̃_jk in units in which |x̃| ≤ 1
    T: Floats
    value: Floats
    active: Indices
    others: Indices

    @classmethod
    def near(cls, columns: Columns, y: Floats, chosen: Indices, rows: Indices, w: Floats, likely: Any) -> "Tableau | None":
        """The corner of the columns that have a weight in `w`, and of as many rows, likely ones first."""
        from maxmargin._loops.l1.simplex_exchange import SMALLEST_PIVOT

        if len(rows) == 0 or len(rows) * len(chosen) > TUNING.tableau:
            return None
        entries = _entries(columns, y, rows, chosen)
        used = np.flatnonzero((w[chosen] != 0.0) | (columns.price[chosen] == 0.0))
        if len(used) == 0:
            return None
        used = used[np.argsort(columns.price[chosen[used]] > 0.0, kind="stable")]  # a free bias cannot stay out
        preferred = entries[:, used] * np.where(likely[rows], 1.0, TUNING.less_likely)[:, None]
        U, swaps, _ = scipy.linalg.lapack.dgetrf(preferred)
        order = np.arange(len(rows))
        for i, j in enumerate(swaps):
            order[i], order[j] = order[j], order[i]
        is_regular = np.abs(np.diagonal(U)) > SMALLEST_PIVOT * TUNING.less_likely
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
            columns, y, chosen, rows, entries, np.vstack([of_weights, of_rows]), value,
            np.concatenate([-1 - M, out]), np.concatenate([S, -1 - off]),
        )  # fmt: skip

    def extend(self, chosen: Indices, rows: Indices) -> None:
        """Take in the columns and the rows that are not here yet: the same corner."""
        new = np.setdiff1d(chosen, self.chosen)
        fresh = _entries(self.columns, self.y, self.rows, new)
        is_row, is_active_row = self.others < 0, self.active < 0
        block = self.T[:, is_active_row] @ fresh[-1 - self.active[is_active_row]]
        block[is_row] -= fresh[-1 - self.others[is_row]]
        self.active = np.append(self.active, len(self.chosen) + np.arange(len(new)))
        self.T = np.hstack([self.T, block])
        self.entries, self.chosen = np.hstack([self.entries, fresh]), np.append(self.chosen, new)
        new = np.setdiff1d(rows, self.rows)
        fresh = _entries(self.columns, self.y, new, self.chosen)
        is_weight, is_out = self.others >= 0, self.active >= 0
        S = self.others[is_weight]
        block = -fresh[:, S] @ self.T[is_weight]
        block[:, is_out] -= fresh[:, self.active[is_out]]
        self.value = np.append(self.value, 1.0 - fresh[:, S] @ self.value[is_weight])
        self.others = np.append(self.others, -1 - len(self.rows) - np.arange(len(new)))
        self.T = np.vstack([self.T, block])
        self.entries, self.rows = np.vstack([self.entries, fresh]), np.append(self.rows, new)

    def lowest(self, cost: Floats, push: Floats, clock: Clock, most_work: float = np.inf) -> Corner | None:
        """The lowest corner, its columns and rows in ascending order; `cost` and `push` are those of the whole problem.

        An exchange passes over all entries of the tableau; the corner has failed where that takes more than `most_work`.
        """
        from maxmargin._loops.l1.simplex_exchange import DONE, TIRED, descend

        units, d = self.columns.units[self.chosen], len(self.chosen)
        unit = float(self.columns.units[0])
        price, push = self.columns.price[self.chosen] * unit / units, push[self.chosen] * unit / units
        top = cost[self.rows] * unit
        below = np.concatenate([-price - push, np.zeros(len(top))])
        above = np.concatenate([price - push, top[::-1]])
        side, g = np.where(self.value > 0.0, 1.0, -1.0), np.empty(d)
        how, steps = TIRED, 0
        while how == TIRED and steps < TUNING.exchanges * d:
            is_late, work = clock.spent() is not None, float(steps * self.T.size)
            if is_late or work > most_work:
                return Corner(np.zeros(d), np.zeros(len(top)), was_stopped=is_late, has_failed=not is_late, work=work)
            turn = 1 + TUNING.tableau // self.T.size
            with deferred_interrupt():
                how, made = descend(self.T, self.value, side, self.active, self.others, below, above, g, TUNING.accuracy, turn)
            steps += made
        if how != DONE or not (self.others >= 0).any():
            return None
        # once more from the data, without the rounding of the steps
        is_weight = self.others >= 0
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
        alpha = np.clip(alpha / unit, 0.0, cost[self.rows])
        work = float(steps * self.T.size)
        return Corner((w / units)[np.argsort(self.chosen)], alpha[np.argsort(self.rows)], work=work)


def _entries(columns: Columns, y: Floats, rows: Indices, chosen: Indices) -> Floats:
    part: Any = columns.take(chosen)[rows]
    dense = np.asarray(part.toarray() if columns.is_sparse else part, dtype=np.float64)
    return np.ascontiguousarray(dense * y[rows, None] / columns.units[chosen])
