import json

import numpy as np
import pytest

from maxmargin.errors import InvalidInputError
from maxmargin.lab.state import MOST_POINTS, MOST_REPEATED, Comparison, State, index_of

POINTS = [[0, 1, 0], [2.5, -1, 1], [1, 1, 2]]


def test_what_is_given_is_kept_and_the_rest_has_its_default():
    state = State.of({"points": POINTS, "estimator": "hard", "gamma": 2, "intercept": False})
    assert state.places.tolist() == [[0.0, 1.0], [2.5, -1.0], [1.0, 1.0]]
    assert state.labels.tolist() == ["A", "B", "C"]
    assert (state.estimator, state.gamma, state.intercept, state.kernel) == ("hard", 2.0, False, "rbf")


def test_no_points_are_a_state():
    assert State.of({"points": []}).places.shape == (0, 2)


BAD_NUMBERS = [float("nan"), float("inf"), -float("inf"), 1e300, 10**400, "1", None, True, [], {}]


@pytest.mark.parametrize("number", BAD_NUMBERS, ids=lambda value: str(value)[:10])
@pytest.mark.parametrize("field", ["value", "gamma", "degree", "coef0", "intercept", "estimator", "kernel", "spelling"])
def test_no_field_takes_what_it_cannot_use(field, number):
    if field == "intercept" and number is True:
        return
    with pytest.raises(InvalidInputError, match=r"must be .*got"):
        State.of({"points": POINTS, field: number})


@pytest.mark.parametrize("number", BAD_NUMBERS, ids=lambda value: str(value)[:10])
def test_no_point_lies_where_nothing_can_be_drawn(number):
    for bad in ([number, 0, 0], [0, number, 0], [0, 0, number]):
        with pytest.raises(InvalidInputError, match="point 1"):
            State.of({"points": [[0, 0, 0], bad]})


@pytest.mark.parametrize(
    "given",
    [None, 3, "points", [], {}, {"points": 3}, {"points": [3]}, {"points": [[1, 2]]}, {"points": [], "exec": "1"},
     {"points": "ab"}, {"points": [[0, 0, 3]]}, {"points": [[0, 0, -1]]}, {"points": [[0, 0, 0.5]]}, {"points": [], "value": 0},
     {"points": [], "degree": 2.5}, {"points": [], "kernel": "precomputed"}, {"points": [], "estimator": "SVC"},
     {"points": [], "spelling": "hard"}],
    ids=str,
)  # fmt: skip
def test_other_shapes_and_names_are_refused_in_words(given):
    with pytest.raises(InvalidInputError, match=r"must be|has no"):
        State.of(given)


def test_too_many_points_are_refused_and_so_many_are_not():
    assert len(State.of({"points": [[0, 0, 0]] * MOST_POINTS}).points) == MOST_POINTS
    with pytest.raises(InvalidInputError, match=f"at most {MOST_POINTS}, got {MOST_POINTS + 1}"):
        State.of({"points": [[0, 0, 0]] * (MOST_POINTS + 1)})


@pytest.mark.parametrize("given", ["x" * 10**6, {"a" * 10**5: 1}, 10**5000, [0] * 10**5], ids=["text", "key", "number", "list"])
def test_a_refusal_does_not_repeat_what_is_long(given):
    for state in (given, {"points": [given]}, {"points": [], "value": given}):
        with pytest.raises(InvalidInputError) as caught:
            State.of(state)
        assert len(str(caught.value)) < 150 + MOST_REPEATED


def test_leaving_out_and_moving_change_one_point():
    state = State.of({"points": POINTS})
    np.testing.assert_array_equal(state.without(1).places, state.places[[0, 2]])
    moved = state.moved(1, (3.0, 4.0))
    assert moved.places.tolist() == [[0.0, 1.0], [3.0, 4.0], [1.0, 1.0]]
    assert moved.labels.tolist() == state.labels.tolist()


def test_a_comparison_names_a_point_that_is_there():
    state = State.of({"points": POINTS})
    assert Comparison.of(None, state) is None
    assert Comparison.of({"point": 2, "place": None}, state) == Comparison(2, None)
    assert Comparison.of({"point": 0, "place": [1, 2]}, state) == Comparison(0, (1.0, 2.0))
    bad = [{"point": 3, "place": None}, {"point": -1, "place": None}, {"point": True, "place": None}, {"point": 0}, [0, None], 0,
           {"point": 0, "place": [1]}, {"point": 0, "place": [1, float("nan")]}, {"point": 0, "place": "ab"}]  # fmt: skip
    for given in bad:
        with pytest.raises(InvalidInputError):
            Comparison.of(given, state)
    with pytest.raises(InvalidInputError):
        index_of(1.0, state)


def test_what_json_makes_of_a_huge_number_is_refused():
    with pytest.raises(InvalidInputError):
        State.of(json.loads('{"points": [[1e999, 0, 0]]}'))
