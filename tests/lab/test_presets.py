import numpy as np
import pytest

from maxmargin import HardMarginSVC, NotSeparableError
from maxmargin.lab.answers import answer
from maxmargin.lab.machines import fitted
from maxmargin.lab.presets import presets
from maxmargin.lab.state import State

STATES = {one["name"]: State.of(one["state"]) for one in presets()}


def test_each_has_a_name_of_its_own_and_something_to_look_at():
    assert len(STATES) == len(presets())
    assert all(one["words"][-1] in ".?" for one in presets())


@pytest.mark.parametrize("name", [name for name in STATES if name != "XOR"])
def test_each_can_be_trained(name):
    assert answer(STATES[name])["samples"]


@pytest.mark.parametrize("name", ["Largest margin", "Support vectors", "Perceptron"])
def test_what_is_said_to_be_separable_is(name):
    assert HardMarginSVC().fit(STATES[name].places, STATES[name].labels).certificate_.margin > 0


@pytest.mark.parametrize("name", ["XOR", "Effect of C"])
def test_what_is_said_not_to_be_separable_is_not(name):
    with pytest.raises(NotSeparableError):
        HardMarginSVC().fit(STATES[name].places, STATES[name].labels)


@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_a_kernel_separates_the_corners(kernel):
    state = STATES["XOR"]
    model = HardMarginSVC(kernel=kernel, gamma=0.5, degree=3, coef0=1.0).fit(state.places, state.labels)
    assert model.certificate_.margin > 0


def test_the_slacks_are_0_1_and_3():
    one = fitted(STATES["Slacks 0, 1 and 3"])
    (part,) = one.subject.parts
    np.testing.assert_allclose(part.slacks, [0] * 12 + [1, 3], atol=1e-6)


def test_the_ring_is_separated_by_an_ellipse():
    assert not fitted(STATES["Ring"]).subject.is_wrong.any()


def test_the_outlier_costs_the_ramp_no_more_than_1():
    from dataclasses import replace

    hinge, ramp = (fitted(replace(STATES["An outlier"], estimator=name)) for name in ("soft", "ramp"))
    outlier = len(STATES["An outlier"].points) - 1
    assert hinge.subject.parts[0].slacks[outlier] > 1
    assert outlier in ramp.model.outliers_


def test_exercise_3_of_uml_15_8_refutes_itself():
    """‖w‖ is 1/a of the hard rule and a/(2λ) of the soft one while λ > a²/2: for each λ some a tells them apart."""
    from dataclasses import replace

    state = STATES["Exercise 3: hard and soft"]
    a = float(np.linalg.norm(state.points[0].x + 1j * state.points[0].y))

    def norm(**given):
        return float(np.linalg.norm(fitted(replace(state, **given)).model.coef_))

    assert norm(estimator="hard") == pytest.approx(1 / a)
    assert state.value > a**2 / 2
    assert norm() == pytest.approx(a / (2 * state.value))
    assert norm(value=a**2 / 4) == pytest.approx(1 / a)  # a smaller λ makes them agree here
    closer = replace(state, points=tuple(replace(point, x=point.x / 9, y=point.y / 9) for point in state.points), value=a**2 / 4)
    hard, soft = (fitted(replace(closer, estimator=name)).model.coef_ for name in ("hard", "soft"))
    assert np.linalg.norm(soft) < 0.5 * np.linalg.norm(hard)  # and not there
