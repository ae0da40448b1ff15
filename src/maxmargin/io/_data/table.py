"""Columns of a table become samples and labels: CSV files, by the csv module, and Parquet files, by pyarrow, are such tables."""

import csv
import math
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any

import numpy as np

from maxmargin.errors import InvalidInputError, MissingExtraError
from maxmargin.io._model.archive import Array
from maxmargin.io._text import LONGEST_LINE

MISSING = ("", "na", "nan", "n/a", "null", "none", "?")


@dataclass(frozen=True)
class Data:
    """Samples X (dense or CSR), labels y (None where the file has none), and the features' names where they are known."""

    X: Any
    y: Any
    feature_names: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Table:
    """Columns of a file: how many there are, what they are called, and how some are read as samples, one as labels."""

    n_columns: int
    names: tuple[str, ...] | None
    read: Callable[[Sequence[int], int | None], tuple[Any, Any]]

    def split(
        self, target: str | int | None, n_features: int | None, feature_names: Sequence[str] | None, **_: Any
    ) -> Data:
        """The samples and, if there are any, the labels, as `read_data` says."""
        if self.names is not None and len(set(self.names)) < self.n_columns:
            twice = next(name for name in self.names if self.names.count(name) > 1)
            raise InvalidInputError(f"two columns are called {twice!r}. Rename one.")
        wanted = None if self.names is None else feature_names
        has_labels = self.n_columns != n_features
        if self.names is not None and wanted is not None:
            has_labels = self.names[-1] not in wanted
        place = self._place(-1 if target is None else target) if has_labels or target is not None else None
        columns = [k for k in range(self.n_columns) if k != place]
        if self.names is not None and wanted is not None:
            for name in wanted:
                if name not in self.names:
                    raise InvalidInputError(f"there is no column {name!r}, a feature of the model; {self._listed()}.")
            columns = [self.names.index(name) for name in wanted]
        check_width(len(columns), n_features)
        names = None if self.names is None else tuple(self.names[k] for k in columns)
        return Data(*self.read(columns, place), names)

    def _place(self, target: str | int) -> int:
        """The number of a column."""
        if self.names is not None and target in self.names:
            return self.names.index(str(target))
        try:
            number = int(target)
        except ValueError:
            raise InvalidInputError(f"there is no column {target!r}; {self._listed()}.") from None
        if not -self.n_columns <= number < self.n_columns:
            raise InvalidInputError(f"there is no column {number}: the file has {self.n_columns}, numbered from 0 on.")
        return number % self.n_columns

    def _listed(self) -> str:
        if self.names is None:
            return f"its {self.n_columns} columns have numbers only, from 0 on"
        shown = ", ".join(repr(name)[1:-1] for name in self.names[:8]) + (", …" if len(self.names) > 8 else "")
        return f"there are {shown}"


def check_width(found: int, wanted: int | None) -> None:
    """Refuse samples with another number of features than a model expects."""
    if wanted not in (None, found):
        raise InvalidInputError(f"there are {found} features where {wanted} are wanted.")


def tidy_labels(values: Array) -> Array:
    """Labels as integers if all are whole, else as numbers or texts; a missing one is an error.

    Examples
    --------
    >>> tidy_labels(np.array([1.0, -1.0])), tidy_labels(np.array(["1", "x"]))
    (array([ 1, -1]), array(['1', 'x'], dtype='<U1'))
    """
    if values.dtype.kind in "OU":
        texts = [str(value).strip() for value in values]
        if any(text == "" or text.lower() in ("nan", "na", "null", "none") for text in texts):
            raise InvalidInputError("a label is missing. Leave such samples out.")
        values = np.array(texts)
        try:
            values = values.astype(np.float64) if all("_" not in text for text in texts) else values
        except ValueError:
            return values
    if values.dtype.kind == "f":
        if not np.isfinite(values).all():
            raise InvalidInputError("a label is missing or infinite. Leave such samples out.")
        if (values == np.rint(values)).all() and np.abs(values).max(initial=0) < 2**53:
            return values.astype(np.int64)
    return values


