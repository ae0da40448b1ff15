"""Parameters and other values of the header: as JSON and back.

Plain values are stored as they are, everything else as an object that names its type.

{"type": "float", "value": "inf"}                                       what JSON has no number for
{"type": "regularization", "spelling": "mean", "value": 2.0}
{"type": "kernel", "name": "rbf", "gamma": 0.5}
{"type": "solver", "name": "smo", "seed": 0, …}
{"type": "class_weight", "weights": [["spam", 2.0], ["ham", 1.0]]}
"""

import json
import math
import re
import sys
from dataclasses import fields
from typing import Any

import numpy as np

from maxmargin.core import Regularization
from maxmargin.errors import InvalidInputError, ModelFileError, NotSupportedError
from maxmargin.estimators.base import budget_from, check_choice, seed_from
from maxmargin.io._model.archive import damaged, require
from maxmargin.kernels import kernel_from_name
from maxmargin.kernels.names import KERNELS
from maxmargin.solvers import SOLVERS, Auto
from maxmargin.threads import usable_threads

SETTINGS: dict[tuple[str, str], Any] = {
    ("regularization", ""): Regularization,
    **{("kernel", name): kind for name, kind in KERNELS.items()},
    **{("solver", name): kind for name, kind in (*SOLVERS.items(), ("auto", Auto))},
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
    for (kind, its_name), its_type in SETTINGS.items():
        if type(value) is its_type:
            named = {"type": kind, "name": its_name} if its_name else {"type": kind}
            return named | {field.name: encode(field.name, getattr(value, field.name)) for field in fields(value)}
    raise NotSupportedError(
        f"{name}={value!r} is code, a Python function for example, or an object that a model file, which holds data only, cannot "
        f"hold. Use a named kernel (Polynomial(degree=2, gamma=1.0) is FeatureMap(interactions)), a named solver or a plain "
        f"value, e.g. set_params({name}=0); or pickle the model."
    )


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
                made = SETTINGS[kind, given.get("name", "")](**settings)
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


def check_parameters(model: Any) -> None:
    """Refuse the parameters of an estimator that its `fit` would refuse before it looks at data, in its words."""
    model._checked_tol()
    model._trade_off()
    model._bias()
    model._solver(seed_from(model.random_state), usable_threads(model.n_jobs))
    rounds = getattr(model, "n_epochs", None)
    budget_from(getattr(model, "max_iter", -1) if rounds is None else rounds, model.max_seconds, model.cache_size)
    if hasattr(model, "kernel"):
        kernel_from_name(model.kernel, degree=model.degree, gamma=model.gamma, coef0=model.coef0)
    if not isinstance(model.class_weight, dict):
        check_choice("class_weight", model.class_weight, ("balanced", None))


def decode_estimator(kind: type[Any], encoded: dict[str, Any]) -> Any:
    """An unfitted estimator of some kind; parameters that the file does not name keep their default."""
    model = kind()
    for name, value in encoded.items():
        require(name in vars(model), name, f"{kind.__name__} has no such parameter")
        setattr(model, name, decode(name, value))
    try:
        check_parameters(model)
    except (ValueError, TypeError, OverflowError) as error:
        first = re.split(r"\W", str(error))[0]
        raise damaged(first if first in encoded else "parameters", str(error).rstrip(".")) from error
    return model
