"""The estimator that a state describes, fitted; and the Python program that makes the same one."""

import warnings
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

from maxmargin import estimators
from maxmargin.core import Regularization
from maxmargin.core.regularization import PenaltyName
from maxmargin.errors import InvalidInputError
from maxmargin.estimators.per_sample import Subject
from maxmargin.lab.state import SPELLINGS, State

CLASSES = {
    "hard": "HardMarginSVC",
    "soft": "SVC",
    "squared": "SVC",
    "ramp": "SVC",
    "l1": "LinearSVC",
    "perceptron": "Perceptron",
    "pegasos": "PegasosSVC",
}
"""The class of each estimator of the page."""

LOSSES = {"squared": "squared_hinge", "ramp": "ramp"}

TOL, TOL_OF_STEPS, EPOCHS = 1e-6, 1e-2, 100
"""Relative gaps to prove, the second that of Pegasos, which closes like 1/steps; epochs of the perceptron."""

SECONDS = 1.0
"""Seconds of a fit, at most: a page must not wait longer."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """A fitted machine, what it makes of its samples, what it warned of, and how long the fit took."""

    state: State
    model: Any
    subject: Subject
    warnings: tuple[str, ...]
    seconds: float


def regularization(state: State) -> Regularization:
    """The trade-off in the spelling of the state."""
    return Regularization(state.spelling, state.value)  # type: ignore[arg-type]


def penalty(state: State) -> PenaltyName:
    """Which norm of w is small."""
    return "l1" if state.estimator == "l1" else "l2"


def spellings(state: State) -> dict[str, float]:
    """The same trade-off in each spelling."""
    n = len(state.points)
    return {name: regularization(state).to(name, n, penalty(state)).value for name in SPELLINGS}  # type: ignore[arg-type]


def with_costs_of(state: State, whole: State) -> State:
    """The state with the cost per sample of another one: what leaving a point out keeps."""
    cost = regularization(whole).cost(len(whole.points), penalty(whole))
    return replace(state, spelling="sum", value=cost)


def parameters(state: State) -> dict[str, Any]:
    """What the constructor gets, in order; what the machine does not use is left out."""
    found: dict[str, Any] = {}
    if state.estimator == "l1":
        found["penalty"] = "l1"
    else:
        found["kernel"] = state.kernel
        if state.kernel == "poly":
            found["degree"] = state.degree
        if state.kernel != "linear":
            found["gamma"] = state.gamma
        if state.kernel in ("poly", "sigmoid"):
            found["coef0"] = state.coef0
    if state.estimator in LOSSES:
        found["loss"] = LOSSES[state.estimator]
    if state.estimator not in ("hard", "perceptron"):
        found["C"] = state.value if state.spelling == "sum" else regularization(state)
    if not state.intercept:
        found["fit_intercept"] = False
    if state.estimator == "perceptron":
        own: dict[str, Any] = {"max_iter": EPOCHS, "shuffle": False}
    elif state.estimator == "pegasos":
        own = {"tol": TOL_OF_STEPS, "average": False}
    else:
        own = {"tol": TOL}
    return {**found, **own, "max_seconds": SECONDS}


def machine(state: State) -> Any:
    """The estimator, not fitted."""
    return getattr(estimators, CLASSES[state.estimator])(**parameters(state))


def fitted(state: State) -> Fitted:
    """The estimator trained on all points; refuses fewer than two classes in words."""
    if len({point.label for point in state.points}) < 2:
        raise InvalidInputError("Place points of at least two classes.")
    X, y, model = state.places, state.labels, machine(state)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", estimators.ConvergenceWarning)
        begin = perf_counter()
        model.fit(X, y)
        seconds = perf_counter() - begin
    told = tuple(str(one.message) for one in caught if issubclass(one.category, estimators.ConvergenceWarning))
    return Fitted(state, model, Subject(model, X, y), told, seconds)


def counted(count: int, what: str) -> str:
    """A number and its noun.

    >>> counted(1, "update"), counted(2, "update")
    ('1 update', '2 updates')
    """
    return f"{count} {what}{'' if count == 1 else 's'}"


def code(state: State) -> str:
    """A program that trains the same machine on the same points.

    Examples
    --------
    >>> print(code(State.of({"points": [[0, 1, 0], [2, 1, 1]], "estimator": "hard", "kernel": "linear"})))
    import numpy as np
    <BLANKLINE>
    from maxmargin import HardMarginSVC
    <BLANKLINE>
    X = np.array([[0.0, 1.0], [2.0, 1.0]])
    y = np.array(['A', 'B'])
    <BLANKLINE>
    model = HardMarginSVC(kernel='linear', tol=1e-06, max_seconds=1.0).fit(X, y)
    print(model.certificate_)
    <BLANKLINE>
    """
    name, given = CLASSES[state.estimator], parameters(state)
    arguments = ", ".join(f"{key}={value!r}" for key, value in given.items())
    imported = [name] + (["Regularization"] if "Regularization" in arguments else [])
    X, y = _listed(state.places.tolist(), 6), _listed(state.labels.tolist(), 20)
    shown = "model.n_updates_, model.witness_" if state.estimator == "perceptron" else "model.certificate_"
    return (
        f"import numpy as np\n\nfrom maxmargin import {', '.join(imported)}\n\nX = np.array({X})\ny = np.array({y})\n\n"
        f"model = {name}({arguments}).fit(X, y)\nprint({shown})\n"
    )


def _listed(values: list[Any], per_line: int) -> str:
    """A list as Python writes it, some values a line."""
    lines = [", ".join(map(repr, values[k : k + per_line])) for k in range(0, len(values), per_line)]
    return f"[{lines[0]}]" if len(lines) == 1 else "[\n    " + ",\n    ".join(lines) + ",\n]"
