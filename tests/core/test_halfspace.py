"""Halfspaces: distance, margin, slack and projection: MATH §5."""

import copy
import math
import pickle

import numpy as np
import pytest
import scipy.optimize as so
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from maxmargin.core.halfspace import FitCase, Halfspace
from maxmargin.errors import InvalidInputError

quick = settings(deadline=None, max_examples=60)
numbers = st.floats(-100, 100)
normals = hnp.arrays(np.float64, 3, elements=numbers).filter(lambda w: np.abs(w).max() > 1e-3)
points = hnp.arrays(np.float64, (4, 3), elements=numbers)
Y = np.array([1, -1, 1, -1])


# ----------------------------------------------------------------------------------------------------------- distance


@quick
@given(w=normals, b=numbers, X=points)
def test_distance_is_the_decision_over_the_norm(w, b, X):
    """Claim 15.1, for any scale of w."""
    h = Halfspace(w, b)
    plain = np.array([(sum(wk * xk for wk, xk in zip(w, x, strict=True)) + b) for x in X])
    assert h.decision(X) == pytest.approx(plain, abs=1e-9)
    assert h.distance(X) == pytest.approx(plain / math.sqrt(w @ w), abs=1e-9)


def test_no_point_of_the_hyperplane_is_closer_than_the_distance():
    """Claim 15.1 against a minimiser that knows nothing of it."""
    w, b, x = np.array([1.0, -2.0, 0.5]), 0.75, np.array([3.0, 1.0, -2.0])
    found = so.minimize(
        lambda v: ((x - v) ** 2).sum(), np.zeros(3), constraints={"type": "eq", "fun": lambda v: w @ v + b}, tol=1e-12
    )
    assert found.success
    assert abs(Halfspace(w, b).distance([x])[0]) == pytest.approx(math.sqrt(found.fun), rel=1e-6)
    assert Halfspace(w, b).project([x])[0] == pytest.approx(found.x, abs=1e-5)


@quick
@given(w=normals, b=numbers, X=points, other=points)
def test_the_projection_is_the_nearest_point_on_the_hyperplane(w, b, X, other):
    h = Halfspace(w, b)
    on = h.project(X)
    scale = 1 + np.abs(w).sum() * max(np.abs(on).max(), np.abs(X).max()) + abs(b)
    assert h.decision(on) == pytest.approx(np.zeros(4), abs=1e-12 * scale)
    distance = np.linalg.norm(X - on, axis=1)
    reach = 1e-9 * (1 + np.abs(on).max())
    assert distance == pytest.approx(np.abs(h.distance(X)), abs=reach)
    elsewhere = h.project(other)  # four more points of the hyperplane
    assert (distance <= np.linalg.norm(X - elsewhere, axis=1) + 2 * reach).all()


@quick
@given(w=normals, b=numbers, X=points)
def test_normalizing_keeps_the_set_and_makes_decisions_distances(w, b, X):
    h, unit = Halfspace(w, b), Halfspace(w, b).normalized()
    assert np.linalg.norm(unit.w) == pytest.approx(1.0, rel=1e-14)
    assert unit.width == pytest.approx(1.0, rel=1e-14)
    assert unit.decision(X) == pytest.approx(h.distance(X), abs=1e-9)


def test_a_point_on_the_hyperplane_has_distance_exactly_zero():
    h = Halfspace([1.0, 1.0], b=-2.0)
    assert h.distance([[1.0, 1.0], [0.5, 1.5]]).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1.0, 1e160, 1e300])
def test_the_scale_of_w_neither_overflows_nor_underflows(scale):
    h = Halfspace(np.array([3.0, 4.0]) * scale, 5.0 * scale)
    X = [[3.0, 4.0], [0.0, 0.0], [-3.0, -4.0]]
    assert h.distance(X) == pytest.approx(np.array([30.0, 5.0, -20.0]) / 5.0, rel=1e-14)
    assert h.normalized().w == pytest.approx([0.6, 0.8], rel=1e-14)
    assert h.width == pytest.approx(0.2 / scale, rel=1e-14)
    assert h.project(X)[1] == pytest.approx([-0.6, -0.8], rel=1e-14)


def test_width_is_infinite_where_it_overflows():
    assert Halfspace([5e-324]).width == math.inf


# -------------------------------------------------------------------------------------------------- margins and slack


def test_the_margin_is_the_smallest_signed_distance():
    h, X, y = Halfspace([0.0, 2.0], -2.0), [[5.0, 4.0], [7.0, 0.5]], [1, -1]
    assert h.margins(X, y).tolist() == [3.0, 0.5]
    assert h.margin(X, y) == 0.5
    assert h.margin(X, [-1, 1]) == -3.0


@quick
@given(w=normals, b=numbers, X=points)
def test_the_margin_is_positive_exactly_if_all_are_on_their_side(w, b, X):
    h = Halfspace(w, b)
    assume((np.abs(h.decision(X)) > 1e-250).all())
    assert (h.margin(X, Y) > 0) == (h.predict(X) == Y).all()


