"""What each parameter of an estimator may be: checked when a model is saved, and again when it is loaded."""

import math
from collections.abc import Callable
from typing import Any

from maxmargin.core import Regularization
from maxmargin.errors import InvalidInputError, ModelFileError
from maxmargin.estimators.ramp_loss import EXACT
from maxmargin.io._model.values import decode, encode
from maxmargin.kernels import Kernel
from maxmargin.kernels.names import NAMES
from maxmargin.solvers import SOLVERS, Auto, Solver

Check = tuple[str, Callable[[Any], bool]]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and not math.isnan(value)


def _is_whole(value: Any) -> bool:
    return type(value) is int and abs(value) < 2**63


def _among(*choices: Any) -> Check:
    words = ", ".join(map(repr, choices))
    return f"one of {words}", lambda value: any(type(value) is type(c) and value == c for c in choices)


def _or_none(check: Check) -> Check:
    return f"{check[0]} or None", lambda value: value is None or check[1](value)


def _or_word(check: Check, *words: str) -> Check:
    known = ", ".join(map(repr, words))
    return f"{check[0]}, or {known}", lambda value: value in words if isinstance(value, str) else check[1](value)


FLAG: Check = ("true or false", lambda value: isinstance(value, bool))
NUMBER: Check = ("a finite number", lambda value: _is_number(value) and math.isfinite(value))
POSITIVE: Check = ("a number > 0", lambda value: _is_number(value) and value > 0)
NOT_NEGATIVE: Check = ("a finite number ≥ 0", lambda value: _is_number(value) and 0 <= value < math.inf)
ROUNDS: Check = ("a whole number ≥ −1", lambda value: _is_whole(value) and value >= -1)
COUNT: Check = ("a whole number ≥ 0", lambda value: _is_whole(value) and value >= 0)
WHOLE: Check = ("a whole number", _is_whole)

PARAMETERS: dict[str, Check] = {
    "C": (
        "a number > 0, a Regularization or None",
        lambda value: value is None or isinstance(value, Regularization) or POSITIVE[1](value),
    ),
    "average": _among("tail", True, False),
    "batch_size": COUNT,
    "break_ties": FLAG,
    "cache_size": _or_word(POSITIVE, "auto"),
    "class_weight": (
        "weights of the classes, 'balanced' or None",
        lambda value: value is None or value == "balanced" or isinstance(value, dict),
    ),
    "coef0": NUMBER,
    "decision_function_shape": _among("ovr", "ovo"),
    "degree": COUNT,
    "eta": POSITIVE,
    "fit_intercept": FLAG,
    "gamma": _or_word(NOT_NEGATIVE, "scale", "auto"),
    "intercept_scaling": _or_none(POSITIVE),
    "kernel": (
        f"one of {', '.join(map(repr, NAMES))}, or a kernel",
        lambda value: value in NAMES if isinstance(value, str) else isinstance(value, Kernel),
    ),
    "loss": _among("hinge", "squared_hinge", "ramp"),
    "margin": _or_none(_or_word(POSITIVE, "compute")),
    "max_iter": ROUNDS,
    "max_seconds": _or_none(POSITIVE),
    "method": _among("pegasos", "sgd"),
    "n_epochs": _or_none(COUNT),
    "n_jobs": _or_none(WHOLE),
    "n_starts": COUNT,
    "output": _among("last", "averaged", "voted"),
    "penalty": _among("l1", "l2"),
    "project": FLAG,
    "random_state": _or_none(COUNT),
    "shrinking": FLAG,
    "shuffle": FLAG,
    "solver": (
        f"one of {', '.join(map(repr, ('auto', EXACT, *SOLVERS)))}, or a solver",
        lambda value: (
            value in ("auto", EXACT, *SOLVERS) if isinstance(value, str) else isinstance(value, Solver | Auto)
        ),
    ),
    "tol": _or_none(NOT_NEGATIVE),
    "verbose": FLAG,
    "warm_start": FLAG,
}


def check_parameter(name: str, value: Any) -> None:
    """Refuse a value that the parameter of this name cannot have, whichever estimator it belongs to."""
    wanted, is_right = PARAMETERS[name]
    if not is_right(value):
        raise InvalidInputError(f"{name}={value!r} where {wanted} is wanted.")


def encode_parameters(estimator: Any) -> dict[str, Any]:
    """All parameters as JSON; one that could not be loaded again is refused."""
    encoded = {name: encode(name, value) for name, value in estimator.get_params(deep=False).items()}
    for name, value in encoded.items():
        check_parameter(name, decode(name, value))
    return encoded


def decode_parameters(kind: type[Any], encoded: Any) -> dict[str, Any]:
    """The parameters of an estimator of some kind; those that the file does not name keep their default."""
    if not isinstance(encoded, dict):
        raise ModelFileError("The model file is damaged at 'parameters': no JSON object.", "parameters")
    known = set(kind().get_params(deep=False))
    parameters = {}
    for name, value in encoded.items():
        if name not in known:
            raise ModelFileError(f"The model file gives {kind.__name__} a parameter {name!r}, which it lacks.", name)
        parameters[name] = decode(name, value)
        wanted, is_right = PARAMETERS[name]
        if not is_right(parameters[name]):
            raise ModelFileError(f"The model file is damaged at {name!r}: {value!r} where {wanted} is wanted.", name)
    return parameters
