"""Parameters and other values of the header: as JSON and back.

Plain values are stored as they are, tuples as lists, choices by their name, everything else as an object that names its type,
unless the field can be of one type only.

{"type": "float", "value": "inf"}                                       what JSON has no number for
{"type": "regularization", "spelling": "mean", "value": 2.0}
{"type": "kernel", "name": "rbf", "gamma": 0.5}
{"type": "solver", "name": "smo", "seed": 0, …}
{"type": "class_weight", "weights": [["spam", 2.0], ["ham", 1.0]]}
"""

import math
import re
import sys
from dataclasses import fields
from enum import Enum
from types import FunctionType
from typing import Any, get_args, get_type_hints

import numpy as np

from maxmargin.core import Certificate, Regularization
from maxmargin.errors import InvalidInputError, ModelFileError, NotSupportedError
from maxmargin.estimators.base import budget_from, check_choice, seed_from
from maxmargin.io._model.archive import damaged, require
from maxmargin.kernels import kernel_from_name
from maxmargin.kernels.names import KERNELS
from maxmargin.solvers import SOLVERS, Auto
from maxmargin.solvers.stochastic.iterates import Rule
from maxmargin.threads import usable_threads

NAMES: dict[type[Any], dict[str, str]] = {
    Regularization: {"type": "regularization"},
    **{kind: {"type": "kernel", "name": name} for name, kind in KERNELS.items()},
    **{kind: {"type": "solver", "name": name} for name, kind in {**SOLVERS, "auto": Auto}.items()},
    **{kind: {} for kind in (Certificate, Rule)},
}
"""Frozen classes that a file can hold, and how it names them; those without a name stand where nothing else can."""

NAMED = {tuple(names.values()): kind for kind, names in NAMES.items() if names}


def encode(name: str, value: Any) -> Any:
    """A value as JSON; what is code and not data is refused."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"type": "float", "value": str(value)}
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, tuple):
        return [encode(name, item) for item in value]
    if isinstance(value, dict):
        return {"type": "class_weight", "weights": [encode(name, pair) for pair in value.items()]}
    if type(value) in NAMES:
        settings = {field.name: encode(field.name, getattr(value, field.name)) for field in fields(value)}
        return NAMES[type(value)] | settings
    raise NotSupportedError(
        f"{name}={value!r} is code, a Python function for example, or an object; a model file holds data only. Use a named "
        f"kernel (Polynomial(2, 1.0) is FeatureMap(interactions)), a named solver or a plain value, or pickle the model."
    )


def decode(name: str, said: Any, kind: Any = Any) -> Any:
    """The inverse of `encode`: a value of some type; anything else is refused by the field's name.

    Instead of a type it may be a function that makes the value from what an object holds; null stays None then.
    """
    try:
        value = _decoded(name, said, kind)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        if isinstance(error, ModelFileError):
            raise
        what = str(error) if isinstance(error, InvalidInputError) else f"{said!r} cannot be read"
        raise damaged(name, what) from error
    kinds = get_args(kind) or (kind,)
    is_known = Any in kinds or isinstance(kind, FunctionType)
    is_right = is_known or type(value) in kinds or (float in kinds and type(value) is int) or value in kinds
    require(is_right, name, f"{said!r} where {getattr(kind, '__name__', kind)} is wanted")
    return value


def _decoded(name: str, said: Any, kind: Any) -> Any:
    if isinstance(said, int | float):
        require(abs(said) <= sys.float_info.max, name, "a number is NaN or beyond float64")
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind[said]
    if isinstance(kind, type) and issubclass(kind, tuple):
        items = [decode(name, item, int) for item in said]
        return kind._make(items) if hasattr(kind, "_make") else kind(items)
    if not isinstance(said, dict | list):
        return said
    match said:
        case {"type": "float", "value": "inf" | "-inf" | "nan" as value, **others} if not others:
            return float(value)
        case {"type": "class_weight", "weights": weights, **others} if not others:
            found = {label: decode(name, weight, float) for label, weight in weights}
            are_positive = all(0 < weight < math.inf for weight in found.values())
            require(are_positive, name, "the weight of a class is not positive")
            return found
        case dict():
            names = tuple(said[key] for key in ("type", "name") if key in said)
            made = NAMED[names] if names else kind
            require(made in NAMES or isinstance(made, FunctionType), name, "an object where a value is wanted")
            types = get_type_hints(made)
            return made(**{key: decode(name, said[key], types[key]) for key in said if key not in ("type", "name")})
    raise damaged(name, "a list where a value is wanted")


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
