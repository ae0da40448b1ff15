"""The shares of violations that a stochastic run keeps, and the means that it need not."""

import numpy as np

from maxmargin.solvers.linear.rows import Rows
from maxmargin.solvers.stochastic.iterates import Counts, Iterates, Rule, step_through
from maxmargin.solvers.stochastic.samples import Samples


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


def test_steps_that_did_not_come_as_expected_cost_the_mean_but_do_not_spoil_it():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 3)), np.where(rng.random(40) < 0.5, 1.0, -1.0)
    rows, counts, order = Samples(Rows.of_matrix(X), scale=0.0), Counts.none(40), rng.integers(0, 40, 3000)
    rule = Rule(0.1, average="tail")
    hasty, patient = Iterates.at(rule, np.zeros(4)), Iterates.at(rule, np.zeros(4))
    hasty.expect(1000)
    step_through(hasty, counts, rows, y, order[:50])  # an interruption
    hasty.expect(30)
    step_through(hasty, counts, rows, y, order[50:80])
    np.testing.assert_array_equal(hasty.output(), hasty.last())
    hasty.expect(2920)
    step_through(hasty, counts, rows, y, order[80:])
    step_through(patient, counts, rows, y, order)
    np.testing.assert_array_equal(hasty.output(), patient.output())
    assert not np.array_equal(hasty.output(), hasty.last())
