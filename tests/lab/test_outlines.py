import warnings

import numpy as np
import pytest
from matplotlib.path import Path

from maxmargin import SVC, ConvergenceWarning, HardMarginSVC, LinearSVC, PegasosSVC, Perceptron
from maxmargin.lab.machines import fitted
from maxmargin.lab.outlines import between, grid, leads, level, outlines, response
from maxmargin.lab.presets import presets
from maxmargin.lab.state import HALF, State

STATES = {one["name"]: one["state"] for one in presets()}


def shown(name, **given):
    one = fitted(State.of({**STATES[name], **given}))
    return one, outlines(one.subject, response(one.subject))


def is_inside(rings, places):
    """By the even-odd rule, as the page fills them."""
    return np.sum([Path(ring).contains_points(places) for ring in rings], axis=0, initial=0) % 2 == 1


@pytest.mark.parametrize("name", ["Effect of C", "Moons", "Ring"])
def test_the_lines_lie_where_f_is_0_and_1(name):
    one, drawn = shown(name)
    for height, lines in ((0.0, drawn["zero"]), (1.0, drawn["edges"])):
        places = np.vstack(lines)
        F = one.model.decision_function(places)
        slope = np.abs(one.model.decision_function(places + 1e-3) - F).max() / 1e-3
        assert np.abs(np.abs(F) - height).max() < max(0.01, 0.02 * slope)


@pytest.mark.parametrize("name", ["Effect of C", "Moons", "Three classes"])
def test_each_region_holds_the_places_where_its_class_is_predicted(name):
    one, drawn = shown(name)
    places = np.random.default_rng(0).uniform(-HALF, HALF, (1000, 2))
    predicted = one.model.predict(places)
    found = np.array([is_inside(rings, places) for rings in drawn["regions"]])
    near = (
        np.abs(leads(one.model, places)).min(axis=0) < 0.05
        if len(found) > 2
        else np.abs(one.model.decision_function(places)) < 0.05
    )
    np.testing.assert_array_equal(found.sum(axis=0)[~near], 1)
    np.testing.assert_array_equal(one.model.classes_[found.argmax(axis=0)][~near], predicted[~near])


def test_the_band_is_where_the_margin_is():
    one, drawn = shown("Moons")
    places = np.random.default_rng(0).uniform(-HALF, HALF, (1000, 2))
    F = one.model.decision_function(places)
    clear = np.abs(np.abs(F) - 1.0) > 0.05
    np.testing.assert_array_equal(is_inside(drawn["band"], places)[clear], (np.abs(F) < 1.0)[clear])


def test_a_perceptron_has_no_margin_to_draw():
    _, drawn = shown("Perceptron")
    assert drawn["zero"]
    assert drawn["edges"] == drawn["band"] == []


@pytest.mark.parametrize(
    "model",
    [SVC(gamma=3.0, C=100.0), HardMarginSVC(kernel="rbf", gamma=4.0), LinearSVC(), Perceptron(max_iter=20), PegasosSVC(C=0.1)],
    ids=lambda model: type(model).__name__,
)
def test_the_class_with_a_positive_lead_is_the_predicted_one(model):
    state, rows = State.of(STATES["Three classes"]), grid(61)[2]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(state.places, state.labels)
    lead = leads(model, rows)
    np.testing.assert_array_equal((lead > 0).sum(axis=0), 1)
    np.testing.assert_array_equal(model.classes_[lead.argmax(axis=0)], model.predict(rows))


def test_where_each_class_loses_once_the_first_is_predicted():
    """Points for which the three machines of pairs go round in a circle somewhere."""
    rng = np.random.default_rng(5)
    found = 0
    for _ in range(20):
        X, y = rng.uniform(-HALF, HALF, (12, 2)), np.repeat(["A", "B", "C"], 4)
        model, rows = SVC(gamma=1.0, C=10.0).fit(X, y), grid(41)[2]
        model.decision_function_shape = "ovo"
        wins = (np.sign(model.decision_function(rows)) @ np.array([[1, -1, 0], [1, 0, -1], [0, 1, -1]])) == 0
        model.decision_function_shape = "ovr"
        circle = wins.all(axis=1)
        found += int(circle.sum())
        lead = leads(model, rows)
        np.testing.assert_array_equal(lead[:, circle].argmax(axis=0), 0)
        np.testing.assert_array_equal(model.classes_[lead.argmax(axis=0)], model.predict(rows))
    assert found > 0


def test_what_is_nowhere_has_no_outline():
    values = np.ones((5, 5))
    assert level(values, 0.0) == []
    assert between(values, -2.0, 0.0) == []
    (square,) = between(values, 0.0, 2.0)
    assert np.ptp(square, axis=0).tolist() == [2 * HALF, 2 * HALF]
