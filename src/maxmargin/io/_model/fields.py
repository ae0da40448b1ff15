"""The fields of a model on their way into a file and out of it: each is asked for once, by name, type, shape and range."""

import math
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.errors import ModelFileError, NotSupportedError
from maxmargin.io._model.archive import Archive
from maxmargin.io._model.arrays import member_name, read_array
from maxmargin.io._model.values import decode_float, encode_float

Array = np.ndarray[Any, Any]
FLAVOURS = {"csr_array": sp.csr_array, "csr_matrix": sp.csr_matrix}


class Output:
    """What is to be written: small values for the header, arrays for members of their own."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.arrays: dict[str, Array] = {}

    def matrix(self, name: str, X: Any) -> None:
        """A dense or a CSR matrix, as it is."""
        if not sp.issparse(X):
            self.arrays[name] = X
            return
        flavour = next(key for key, kind in FLAVOURS.items() if isinstance(X, kind))
        self.values[name] = {"type": flavour, "shape": [int(side) for side in X.shape]}
        for part in ("data", "indices", "indptr"):
            self.arrays[f"{name}_{part}"] = getattr(X, part)

    def texts(self, name: str, texts: Array) -> None:
        """An array of labels or names; Python objects must be texts."""
        if texts.dtype != object:
            self.arrays[name] = texts
            return
        fixed = np.array([text if isinstance(text, str) else None for text in texts])
        if fixed.dtype.kind != "U" or fixed.tolist() != texts.tolist():
            raise NotSupportedError(
                f"{name} holds Python objects that are no plain texts; a file cannot hold {texts!r}."
            )
        self.values[name] = {"type": "object"}
        self.arrays[name] = fixed


class Input:
    """What a file says; whatever is not as it should be is refused by its name."""

    def __init__(self, archive: Archive, values: dict[str, Any], arrays: dict[str, Any]) -> None:
        self._archive, self._values, self._arrays = archive, dict(values), dict(arrays)

    def has(self, name: str) -> bool:
        """Whether the file has such a field."""
        return name in self._values or name in self._arrays or f"{name}_data" in self._arrays

    def value(self, name: str) -> Any:
        """Something of the header, not yet looked at."""
        if name not in self._values:
            raise ModelFileError(f"The model file is damaged: {name!r} is missing.", name)
        return self._values.pop(name)

    def whole(self, name: str, low: int = 0, high: int = 2**62) -> int:
        """A whole number between two others."""
        value = self.value(name)
        if type(value) is not int or not low <= value <= high:
            raise wrong(name, f"{value!r} where a whole number from {low} to {high} is wanted")
        return value

    def number(self, name: str) -> float:
        """A finite number."""
        value = decode_float(name, self.value(name))
        if not math.isfinite(value):
            raise wrong(name, f"{value!r} where a finite number is wanted")
        return value

    def listed(self, name: str, length: int) -> list[Any]:
        """A list of so many values, not yet looked at."""
        value = self.value(name)
        if not isinstance(value, list) or len(value) != length:
            raise wrong(name, f"a list of {length} values is wanted")
        return value

    def array(self, name: str, kinds: tuple[str, ...], shape: tuple[int | None, ...]) -> Array:
        """An array of one of some dtypes (or kinds of them) and of a shape, of which None stands for any length."""
        if name not in self._arrays:
            raise ModelFileError(f"The model file is damaged: array {name!r} is missing.", name)
        array = read_array(self._archive, name, self._arrays.pop(name))
        if array.dtype.str[1:] not in kinds and array.dtype.kind not in kinds:
            raise wrong(name, f"dtype {array.dtype} where {' or '.join(kinds)} is wanted")
        if len(array.shape) != len(shape) or any(
            b is not None and a != b for a, b in zip(array.shape, shape, strict=True)
        ):
            raise wrong(name, f"shape {array.shape} where {shape} is wanted (None: any length)")
        return array

    def floats(self, name: str, shape: tuple[int | None, ...], low: float = -math.inf) -> Array:
        """A float64 array of finite numbers ≥ low."""
        array = self.array(name, ("f8",), shape)
        if not np.isfinite(array).all() or (array < low).any():
            raise wrong(
                name, "a value is not finite" if low == -math.inf else f"a value is not finite or below {low:g}"
            )
        return array

    def indices(self, name: str, dtype: str, shape: tuple[int | None, ...], stop: int) -> Array:
        """Whole numbers ≥ 0 and below stop."""
        array = self.array(name, (dtype,), shape)
        if array.size and (array.min() < 0 or array.max() >= stop):
            raise wrong(name, f"an index is not within 0 … {stop - 1}")
        return array

    def matrix(self, name: str, shape: tuple[int, int]) -> Any:
        """A dense or CSR matrix of finite float32 or float64 numbers."""
        if name not in self._values:
            X = self.array(name, ("f8", "f4"), shape)
            if not np.isfinite(X).all():
                raise wrong(name, "a value is not finite")
            return X
        said = self.value(name)
        if said not in [{"type": flavour, "shape": list(shape)} for flavour in FLAVOURS]:
            raise wrong(name, f"a sparse matrix of shape {shape} is wanted")
        data = self.array(f"{name}_data", ("f8", "f4"), (None,))
        indptr = self.array(f"{name}_indptr", ("i4", "i8"), (shape[0] + 1,))
        indices = self.indices(f"{name}_indices", indptr.dtype.str[1:], (len(data),), shape[1])
        if not np.isfinite(data).all():
            raise wrong(f"{name}_data", "a value is not finite")
        if indptr[0] != 0 or indptr[-1] != len(data) or (np.diff(indptr) < 0).any():
            raise wrong(f"{name}_indptr", f"its values must rise from 0 to {len(data)}")
        return FLAVOURS[said["type"]]((data, indices, indptr), shape=shape)

    def texts(self, name: str, kinds: tuple[str, ...], length: int | None) -> Array:
        """Labels or names, no two of them the same."""
        are_objects = name in self._values
        if are_objects and self.value(name) != {"type": "object"}:
            raise wrong(name, "its type is unknown")
        array = self.array(name, ("U",) if are_objects else kinds, (length,))
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise wrong(name, "a value is not finite")
        if len(np.unique(array)) != len(array):
            raise wrong(name, "a value appears twice")
        return array.astype(object) if are_objects else array

    def end(self) -> None:
        """Refuse what nobody asked for: in the header, or a member of the archive that it does not name."""
        for name in (*self._values, *self._arrays):
            raise ModelFileError(f"The model file has a field {name!r} that this model has no place for.", name)

    @staticmethod
    def check_members(archive: Archive, arrays: dict[str, Any]) -> None:
        """Every member of the archive is described by the header."""
        for name in set(archive.members) - {member_name(array) for array in arrays} - {"header.json"}:
            raise ModelFileError(f"The model file has a member {name!r} that its header does not name.", name)


def floats_for_header(values: Any) -> list[Any]:
    """Numbers as JSON."""
    return [encode_float(value) for value in values]


def wrong(name: str, what: str) -> ModelFileError:
    """The error of a field that is not as it should be."""
    return ModelFileError(f"The model file is damaged at {name!r}: {what}.", name)
