"""CSV: a sample a line, numbers separated by commas (or tabs, or semicolons), labels of any kind in one column."""

import csv
import math
from array import array
from collections.abc import Iterator, Sequence
from typing import IO, Any

import numpy as np

from maxmargin.errors import InvalidInputError
from maxmargin.io._data.table import Data, Table, tidy_labels
from maxmargin.io._text import LONGEST_LINE

MISSING = ("", "na", "nan", "n/a", "null", "none", "?")


def read_csv(file: IO[bytes], header: bool | None, **wanted: Any) -> Data:
    """Samples and labels."""
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
