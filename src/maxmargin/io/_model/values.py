"""Parameters as JSON and back: plain values as they are, everything else as an object that names its type.

{"type": "float", "value": "inf"}                                       what JSON has no number for
{"type": "regularization", "spelling": "mean", "value": 2.0}
{"type": "kernel", "name": "rbf", "gamma": 0.5}
{"type": "solver", "name": "smo", "seed": 0, …}
{"type": "class_weight", "weights": [["spam", 2.0], ["ham", 1.0]]}
"""

import json
import math
import sys
from dataclasses import fields
from typing import Any

import numpy as np

from maxmargin.core import Regularization
from maxmargin.errors import InvalidInputError, ModelFileError, NotSupportedError
from maxmargin.kernels import RBF, Kernel, Linear, Polynomial, Precomputed, Sigmoid
from maxmargin.solvers import SOLVERS, Auto, Solver

KERNELS: dict[str, type[Kernel]] = {
    "linear": Linear,
    "poly": Polynomial,
    "rbf": RBF,
    "sigmoid": Sigmoid,
    "precomputed": Precomputed,
}
CHOOSERS: dict[str, type[Any]] = {**SOLVERS, "auto": Auto}
SPECIAL = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


def encode(name: str, value: Any) -> Any:
    """A parameter as JSON; what is code and not data is refused."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return encode_float(value)
    if isinstance(value, Regularization):
        return {"type": "regularization", "spelling": value.spelling, "value": encode_float(value.value)}
    if isinstance(value, Kernel):
        return encode_kernel(value)
    if isinstance(value, Solver | Auto):
        return _encode_settings("solver", CHOOSERS, value, f"{name}={value!r}")
    if isinstance(value, dict):
        return {"type": "class_weight", "weights": [[encode(name, key), encode(name, value[key])] for key in value]}
    if callable(value):
        raise NotSupportedError(
            f"{name}={value!r} is code, and a model file holds data only. Use a named kernel, or pickle the model."
        )
    raise NotSupportedError(
        f"{name}={value!r} ({type(value).__name__}) is no setting that a file can hold. Set it to a plain value first, "
        f"e.g. set_params({name}=0)."
    )


def encode_float(value: float) -> Any:
    """A number, or the name of one that JSON lacks."""
    value = float(value)
    return value if math.isfinite(value) else {"type": "float", "value": str(value)}


def encode_kernel(kernel: Kernel) -> dict[str, Any]:
    """A kernel by name and parameters; functions are refused."""
    if type(kernel) not in KERNELS.values():
        raise NotSupportedError(
            f"kernel={kernel!r} holds a Python function, which is code, and a model file holds data only. Use one of "
            f"{', '.join(KERNELS)} (Polynomial(degree=2, gamma=1.0) is FeatureMap(interactions)), or pickle the model."
        )
    return _encode_settings("kernel", KERNELS, kernel, f"kernel={kernel!r}")


def _encode_settings(kind: str, known: dict[str, type[Any]], value: Any, what: str) -> dict[str, Any]:
    name = next((name for name, known_type in known.items() if type(value) is known_type), None)
    if name is None:
        raise NotSupportedError(f"{what} is a class of yours, which a file cannot hold. Use one of {', '.join(known)}.")
    return {
        "type": kind,
        "name": name,
        **{field.name: encode(field.name, getattr(value, field.name)) for field in fields(value)},
    }


def decode(name: str, value: Any) -> Any:
    """The inverse of `encode`; anything else is refused by the parameter's name."""
    if isinstance(value, int) and abs(value) > sys.float_info.max:
        raise _wrong(name, "a number beyond float64")
    if value is None or isinstance(value, bool | int | str | float):
        return value
    if not isinstance(value, dict):
        raise _wrong(name, "a list where a value is wanted")
    given = {key: item for key, item in value.items() if key != "type"}
    try:
        match value.get("type"):
            case "float":
                return SPECIAL[_only(given, "value")["value"]]
            case "regularization":
                values = _only(given, "spelling", "value")
                return Regularization(values["spelling"], decode(name, values["value"]))
            case "kernel":
                return _decode_settings(name, KERNELS, given)
            case "solver":
                return _decode_settings(name, CHOOSERS, given)
            case "class_weight":
                return {_label(name, key): _weight(name, weight) for key, weight in _only(given, "weights")["weights"]}
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        if isinstance(error, ModelFileError):
            raise
        raise _wrong(
            name, str(error) if isinstance(error, InvalidInputError) else f"{value!r} cannot be read"
        ) from error
    raise _wrong(name, f"of unknown type {value.get('type')!r}")


def decode_float(name: str, value: Any) -> float:
    """A number of the header, NaN and infinities included."""
    number = decode(name, value)
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise _wrong(name, f"{value!r} where a number is wanted")
    try:
        return float(number)
    except OverflowError as error:
        raise _wrong(name, "a number beyond float64") from error


def decode_kernel(name: str, value: Any) -> Kernel:
    """A kernel of the header."""
    kernel = decode(name, value)
    if not isinstance(kernel, Kernel):
        raise _wrong(name, f"{value!r} where a kernel is wanted")
    return kernel


def _decode_settings(name: str, known: dict[str, type[Any]], given: dict[str, Any]) -> Any:
    kind = known[given["name"]]
    settings = {key: decode(name, item) for key, item in given.items() if key != "name"}
    defaults = {field.name: getattr(kind, field.name) for field in fields(kind)}
    unknown = set(settings) - set(defaults)
    if unknown:
        raise _wrong(name, f"{kind.__name__} has no setting {sorted(unknown)[0]!r}")
    made = kind(**settings)
    if not issubclass(kind, Kernel):  # solvers are given checked settings; kernels check their own
        for key, default in defaults.items():
            found = getattr(made, key)
            is_number = isinstance(default, int | float) and not isinstance(default, bool)
            is_alike = type(found) is type(default) or (is_number and type(found) in (int, float))
            if not is_alike and (key, type(found)) != ("average", bool):
                raise _wrong(name, f"{key}={found!r} is not like {default!r}")
    return made


def _only(given: dict[str, Any], *names: str) -> dict[str, Any]:
    if set(given) != set(names):
        raise KeyError(*names)
    return given


def _label(name: str, value: Any) -> Any:
    if isinstance(value, bool | int | str | float):
        return value
    raise _wrong(name, f"{value!r} is no label")


def _weight(name: str, value: Any) -> float:
    weight = decode_float(name, value)
    if not 0 < weight < math.inf:
        raise _wrong(name, f"the weight {value!r} of a class is not positive")
    return weight


def parse_json(text: bytes, part: str) -> Any:
    """JSON without what JSON does not have: no NaN, no key twice, UTF-8, bounded depth."""

    def refuse(constant: str) -> Any:
        raise ValueError(f"{constant} is not JSON")

    def finite(text: str) -> float:
        if math.isinf(number := float(text)):
            raise ValueError(f"{text[:40]} is beyond float64")
        return number

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            raise ValueError("a key appears twice")
        return found

    try:
        return json.loads(text.decode("utf-8"), parse_constant=refuse, parse_float=finite, object_pairs_hook=unique)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"The model file is damaged at {part}: it is no JSON ({error}).", part) from error


def _wrong(name: str, what: str) -> ModelFileError:
    return ModelFileError(f"The model file is damaged at {name!r}: {what}.", name)
