"""Files in which samples and labels are apart already: svmlight and npz.

svmlight and LIBSVM data are lines ``label index:value …``, indices from 1 on (from 0 on where a 0 appears). scikit-learn reads
them. Its errors name no line, and it lets NaN and huge indices pass; so what it makes is checked, and where it gives up, the line
at fault is looked for. npz files hold arrays "X" and "y", as numpy.savez writes them; never pickles.
"""

import math
import re
import zipfile
import zlib
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

from maxmargin.errors import InvalidInputError
from maxmargin.io._data.table import Data, Request, check_width, tidy_labels
from maxmargin.io._model.archive import Array
from maxmargin.io._text import LARGEST_INDEX, LONGEST_LINE, NUMBER, feature_count, shown

ENTRY = re.compile(rb"(?:[0-9]{1,100}|qid):" + NUMBER.pattern)
DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError, OverflowError)


def looks_like_svmlight(start: bytes) -> bool:
    """Whether the first line with content is a label and entries."""
    for line in start.split(b"\n"):
        tokens = line.partition(b"#")[0].split()
        if tokens:
            return len(tokens) > 1 and bool(NUMBER.fullmatch(tokens[0])) and bool(ENTRY.fullmatch(tokens[1]))
    return False


def read_svmlight(file: IO[bytes], request: Request) -> Data:
    """The samples as CSR, the labels as numbers; features are counted from 0 on, from 1 on, or (None) as it looks."""
    from sklearn.datasets import load_svmlight_file

    try:
        zero_based = "auto" if request.zero_based is None else request.zero_based
        X, y = load_svmlight_file(file, dtype=np.float64, zero_based=zero_based)
    except (ValueError, OverflowError) as error:
        file.seek(0)
        _find_fault(file)
        raise InvalidInputError(f"it is no svmlight file ({error}).") from error
    X.resize((X.shape[0], feature_count(X.shape[1], X.nnz, request.n_features, InvalidInputError)))
    return Data(X, tidy_labels(y))


def _find_fault(file: IO[bytes]) -> None:
    """Raise for the first line that is none of the format's."""
    number = 0
    while line := file.readline(LONGEST_LINE):
        number += 1
        tokens = line.partition(b"#")[0].split()
        if tokens and not NUMBER.fullmatch(tokens[0]):
            raise InvalidInputError(f"line {number}: {shown(tokens[0])} is no label; svmlight's are single numbers.")
        last = -1
        for token in tokens[1:]:
            if not ENTRY.fullmatch(token):
                raise InvalidInputError(f"line {number}: {shown(token)} where index:value is wanted.")
            if token.startswith(b"qid"):
                continue
            index = int(token.partition(b":")[0])
            if index > LARGEST_INDEX:
                raise InvalidInputError(f"line {number}: index {index} is too large; the largest is {LARGEST_INDEX}.")
            if index <= last:
                raise InvalidInputError(f"line {number}: index {index} follows {last}; indices must rise.")
            last = index


def read_npz(file: IO[bytes], request: Request) -> Data:
    """The array "X", and the labels' array ("y" or `target`) if it is there; sizes are compared before anything is unpacked."""
    try:
        with zipfile.ZipFile(file) as archive:
            X = _unpacked(archive, "X", request.max_bytes)
            if X.ndim != 2 or X.dtype.kind not in "fiub":
                raise InvalidInputError(f"X has shape {X.shape} and dtype {X.dtype}, wanted a table of numbers.")
            check_width(X.shape[1], request.n_features)
            X = X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
            if request.target is None and "y.npy" not in archive.namelist():
                return Data(X, None)
            name = "y" if request.target is None else str(request.target)
            y = _unpacked(archive, name, request.max_bytes - X.nbytes)
            if y.shape != X.shape[:1] or y.dtype.kind not in "fiubU":
                raise InvalidInputError(f"{name} has shape {y.shape} and dtype {y.dtype}, wanted {X.shape[0]} labels.")
            return Data(X, tidy_labels(y))
    except InvalidInputError:
        raise
    except DAMAGE as error:
        raise InvalidInputError(f"it is no npz file ({error}).") from error


def _unpacked(archive: zipfile.ZipFile, name: str, max_bytes: int) -> Array:
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
        shape, is_fortran, dtype = readers[version](member)
        if dtype.hasobject:
            raise InvalidInputError(f"array {name!r} holds Python objects, which are not read. Save numbers or texts.")
        content = bytearray(size - member.tell())
        n_read = member.readinto(content)  # type: ignore[attr-defined]
        if n_read != math.prod(shape) * dtype.itemsize:
            raise InvalidInputError(f"array {name!r} has not the size that it says.")
    return np.ndarray(shape, dtype, content, order="F" if is_fortran else "C")
