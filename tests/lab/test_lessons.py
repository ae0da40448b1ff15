from dataclasses import replace

import numpy as np
import pytest

from maxmargin import MaxMarginError, Perceptron, certify, leave_one_out
from maxmargin.errors import InvalidInputError
from maxmargin.lab.lessons import MOST_STEPS, PATIENCE, closing, left_out, steps
from maxmargin.lab.machines import fitted, machine
from maxmargin.lab.outlines import grid
from maxmargin.lab.presets import presets
from maxmargin.lab.state import State

STATES = {one["name"]: State.of(one["state"]) for one in presets()}


@pytest.mark.parametrize("name", ["Leave-one-out cases", "Three classes", "Support vectors"])
def test_the_verdicts_are_those_of_the_library(name):
    state = STATES[name]
    shown = left_out(state)
    expected = leave_one_out(machine(state), state.places, state.labels, resolve="once")
    assert [one["predicted"] for one in shown["verdicts"]] == expected.predictions.tolist()
    assert [one["how"] for one in shown["verdicts"]] == [how.name for how in expected.settled_by]
    assert [one["is_wrong"] for one in shown["verdicts"]] == (expected.predictions != state.labels).tolist()
    assert shown["error"] == expected.error
    assert sum(count for count, _ in shown["counts"]) == len(state.points)


def test_nobody_waits_for_verdicts_that_take_too_long():
    state = replace(STATES["200 points"], kernel="sigmoid")
    calls = []
    shown = left_out(state, lambda: bool(calls.append(0)) or len(calls) > 3)
    assert len(calls) < 10
    low, high = shown["range"]
    assert low < high
    assert any(one["how"] == "INTERRUPTED" for one in shown["verdicts"])
    assert PATIENCE > 0


@pytest.mark.parametrize("estimator", ["ramp", "l1", "perceptron", "pegasos"])
def test_machines_without_one_exact_optimum_are_refused_in_words(estimator):
    with pytest.raises(MaxMarginError, match="leave_one_out"):
        left_out(replace(STATES["Perceptron"], estimator=estimator))


@pytest.mark.parametrize("name", ["Effect of C", "Three classes", "Support vectors", "Pegasos"])
def test_primal_and_dual_close_in_on_the_certified_optimum(name):
    state = STATES[name]
    points = np.array(closing(state)["points"])
    one = fitted(state)
    proofs = certify(one.model, state.places, state.labels)
    optima = [(proof.dual, proof.primal) for proof in (proofs if isinstance(proofs, tuple) else [proofs])]
    assert (points[:, 1] >= points[:, 2]).all()
    assert any(
        (points[:, 1] >= dual * (1 - 1e-9)).all() and (points[:, 2] <= primal * (1 + 1e-9)).all() for dual, primal in optima
    )
    assert points[-1, 1] - points[-1, 2] < 2e-2 * points[-1, 1]


def test_the_words_claim_an_enclosed_optimum_only_where_there_is_one():
    assert "the optimum lies between" in closing(STATES["Moons"])["words"]
    assert "last convex step" in closing(replace(STATES["An outlier"], estimator="ramp"))["words"]
    indefinite = replace(STATES["Moons"], kernel="sigmoid", gamma=1.0, coef0=-1.0)
    assert not fitted(indefinite).subject.parts[0].certificate.convex
    assert "bound nothing" in closing(indefinite)["words"]


def test_a_perceptron_has_nothing_that_closes_in():
    with pytest.raises(InvalidInputError, match="minimises nothing"):
        closing(STATES["Perceptron"])


@pytest.mark.parametrize("name", ["Perceptron", "Pegasos"])
def test_the_steps_are_those_of_the_library(name):
    state = STATES[name]
    shown = steps(state)["steps"]
    theirs = [step for _, step in zip(range(MOST_STEPS), machine(state).steps(state.places, state.labels), strict=False)]
    assert len(shown) == len(theirs)
    for one, step in zip(shown, theirs, strict=True):
        np.testing.assert_array_equal(one["w"], step.w)
        assert one["b"] == step.b
        for line in one["zero"]:
            np.testing.assert_allclose(np.array(line) @ step.w + step.b, 0, atol=1e-2 * max(1, np.abs(step.w).max()))


def test_each_mistake_turns_w_towards_its_sample_and_nothing_else_does():
    state, before = STATES["Perceptron"], np.zeros(2)
    for one in steps(state)["steps"]:
        sign = 1 if state.labels[one["sample"]] == "B" else -1
        np.testing.assert_allclose(one["w"] - before, one["changes"] * sign * state.places[one["sample"]], atol=1e-12)
        before = np.array(one["w"])


def test_pegasos_shrinks_w_and_adds_the_violator():
    state, before = STATES["Pegasos"], np.zeros(2)
    for one in steps(state)["steps"]:
        sign, t = (1 if state.labels[one["sample"]] == "B" else -1), one["t"]
        added = one["changes"] * sign * state.places[one["sample"]] / (state.value * t)
        np.testing.assert_allclose(one["w"], (1 - 1 / t) * before + added, atol=1e-9)
        before = np.array(one["w"])


def test_the_margin_that_mistakes_leave_possible_is_not_below_the_true_one():
    state = STATES["Perceptron"]
    best = Perceptron(margin="compute").fit(state.places, state.labels).mistake_bound_.inputs["gamma"]
    told = [
        float(one["words"].split("margin above ")[1].rstrip("."))
        for one in steps(state)["steps"]
        if "margin above" in one["words"]
    ]
    assert told
    assert min(told) >= best


@pytest.mark.parametrize("estimator", ["perceptron", "pegasos"])
def test_with_a_kernel_the_boundary_of_a_step_is_where_its_sums_are_zero(estimator):
    state = replace(STATES["Ring"], estimator=estimator, kernel="rbf", gamma=0.5)
    shown = steps(state)["steps"]
    theirs = [step for _, step in zip(range(MOST_STEPS), machine(state).steps(state.places, state.labels), strict=False)]
    kernel = fitted(state).model.kernel_
    assert all(one["w"] is None for one in shown)
    k = next(k for k in range(len(shown) - 1, 0, -1) if shown[k]["zero"])
    places = np.vstack(shown[k]["zero"])
    F = kernel.block(places, state.places) @ theirs[k].w + theirs[k].b
    whole = kernel.block(grid(21)[2], state.places) @ theirs[k].w + theirs[k].b
    assert np.abs(F).max() < 0.05 * np.abs(whole).max()


@pytest.mark.parametrize(("name", "words"), [("Moons", "perceptron and Pegasos"), ("Three classes", "two classes")])
def test_other_machines_have_no_steps_to_show(name, words):
    state = STATES[name] if name == "Moons" else replace(STATES[name], estimator="perceptron", kernel="linear")
    with pytest.raises(InvalidInputError, match=words):
        steps(state)
