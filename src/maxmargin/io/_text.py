"""Lines and numbers of text files, read strictly, with a line's number in every complaint."""

import math
import re
from array import array
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any

import numpy as np
import scipy.sparse as sp

from maxmargin.errors import ModelFileError
from maxmargin.io._model.fields import Array

LONGEST_LINE = 64 << 20
LARGEST_INDEX = 2**31 - 1
FEW_FEATURES = 1 << 20
PER_ENTRY = 100
DENSE = 0.25
"""Support vectors with at least this share of entries are kept dense."""

NUMBER = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,5})?")
WHOLE = re.compile(rb"[+-]?[0-9]{1,18}")


class Lines:
    """The lines of a text file, one after the other; `part` names the present one in errors."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self.number = file, 0

    def next(self, what: str) -> bytes:
        """The next line, without its end; `what` should be there."""
        line = self._file.readline(LONGEST_LINE + 1)
        self.number += 1
        if not line:
            raise ModelFileError(f"The model file ends at line {self.number}, before {what}: it is truncated.", what)
        if len(line) > LONGEST_LINE:
            raise ModelFileError(f"Line {self.number} of the model file is longer than {LONGEST_LINE} bytes.", what)
        return line.rstrip(b"\r\n")

    def rest(self) -> Iterator[bytes]:
        """The lines that are left."""
        while line := self._file.readline(LONGEST_LINE + 1):
            self.number += 1
            yield line.rstrip(b"\r\n")

    def wrong(self, part: str, what: str) -> ModelFileError:
        """The error of something in the present line."""
        return ModelFileError(f"The model file is damaged at {part!r}, line {self.number}: {what}.", part)

    def number_of(self, part: str, token: bytes) -> float:
        """A finite number."""
        if not NUMBER.fullmatch(token) or not math.isfinite(value := float(token)):
            raise self.wrong(part, f"{shown(token)} is no finite number")
        return value

    def whole_of(self, part: str, token: bytes, low: int = 0, high: int = LARGEST_INDEX) -> int:
        """A whole number between two others."""
        if not WHOLE.fullmatch(token) or not low <= (value := int(token)) <= high:
            raise self.wrong(part, f"{shown(token)} is no whole number from {low} to {high}")
        return value


class SparseRows:
    """Rows of ``index:value`` entries, collected one by one."""

    def __init__(self, lines: Lines, part: str) -> None:
        self._lines, self._part = lines, part
        self._values, self._indices, self._ends = array("d"), array("q"), array("q", [0])

    def add(self, tokens: Sequence[bytes], first: int = 1) -> None:
        """One row; indices rise from `first` on."""
        last = first - 1
        for token in tokens:
            index, colon, value = token.partition(b":")
            if not colon:
                raise self._lines.wrong(self._part, f"{shown(token)} where index:value is wanted")
            number = self._lines.whole_of(self._part, index, first)
            if number <= last:
                raise self._lines.wrong(self._part, f"index {number} follows {last}; indices must rise")
            last = number
            self._indices.append(number - first)
            self._values.append(self._lines.number_of(self._part, value))
        self._ends.append(len(self._values))

    @property
    def n_rows(self) -> int:
        """So far."""
        return len(self._ends) - 1

    def matrix(self, n_features: int | None) -> Any:
        """All rows, dense if most of their entries are there."""
        indices = np.frombuffer(self._indices, dtype=np.int64) if self._indices else np.empty(0, dtype=np.int64)
        needed = int(indices.max(initial=0)) + 1
        d = feature_count(needed, len(indices), n_features, lambda what: ModelFileError(what, self._part))
        values: Array = np.array(self._values, dtype=np.float64)
        X = sp.csr_array(
            (values, indices.astype(np.int32), np.array(self._ends, dtype=np.int32)), shape=(self.n_rows, d)
        )
        return X.toarray() if len(values) >= DENSE * self.n_rows * d else X


def feature_count(needed: int, n_entries: int, n_features: int | None, error: Callable[[str], Exception]) -> int:
    """How many features there are: as many as was said, or as the largest index needs, if the entries make it plausible."""
    if n_features is not None:
        if needed > n_features:
            raise error(f"Feature {needed} appears where n_features={n_features} was said.")
        return n_features
    if needed > max(FEW_FEATURES, PER_ENTRY * n_entries):
        raise error(
            f"Feature {needed} appears in a file of {n_entries} entries; such a jump is mostly damage. "
            f"If it is right, pass n_features={needed}."
        )
    return needed


def shown(token: bytes) -> str:
    """A piece of a file for an error message: short, and without control characters."""
    text = token.decode("utf-8", "replace")
    return repr(text if len(text) <= 40 else text[:40] + "…")
