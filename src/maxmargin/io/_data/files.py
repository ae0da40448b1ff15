"""Samples and labels from files: svmlight, CSV, Parquet and npz, told apart by suffix or content."""

import os
import re
import sys
import zipfile
import zlib
from collections.abc import Callable, Sequence
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import IO, Any

import numpy as np
import scipy.sparse as sp

from maxmargin.errors import InvalidInputError
from maxmargin.io._data.tables import CsvTable, Data, ParquetTable, check_width, tidy_labels
from maxmargin.io._model.archive import Array

LARGEST_INDEX = 2**31 - 1
FEW_FEATURES, PER_ENTRY = 1 << 20, 100
"""A feature beyond so many, and beyond so many for each entry of a file, is mostly damage."""

NUMBER = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,5})?")
ENTRY = re.compile(rb"[0-9]{1,100}:" + NUMBER.pattern)
DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError, OverflowError, OSError, TypeError, LookupError)
"""What NumPy, pyarrow and their like raise about a damaged file."""


def _words(line: bytes) -> list[bytes]:
    """The label and the entries of a line, without comment and number of a query."""
    return [word for word in line.partition(b"#")[0].split() if not word.startswith(b"qid:")]


def read_svmlight(
    file: IO[bytes], n_features: int | None, zero_based: bool | None, target: str | int | None = None, **_: Any
) -> Data:
    """The samples as CSR, the labels as numbers; features are counted from 0 on, from 1 on, or (None) as it looks."""
    from sklearn.datasets import load_svmlight_file

    if target is not None:
        what = f"svmlight lines begin with their label, so target={target!r} names no column"
        raise InvalidInputError(f"{what}. Leave it out; LIBSVM's -t is --kernel.")
    try:
        first = "auto" if zero_based is None else zero_based
        X, y = load_svmlight_file(file, dtype=np.float64, zero_based=first)
    except (ValueError, OverflowError) as error:
        file.seek(0)
        faults = (f"line {k}: {fault}." for k, line in enumerate(file, start=1) if (fault := _fault(_words(line))))
        raise InvalidInputError(next(faults, f"it is no svmlight file ({error}).")) from error
    most = max(FEW_FEATURES, PER_ENTRY * X.nnz) if n_features is None else n_features
    if X.shape[1] > most:
        said = f"the model has {most} features" if n_features else f"there are {X.nnz} entries, which is mostly damage"
        what = f"feature {X.shape[1]} appears in it where {said} (n_features={n_features})"
        raise InvalidInputError(f"{what}. If it is right, pass n_features={X.shape[1]}.")
    X.resize((X.shape[0], n_features or X.shape[1]))
    return Data(X, tidy_labels(y))


def _fault(words: list[bytes]) -> str:
    """What is wrong with the label and the entries of a line; no words if nothing is."""
    if words and not NUMBER.fullmatch(words[0]):
        return f"{shown(words[0])} is no label; svmlight's are single numbers"
    wrong = [word for word in words[1:] if not ENTRY.fullmatch(word)]
    if wrong:
        return f"{shown(wrong[0])} where index:value is wanted"
    for last, index in pairwise([-1, *(int(word.partition(b":")[0]) for word in words[1:])]):
        if index > LARGEST_INDEX:
            return f"index {index} is too large; the largest is {LARGEST_INDEX}"
        if index <= last:
            return f"index {index} follows {last}; indices must rise"
    return ""


def shown(token: bytes) -> str:
    """A piece of a file for an error message: short, and without control characters."""
    text = token.decode("utf-8", "replace")
    return repr(text if len(text) <= 40 else text[:40] + "…")


def read_npz(file: IO[bytes], target: str | int | None, n_features: int | None, max_bytes: int, **_: Any) -> Data:
    """The array "X", and the labels' array ("y" or `target`) if it is there; sizes are compared before anything is unpacked."""
    with np.lib.npyio.NpzFile(file, allow_pickle=False) as arrays:
        X = _unpacked(arrays, "X", max_bytes)
        if X.ndim != 2 or X.dtype.kind not in "fiub":
            raise InvalidInputError(f"X has shape {X.shape} and dtype {X.dtype}, wanted a table of numbers.")
        check_width(X.shape[1], n_features)
        X = X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
        if target is None and "y" not in arrays.files:
            return Data(X, None)
        name = "y" if target is None else str(target)
        y = _unpacked(arrays, name, max_bytes - X.nbytes)
        if y.shape != X.shape[:1] or y.dtype.kind not in "fiubU":
            raise InvalidInputError(f"{name} has shape {y.shape} and dtype {y.dtype}, wanted {X.shape[0]} labels.")
        return Data(X, tidy_labels(y))


def _unpacked(arrays: Any, name: str, max_bytes: int) -> Array:
    if f"{name}.npy" not in arrays.zip.namelist():
        raise InvalidInputError(f"there is no array {name!r} in it; there are {', '.join(map(repr, arrays.files[:8]))}.")
    size = arrays.zip.getinfo(f"{name}.npy").file_size
    if size > max_bytes:
        raise InvalidInputError(f"array {name!r} takes {size} bytes, more than the limit of {max_bytes}.")
    try:
        return np.asarray(arrays[name])
    except MemoryError as error:
        raise InvalidInputError(f"array {name!r} has not the size that it says, or does not fit ({error}).") from error