def test_slack_is_measured_in_margins():
    """ξ = 0 on the margin, 1 on the hyperplane, 3 two margins beyond it."""
    h = Halfspace([0.0, 0.5], b=1.0)
    here, up = np.array([4.0, -2.0]), np.array([0.0, h.width])
    assert h.decision([here]).tolist() == [0.0]
    X = [here + 2 * up, here + up, here, here - up, here - 2 * up]
    assert h.slack(X, np.ones(5)).tolist() == [0.0, 0.0, 1.0, 2.0, 3.0]
    assert h.slack(X, -np.ones(5)).tolist() == [3.0, 2.0, 1.0, 0.0, 0.0]


@quick
@given(w=normals, b=numbers, X=points)
def test_slack_is_the_shortfall_of_the_margin_in_units_of_the_width(w, b, X):
    h = Halfspace(w, b)
    shortfall = np.maximum(0, h.width - h.margins(X, Y)) / h.width
    assert h.slack(X, Y) == pytest.approx(shortfall, abs=1e-8)


def test_the_canonical_form_of_a_separator_has_its_margin_as_width():
    h, X, y = Halfspace([3.0, 4.0], 1.0), [[3.0, 4.0], [-1.0, -1.0], [2.0, 2.0]], [1, -1, 1]
    canonical = h.canonical(X, y)
    assert (np.asarray(y) * canonical.decision(X)).min() == pytest.approx(1.0, rel=1e-14)
    assert canonical.width == pytest.approx(h.margin(X, y), rel=1e-14)
    assert canonical.slack(X, y) == pytest.approx([0.0] * 3, abs=1e-14)
    assert (canonical.predict(X) == h.predict(X)).all()


@pytest.mark.parametrize("X", [[[1.0, 0.0], [2.0, 0.0]], [[1.0, 0.0], [0.0, 3.0]]])
def test_what_does_not_separate_has_no_canonical_form(X):
    with pytest.raises(InvalidInputError, match=r"does not separate.*slack\(\)"):
        Halfspace([1.0, 0.0]).canonical(X, [1, -1])


def test_a_tie_is_predicted_as_the_first_class():
    assert Halfspace([1.0]).predict([[0.0], [-0.0], [1e-300], [-1e-300]]).tolist() == [-1.0, -1.0, 1.0, -1.0]


# ---------------------------------------------------------------------------------------------------------- the input


@pytest.mark.parametrize("kind", [np.asarray, np.asfortranarray, sp.csr_array, sp.csr_matrix, sp.coo_array, sp.csc_array])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_dense_and_sparse_and_every_type_agree(kind, dtype):
    X = np.array([[1, 0, 2], [0, 0, 0], [-3, 4, 0], [0, 5, -1]])
    h = Halfspace([1.0, -2.0, 0.5], 0.25)
    given_x = kind(X.astype(dtype))
    assert (h.decision(given_x) == X @ h.w + 0.25).all()
    assert h.distance(given_x) == pytest.approx((X @ h.w + 0.25) / math.sqrt(1 + 4 + 0.25))
    assert (h.project(given_x) == h.project(X)).all()
    assert h.slack(given_x, Y).dtype == h.project(given_x).dtype == np.float64
    assert h.margin(given_x, Y) == h.margins(X, Y).min()


def test_rows_of_no_sample_are_fine_except_for_the_smallest_margin():
    h, none = Halfspace([1.0, 2.0]), np.empty((0, 2))
    assert h.decision(none).shape == h.slack(none, np.empty(0)).shape == (0,)
    for method in (h.margin, h.canonical):
        with pytest.raises(InvalidInputError, match="no rows"):
            method(none, np.empty(0))


def test_it_keeps_a_read_only_copy_and_takes_read_only_data():
    w, X = np.array([1.0, 2.0]), np.ones((2, 2))
    X.flags.writeable = False
    h = Halfspace(w)
    w[0] = 9.0
    assert h.w.tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="read-only"):
        h.w[0] = 3.0
    with pytest.raises(AttributeError):
        h.b = 3.0
    assert h.project(X).flags.writeable
    assert h.decision(X).tolist() == [3.0, 3.0]


def test_it_compares_by_value_and_survives_pickling():
    h = Halfspace([1.0, -0.0], -0.0)
    for twin in (Halfspace((1, 0)), pickle.loads(pickle.dumps(h)), copy.deepcopy(h)):
        assert twin == h
        assert hash(twin) == hash(h)
        assert not twin.w.flags.writeable
    assert h != Halfspace([1.0, 0.0], 1.0)
    assert h != Halfspace([2.0, 0.0])
    assert h != "h"
    assert repr(Halfspace([1.0, 2.5], 3)) == "Halfspace(w=[1. , 2.5], b=3.0)"
    assert len(repr(Halfspace(np.arange(10_000.0)))) < 200


