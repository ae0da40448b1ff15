"""npz: arrays "X" and "y", as numpy.savez writes them; never pickles."""

import zipfile
import zlib
from dataclasses import dataclass
from typing import IO, Any

import numpy as np

from maxmargin.errors import InvalidInputError
from maxmargin.io._data.table import Ready, tidy_labels
from maxmargin.io._model.archive import Array


def read_npz(file: IO[bytes], target: str | int | None, max_bytes: int, n_features: int | None = None) -> Ready:
    """The array "X", and the labels' array ("y" or `target`) if it is there; shapes are compared before anything is unpacked."""
    try:
        with zipfile.ZipFile(file) as archive:
            X = _member(archive, "X", max_bytes)
            if len(X.shape) != 2 or X.dtype.kind not in "fiub":
                raise InvalidInputError(f"X has shape {X.shape} and dtype {X.dtype}, wanted a table of numbers.")
            if n_features is not None and X.shape[1] != n_features:
                raise InvalidInputError(f"there are {X.shape[1]} features where {n_features} are wanted.")
            name = "y" if target is None else str(target)
            if target is None and "y.npy" not in archive.namelist():
                return Ready(_floats(X.unpacked(archive)), None)
            y = _member(archive, name, max_bytes - X.size)
            if y.shape != X.shape[:1] or y.dtype.kind not in "fiubU":
                raise InvalidInputError(f"{name} has shape {y.shape} and dtype {y.dtype}, wanted {X.shape[0]} labels.")
            return Ready(_floats(X.unpacked(archive)), tidy_labels(y.unpacked(archive)))
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        RuntimeError,
        NotImplementedError,
        ValueError,
        OverflowError,
    ) as error:
        if isinstance(error, InvalidInputError):
            raise
        raise InvalidInputError(f"it is no npz file ({error}).") from error


def _floats(X: Array) -> Array:
    return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)


@dataclass(frozen=True)
class _Member:
    """What an array of the archive says of itself; `size` is in bytes, unpacked."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    size: int

    def unpacked(self, archive: zipfile.ZipFile) -> Array:
        """The array."""
        from numpy.lib import format as npy

        with archive.open(f"{self.name}.npy") as member:
            array: Array = npy.read_array(member, allow_pickle=False)
            return array


def _member(archive: zipfile.ZipFile, name: str, max_bytes: int) -> _Member:
    """One array's description; its size is compared with what it says of itself."""
    from numpy.lib import format as npy

    if f"{name}.npy" not in archive.namelist():
        names = ", ".join(repr(member.removesuffix(".npy")) for member in archive.namelist()[:8])
        raise InvalidInputError(f"there is no array {name!r} in it; there are {names}.")
    size = archive.getinfo(f"{name}.npy").file_size
    if size > max_bytes:
        raise InvalidInputError(f"array {name!r} takes {size} bytes, more than the limit of {max_bytes}.")
    with archive.open(f"{name}.npy") as member:
        version = npy.read_magic(member)
        readers: dict[tuple[int, int], Any] = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
        if version not in readers:
            raise InvalidInputError(f"array {name!r} has version {version} of the npy format.")
        shape, _, dtype = readers[version](member)
        if dtype.hasobject:
            raise InvalidInputError(f"array {name!r} holds Python objects, which are not read. Save numbers or texts.")
        count = 1
        for side in shape:
            count *= int(side)
        if member.tell() + count * dtype.itemsize != size:
            raise InvalidInputError(f"array {name!r} has not the size that it says.")
    return _Member(name, shape, dtype, size)
