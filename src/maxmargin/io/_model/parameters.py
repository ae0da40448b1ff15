"""What each parameter of an estimator may be: checked when a model is loaded, and on the command line."""

import math
from collections.abc import Callable
from typing import Any

from maxmargin.core import Regularization
from maxmargin.errors import InvalidInputError, ModelFileError
from maxmargin.estimators.ramp_loss import EXACT
from maxmargin.io._model.archive import damaged
from maxmargin.io._model.values import decode
from maxmargin.kernels import Kernel
from maxmargin.kernels.names import NAMES
from maxmargin.solvers import SOLVERS, Auto, Solver

Check = tuple[str, Callable[[Any], bool]]
"""What is wanted, in words; whether a value is that."""


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and not math.isnan(value)


def _whole(words: str, low: float) -> Check:
    return words, lambda value: type(value) is int and low <= value < 2**63


def _among(*choices: Any) -> Check:
    words = f"{'one of ' * (len(choices) > 1)}{', '.join(map(repr, choices))}"
    return words, lambda value: any(type(value) is type(c) and value == c for c in choices)


def _instance(words: str, kind: Any) -> Check:
    return words, lambda value: isinstance(value, kind)


def _or(*checks: Check) -> Check:
    return " or ".join(words for words, _ in checks), lambda value: any(is_right(value) for _, is_right in checks)


NONE = _among(None)
FLAG: Check = ("true or false", lambda value: isinstance(value, bool))
NUMBER: Check = ("a finite number", lambda value: _is_number(value) and math.isfinite(value))
POSITIVE: Check = ("a number > 0", lambda value: _is_number(value) and value > 0)
NOT_NEGATIVE: Check = ("a finite number ≥ 0", lambda value: _is_number(value) and 0 <= value < math.inf)
COUNT = _whole("a whole number ≥ 0", 0)

PARAMETERS: dict[str, Check] = {
    **dict.fromkeys(("break_ties", "fit_intercept", "project", "shrinking", "shuffle", "verbose", "warm_start"), FLAG),
    **dict.fromkeys(("batch_size", "degree", "n_starts"), COUNT),
    "C": _or(POSITIVE, _instance("a Regularization", Regularization), NONE),
    "average": _among("tail", True, False),
    "cache_size": _or(POSITIVE, _among("auto")),
    "class_weight": _or(_instance("weights of the classes", dict), _among("balanced"), NONE),
    "coef0": NUMBER,
    "decision_function_shape": _among("ovr", "ovo"),
    "eta": POSITIVE,
    "gamma": _or(NOT_NEGATIVE, _among("scale", "auto")),
    "intercept_scaling": _or(POSITIVE, NONE),
    "kernel": _or(_among(*NAMES), _instance("a kernel", Kernel)),
    "loss": _among("hinge", "squared_hinge", "ramp"),
    "margin": _or(POSITIVE, _among("compute"), NONE),
    "max_iter": _whole("a whole number ≥ −1", -1),
    "max_seconds": _or(POSITIVE, NONE),
    "method": _among("pegasos", "sgd"),
    "n_epochs": _or(COUNT, NONE),
    "n_jobs": _or(_whole("a whole number", -(2**63)), NONE),
    "output": _among("last", "averaged", "voted"),
    "penalty": _among("l1", "l2"),
    "random_state": _or(COUNT, NONE),
    "solver": _or(_among("auto", EXACT, *SOLVERS), _instance("a solver", Solver | Auto)),
    "tol": _or(NOT_NEGATIVE, NONE),
}


def check_parameter(name: str, value: Any) -> None:
    """Refuse a value that the parameter of this name cannot have, whichever estimator it belongs to."""
    wanted, is_right = PARAMETERS[name]
    if not is_right(value):
        raise InvalidInputError(f"{name}={value!r} where {wanted} is wanted.")


def decode_parameters(kind: type[Any], encoded: dict[str, Any]) -> dict[str, Any]:
    """The parameters of an estimator of some kind; those that the file does not name keep their default."""
    known, parameters = kind().get_params(deep=False), {}
    for name, value in encoded.items():
        if name not in known:
            raise ModelFileError(f"The model file gives {kind.__name__} a parameter {name!r}, which it lacks.", name)
        parameters[name] = decode(name, value)
        try:
            check_parameter(name, parameters[name])
        except InvalidInputError as error:
            raise damaged(name, str(error)) from error
    return parameters
