"""Tables: their columns become samples and labels.

CSV is a sample a line, numbers separated by commas (or tabs, or semicolons), labels of any kind in one column. Large files whose
columns are all numbers, or all texts, are read by pyarrow if it is installed, in a tenth of the time; such files without quotes
by NumPy, in a third. All other files, and all errors, are the csv module's. Parquet is read by pyarrow.
"""

import csv
import math
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import IO, Any

import numpy as np

from maxmargin.errors import InvalidInputError, MissingExtraError
from maxmargin.io._model.archive import Array

ARROW_PAYS = 10 << 20
"""Bytes of a CSV file from which on NumPy's reader takes longer than the import of pyarrow (0.1 s against 10 ns a byte)."""

MISSING = ("", "na", "nan", "n/a", "null", "none", "?")


@dataclass(frozen=True)
class Data:
    """What a data file holds.

    Attributes
    ----------
    X : array or CSR of shape (n, d)
        The samples.
    y : array (n,), or None
        The labels; None where the file has none.
    feature_names : tuple of str, or None
        Where they are known.
    """

    X: Any
    y: Any
    feature_names: tuple[str, ...] | None = None


class Table:
    """Columns of a file: how many there are, what they are called, and how some are read as samples, and one as labels."""

    n_columns: int
    names: tuple[str, ...] | None
    features: Callable[[Sequence[int]], Any]
    labels: Callable[[int], Any]

    def split(self, target: str | int | None, n_features: int | None, feature_names: Sequence[str] | None, **_: Any) -> Data:
        """The samples and, if there are any, the labels, as `read_data` says."""
        names, wanted = self.names or (), None if self.names is None else feature_names
        places = {name: k for k, name in enumerate(names)}
        for k, name in enumerate(names):
            if places[name] != k:
                raise InvalidInputError(f"two columns are called {name!r}. Rename one.")
        for name in wanted or ():
            if name not in places:
                raise InvalidInputError(f"there is no column {name!r}, a feature of the model; {self._listed()}.")
        has_labels = self.n_columns != n_features if wanted is None else names[-1] not in wanted
        place = self._place(-1 if target is None else target) if has_labels or target is not None else None
        rest = [k for k in range(self.n_columns) if k != place]
        columns = rest if wanted is None else [places[name] for name in wanted]
        check_width(len(columns), n_features)
        named = None if self.names is None else tuple(names[k] for k in columns)
        return Data(self.features(columns), None if place is None else self.labels(place), named)

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


class CsvTable(Table):
    """The values of all columns, NaN where there is no finite number."""

    def __init__(self, file: IO[bytes], header: bool | None) -> None:
        start = file.read(1 << 16)
        if b"\0" in start:
            raise InvalidInputError("it is no text file: neither CSV nor svmlight.")
        line = next((line for line in start.split(b"\n") if line.strip()), b"")
        self._file, self._delimiter, self._skipped = file, max(",;\t", key=lambda mark: line.count(mark.encode())), 0
        rows = self._rows()
        end, first = next(rows, (0, []))
        second = next(rows, (0, []))[1]
        if not first:
            raise InvalidInputError("there are no lines in it.")
        has_header = _looks_like_header(first, second) if header is None else header
        self.names = tuple(field.strip() for field in first) if has_header else None
        self.n_columns, self._skipped = len(first), end if has_header else 0
        sample = second if has_header else first
        with_texts = [k for k, field in enumerate(sample) if math.isnan(_number(field))]
        is_large = file.seek(0, 2) >= ARROW_PAYS
        for read in ((self._by_arrow, self._by_numpy) if is_large else (self._by_numpy,)) if second else ():
            self._texts: dict[int, list[str]] = {k: [] for k in with_texts}
            with suppress(Exception):  # whatever these say, the csv module says it in our words
                self._values = read()
                return
        self._texts, self._values = {}, self._by_csv_module()

    def features(self, columns: Sequence[int]) -> Any:
        """Numbers only."""
        X = self._values.take(columns, axis=1)
        if np.isnan(X).any():
            row, place = np.argwhere(np.isnan(X))[0].tolist()
            line, fields = next(islice(self._rows(), row, None))
            text, name = fields[columns[place]], columns[place] if self.names is None else self.names[columns[place]]
            where = f"line {line}: sample {row + 1}, column {name!r}"
            if text.strip().lower() in MISSING:
                raise InvalidInputError(f"{where}: the value is missing. Fill it in, or leave the sample out.")
            what = f"{text[:40]!r} is no finite number"
            raise InvalidInputError(f"{where}: {what}. Write numbers as 1234.5, encode texts as numbers first.")
        return X

    def labels(self, column: int) -> Any:
        """Whole numbers, numbers, or texts as they are written."""
        values = self._values[:, column]
        if np.isnan(values).any():
            texts = self._texts.get(column) or [fields[column] for _, fields in self._rows()]
            values = np.array(texts, dtype=object)
        return tidy_labels(values)

    def _by_arrow(self) -> Array:
        """All values, if each column holds finite numbers only, or texts only, and quotes are around whole fields."""
        from pyarrow import BufferReader, float64, string
        from pyarrow import csv as arrow

        self._file.seek(0)
        for _ in range(self._skipped):
            self._file.readline()
        content = self._file.read()
        _check_marks(content, ord(self._delimiter), bool(self._skipped))
        types = {str(k): string() if k in self._texts else float64() for k in range(self.n_columns)}
        table = arrow.read_csv(
            BufferReader(content),
            read_options=arrow.ReadOptions(column_names=list(types), use_threads=False),  # threads read no faster
            parse_options=arrow.ParseOptions(delimiter=self._delimiter, newlines_in_values=True),
            convert_options=arrow.ConvertOptions(column_types=types, null_values=[]),
        )
        values = np.full((table.num_rows, self.n_columns), math.nan)
        for k, column in enumerate(table.columns):
            if k in self._texts:
                self._texts[k] = column.to_pylist()
            else:
                values[:, k] = column.to_numpy()
        self._check_values(values, max((len(text) for texts in self._texts.values() for text in texts), default=0))
        return values

    def _by_numpy(self) -> Array:
        """All values, if each column holds finite numbers only, or texts only."""
        lines = islice(_lines(self._file), self._skipped, None)
        keep: dict[int | str, Any] = {column: partial(self._keep, column) for column in self._texts}
        self._file.seek(0)
        values: Array = np.loadtxt(lines, delimiter=self._delimiter, comments=None, converters=keep, encoding=None, ndmin=2)
        self._check_values(values)
        return values

    def _check_values(self, values: Array, longest: int = 0) -> None:
        """Refuse what the csv module might read in another way."""
        n_finite = np.count_nonzero(np.isfinite(values))
        is_whole = values.shape[1] == self.n_columns and n_finite == len(values) * (self.n_columns - len(self._texts))
        if not is_whole or longest > csv.field_size_limit():
            raise ValueError("not plain")

    def _keep(self, column: int, text: str) -> float:
        if '"' in text or len(text) > csv.field_size_limit():
            raise ValueError("not plain")
        self._texts[column].append(text)
        return math.nan

    def _by_csv_module(self) -> Array:
        values = array("d")
        for line, fields in self._rows():
            if len(fields) != self.n_columns:
                what = f"sample {len(values) // self.n_columns + 1} has {len(fields)} fields where {self.n_columns} are wanted"
                raise InvalidInputError(f"line {line}: {what}. Fill in what is missing, quote what holds separators.")
            values.extend(map(_number, fields))
        return np.asarray(values).reshape(-1, self.n_columns)

    def _rows(self) -> Iterator[tuple[int, list[str]]]:
        """The number of the line, and the fields, of each sample."""
        self._file.seek(0)
        reader = csv.reader(_lines(self._file), delimiter=self._delimiter, skipinitialspace=True, strict=True)
        try:
            for fields in reader:
                if reader.line_num > self._skipped and fields and (len(fields) > 1 or fields[0].strip()):
                    yield reader.line_num, fields
        except csv.Error as error:
            raise InvalidInputError(f"line {reader.line_num}: it is no CSV file ({error}).") from error