MAX_BYTES = 16 << 30
"""Bytes of a file, and of what it unpacks to, unless the caller says otherwise."""

PIECE = 1 << 20
"""Bytes read from a stream at a time."""

ALIASES = {"svm": "svmlight", "libsvm": "svmlight", "tsv": "csv"}
READERS: dict[str, Callable[..., Data]] = {
    "svmlight": read_svmlight,
    "csv": lambda file, header, **wanted: CsvTable(file, header).split(**wanted),
    "parquet": lambda file, max_bytes, **wanted: ParquetTable(file, max_bytes).split(**wanted),
    "npz": read_npz,
}


def read_data(
    path: str | os.PathLike[str],
    *,
    target: str | int | None = None,
    n_features: int | None = None,
    feature_names: Sequence[str] | None = None,
    header: bool | None = None,
    format: str = "auto",
    max_bytes: int = MAX_BYTES,
    zero_based: bool | None = None,
) -> Data:
    r"""Read samples and labels.

    Parameters
    ----------
    path : path
        The file; ``-`` is standard input.
    target : str or int, optional
        The column of the labels, by name or number (from 0 on, negative from the end); by default the last. For npz the name of
        the labels' array, by default "y". svmlight files begin with the label.
    n_features : int, optional
        How many features a model expects. A table with as many columns has no labels then, unless `target` is said; svmlight
        samples get so many columns.
    feature_names : sequence of str, optional
        The features that a model expects: they are looked up by name, in this order, in files that have names.
    header : bool, optional
        Whether the first line of a CSV file names the columns; by default it does if it has a text where the
        next line has a number, or texts only.
    format : {"auto", "svmlight", "csv", "parquet", "npz"}
        "auto" goes by the suffix, else by the content.
    max_bytes : int
        Larger files, and files that unpack to more, are refused.
    zero_based : bool, optional
        Whether svmlight's features are counted from 0 on or from 1 on; by default from 0 on where a 0 appears, which is no
        rule for one of several files.

    Raises
    ------
    InvalidInputError
        In one line, with the place at fault: files that are missing, empty or no data, missing values, texts where numbers are
        wanted, columns that are not there.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from maxmargin.io import read_data
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "a.csv"
    ...     _ = path.write_text("kind,width,height\nbird,1.0,2.5\nfish,3.0,0.5\n")
    ...     data = read_data(path, target="kind")
    >>> data.X, data.y, data.feature_names
    (array([[1. , 2.5], [3. , 0.5]]), array(['bird', 'fish'], dtype='<U4'), ('width', 'height'))
    """
    if format != "auto" and format not in READERS:
        raise InvalidInputError(f"format must be 'auto' or one of {', '.join(map(repr, READERS))}, got {format!r}.")
    name, columns = os.fsdecode(path), {"target": target, "feature_names": feature_names, "header": header}
    wanted = {"n_features": n_features, "max_bytes": max_bytes, "zero_based": zero_based, **columns}
    try:
        if name == "-":
            return _read_file(_all_of(sys.stdin.buffer, max_bytes), "standard input", format, wanted)
        with open(name, "rb") as file:
            return _read_file(file, name, format, wanted)
    except OSError as error:
        raise InvalidInputError(f"Cannot read {name!r}: {error.strerror or error}.") from error


def _all_of(stream: IO[bytes], max_bytes: int) -> BytesIO:
    """What a stream holds, up to the first piece beyond the limit; memory is taken as it comes in."""
    content = BytesIO()
    while content.tell() <= max_bytes and (piece := stream.read(PIECE)):
        content.write(piece)
    return content


def _read_file(file: IO[bytes], name: str, format: str, wanted: dict[str, Any]) -> Data:
    size = file.seek(0, 2)
    file.seek(0)
    if size == 0:
        raise InvalidInputError(f"{name}: the file is empty.")
    if size > wanted["max_bytes"]:
        raise InvalidInputError(f"{name}: {size} bytes are more than the limit of {wanted['max_bytes']}.")
    if format == "auto":
        suffix = Path(name).suffix.lower().removeprefix(".")
        format = ALIASES.get(suffix, suffix if suffix in READERS else _by_content(file))
    try:
        data = READERS[format](file, **wanted)
        if not np.isfinite(data.X.data if sp.issparse(data.X) else data.X).all():
            raise InvalidInputError("a value of the samples is NaN or infinite. Fill in or leave out such samples.")
        if 0 in data.X.shape:
            raise InvalidInputError(f"there are no {'features' if data.X.shape[0] else 'samples'} in it.")
    except InvalidInputError as error:
        raise type(error)(f"{name}: {error}") from error
    except DAMAGE as error:
        what = str(error).partition("\n")[0][:200]
        raise InvalidInputError(f"{name}: it is no {format} file that can be read ({what}).") from error
    return data


def _by_content(file: IO[bytes]) -> str:
    """npz and Parquet by their first bytes, svmlight if the first line with content is a label and entries."""
    start = file.read(1 << 16)
    file.seek(0)
    for first, format in ((b"PK", "npz"), (b"PAR1", "parquet")):
        if start.startswith(first):
            return format
    words = next(filter(None, map(_words, start.split(b"\n"))), [])
    return "svmlight" if len(words) > 1 and not _fault(words[:2]) else "csv"
