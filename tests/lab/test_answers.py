import json
import warnings
from dataclasses import replace

import numpy as np
import pytest

from maxmargin import SVC, ConvergenceWarning, HardMarginSVC, NotSeparableError, bounds, certify
from maxmargin.errors import InvalidInputError
from maxmargin.lab.answers import answer, place_outside
from maxmargin.lab.machines import fitted, machine, with_costs_of
from maxmargin.lab.presets import presets
from maxmargin.lab.state import ESTIMATORS, KERNELS, Comparison, State

STATES = {one["name"]: State.of(one["state"]) for one in presets()}
CASES = STATES["Leave-one-out cases"]


def test_it_shows_the_numbers_of_the_library():
    state = STATES["Moons"]
    shown, model = answer(state), machine(state).fit(state.places, state.labels)
    alpha = np.zeros(len(state.points))
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    margins = np.where(state.labels == "B", 1, -1) * model.decision_function(state.places)
    own = [sample["problems"][0] for sample in shown["samples"]]
    np.testing.assert_allclose([one["alpha"] for one in own], alpha, atol=1e-9)
    np.testing.assert_allclose([one["margin"] for one in own], margins, atol=1e-9)
    np.testing.assert_allclose([one["xi"] for one in own], np.maximum(0, 1 - margins), atol=1e-9)
    assert [sample["predicted"] for sample in shown["samples"]] == model.predict(state.places).tolist()
    proof = certify(model, state.places, state.labels)
    (problem,) = shown["problems"]
    assert problem["primal"] == pytest.approx(proof.primal)
    assert problem["dual"] == pytest.approx(proof.dual)
    assert shown["sentence"].split(" is proved")[0] == str(proof).replace("The objective", "the objective").split(" is proved")[0]
    groups = [sample["group"] for sample in shown["samples"]]
    assert [groups.count(name) for name in ("outside", "on", "inside")] == list(proof.groups)


def test_the_hyperplane_is_that_of_the_model():
    shown, model = answer(CASES), SVC(kernel="linear", C=1.0, tol=1e-6, max_seconds=1.0).fit(CASES.places, CASES.labels)
    np.testing.assert_allclose(shown["hyperplane"]["w"], model.coef_[0], atol=1e-7)
    assert shown["hyperplane"]["b"] == pytest.approx(model.intercept_[0], abs=1e-7)
    assert shown["problems"][0]["norm"] == pytest.approx(np.linalg.norm(model.coef_))


def test_the_bounds_are_those_of_the_library():
    shown, model = answer(CASES), machine(CASES).fit(CASES.places, CASES.labels)
    expected = bounds.of_model(model, CASES.places, CASES.labels)
    assert {one["name"].replace(" ", "_"): one["value"] for one in shown["bounds"]} == pytest.approx(
        {name: float(bound) for name, bound in expected.items()}
    )


def test_of_three_classes_each_sample_has_its_two_problems():
    shown = answer(STATES["Three classes"])
    assert len(shown["problems"]) == 3
    assert all(len(sample["problems"]) == 2 for sample in shown["samples"])
    assert "of 3 problems" in shown["sentence"].lower()
    assert shown["bounds"] == []


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", ["Leave-one-out cases", "Three classes"])
def test_every_answer_is_json_and_shows_a_machine_or_says_why_not(estimator, kernel, name):
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        shown = answer(replace(STATES[name], estimator=estimator, kernel=kernel))
    json.dumps(shown, allow_nan=False)
    assert ("error" in shown) != ("samples" in shown)
    assert "error" not in shown or estimator == "hard"


def test_what_no_hyperplane_separates_comes_with_a_witness_that_verifies():
    state = STATES["XOR"]
    shown = answer(state)
    assert shown["error"].startswith("No hyperplane separates")
    with pytest.raises(NotSeparableError) as caught:
        HardMarginSVC().fit(state.places, state.labels)
    np.testing.assert_allclose(shown["witness"]["weights"], caught.value.witness.weights)
    weights = np.array(shown["witness"]["weights"])
    for name in ("A", "B"):
        own = state.labels == name
        assert weights[own].sum() == pytest.approx(1)
        np.testing.assert_allclose(weights[own] @ state.places[own], shown["witness"]["meeting"], atol=1e-9)
    assert "rational arithmetic" in shown["witness"]["check"]


def test_of_three_classes_the_witness_is_about_the_right_points():
    points = [[-4, 0, 0], [-4, 1, 0], [0, 0, 1], [2, 0, 1], [1, 0, 2], [1, 0, 2]]
    weights = np.array(answer(State.of({"points": points, "estimator": "hard", "kernel": "linear"}))["witness"]["weights"])
    np.testing.assert_allclose(weights[:2], 0)
    np.testing.assert_allclose(weights[2:4], 0.5)
    assert weights[4:].sum() == pytest.approx(1)


