"""The fields of a model on their way into a file and out of it.

`fitted` describes each estimator once: it names a field with its type, shape and range. When a model is saved, `Fields` takes
the value from the model; when it is loaded, from the file, and checked. `save` loads what it has written, so that what was
saved is checked, too.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.core import Certificate, Groups, Status, TracePoint
from maxmargin.errors import NotSupportedError
from maxmargin.estimators.multiclass.per_problem import alone, store_endings
from maxmargin.io._model.archive import Archive, Array, damaged, read_array, require
from maxmargin.io._model.parameters import decode_float, decode_number, encode

FLAVOURS = {"csr_array": sp.csr_array, "csr_matrix": sp.csr_matrix}
MOST_ROWS = 2**40
INDICES = np.empty(0, dtype=np.int64)

Shape = tuple[int | None, ...]
"""None stands for any length."""

Decode = Callable[[str, Any], Any]
"""From the name of a field and its JSON to its value; refuses what cannot be."""

Source = str | Callable[[Any], Any]
"""Where a value of a model comes from: an attribute, which is set when the model is loaded, or a function of the model.

By default a field ``name`` is the attribute ``name_``. Of a small value such a function gives the JSON.
"""


class Fields:
    """Values for the header and arrays for members of their own; `model` is saved, or filled if there is an archive.

    Attributes
    ----------
    n_classes, n_features, n, n_problems
        What the shapes of other fields follow from; n is 0 where the number of training samples is not known.
    """

    def __init__(self, model: Any, values: dict[str, Any], arrays: dict[str, Any], archive: Archive | None = None) -> None:
        self.model, self.values, self.arrays, self._archive = model, values, arrays, archive
        self.is_reading = archive is not None
        self.n_classes = self.n_features = self.n = self.n_problems = 0

    def has(self, name: str, attribute: str = "") -> bool:
        """Whether there is such a field."""
        if self.is_reading:
            return name in self.values or name in self.arrays
        return getattr(self.model, attribute or f"{name}_", None) is not None

    def keep(self, **attributes: Any) -> None:
        """Set attributes of a model that is loaded."""
        if self.is_reading:
            vars(self.model).update(attributes)

    def _of_model(self, name: str, source: Source) -> Any:
        return source(self.model) if callable(source) else getattr(self.model, source or f"{name}_")

    def _kept(self, name: str, source: Source, value: Any) -> Any:
        if not callable(source):
            self.keep(**{source or f"{name}_": value})
        return value

    def value(self, name: str, decode: Decode | None = None, source: Source = "") -> Any:
        """A small value of the header; without `decode` as it is said, to be checked by the caller."""
        if not self.is_reading:
            found = self._of_model(name, source)
            self.values[name] = found if callable(source) else encode(name, found)
            return found
        require(name in self.values, name, "it is missing")
        said = self.values.pop(name)
        return self._kept(name, source, said if decode is None else decode(name, said))

    def whole(self, name: str, low: int = 0, high: int = 2**62, source: Source = "") -> int:
        """A whole number between two others."""
        found = self.value(name, source=source)
        if self.is_reading and (type(found) is not int or not low <= found <= high):
            raise damaged(name, f"{found!r} where a whole number from {low} to {high} is wanted")
        return int(found)

    def each(self, name: str, count: int, decode: Decode, source: Callable[[Any], Any]) -> list[Any]:
        """A list of so many values."""
        values = self.value(name, source=source)
        require(isinstance(values, list) and len(values) == count, name, f"a list of {count} values is wanted")
        return [decode(name, value) for value in values] if self.is_reading else values

    def array(self, name: str, kinds: tuple[str, ...], shape: Shape, source: Source = "", is_finite: bool = True) -> Array:
        """An array of one of some dtypes, or kinds of them."""
        if self._archive is None:
            array = self.arrays[name] = np.asarray(self._of_model(name, source))
            return array
        require(name in self.arrays, name, "the array is missing")
        array = read_array(self._archive, name, self.arrays.pop(name))
        if array.dtype.str[1:] not in kinds and array.dtype.kind not in kinds:
            raise damaged(name, f"dtype {array.dtype} where {' or '.join(kinds)} is wanted")
        if array.ndim != len(shape) or any(b not in (None, a) for a, b in zip(array.shape, shape, strict=True)):
            raise damaged(name, f"shape {array.shape} where {shape} is wanted (None: any length)")
        if array.dtype.kind == "f" and is_finite:
            require(np.isfinite(array).all(), name, "a value is not finite")
        return np.asarray(self._kept(name, source, array))

    def floats(self, name: str, shape: Shape, source: Source = "", low: float = -math.inf) -> Array:
        """A float64 array of finite numbers ≥ low."""
        array = self.array(name, ("f8",), shape, source)
        require((array >= low).all(), name, f"a value is below {low:g}")
        return array

    def indices(self, name: str, dtype: str, shape: Shape, stop: int = MOST_ROWS, source: Source = "") -> Array:
        """Whole numbers ≥ 0 and below stop."""
        array = self.array(name, (dtype,), shape, source)
        if array.size and (array.min() < 0 or array.max() >= stop):
            raise damaged(name, f"an index is not within 0 … {stop - 1}")
        return array

    def _of_problems(self, name: str) -> Any:
        """What a model has for each of its problems."""
        found = getattr(self.model, f"{name}_")
        return (found,) if self.n_problems == 1 else found

    def per_problem(self, name: str, decode: Decode, encode: Callable[[str, Any], Any] = encode) -> list[Any]:
        """A list in the header with a value for each problem; the attribute of a single one is the value itself."""
        values = self.each(name, self.n_problems, decode, lambda _: [encode(name, one) for one in self._of_problems(name)])
        self.keep(**{f"{name}_": alone(values)})
        return values

    def ragged(self, name: str, like: Array, longest: int = MOST_ROWS) -> list[Array]:
        """An array for each problem, of the dtype and width of an empty one, stored one behind the other."""
        given = () if self.is_reading else [np.reshape(one, (-1, *like.shape[1:])) for one in self._of_problems(name)]
        lengths = np.array([len(one) for one in given], dtype=np.int64)
        field = f"{name.removesuffix('s')}_lengths"
        lengths = self.indices(field, "i8", (self.n_problems,), longest, lambda _: lengths)
        kind, shape = like.dtype.str[1:], (int(lengths.sum()), *like.shape[1:])
        flat = self.array(name, (kind,), shape, lambda _: np.concatenate(given).astype(like.dtype), is_finite=False)
        parts = np.split(flat, np.cumsum(lengths)[:-1])
        self.keep(**{f"{name}_": alone(parts)})
        return parts

    def matrix(self, name: str, shape: tuple[int, int]) -> None:
        """A dense or CSR matrix of finite float32 or float64 numbers."""
        X: Any = None if self.is_reading else self._of_model(name, "")
        if name not in self.values and not sp.issparse(X):
            self.array(name, ("f8", "f4"), shape)
            return
        said = self.value(name, source=lambda _: {"type": type(X).__name__, "shape": list(map(int, X.shape))})
        is_right = said in [{"type": flavour, "shape": list(shape)} for flavour in FLAVOURS]
        require(is_right, name, f"a sparse matrix of shape {shape} is wanted")
        data = self.array(f"{name}_data", ("f8", "f4"), (None,), lambda _: X.data)
        indptr = self.array(f"{name}_indptr", ("i4", "i8"), (shape[0] + 1,), lambda _: X.indptr)
        kind = indptr.dtype.str[1:]
        indices = self.indices(f"{name}_indices", kind, (len(data),), shape[1], lambda _: X.indices)
        is_right = bool(indptr[0] == 0 and indptr[-1] == len(data) and (np.diff(indptr) >= 0).all())
        require(is_right, f"{name}_indptr", f"its values must rise from 0 to {len(data)}")
        self.keep(**{f"{name}_": FLAVOURS[said["type"]]((data, indices, indptr), shape=shape)})

    def texts(self, name: str, kinds: tuple[str, ...], length: int | None, source: str = "") -> Array:
        """Labels or names, no two of them the same; Python objects must be texts."""
        given: Any = None if self.is_reading else self._of_model(name, source)
        are_objects = name in self.values if given is None else given.dtype == object
        if are_objects:
            said = self.value(name, source=lambda _: {"type": "object"})
            require(said == {"type": "object"}, name, "its type is unknown")
        kinds = ("U",) if are_objects else kinds
        array = self.array(name, kinds, (length,), lambda _: _fixed(name, given) if are_objects else given)
        require(len(np.unique(array)) == len(array), name, "a value appears twice")
        return np.asarray(self._kept(name, source, array.astype(object) if are_objects else array))

    def end(self) -> None:
        """Refuse what the description of the model did not ask for."""
        for name in (*self.values, *self.arrays):
            raise damaged(name, "this model has no place for it")


def _fixed(name: str, texts: Array) -> Array:
    """Python texts as an array of a fixed width."""
    fixed = np.array([text if isinstance(text, str) else None for text in texts])
    if fixed.dtype.kind != "U" or fixed.tolist() != texts.tolist():
        raise NotSupportedError(f"{name} holds Python objects that are not plain texts; a file cannot hold {texts!r}.")
    return fixed


NUMBERS = ("primal", "dual", "gap", "relative_gap", "kkt_violation")
MAYBE_NAN = ("margin", "distance")
FLAGS = ("convex", "assumed_psd")
LATER = ("rounding", "tol")
"""Numbers that files of version 0.1 do not have; null where there is none."""

TRACE = np.empty((0, len(TracePoint._fields)))


def describe_proofs(f: Fields) -> None:
    """What was proved of each problem, if anything: a stream, or a model of another library, has no proof."""
    if not f.has("certificate"):
        return
    tol = f.model.tol
    certificates = f.per_problem("certificate", lambda _, said: _decode(said, tol), _encode)
    statuses = f.per_problem("status", _decode_status, lambda _, status: status.name)
    solvers = f.per_problem("solver", _decode_text)
    traces = f.ragged("trace", TRACE)
    are_whole = all((np.isfinite(points[:, 1]) & (points[:, 1] == np.rint(points[:, 1]))).all() for points in traces)
    require(are_whole, "trace", "an iteration is not a whole number")
    worst = f.whole("worst", 0, f.n_problems - 1, _worst) if f.n_problems > 1 else 0
    if f.is_reading:
        moments = [tuple(TracePoint(a, int(b), *c) for a, b, *c in points.tolist()) for points in traces]
        store_endings(f.model, worst, certificate=certificates, status=statuses, solver=solvers, trace=moments)


def _worst(model: Any) -> int:
    return next(k for k, certificate in enumerate(model.certificate_) if certificate is model.certificate_.worst)


def _decode_text(name: str, said: Any) -> str:
    require(isinstance(said, str), name, "texts are wanted")
    return str(said)


def _decode_status(name: str, said: Any) -> Status:
    is_right = _decode_text(name, said) in Status.__members__
    require(is_right, name, f"{said!r} is none of {', '.join(Status.__members__)}")
    return Status[said]


def _encode(_: str, certificate: Certificate) -> dict[str, Any]:
    numbers = {name: getattr(certificate, name) for name in (*NUMBERS, *MAYBE_NAN, *FLAGS, *LATER)}
    return {name: encode(name, value) for name, value in numbers.items()} | {"groups": list(certificate.groups)}


def _decode(said: Any, tol: float | None) -> Certificate:
    """One certificate; where the file does not say which gap was asked for, it is the estimator's."""
    name, needed = "certificate", {*NUMBERS, *MAYBE_NAN, *FLAGS, "groups"}
    is_right = isinstance(said, dict) and needed <= set(said) <= needed | {*LATER}
    require(is_right, name, f"its fields are {', '.join(sorted(needed | {*LATER}))}")
    groups = said["groups"]
    is_right = isinstance(groups, list) and len(groups) == 3 and all(type(n) is int and n >= 0 for n in groups)
    require(is_right, name, f"groups={groups!r} where three numbers of samples are wanted")
    require(all(isinstance(said[flag], bool) for flag in FLAGS), name, f"{' and '.join(FLAGS)} are true or false")
    values = {key: said[key] for key in FLAGS} | {"tol": tol, "rounding": math.nan}
    values |= {key: decode_number(name, said[key]) for key in NUMBERS}
    floats = (*MAYBE_NAN, *(key for key in LATER if said.get(key) is not None))
    return Certificate(groups=Groups(*groups), **(values | {key: decode_float(name, said[key]) for key in floats}))
