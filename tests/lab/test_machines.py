import warnings

import numpy as np
import pytest

from maxmargin import SVC, ConvergenceWarning, HardMarginSVC, LinearSVC, PegasosSVC, Perceptron, Regularization
from maxmargin.errors import InvalidInputError
from maxmargin.lab.machines import SECONDS, code, fitted, machine, spellings, with_costs_of
from maxmargin.lab.outlines import grid
from maxmargin.lab.presets import presets
from maxmargin.lab.state import ESTIMATORS, KERNELS, SPELLINGS, State

CLOUDS = next(one["state"]["points"] for one in presets() if one["name"] == "Effect of C")


def state_of(**given):
    return State.of({"points": CLOUDS, "kernel": "linear", **given})


EXPECTED = {
    "hard": HardMarginSVC(kernel="linear"),
    "soft": SVC(kernel="linear", C=0.5),
    "squared": SVC(kernel="linear", loss="squared_hinge", C=0.5),
    "ramp": SVC(kernel="linear", loss="ramp", C=0.5),
    "l1": LinearSVC("l1", C=0.5),
    "perceptron": Perceptron(max_iter=100, shuffle=False),
    "pegasos": PegasosSVC(C=0.5, tol=1e-2, average=False),
}


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_each_estimator_of_the_page_is_that_of_the_library(estimator):
    made, expected = machine(state_of(estimator=estimator, value=0.5)), EXPECTED[estimator]
    assert type(made) is type(expected)
    given, wanted = made.get_params(), expected.get_params()
    own = {"max_seconds": SECONDS, "tol": given.get("tol", None)}
    assert given == {**wanted, **{name: value for name, value in own.items() if name in wanted}}


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_kernel_gets_its_parameters(kernel):
    made = machine(state_of(kernel=kernel, gamma=0.3, degree=4, coef0=2.0, intercept=False))
    assert made.kernel == kernel
    assert not made.fit_intercept
    assert made.gamma == ("scale" if kernel == "linear" else 0.3)
    assert made.degree == (4 if kernel == "poly" else 3)
    assert made.coef0 == (2.0 if kernel in ("poly", "sigmoid") else 0.0)


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_every_spelling_of_the_same_trade_off_is_the_same_machine(spelling):
    whole = spellings(state_of(value=0.1))
    F = fitted(state_of(spelling=spelling, value=whole[spelling])).model.decision_function(grid(11)[2])
    np.testing.assert_allclose(F, fitted(state_of(value=0.1)).model.decision_function(grid(11)[2]), atol=1e-6)


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_leaving_out_keeps_the_cost_of_each_sample(spelling):
    state = state_of(spelling=spelling, value=0.2)
    rest = with_costs_of(state.without(3), state)
    cost = Regularization(spelling, 0.2).cost(len(state.points))
    assert pytest.approx(cost) == machine(rest).C


@pytest.mark.parametrize("points", [[], [[0, 0, 0]], [[0, 0, 1], [1, 1, 1]]])
def test_one_class_is_refused_in_words(points):
    with pytest.raises(InvalidInputError, match="at least two classes"):
        fitted(State.of({"points": points}))


PROGRAMS = [
    *({"estimator": name} for name in ("soft", "squared", "ramp", "l1", "perceptron", "pegasos")),
    {"estimator": "hard", "kernel": "rbf", "gamma": 20.0},
    *({"estimator": "soft", "kernel": kernel, "gamma": 0.2, "degree": 2} for kernel in KERNELS),
    *({"estimator": "soft", "spelling": spelling, "value": 0.02} for spelling in SPELLINGS),
    {"estimator": "pegasos", "spelling": "pegasos", "value": 0.05, "intercept": False},
]


@pytest.mark.parametrize("given", PROGRAMS, ids=str)
def test_the_program_makes_the_same_model(given, capsys):
    state = state_of(**given)
    names = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        exec(code(state), names)
        shown = fitted(state).model
    np.testing.assert_array_equal(names["X"], state.places)
    np.testing.assert_array_equal(names["y"], state.labels)
    rows = grid(11)[2]
    np.testing.assert_array_equal(names["model"].decision_function(rows), shown.decision_function(rows))
    assert capsys.readouterr().out.strip()  # it shows its proof


def test_the_program_of_three_classes_makes_the_same_model():
    state = State.of(next(one["state"] for one in presets() if one["name"] == "Three classes"))
    names = {"print": lambda *_: None}
    exec(code(state), names)
    np.testing.assert_array_equal(names["model"].predict(grid(31)[2]), fitted(state).model.predict(grid(31)[2]))


def test_a_fit_that_takes_too_long_ends_and_says_so():
    many = next(one["state"] for one in presets() if one["name"] == "200 points")
    one = fitted(State.of({**many, "kernel": "poly", "degree": 9, "gamma": 50.0, "value": 1e6}))
    assert one.seconds < 3 * SECONDS
    assert one.warnings