def test_zero_w_has_a_decision_but_no_geometry():
    h, X, y = Halfspace([0.0, 0.0], 2.0), np.ones((2, 2)), [1, -1]
    assert h.decision(X).tolist() == [2.0, 2.0]
    assert h.predict(X).tolist() == [1.0, 1.0]
    assert h.slack(X, y).tolist() == [0.0, 3.0]
    calls = [
        lambda: h.width,
        lambda: h.distance(X),
        lambda: h.margins(X, y),
        lambda: h.margin(X, y),
        lambda: h.project(X),
        h.normalized,
        lambda: h.canonical(X, y),
    ]
    for call in calls:
        with pytest.raises(InvalidInputError, match="w = 0 has no hyperplane"):
            call()


@pytest.mark.parametrize("w", [[], [[1.0]], 1.0, [math.nan], [math.inf, 1.0], "w", None, ["a"]])
def test_w_must_be_a_finite_vector(w):
    with pytest.raises(InvalidInputError, match=r"w = .*one finite number per feature"):
        Halfspace(w)


@pytest.mark.parametrize("b", [math.nan, math.inf, "0", None, True, [0.0]])
def test_b_must_be_a_finite_number(b):
    with pytest.raises(InvalidInputError, match="b = "):
        Halfspace([1.0], b)


@pytest.mark.parametrize("X", [[1.0, 2.0], [[1.0]], [[1.0, 2.0, 3.0]], [["a", "b"]], 3.0])
def test_x_must_have_one_column_per_feature(X):
    with pytest.raises(InvalidInputError, match=r"\(n, 2\).*reshape\(1, -1\)"):
        Halfspace([1.0, 2.0]).decision(X)


@pytest.mark.parametrize("bad", [math.nan, math.inf, 1e308])
def test_entries_that_give_no_number_are_named_by_row(bad):
    X = np.array([[1.0, 1.0], [bad, bad]])
    for method in (Halfspace([2.0, 3.0]).decision, Halfspace([2.0, math.pi]).predict):
        with pytest.raises(InvalidInputError, match="Row 1 of X"):
            method(X)


@pytest.mark.parametrize("y", [[1, 0], [1], [1, 2], [True, False], ["a", "b"], [1.0, math.nan], [[1, -1]]])
def test_labels_must_be_plus_or_minus_one(y):
    for method in (Halfspace([1.0]).margins, Halfspace([1.0]).slack, Halfspace([1.0]).canonical):
        with pytest.raises(InvalidInputError, match=r"labels -1 or \+1.*Encode"):
            method([[1.0], [2.0]], y)


# ------------------------------------------------------------------------------------------ margins of a hyperplane, cases


@quick
@given(hnp.arrays(np.float64, (6, 2), elements=st.integers(-8, 8).map(float)), st.integers(-8, 8))
def test_the_unsigned_margin_is_the_distance_to_the_closest_projection(X, b):
    plane = Halfspace([3.0, 4.0], b)
    assert plane.unsigned_margin(X) == pytest.approx(np.linalg.norm(X - plane.project(X), axis=1).min(), abs=1e-12)


@quick
@given(hnp.arrays(np.float64, (6, 2), elements=st.integers(-8, 8).map(float)), st.integers(-8, 8))
def test_both_margins_agree_exactly_where_no_sample_is_wrong(X, b):
    """Exercise 1 of 15.8, second part."""
    plane, y = Halfspace([3.0, 4.0], b), np.array([1, -1, 1, -1, 1, -1])
    is_wrong = (plane.fits(X, y) < 0).any()
    assert (plane.margin(X, y) == plane.unsigned_margin(X)) == (not is_wrong)


def test_the_three_cases_have_the_slacks_of_the_text():
    plane, X = Halfspace([2.0], b=-1.0), np.array([[1.0], [1.5], [0.5], [0.75], [0.25], [-4.0]])
    for label in (1, -1):
        y = np.full(len(X), label)
        u, slack = label * (2 * X[:, 0] - 1), plane.slack(X, y)
        assert plane.fits(X, y).tolist() == u.tolist()
        for case, here, low, high in (
            (FitCase.TARGET, u >= 1, 0, 0),
            (FitCase.INSIDE, (u >= 0) & (u < 1), np.nextafter(0, 1), 1),
            (FitCase.WRONG, u < 0, np.nextafter(1, 2), np.inf),
        ):
            mine = plane.cases(X, y) == case
            assert mine.tolist() == here.tolist()
            assert ((slack[mine] >= low) & (slack[mine] <= high)).all()
            assert str(case)


def test_a_sample_is_in_the_target_halfspace_of_its_label_where_its_slack_is_zero():
    plane, X = Halfspace([2.0, -1.0], b=0.5), np.random.default_rng(0).integers(-3, 4, (60, 2)).astype(float)
    for label in (1, -1):
        inside = plane.target(label).decision(X) >= 0
        assert inside.tolist() == (plane.slack(X, np.full(60, label)) == 0).tolist()
    assert plane.target(1).width == plane.width
    with pytest.raises(InvalidInputError, match="labels -1 or"):
        plane.target(0)


def test_an_empty_sample_has_no_unsigned_margin():
    with pytest.raises(InvalidInputError, match="no rows"):
        Halfspace([1.0]).unsigned_margin(np.empty((0, 1)))
