"""One-vs-one: a binary problem for each pair of classes, and scikit-learn's layout of their answers.

Binary: one problem, positive = ``classes_[1]``. More classes: a problem for each pair (i, j) with i < j, positive = class i, in
the order (0, 1), (0, 2), …, (1, 2), …; support vectors grouped by class; the coefficient of a support vector of class i in the
problem against class j stands in row j − 1 if j > i and in row j otherwise.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from maxmargin.typing import Floats, Indices


class Pair(NamedTuple):
    """One binary problem: its samples (row numbers), and its two classes."""

    rows: Indices
    positive: int
    negative: int

    @property
    def layout(self) -> list[tuple[int, int]]:
        """The row of `dual_coef_` in which the coefficients of each of the two classes stand."""
        i, j = self.positive, self.negative
        return [(i, j - (j > i)), (j, i - (i > j))]


def opponents(n_classes: int) -> list[tuple[int, int]]:
    """The positive and the negative class of each binary problem."""
    return [(1, 0)] if n_classes == 2 else list(combinations(range(n_classes), 2))


def pairs_of(labels: Indices, n_classes: int) -> list[Pair]:
    """The binary problems of encoded labels 0 … n_classes − 1."""
    return [Pair(np.flatnonzero((labels == i) | (labels == j)), i, j) for i, j in opponents(n_classes)]


def pack_dual(pairs: Sequence[Pair], betas: Sequence[Floats], labels: Indices, n_classes: int) -> tuple[Indices, Floats]:
    """(support, dual_coef): the support vectors grouped by class, and their signed duals in scikit-learn's layout."""
    table = np.zeros((n_classes - 1, len(labels)))
    for pair, beta in zip(pairs, betas, strict=True):
        for own, row in pair.layout:
            is_own = labels[pair.rows] == own
            table[row, pair.rows[is_own]] = beta[is_own]
    used = np.flatnonzero(table.any(axis=0))
    support = used[np.argsort(labels[used], kind="stable")]
    return support, table[:, support]


def unpack_dual(pair: Pair, support: Indices, dual_coef: Floats, labels: Indices) -> Floats:
    """The signed dual of one pair's problem, one entry for each of its samples: the inverse of `pack_dual`."""
    full, of_class = np.zeros(len(labels)), labels[support]
    for own, row in pair.layout:
        full[support[of_class == own]] = dual_coef[row, of_class == own]
    return full[pair.rows]


def pair_sums(sums: Floats, n_classes: int) -> Floats:
    """(n_pairs, n): each pair's decision, from the sums (c, r, n) over the support vectors of class c with row r of dual_coef.

    scikit-learn's layout makes them short: a support vector takes part in n_classes − 1 pairs, not in all. For two classes there
    is one group with one row. The coefficients are signed, so that decisions are sums.
    """
    if n_classes == 2:
        return np.asarray(sums[0])
    return np.stack([sums[i, j - 1] + sums[j, i] for i, j in combinations(range(n_classes), 2)])


class Vote(NamedTuple):
    """The class of each sample, and whether it stays the same whatever the decisions are within their errors."""

    winner: Indices
    is_certain: Any


def vote(decisions: Floats, n_classes: int, errors: Floats | None = None) -> Vote:
    """The class with the most won pairs, the first of them where several have as many; decisions (n_pairs, n).

    Two classes are one pair, whose positive class is the second. A decision of 0 is won by the negative class.

    Examples
    --------
    >>> vote(np.array([[2.0, -1.0], [3.0, -2.0], [0.5, 0.2]]), 3, np.full((3, 2), 0.3))
    Vote(winner=array([0, 1]), is_certain=array([ True, False]))
    """
    errors = np.zeros((1, 1)) if errors is None else errors
    n = decisions.shape[1]
    wins, surely, perhaps = np.zeros((3, n_classes, n), dtype=np.int16)
    is_won, is_sure, is_lost = decisions > 0, decisions > errors, decisions < -errors
    for k, (i, j) in enumerate(opponents(n_classes)):
        wins[i] += is_won[k]
        wins[j] += ~is_won[k]
        surely[i] += is_sure[k]
        surely[j] += is_lost[k]
        perhaps[i] += ~is_lost[k]
        perhaps[j] += ~is_sure[k]
    winner = np.asarray(wins.argmax(axis=0), dtype=np.intp)
    needed = surely[winner, np.arange(n)]
    is_earlier = np.arange(n_classes)[:, np.newaxis] < winner
    threat = perhaps + is_earlier  # an earlier class needs as many wins only
    threat[winner, np.arange(n)] = 0
    return Vote(winner, (threat <= needed).all(axis=0))
