"""CSV: a sample a line, numbers separated by commas (or tabs, or semicolons), labels of any kind in one column.

Numbers go straight into an array, so that a file takes 8 bytes a value; other fields are kept as texts until it is known which
column is the target.
"""

import csv
import math
from array import array
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import IO, Any

import numpy as np

from maxmargin.errors import InvalidInputError
from maxmargin.io._data.table import Table, tidy_labels
from maxmargin.io._model.fields import Array
from maxmargin.io._text import LONGEST_LINE

MISSING = ("", "na", "nan", "n/a", "null", "none", "?")
MAX_TEXTS = 1 << 27
"""Bytes of texts that may be kept besides the numbers of the file's size: one text column is, a table of texts is not."""


class CsvTable(Table):
    """The values of all columns, and the texts among them by line and column."""

    def __init__(self, values: Array, texts: dict[int, dict[int, str]], names: tuple[str, ...] | None) -> None:
        self._values, self._texts, self.names = values, texts, names
        self.n_columns = values.shape[1]

    def features(self, columns: Sequence[int]) -> Any:
        """Numbers only."""
        for column in columns:
            for row, text in self._texts.get(column, {}).items():
                name = column if self.names is None else repr(self.names[column])
                where = f"sample {row + 1}, column {name}"
                if text.strip().lower() in MISSING:
                    raise InvalidInputError(f"{where}: the value is missing. Fill it in, or leave the sample out.")
                raise InvalidInputError(f"{where}: {text[:40]!r} is no finite number. Encode texts as numbers first.")
        return self._values[:, columns]

    def labels(self, column: int) -> Any:
        """Whole numbers, numbers or texts."""
        texts = self._texts.get(column)
        if not texts:
            return tidy_labels(self._values[:, column])
        written = [texts.get(row) for row in range(len(self._values))]
        numbers = self._values[:, column].tolist()
        return tidy_labels(
            np.array([_plain(n) if t is None else t for t, n in zip(written, numbers, strict=True)], dtype=object)
        )


def _plain(number: float) -> str:
    return str(int(number)) if number == int(number) and abs(number) < 2**53 else repr(number)


def read_csv(file: IO[bytes], header: bool | None) -> CsvTable:
    """All lines; a first line with a text that others have as a number is a header."""
    rows = _rows(file)
    first = next(rows, None)
    if first is None:
        raise InvalidInputError("there are no lines in it.")
    second = next(rows, None)
    has_header = _looks_like_header(first, second) if header is None else header
    names = tuple(field.strip() for field in first) if has_header else None
    if names is not None and len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidInputError(f"two columns are called {twice!r}. Rename one.")
    values, texts, kept, n_rows = array("d"), {}, 0, 0  # type: ignore[var-annotated]
    pending = ([] if has_header else [first]) + ([] if second is None else [second])
    for fields in chain(pending, rows):
        if len(fields) != len(first):
            raise InvalidInputError(f"sample {n_rows + 1} has {len(fields)} fields where {len(first)} are wanted.")
        for column, field in enumerate(fields):
            number = _number(field)
            values.append(number)
            if math.isnan(number):
                kept += len(field) + 64
                texts.setdefault(column, {})[n_rows] = field
        if kept > MAX_TEXTS + 64 * n_rows + 8 * len(values):
            raise InvalidInputError("most of its fields are texts. Encode them as numbers first.")
        n_rows += 1
    table = np.frombuffer(values, dtype=np.float64) if values else np.empty(0)
    return CsvTable(table.reshape(n_rows, len(first)), texts, names)


def _rows(file: IO[bytes]) -> Iterator[list[str]]:
    """The fields of each line with content."""
    start = file.read(1 << 16)
    file.seek(0)
    if b"\0" in start:
        raise InvalidInputError("it is no text file: neither CSV nor svmlight.")
    line = next((line for line in start.split(b"\n") if line.strip()), b"")
    delimiter = max((b",", b";", b"\t"), key=line.count).decode() if any(c in line for c in b",;\t") else ","
    try:
        for fields in csv.reader(_lines(file), delimiter=delimiter, skipinitialspace=True, strict=True):
            if fields and (len(fields) > 1 or fields[0].strip()):
                yield fields
    except UnicodeDecodeError as error:
        raise InvalidInputError("it is no text file (UTF-8): neither CSV nor svmlight.") from error
    except csv.Error as error:
        raise InvalidInputError(f"it is no CSV file ({error}).") from error


def _lines(file: IO[bytes]) -> Iterator[str]:
    """The lines of a text file, without the mark that some programs put before the first."""
    number = 0
    while line := file.readline(LONGEST_LINE + 1):
        number += 1
        if len(line) > LONGEST_LINE:
            raise InvalidInputError(f"line {number} is longer than {LONGEST_LINE} bytes: no CSV file.")
        yield line.decode("utf-8-sig" if number == 1 else "utf-8")


def _looks_like_header(first: list[str], second: list[str] | None) -> bool:
    """Whether a field of the first line is a text, and the next line has a number there (or the whole first line is texts)."""
    are_texts = [math.isnan(_number(field)) and field.strip().lower() not in MISSING for field in first]
    if second is None or len(second) != len(first):
        return all(are_texts)
    return any(
        is_text and not math.isnan(_number(below)) for is_text, below in zip(are_texts, second, strict=True)
    ) or all(are_texts)


def _number(field: str) -> float:
    """A finite number, or NaN for everything else."""
    try:
        number = float(field)
    except ValueError:
        return math.nan
    return number if math.isfinite(number) and "_" not in field else math.nan
