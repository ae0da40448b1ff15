"""Samples and labels from files: svmlight, CSV, Parquet and npz, told apart by suffix or content."""

import os
import sys
from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from typing import IO

import numpy as np
import scipy.sparse as sp

from maxmargin.errors import InvalidInputError
from maxmargin.io._data.arrays import looks_like_svmlight, read_npz, read_svmlight
from maxmargin.io._data.csv import read_csv
from maxmargin.io._data.table import Data, Request, read_parquet

MAX_BYTES = 16 << 30
"""Bytes of a file, and of what it unpacks to, unless the caller says otherwise."""

PIECE = 1 << 20
"""Bytes read from a stream at a time."""

SUFFIXES = {
    **dict.fromkeys((".svmlight", ".svm", ".libsvm"), "svmlight"),
    **dict.fromkeys((".csv", ".tsv"), "csv"),
    ".parquet": "parquet",
    ".npz": "npz",
}
READERS: dict[str, Callable[[IO[bytes], Request], Data]] = {
    "svmlight": read_svmlight,
    "csv": read_csv,
    "parquet": read_parquet,
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
    request = Request(target, n_features, feature_names, header, max_bytes, zero_based)
    name = os.fsdecode(path)
    try:
        if name == "-":
            content = _all_of(sys.stdin.buffer, max_bytes)
            return _read(content, content.getbuffer().nbytes, "standard input", format, request)
        with open(name, "rb") as file:
            return _read(file, os.fstat(file.fileno()).st_size, name, format, request)
    except OSError as error:
        raise InvalidInputError(f"Cannot read {name!r}: {error.strerror or error}.") from error


def _all_of(stream: IO[bytes], max_bytes: int) -> BytesIO:
    """What a stream holds, up to the first piece beyond the limit; memory is taken as it comes in."""
    content = BytesIO()
    while content.tell() <= max_bytes and (piece := stream.read(PIECE)):
        content.write(piece)
    content.seek(0)
    return content


def _read(file: IO[bytes], size: int, name: str, format: str, request: Request) -> Data:
    if size == 0:
        raise InvalidInputError(f"{name}: the file is empty.")
    if size > request.max_bytes:
        raise InvalidInputError(f"{name}: {size} bytes are more than the limit of {request.max_bytes}.")
    if format == "auto":
        format = SUFFIXES.get(Path(name).suffix.lower(), "") or _by_content(file)
    try:
        data = READERS[format](file, request)
        if not np.isfinite(data.X.data if sp.issparse(data.X) else data.X).all():
            raise InvalidInputError("a value of the samples is NaN or infinite. Fill in or leave out such samples.")
        if 0 in data.X.shape:
            raise InvalidInputError(f"there are no {'features' if data.X.shape[0] else 'samples'} in it.")
    except InvalidInputError as error:
        raise type(error)(f"{name}: {error}") from error
    return data


def _by_content(file: IO[bytes]) -> str:
    start = file.read(1 << 16)
    file.seek(0)
    if start.startswith(b"PK"):
        return "npz"
    if start.startswith(b"PAR1"):
        return "parquet"
    return "svmlight" if looks_like_svmlight(start) else "csv"
