"""What steps of a Pipeline are told and have learned: as JSON and back.

Plain values are stored as they are, lists as lists, everything else as an object that names its type.

{"type": "tuple", "items": [0, 1]}
{"type": "values", "dtype": "O", "values": ["cat", "dog", null]}        an array of one dimension
{"type": "terms", "terms": ["cat", "dog"]}                              {"cat": 0, "dog": 1}
{"type": "dtype", "name": "float32"}
{"type": "function", "name": "chi2"}
"""

import re
from importlib import import_module
from typing import Any

import numpy as np

from maxmargin.errors import NotSupportedError
from maxmargin.io._model.archive import damaged, require
from maxmargin.io._model.parameters import decode, encode

FUNCTIONS = ("chi2", "f_classif", "mutual_info_classif")
"""Functions of sklearn.feature_selection that a file may name."""

NUMBERS = re.compile(r"<[fiu][248]|\|[iub]1")


def numeric(value: Any) -> Any:
    """Whole numbers, and Python numbers in an array of objects, as float64."""
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "iuO" or {*map(type, value.tolist())} - {int, float}:
        return value
    return value.astype(np.float64)


def plain(name: str, value: Any) -> Any:
    """A parameter or a value that was learned as JSON; what is no data is refused."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return encode(name, value)
    if isinstance(value, list):
        return [plain(name, each) for each in value]
    if isinstance(value, tuple):
        return {"type": "tuple", "items": plain(name, list(value))}
    if isinstance(value, np.ndarray) and value.ndim == 1:
        kind = value.dtype.kind if value.dtype.kind in "OU" else value.dtype.newbyteorder("<").str
        return {"type": "values", "dtype": kind, "values": plain(name, value.tolist())}
    if isinstance(value, dict) and all(isinstance(number, int | np.integer) for number in value.values()):
        return {"type": "terms", "terms": plain(name, sorted(value, key=value.__getitem__))}
    if isinstance(value, type | np.dtype) and np.dtype(value).kind in "fiub":
        return {"type": "dtype", "name": np.dtype(value).name}
    if str(getattr(value, "__module__", "")).startswith("sklearn.feature_selection.") and value.__name__ in FUNCTIONS:
        return {"type": "function", "name": value.__name__}
    raise NotSupportedError(
        f"{name}={value!r} is a function or another object, and a model file is data. Use a plain value, or pickle the pipeline."
    )


def unplain(name: str, said: Any) -> Any:
    """The inverse of `plain`."""
    match said:
        case list():
            return [unplain(name, each) for each in said]
        case {"type": "tuple", "items": list(items), **others} if not others:
            return tuple(unplain(name, items))
        case {"type": "values", "dtype": str(kind), "values": list(items), **others} if not others:
            values = unplain(name, items)
            are_plain = all(each is None or isinstance(each, bool | int | float | str) for each in values)
            require(are_plain and (kind in ("O", "U") or NUMBERS.fullmatch(kind)), name, "its values are not plain")
            return np.array(values, dtype=kind)
        case {"type": "terms", "terms": list(terms), **others} if not others:
            are_terms = all(isinstance(term, str) for term in terms) and len(set(terms)) == len(terms)
            require(are_terms, name, "a term is no text, or appears twice")
            return {term: number for number, term in enumerate(terms)}
        case {"type": "dtype", "name": str(kind), **others} if not others:
            dtype = np.dtype(kind)
            require(dtype.kind in "fiub", name, f"{kind!r} is no type of numbers")
            return dtype.type
        case {"type": "function", "name": str(function), **others} if not others:
            require(function in FUNCTIONS, name, f"{function!r} is no known function")
            return getattr(import_module("sklearn.feature_selection"), function)
        case {"type": "float"} | None | bool() | int() | float() | str():
            return decode(name, said)
    raise damaged(name, "it cannot be read")
