"""CSV: a sample a line, numbers separated by commas (or tabs, or semicolons), labels of any kind in one column.

NumPy reads the numbers of large files, in a third of the time. It differs in quotes, short lines and missing values, so it is
given only what `_pieces` finds plain; all other files, and all errors, are the csv module's.
"""

import csv
import math
import re
from array import array
from collections.abc import Iterator, Sequence
from io import BytesIO
from itertools import islice
from typing import IO, Any

import numpy as np

from maxmargin.errors import InvalidInputError
from maxmargin.io._data.table import Data, Table, tidy_labels
from maxmargin.io._model.archive import Array
from maxmargin.io._text import LONGEST_LINE

MISSING = ("", "na", "nan", "n/a", "null", "none", "?")
SMALL = 1 << 23
"""Bytes that the csv module reads in a fifth of a second."""

PIECE = 1 << 22
"""Bytes that NumPy is given at a time."""


def read_csv(file: IO[bytes], header: bool | None, **wanted: Any) -> Data:
    """Samples and labels."""
    found = CsvTable(file, header)
    return Table(found.n_columns, found.names, found.features, found.labels).split(**wanted)


class CsvTable:
    """The values of all columns, NaN where there is no finite number; texts stay in the file until they are asked for."""

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
        self._skipped, self.n_columns = end if has_header else 0, len(first)
        numbers = [k for k, x in enumerate(second if has_header else first) if not math.isnan(_number(x))]
        self._is_plain = file.seek(0, 2) > SMALL and self.n_columns > 1 and len(numbers) > 0
        try:
            parts = [self._by_numpy(piece, numbers) for piece in self._pieces()] if self._is_plain else []
        except Exception:  # whatever NumPy says, the csv module says it in our words
            self._is_plain = False
        self._values: Array = np.concatenate(parts) if self._is_plain else self._by_csv_module()

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
            left = column - self.n_columns
            lines = (line for piece in self._pieces() for line in piece[:-1].split(b"\n"))
            plain = (line.rsplit(self._delimiter.encode(), -left)[left].decode() for line in lines)
            texts = plain if self._is_plain else (fields[column] for _, fields in self._rows())
            values = np.array(list(texts), dtype=object)
        return tidy_labels(values)

    def _pieces(self) -> Iterator[bytes]:
        """Lines with as many fields as the first, not empty, without quotes, many at a time; ValueError if others come."""
        ends = np.frombuffer((self._delimiter * (self.n_columns - 1) + "\n").encode(), dtype=np.uint8)
        quoted = re.compile('"(?<![^D\n]")[^"D\n]*"(?=[D\n])'.replace("D", self._delimiter).encode())
        self._file.seek(0)
        for _ in range(self._skipped):
            self._file.readline()
        while block := self._file.read(PIECE):
            block += self._file.readline(LONGEST_LINE)
            piece = (block.replace(b"\r\n", b"\n") if b"\r" in block else block).strip(b"\n") + b"\n"
            if b'"' in piece and 2 * len(quoted.findall(piece)) == piece.count(b'"'):
                piece = piece.replace(b'"', b"")
            codes = np.frombuffer(piece, dtype=np.uint8)
            places = np.flatnonzero((codes == ends[0]) | (codes == ends[-1]))
            is_long = len(block) > LONGEST_LINE or np.diff(places, prepend=-1).max() > csv.field_size_limit()
            has_marks = any(mark in piece for mark in (b'"', b"\r", b"\0")) or "\ufeff" in piece.decode()
            if is_long or has_marks or (piece != b"\n" and (codes[places].reshape(-1, len(ends)) != ends).any()):
                raise ValueError("not plain")
            if piece != b"\n":
                yield piece

    def _by_numpy(self, piece: bytes, columns: list[int]) -> Array:
        """Some columns' numbers, NaN in the others."""
        values = np.full((piece.count(b"\n"), self.n_columns), np.nan)
        found = np.loadtxt(BytesIO(piece), delimiter=self._delimiter, usecols=columns, comments=None, ndmin=2)
        if found.shape != (len(values), len(columns)) or not np.isfinite(found).all():
            raise ValueError("not plain")
        values[:, columns] = found
        return values

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


def _number(field: str) -> float:
    """A finite number, or NaN for everything else."""
    try:
        number = float(field)
    except ValueError:
        return math.nan
    return number if math.isfinite(number) and "_" not in field else math.nan
