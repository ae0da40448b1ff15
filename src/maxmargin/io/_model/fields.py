"""The fields of a model on their way into a file and out of it.

`fitted` describes each estimator once: it names a field with its type, shape and range. When a model is saved, `Fields` takes
the value from the model; when it is loaded, from the file, and checked. `save` loads what it has written, so that what was
saved is checked, too.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.core import Certificate, Status, TracePoint
from maxmargin.errors import NotSupportedError
from maxmargin.estimators.multiclass.per_problem import alone, largest_gap, store_endings
from maxmargin.io._model.archive import Array, damaged, require
from maxmargin.io._model.parameters import decode, encode

FLAVOURS = {"csr_array": sp.csr_array, "csr_matrix": sp.csr_matrix}
MOST_ROWS = 2**40
INDICES = np.empty(0, dtype=np.int64)
TRACE = np.empty((0, len(TracePoint._fields)))
MAY_BE_NAN = ("margin", "distance", "rounding")

Shape = tuple[int | None, ...]
"""None stands for any length."""

Source = str | Callable[[Any], Any]
"""Where a value of a model comes from: an attribute, which is set when the model is loaded, or a function of the model.

By default a field ``name`` is the attribute ``name_``. Of a small value such a function gives the JSON.
"""


class Fields:
    """Values for the header and arrays for members of their own: taken from `model`, or, if they are given, set in it.

    Attributes
    ----------
    n_classes, n_features, n, n_problems
        What the shapes of other fields follow from; n is 0 where the number of training samples is not known.
    """

    def __init__(self, model: Any, values: dict[str, Any] | None = None, arrays: dict[str, Array] | None = None) -> None:
        self.model, self.is_reading = model, values is not None
        self.values, self.arrays = values or {}, arrays or {}
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

    def value(self, name: str, kind: Any = None, source: Source = "") -> Any:
        """A small value of the header, of some type; without a type, its JSON."""
        if not self.is_reading:
            found = self._of_model(name, source)
            self.values[name] = found if callable(source) else encode(name, found)
            return found
        require(name in self.values, name, "it is missing")
        said = self.values.pop(name)
        return said if kind is None else self._kept(name, source, decode(name, said, kind))

    def whole(self, name: str, low: int = 0, high: int = 2**62, source: Source = "") -> int:
        """A whole number between two others."""
        found = self.value(name, int, source)
        require(low <= found <= high, name, f"{found!r} where a whole number from {low} to {high} is wanted")
        return int(found)

    def array(self, name: str, kinds: tuple[str, ...], shape: Shape, source: Source = "", is_finite: bool = True) -> Array:
        """An array of one of some dtypes, or kinds of them."""
        if self.is_reading:
            require(name in self.arrays, name, "the array is missing")
            array = self.arrays.pop(name)
        else:
            array = self.arrays[name] = np.asarray(self._of_model(name, source))
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
        are_within = array.min(initial=0) >= 0 and array.max(initial=-1) < stop
        require(are_within, name, f"an index is not within 0 … {stop - 1}")
        return array

    def _of_problems(self, name: str) -> Any:
        """What a model has for each of its problems."""
        found = getattr(self.model, f"{name}_")
        return (found,) if self.n_problems == 1 else found

    def per_problem(self, name: str, read: Callable[[Any], Any], plain: Callable[[Any], Any] | None = None) -> list[Any]:
        """A list in the header with a value for each problem; the attribute of a single one is the value itself."""
        write = plain or partial(encode, name)
        said = self.value(name, source=lambda _: [write(one) for one in self._of_problems(name)])
        is_right = isinstance(said, list) and len(said) == self.n_problems
        require(is_right, name, f"a list of {self.n_problems} values is wanted")
        values = [read(one) for one in said]
        self.keep(**{f"{name}_": alone(values)})
        return values

    def ragged(self, name: str, like: Array, longest: int = MOST_ROWS) -> list[Array]:
        """An array for each problem, of the dtype and width of an empty one, stored one behind the other."""
        width, kind = like.shape[1:], like.dtype.str[1:]
        given = [] if self.is_reading else [np.reshape(one, (-1, *width)) for one in self._of_problems(name)]
        lengths = np.array([len(one) for one in given], dtype=np.int64)
        field = f"{name.removesuffix('s')}_lengths"
        lengths = self.indices(field, "i8", (self.n_problems,), longest, lambda _: lengths)
        joined = np.concatenate([like, *given]).astype(like.dtype)
        flat = self.array(name, (kind,), (int(lengths.sum()), *width), lambda _: joined, is_finite=False)
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


def describe_proofs(f: Fields) -> None:
    """What was proved of each problem, if anything: a stream, or a model of another library, has no proof."""
    if not f.has("certificate"):
        return
    certificates = f.per_problem("certificate", lambda said: _read_certificate(said, f.model.tol), _certificate_fields)
    statuses = f.per_problem("status", partial(decode, "status", kind=Status))
    solvers = f.per_problem("solver", partial(decode, "solver", kind=str))
    traces = f.ragged("trace", TRACE)
    are_whole = all((np.isfinite(points[:, 1]) & (points[:, 1] == np.rint(points[:, 1]))).all() for points in traces)
    require(are_whole, "trace", "an iteration is not a whole number")
    last = f.n_problems - 1
    worst = f.whole("worst", 0, last, lambda model: largest_gap(model.certificate_)) if last else 0
    if f.is_reading:
        moments = [tuple(TracePoint(a, int(b), *c) for a, b, *c in points.tolist()) for points in traces]
        store_endings(f.model, worst, certificate=certificates, status=statuses, solver=solvers, trace=moments)


def _certificate_fields(certificate: Certificate) -> dict[str, Any]:
    """All but `data`: a fit is judged on its own data."""
    return {key: value for key, value in encode("certificate", certificate).items() if key != "data"}


def _read_certificate(said: Any, tol: float | None) -> Certificate:
    """One certificate; files of version 0.1 do not say which gap was asked for: the estimator's; nor what is rounding."""
    name, unsaid = "certificate", {"tol": encode("tol", tol), "rounding": encode("rounding", math.nan)}
    require(isinstance(said, dict), name, f"{said!r} where its fields are wanted")
    found: Certificate = decode(name, {**unsaid, **said}, Certificate)
    numbers = [value for key, value in vars(found).items() if isinstance(value, float) and key not in MAY_BE_NAN]
    is_right = not np.isnan(numbers).any() and min(found.groups) >= 0
    require(is_right, name, "a number is NaN, or a number of samples negative")
    return found
