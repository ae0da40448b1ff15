"""One-vs-one: a binary problem for each pair of classes, and scikit-learn's layout of their answers.

Binary: one problem, positive = ``classes_[1]``. More classes: a problem for each pair (i, j) with i < j, positive = class i, in
the order (0, 1), (0, 2), …, (1, 2), …; support vectors grouped by class; the coefficient of a support vector of class i in the
problem against class j stands in row j − 1 if j > i and in row j otherwise.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from maxmargin.typing import Floats, Indices


def opponents(n_classes: int) -> list[tuple[int, int]]:
    """The positive and the negative class of each binary problem."""
    return [(1, 0)] if n_classes == 2 else list(combinations(range(n_classes), 2))


def rows_of_pairs(labels: Indices, n_classes: int) -> tuple[Indices, Indices]:
    """(rows, starts): the samples of pair p are rows[starts[p] : starts[p + 1]]."""
    from maxmargin._loops.one_vs_one import rows_of_pairs as fill

    rows = np.empty(len(labels) * (n_classes - 1), dtype=np.intp)
    starts = np.zeros(n_classes * (n_classes - 1) // 2 + 1, dtype=np.intp)
    fill(labels, n_classes, rows, starts)
    return rows, starts


def unpack_dual(table: Floats, labels: Indices, n_classes: int) -> list[Floats]:
    """β of each pair, from a `dual_coef_` with a column for each sample."""
    betas = []
    for i, j in combinations(range(n_classes), 2):
        columns = np.flatnonzero((labels == i) | (labels == j))
        betas.append(table[np.where(labels[columns] == i, j - 1, i), columns])
    return betas


def pack_dual(betas: Sequence[Floats], labels: Indices, n_classes: int) -> tuple[Indices, Floats]:
    """(support, dual_coef): the support vectors grouped by class, and their signed duals in scikit-learn's layout."""
    from maxmargin._loops.one_vs_one import spread

    table = np.zeros((n_classes - 1, len(labels)))
    spread(labels, n_classes, np.concatenate(betas), table)
    used = np.flatnonzero(table.any(axis=0))
    support = used[np.argsort(labels[used], kind="stable")]
    return support, table[:, support]


def pair_sums(sums: Floats, n_classes: int) -> Floats:
    """(n_pairs, n): each pair's decision, from the sums (c, r, n) over the support vectors of class c with row r of dual_coef.

    scikit-learn's layout makes them short: a support vector takes part in n_classes − 1 pairs, not in all. For two classes there
    is one group with one row. The coefficients are signed, so that decisions are sums.
    """
    if n_classes == 2:
        return np.asarray(sums[0])
    first, second = np.array(opponents(n_classes)).T
    return np.asarray(sums[first, second - 1] + sums[second, first])


class Vote(NamedTuple):
    """The class of each sample, and whether it stays the same whatever the decisions are within their errors; None: not asked."""

    winner: Indices
    is_certain: Any = None


@lru_cache(maxsize=16)
def _sides(n_classes: int) -> Any:
    """Of each pair 1 for its first class, and 1 for its second: two arrays (n_classes, n_pairs); float32 sums them exactly."""
    sides = np.array(opponents(n_classes)).T[:, np.newaxis] == np.arange(n_classes)[:, np.newaxis]
    return sides.astype(np.float32)


def vote(decisions: Floats, n_classes: int, errors: Floats | None = None) -> Vote:
    """The class with the most won pairs, the first of them where several have as many; decisions (n_pairs, n).

    Two classes are one pair, whose positive class is the second. A decision of 0 is won by the negative class.

    Examples
    --------
    >>> vote(np.array([[2.0, -1.0], [3.0, -2.0], [0.5, 0.2]]), 3, np.full((3, 2), 0.3))
    Vote(winner=array([0, 1]), is_certain=array([ True, False]))
    """
    first, second = _sides(n_classes)

    def counted(by_first: Any, by_second: Any) -> Any:
        """How many pairs each class has won, from which of them their first and their second class have."""
        return first @ by_first.astype(np.float32) + second @ by_second.astype(np.float32)

    is_won, n = decisions > 0, decisions.shape[1]
    winner = np.asarray(counted(is_won, ~is_won).argmax(axis=0), dtype=np.intp)
    if errors is None:
        return Vote(winner)
    is_sure, is_lost = decisions > errors, decisions < -errors
    needed = counted(is_sure, is_lost)[winner, np.arange(n)]
    is_earlier = np.arange(n_classes)[:, np.newaxis] < winner
    threat = counted(~is_lost, ~is_sure) + is_earlier  # an earlier class needs as many wins only
    threat[winner, np.arange(n)] = 0
    return Vote(winner, (threat <= needed).all(axis=0))
