"""The shares of violations that a stochastic run keeps."""

import numpy as np

from maxmargin.solvers.iterates import Counts


def test_shares_are_over_the_draws_since_the_last_mark_but_one_or_over_all_without_any():
    counts = Counts.none(4)
    counts.table[:] = [[4, 1], [4, 2], [2, 2], [0, 0]]
    counts.pass_mark(8)
    counts.table[:] = [[6, 2], [4, 2], [2, 2], [0, 0]]
    counts.pass_mark(12)
    counts.table[:] = [[7, 4], [4, 2], [3, 2], [0, 0]]
    counts.pass_mark(14)  # no main one
    np.testing.assert_array_equal(counts.shares(), [1.0, 0.5, 0.0, 0.0])


def test_marks_within_the_first_epoch_do_not_count():
    counts = Counts.none(4)
    counts.table[:] = [[1, 1], [1, 0], [0, 0], [0, 0]]
    counts.pass_mark(2)
    counts.pass_mark(3)
    np.testing.assert_array_equal(counts.shares(), [1.0, 0.0, 0.0, 0.0])
