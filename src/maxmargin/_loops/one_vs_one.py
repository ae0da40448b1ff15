"""The samples of each pair of classes, and where their dual variables stand; compiled.

Pairs come in the order (0, 1), (0, 2), …, (1, 2), …; the samples of a pair in that of the data.
"""

from maxmargin._loops.jit import loop


@loop
def rows_of_pairs(labels, n_classes, rows, starts):
    """The samples of pair p are rows[starts[p] : starts[p + 1]]."""
    at = p = 0
    for i in range(n_classes):
        for j in range(i + 1, n_classes):
            for k in range(labels.shape[0]):
                if labels[k] == i or labels[k] == j:
                    rows[at] = k
                    at += 1
            p += 1
            starts[p] = at


@loop
def spread(labels, n_classes, beta, table):
    """Put β of all pairs, one after the other, where scikit-learn has them: (n_classes − 1, samples)."""
    at = 0
    for i in range(n_classes):
        for j in range(i + 1, n_classes):
            for k in range(labels.shape[0]):
                if labels[k] == i or labels[k] == j:
                    table[j - 1 if labels[k] == i else i, k] = beta[at]
                    at += 1