def read_parquet(file: IO[bytes], max_bytes: int, **wanted: Any) -> Data:
    """Samples and labels; the size is looked at before columns are read, and columns when they are asked for."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtraError("Parquet needs the package pyarrow: pip install 'maxmargin[parquet]'.") from error
    damage = (pyarrow.ArrowException, OSError, ValueError)
    try:
        opened = pyarrow.parquet.ParquetFile(file)
        schema, n = opened.schema_arrow, opened.metadata.num_rows
    except damage as error:
        raise InvalidInputError(f"it is no Parquet file ({_line(error)}).") from error
    size = 8 * n * len(schema.names)
    if size > max_bytes:
        raise InvalidInputError(f"its values take {size} bytes, more than the limit of {max_bytes}.")

    def values(k: int, kinds: str) -> Array:
        """A column whose dtype is of one of these kinds; objects must be texts."""
        where = f"column {schema.names[k]!r}"
        try:
            column = opened.read(columns=[schema.names[k]]).column(0)
        except damage as error:
            raise InvalidInputError(f"{where} cannot be read ({_line(error)}).") from error
        if column.null_count:
            raise InvalidInputError(f"{where} has {column.null_count} missing values. Fill them in.")
        if pyarrow.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        found = np.asarray(column.to_numpy())
        if found.dtype.kind not in kinds or (found.dtype == object and not all(isinstance(v, str) for v in found)):
            raise InvalidInputError(f"{where} holds {column.type}. Encode it as numbers first.")
        return found

    def read(columns: Sequence[int], label: int | None) -> tuple[Any, Any]:
        is_single = all(pyarrow.types.is_float32(schema.types[k]) for k in columns)
        X = np.empty((n, len(columns)), dtype=np.float32 if is_single else np.float64)
        for place, k in enumerate(columns):
            X[:, place] = values(k, "fiub")
        return X, None if label is None else tidy_labels(values(label, "fiubUO"))

    return Table(len(schema.names), tuple(map(str, schema.names)), read).split(**wanted)


def _line(error: Exception) -> str:
    return str(error).partition("\n")[0][:200]


def read_csv(file: IO[bytes], header: bool | None, **wanted: Any) -> Data:
    """A sample a line: numbers separated by commas (or tabs, or semicolons), labels of any kind in one column."""
    start = file.read(1 << 16)
    if b"\0" in start:
        raise InvalidInputError("it is no text file: neither CSV nor svmlight.")
    line = next((line for line in start.split(b"\n") if line.strip()), b"")
    delimiter = max(",;\t", key=lambda mark: line.count(mark.encode()))
    rows = _rows(file, delimiter)
    end, first = next(rows, (0, []))
    second = next(rows, (0, []))[1]
    if not first:
        raise InvalidInputError("there are no lines in it.")
    has_header = _looks_like_header(first, second) if header is None else header
    names = tuple(field.strip() for field in first) if has_header else None

    def read(columns: Sequence[int], place: int | None) -> tuple[Any, Any]:
        values, labels, sample = array("d"), [], 0
        for sample, (line, fields) in enumerate(_rows(file, delimiter, end if has_header else 0), start=1):
            if len(fields) != len(first):
                what = f"sample {sample} has {len(fields)} fields where {len(first)} are wanted"
                raise InvalidInputError(f"line {line}: {what}. Fill in what is missing, quote what holds separators.")
            texts = [fields[k] for k in columns]
            numbers = _numbers(texts)
            if math.nan in numbers:
                k = numbers.index(math.nan)
                where = f"line {line}: sample {sample}, column {columns[k] if names is None else names[columns[k]]!r}"
                if texts[k].strip().lower() in MISSING:
                    raise InvalidInputError(f"{where}: the value is missing. Fill it in, or leave the sample out.")
                what = f"{texts[k][:40]!r} is no finite number"
                raise InvalidInputError(f"{where}: {what}. Write numbers as 1234.5, encode texts as numbers first.")
            values.extend(numbers)
            labels += [] if place is None else [fields[place]]
        X = np.asarray(values).reshape(sample, len(columns))
        return X, None if place is None else tidy_labels(np.array(labels, dtype=object))

    return Table(len(first), names, read).split(**wanted)


def _rows(file: IO[bytes], delimiter: str, skipped: int = 0) -> Iterator[tuple[int, list[str]]]:
    """The number of the line, and the fields, of each sample behind so many lines."""
    file.seek(0)
    reader = csv.reader(_lines(file), delimiter=delimiter, skipinitialspace=True, strict=True)
    try:
        for fields in reader:
            if reader.line_num > skipped and fields and (len(fields) > 1 or fields[0].strip()):
                yield reader.line_num, fields
    except csv.Error as error:
        raise InvalidInputError(f"line {reader.line_num}: it is no CSV file ({error}).") from error


def _lines(file: IO[bytes]) -> Iterator[str]:
    """The lines of a text file, without the mark that some programs put before the first."""
    number = 0
    while line := file.readline(LONGEST_LINE + 1):
        number += 1
        if len(line) > LONGEST_LINE:
            raise InvalidInputError(f"line {number} is longer than {LONGEST_LINE} bytes: no CSV file.")
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            what = f"line {number}: it is no text file (UTF-8): neither CSV nor svmlight"
            raise InvalidInputError(f"{what}. If it is a text, save it as UTF-8.") from error


def _looks_like_header(first: list[str], second: list[str]) -> bool:
    """Whether a field of the first line is a text, and the next line has a number there (or the whole first line is texts)."""
    are_texts = [math.isnan(_number(field)) and field.strip().lower() not in MISSING for field in first]
    pairs = zip(are_texts, second, strict=True) if len(second) == len(first) else ()
    return all(are_texts) or any(is_text and not math.isnan(_number(below)) for is_text, below in pairs)


def _numbers(texts: list[str]) -> list[float]:
    """The numbers of many fields, `math.nan` for everything else: at once where all are plain."""
    try:
        numbers = [*map(float, texts)]
        is_plain = math.isfinite(sum(numbers)) and "_" not in "".join(texts)
    except ValueError:
        is_plain = False
    return numbers if is_plain else [*map(_number, texts)]


def _number(field: str) -> float:
    """A finite number, or `math.nan` for everything else."""
    try:
        number = float(field)
    except ValueError:
        return math.nan
    return number if math.isfinite(number) and "_" not in field else math.nan