def test_a_perceptron_says_how_it_ended():
    assert "Separable" in answer(STATES["Perceptron"])["sentence"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        endless = answer(replace(STATES["XOR"], estimator="perceptron"))
    assert "still made mistakes" in endless["sentence"]
    assert endless["remarks"]


@pytest.mark.parametrize("i", range(0, 28, 3))
def test_a_point_that_is_left_out_is_judged_by_the_machine_that_never_saw_it(i):
    rest = SVC(kernel="linear", C=1.0, tol=1e-6, max_seconds=1.0).fit(CASES.without(i).places, CASES.without(i).labels)
    shown = answer(CASES, Comparison(i, None))
    assert len(shown["samples"]) == len(CASES.points) - 1
    assert shown["ghost"]["predicted"] == rest.predict(CASES.places[[i]])[0]
    assert shown["ghost"]["value"] == pytest.approx(rest.decision_function(CASES.places[[i]])[0], abs=1e-5)
    assert shown["ghost"]["is_wrong"] == (shown["ghost"]["predicted"] != CASES.labels[i])
    full = answer(CASES)
    assert shown["ghost"]["outlines"]["zero"] == full["outlines"]["zero"]
    assert shown["ghost"]["alpha"] == pytest.approx(full["samples"][i]["alpha"], abs=1e-9)


def test_the_program_of_a_left_out_point_is_that_of_the_machine_without_it():
    names = {"print": lambda *_: None}
    exec(answer(CASES, Comparison(3, None))["code"], names)
    np.testing.assert_array_equal(names["X"], CASES.without(3).places)


def test_leaving_out_a_point_outside_the_margin_changes_nothing_and_another_one_does():
    alphas = [sample["alpha"] for sample in answer(CASES)["samples"]]
    for i, alpha in enumerate(alphas):
        change = answer(CASES, Comparison(i, None))["ghost"]["difference"]
        assert change < 1e-5 if alpha == 0 else change > 1e-3


@pytest.mark.parametrize("name", ["Leave-one-out cases", "Support vectors", "Moons"])
def test_a_point_made_a_non_support_vector_can_be_moved_and_nothing_changes(name):
    state = STATES[name]
    i = int(np.argmax([sample["alpha"] for sample in answer(state)["samples"]]))
    x, y = place_outside(state, i)
    there = state.moved(i, (x, y))
    shown = answer(there)
    assert shown["samples"][i]["alpha"] == 0
    # it is the machine without the point
    rest = fitted(with_costs_of(state.without(i), state)).model
    places = np.random.default_rng(0).uniform(-5, 5, (100, 2))
    F = rest.decision_function(places)
    np.testing.assert_allclose(fitted(there).model.decision_function(places), F, atol=1e-4 * np.abs(F).max())
    # and it stays so a little further away
    moved = answer(there.moved(i, (x + 0.02, y)), Comparison(i, (x, y)))
    assert moved["samples"][i]["alpha"] == moved["ghost"]["alpha"] == 0
    assert moved["ghost"]["difference"] < 1e-4 * max(1.0, np.abs(F).max())


def test_moving_a_support_vector_moves_the_boundary():
    i = int(np.argmax([sample["alpha"] for sample in answer(STATES["Support vectors"])["samples"]]))
    x, y = STATES["Support vectors"].places[i]
    moved = answer(STATES["Support vectors"].moved(i, (float(x), float(y) + 0.1)), Comparison(i, (float(x), float(y))))
    assert moved["ghost"]["difference"] > 1e-3


def test_where_nothing_is_outside_it_is_said():
    weak = replace(CASES, value=1e-6)
    with pytest.raises(InvalidInputError, match="No place of the picture"):
        place_outside(weak, 0)
    with pytest.raises(InvalidInputError, match="two classes"):
        place_outside(STATES["Three classes"], 0)


@pytest.mark.parametrize("points", [[], [[1, 1, 0]], [[1, 1, 0], [1, 1, 0]]])
def test_too_few_points_are_an_answer_in_words(points):
    assert "two classes" in answer(State.of({"points": points}))["error"]


def test_the_same_place_in_two_classes_is_an_answer_too():
    state = State.of({"points": [[1, 1, 0], [1, 1, 1]]})
    assert "samples" in answer(state)
    assert "witness" in answer(replace(state, estimator="hard", kernel="linear"))
