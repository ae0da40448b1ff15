"""Parameters and other values of the header: as JSON and back, and what each parameter may be.

Plain values are stored as they are, everything else as an object that names its type.

{"type": "float", "value": "inf"}                                       what JSON has no number for
{"type": "regularization", "spelling": "mean", "value": 2.0}
{"type": "kernel", "name": "rbf", "gamma": 0.5}
{"type": "solver", "name": "smo", "seed": 0, …}
{"type": "class_weight", "weights": [["spam", 2.0], ["ham", 1.0]]}
"""

import json
import math
import sys
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np

from maxmargin.core import Regularization
from maxmargin.core.losses import TRAINABLE
from maxmargin.errors import InvalidInputError, ModelFileError, NotSupportedError
from maxmargin.estimators.ramp_loss import EXACT
from maxmargin.io._model.archive import damaged, require
from maxmargin.kernels import Kernel
from maxmargin.kernels.names import KERNELS
from maxmargin.solvers import SOLVERS, Auto, Solver

SETTINGS: dict[str, dict[str, Any]] = {
    "regularization": {"": Regularization},
    "kernel": dict(KERNELS),
    "solver": {**SOLVERS, "auto": Auto},
}
"""Frozen classes that a file can hold, by type and name; there is one regularization, which has no name."""


def encode(name: str, value: Any) -> Any:
    """A value as JSON; what is code and not data is refused."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"type": "float", "value": str(value)}
    if isinstance(value, dict):
        return {"type": "class_weight", "weights": [[encode(name, key), encode(name, value[key])] for key in value]}
    for kind, known in SETTINGS.items():
        for its_name, its_type in known.items():
            if type(value) is its_type:
                named = {"name": its_name} if its_name else {}
                return {
                    "type": kind,
                    **named,
                    **{f.name: encode(f.name, getattr(value, f.name)) for f in fields(value)},
                }
    raise NotSupportedError(
        f"{name}={value!r} is code, a Python function for example, or an object that a model file, which holds data only, cannot "
        f"hold. Use a named kernel (Polynomial(degree=2, gamma=1.0) is FeatureMap(interactions)), a named solver or a plain "
        f"value, e.g. set_params({name}=0); or pickle the model."
    )


def encode_float(value: float) -> Any:
    """A number as JSON, NaN and infinities included."""
    return encode("", float(value))


def decode(name: str, value: Any) -> Any:
    """The inverse of `encode`; anything else is refused by the field's name."""
    if isinstance(value, int | float):
        require(abs(value) <= sys.float_info.max, name, "a number is NaN or beyond float64")
    if value is None or isinstance(value, bool | int | str | float):
        return value
    require(isinstance(value, dict), name, "a list where a value is wanted")
    given = {key: item for key, item in value.items() if key != "type"}
    try:
        match value.get("type"):
            case "float" if given in [{"value": special} for special in ("inf", "-inf", "nan")]:
                return float(given["value"])
            case "class_weight" if set(given) == {"weights"}:
                weights = {label: decode_float(name, weight) for label, weight in given["weights"]}
                are_labels = all(isinstance(label, bool | int | str | float) for label in weights)
                require(are_labels, name, "a label is neither a text nor a number")
                are_positive = all(0 < weight < math.inf for weight in weights.values())
                require(are_positive, name, "the weight of a class is not positive")
                return weights
            case "regularization" | "kernel" | "solver" as kind:
                settings = {key: decode(name, item) for key, item in given.items() if key != "name"}
                made = SETTINGS[kind][given.get("name", "")](**settings)
                if kind == "solver":  # its settings are not checked by itself; those of the others are
                    _check_solver(name, made)
                return made
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        if isinstance(error, ModelFileError):
            raise
        what = str(error) if isinstance(error, InvalidInputError) else f"{value!r} cannot be read"
        raise damaged(name, what) from error
    raise damaged(name, f"its type {value.get('type')!r} is unknown")


def _check_solver(name: str, solver: Any) -> None:
    """Each setting is of the type of its default."""
    for field in fields(solver):
        found, default = getattr(solver, field.name), field.default
        is_number = isinstance(default, int | float) and not isinstance(default, bool)
        is_alike = type(found) is type(default) or (is_number and type(found) in (int, float))
        is_alike = is_alike or (field.name, type(found)) == ("average", bool)
        require(is_alike, name, f"{field.name}={found!r} is not like {default!r}")


def decode_float(name: str, value: Any) -> float:
    """A number of the header, NaN and infinities included."""
    number = decode(name, value)
    is_number = isinstance(number, int | float) and not isinstance(number, bool)
    require(is_number, name, f"{value!r} where a number is wanted")
    return float(number)


def decode_number(name: str, value: Any) -> float:
    """A number of the header that is not NaN."""
    number = decode_float(name, value)
    require(not math.isnan(number), name, "a value is NaN")
    return number


def decode_kernel(name: str, value: Any) -> Kernel:
    """A kernel of the header."""
    kernel: Kernel = decode(name, value)
    require(isinstance(kernel, Kernel), name, f"{value!r} where a kernel is wanted")
    return kernel


def parse_json(text: bytes | bytearray, part: str) -> Any:
    """JSON in UTF-8 without a key that appears twice; `decode` refuses NaN and infinities, which JSON does not have."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            raise ValueError("a key appears twice")
        return found

    try:
        return json.loads(text.decode("utf-8"), object_pairs_hook=unique)
    except ValueError as error:
        raise damaged(part, f"it is no JSON ({error})") from error


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
    "kernel": _or(_among(*KERNELS), _instance("a kernel", Kernel)),
    "loss": _among(*TRAINABLE),
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
    known, parameters = vars(kind()), {}
    for name, value in encoded.items():
        require(name in known, name, f"{kind.__name__} has no such parameter")
        parameters[name], (wanted, is_right) = decode(name, value), PARAMETERS[name]
        require(is_right(parameters[name]), name, f"{value!r} where {wanted} is wanted")
    return parameters
