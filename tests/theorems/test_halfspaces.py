"""What the texts state about hyperplanes and their margins before any is trained, in exact arithmetic where that is possible."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from maxmargin import Halfspace, separability

UNIT_NORMALS = [
    (sign * Fraction(a, c), other * Fraction(b, c))
    for a, b, c in ((0, 1, 1), (1, 0, 1), (3, 4, 5), (4, 3, 5), (5, 12, 13), (12, 5, 13), (8, 15, 17), (15, 8, 17))
    for sign, other in product((1, -1), repeat=2)
]
"""Vectors of length 1 with rational coordinates."""

BIASES = [Fraction(k, 4) for k in range(-24, 25)]


def fits(w, b, X, y):
    """y_i(⟨w, x_i⟩ + b), exactly."""
    return [label * (w[0] * int(x[0]) + w[1] * int(x[1]) + b) for x, label in zip(X, y, strict=True)]


def best(values):
    """The largest value, and all places where it is taken."""
    largest = max(values.values())
    return largest, {place for place, value in values.items() if value == largest}


@pytest.mark.parametrize("seed", range(30))
def test_both_statements_of_the_hard_margin_rule_have_the_same_maximisers(seed):
    # Exercise 15.1: max min |F| among those that separate, and max min yF among all
    rng = np.random.default_rng(seed)
    normal = UNIT_NORMALS[rng.integers(len(UNIT_NORMALS))]
    X = rng.integers(-5, 6, (7, 2))
    b = BIASES[rng.integers(len(BIASES))]
    F = np.array(fits(normal, b, X, [1] * 7))
    X, y = X[F != 0], np.where(F[F != 0] > 0, 1, -1)
    every = {(w, b): fits(w, b, X, y) for w in UNIT_NORMALS for b in BIASES}
    first = best({place: min(map(abs, found)) for place, found in every.items() if min(found) > 0})
    second = best({place: min(found) for place, found in every.items()})
    assert first == second
    assert second[0] > 0  # the maximiser separates: the first half of the exercise
    apart = {place for place, found in every.items() if min(found) > 0 and list(map(abs, found)) != found}
    assert not apart  # and on those that separate both minima are the same number: the second half


def test_without_separability_both_statements_part():
    X, y = [(0, 0), (1, 0), (2, 0)], [1, -1, 1]
    every = {(w, b): fits(w, b, X, y) for w in UNIT_NORMALS for b in BIASES}
    assert not [found for found in every.values() if min(found) > 0]  # nothing to choose from
    assert max(min(found) for found in every.values()) <= 0


@pytest.mark.parametrize("seed", range(20))
def test_a_halfspace_still_separates_samples_moved_by_less_than_its_margin(seed):
    rng = np.random.default_rng(seed)
    w, b = rng.standard_normal(3), float(rng.standard_normal())
    plane, X = Halfspace(w, b), rng.standard_normal((20, 3))
    y = plane.predict(X)
    margin = plane.margin(X, y)
    ways = rng.standard_normal((500, 20, 3))
    ways /= np.linalg.norm(ways, axis=2, keepdims=True)
    for way in (*ways, -y[:, None] * w / np.linalg.norm(w)):  # the last is the worst: straight towards the hyperplane
        assert (plane.predict(X + 0.999 * margin * way) == y).all()
    worst = X - 1.001 * margin * y[:, None] * w / np.linalg.norm(w)
    assert (plane.predict(worst) != y).sum() >= 1  # and no more than the margin can be allowed


def test_the_smallest_margin_is_not_a_concave_function_of_w_and_b():
    # [UNC] (⋆): between two separating hyperplanes its value is below the chord, because only the direction of (w, b) counts
    X, y = np.array([[0.0, 0.0], [-1.0, 2.0], [-1.0, -1.0], [2.0, 0.0], [3.0, 1.0], [4.0, -2.0]]), [-1, -1, -1, 1, 1, 1]
    u, v = np.array([1.0, 0.0, -1.0]), 9 * np.array([2.0, -1.0, -2.0])
    left, middle, right = (Halfspace(z[:2], z[2]).margin(X, y) for z in (u, (u + v) / 2, v))
    assert left > middle > right > 0
    assert middle < (left + right) / 2 - 0.02
    assert Halfspace(7 * u[:2], 7 * u[2]).margin(X, y) == left


@pytest.mark.parametrize("seed", range(20))
def test_separable_samples_have_a_whole_ball_of_separating_halfspaces(seed):
    rng = np.random.default_rng(seed)
    X, normal = rng.standard_normal((12, 3)), rng.standard_normal(3)
    y = np.where(X @ normal > np.median(X @ normal), 1, -1)
    found = separability(X, y)
    room = float((y * (X @ found.w + found.b)).min()) / math.hypot(1.0, np.linalg.norm(X, axis=1).max())
    assert room > 0
    for _ in range(100):  # |⟨(w, b) − (w', b'), (x, 1)⟩| is at most the product of the lengths
        step = rng.standard_normal(4)
        step *= 0.999 * room / np.linalg.norm(step)
        assert (y * (X @ (found.w + step[:3]) + found.b + step[3]) > 0).all()


def labelings(n):
    """All labels of n points in which both classes occur; one of one class is met by a bias alone."""
    return [np.array(signs) for signs in product((1, -1), repeat=n) if len(set(signs)) == 2]


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_halfspaces_take_all_labels_on_some_d_plus_one_points_and_on_no_d_plus_two(d, seed):
    # 15.1.2: the VC-dimension of halfspaces with a bias is d + 1
    corners = np.vstack([np.zeros(d), np.eye(d)])
    assert all(separability(corners, y).is_separable for y in labelings(d + 1))
    points = np.random.default_rng(seed).integers(-3, 4, (d + 2, d))
    refused = [found for y in labelings(d + 2) if not (found := separability(points, y)).is_separable]
    assert refused  # by Radon's theorem two hulls of them meet
    assert all(found.check() for found in refused)