def _check_marks(content: bytes, delimiter: int, is_after_header: bool) -> None:
    """Refuse text in which a quote is not at an end of a field, or a carriage return not at the end of a line."""
    marks = np.frombuffer(content, dtype=np.uint8)
    quotes, last = np.flatnonzero(marks == ord('"')), len(marks) - 1
    opens = (quotes == 0) | np.isin(marks[quotes - 1], (delimiter, ord("\n")))
    closes = (quotes == last) | np.isin(marks[np.minimum(quotes + 1, last)], (delimiter, ord("\n"), ord("\r")))
    in_turn = np.arange(len(quotes)) % 2 == 0
    is_plain = (opens == in_turn).all() and (closes != in_turn).all() and len(quotes) % 2 == 0
    strange = is_after_header and content.startswith(b"\xef\xbb\xbf")
    if not is_plain or strange or (b"\r" in content and content.count(b"\r") > content.count(b"\r\n")):
        raise ValueError("not plain")


def _lines(file: IO[bytes]) -> Iterator[str]:
    """The lines of a text file, without the mark that some programs put before the first."""
    for number, line in enumerate(file, start=1):
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


def _number(field: str) -> float:
    """A finite number, or NaN for everything else."""
    try:
        number = float(field)
    except ValueError:
        return math.nan
    return number if math.isfinite(number) and "_" not in field else math.nan


class ParquetTable(Table):
    """The size is looked at before columns are read, and columns when they are asked for."""

    def __init__(self, file: IO[bytes], max_bytes: int) -> None:
        try:
            import pyarrow.parquet
        except ImportError as error:
            raise MissingExtraError("Parquet needs the package pyarrow: pip install 'maxmargin[parquet]'.") from error
        self._arrow, self._file = pyarrow, pyarrow.parquet.ParquetFile(file)
        self._types, self._n = self._file.schema_arrow.types, self._file.metadata.num_rows
        self.n_columns, self.names = len(self._types), tuple(map(str, self._file.schema_arrow.names))
        size = 8 * self._n * self.n_columns
        if size > max_bytes:
            raise InvalidInputError(f"its values take {size} bytes, more than the limit of {max_bytes}.")

    def features(self, columns: Sequence[int]) -> Any:
        """Numbers only, in single precision if all are."""
        is_single = all(self._arrow.types.is_float32(self._types[k]) for k in columns)
        X = np.empty((self._n, len(columns)), dtype=np.float32 if is_single else np.float64)
        for place, k in enumerate(columns):
            X[:, place] = self._values(k, "fiub")
        return X

    def labels(self, column: int) -> Any:
        """Numbers or texts."""
        return tidy_labels(self._values(column, "fiubUO"))

    def _values(self, k: int, kinds: str) -> Array:
        """A column whose dtype is of one of these kinds; objects must be texts."""
        name = self._file.schema_arrow.names[k]
        column = self._file.read(columns=[name]).column(0)
        if column.null_count:
            raise InvalidInputError(f"column {name!r} has {column.null_count} missing values. Fill them in.")
        if self._arrow.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        read = np.asarray(column.to_numpy())
        if read.dtype.kind not in kinds or (read.dtype == object and not all(isinstance(one, str) for one in read)):
            raise InvalidInputError(f"column {name!r} holds {column.type}. Encode it as numbers first.")
        return read
