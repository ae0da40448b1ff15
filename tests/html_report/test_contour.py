"""Level lines and regions on a grid."""

import numpy as np
import pytest

from maxmargin.html_report.contour import level_segments, runs


@pytest.mark.parametrize("level", [-0.5, 0.0, 0.3])
def test_a_level_line_lies_where_the_function_has_that_value(level):
    x, y = np.linspace(-1, 1, 60), np.linspace(-1, 1, 50)
    xx, yy = np.meshgrid(x, y)
    ends = level_segments(x, y, xx**2 + yy - 0.2, level).reshape(-1, 2)
    assert len(ends) > 50
    np.testing.assert_allclose(ends[:, 0] ** 2 + ends[:, 1] - 0.2, level, atol=1e-3)


def test_a_circle_has_its_length():
    x = np.linspace(-1, 1, 200)
    xx, yy = np.meshgrid(x, x)
    ends = level_segments(x, x, xx**2 + yy**2, 0.5)
    length = np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1).sum()
    assert length == pytest.approx(2 * np.pi * np.sqrt(0.5), rel=1e-3)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("middle", [0.3, -0.3])
def test_a_saddle_keeps_apart_what_its_middle_keeps_apart(sign, middle):
    x = np.array([0.0, 1.0])
    corners = sign * np.array([[1.0, -1.0], [-1.0, 1.0]]) + middle
    ends = level_segments(x, x, corners, 0.0)
    assert ends.shape == (2, 2, 2)
    cut_off = np.array([[0.0, 0.0], [1.0, 1.0]]) if (sign > 0) != (middle > 0) else np.array([[1.0, 0.0], [0.0, 1.0]])
    for segment in ends:  # each runs around a corner that is cut off
        assert np.linalg.norm(cut_off - segment.mean(axis=0), axis=1).min() < 0.5


def test_nothing_is_drawn_where_there_is_no_such_value():
    x = np.array([0.0, 1.0, 2.0])
    assert len(level_segments(x, x, np.ones((3, 3)), 5.0)) == 0


def test_runs_cover_exactly_the_true_cells():
    flags = np.random.default_rng(0).random((7, 9)) < 0.5
    covered = np.zeros_like(flags)
    for row, first, last in runs(flags):
        assert not covered[row, first:last].any()
        covered[row, first:last] = True
    np.testing.assert_array_equal(covered, flags)
