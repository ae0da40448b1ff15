"""Lines and numbers of text files, read strictly, with a line's number in every complaint."""

import math
import re
from array import array
from collections.abc import Callable
from typing import IO, Any

import numpy as np
import scipy.sparse as sp

from maxmargin.errors import ModelFileError
from maxmargin.io._model.archive import Array

LONGEST_LINE = 64 << 20
LARGEST_INDEX = 2**31 - 1
FEW_FEATURES = 1 << 20
PER_ENTRY = 100
DENSE = 0.25
"""Support vectors with at least this share of entries are kept dense."""

NUMBER = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,5})?")
WHOLE = re.compile(rb"[+-]?[0-9]{1,18}")


class Lines:
    """The lines of a text file, one after the other, without what follows the mark of a comment."""

    def __init__(self, file: IO[bytes], comment: bytes = b"\n") -> None:
        self._file, self._comment, self._number = file, comment, 0

    def next(self, part: str) -> bytes:
        """The next line, stripped; `part` should be there."""
        line = self._file.readline(LONGEST_LINE + 1)
        self._number += 1
        if not line:
            raise ModelFileError(f"The model file ends at line {self._number}, before {part}: it is truncated.", part)
        if len(line) > LONGEST_LINE:
            raise self.wrong(part, f"it is longer than {LONGEST_LINE} bytes")
        return line.partition(self._comment)[0].strip()

    def end(self, part: str, count: int) -> None:
        """Nothing but empty lines may follow."""
        while line := self._file.readline(LONGEST_LINE):
            self._number += 1
            if line.partition(self._comment)[0].strip():
                raise self.wrong(part, f"more lines than the {count} that were counted")

    def wrong(self, part: str, what: str) -> ModelFileError:
        """The error of something in the present line."""
        return ModelFileError(f"The model file is damaged at {part!r}, line {self._number}: {what}.", part)

    def number_of(self, part: str, token: bytes) -> float:
        """A finite number."""
        if not NUMBER.fullmatch(token) or not math.isfinite(value := float(token)):
            raise self.wrong(part, f"{shown(token)} is not a finite number")
        return value

    def whole_of(self, part: str, token: bytes, low: int = 0) -> int:
        """A whole number from `low` on that fits into 32 bits."""
        if not WHOLE.fullmatch(token) or not low <= (value := int(token)) <= LARGEST_INDEX:
            raise self.wrong(part, f"{shown(token)} is not a whole number from {low} to {LARGEST_INDEX}")
        return value


def read_support_vectors(
    lines: Lines, part: str, shape: tuple[int, int], n_features: int | None, is_precomputed: bool = False
) -> tuple[Array, Any]:
    """(coefficients, rows) of lines ``coefficient … index:value …``, as many lines and coefficients as `shape` says.

    Rows are dense if many of their entries are there. With a precomputed kernel ``0:number`` names a training sample, and the
    row has a 1 there.
    """
    coefficients, values, indices, ends = array("d"), array("d"), array("q"), array("q", [0])
    for _ in range(shape[0]):
        tokens = lines.next(part).split()
        if len(tokens) < shape[1]:
            raise lines.wrong(part, f"{shape[1]} coefficients are wanted")
        coefficients.extend(lines.number_of(part, token) for token in tokens[: shape[1]])
        entries, last = tokens[shape[1] :], 0
        if is_precomputed:
            if len(entries) != 1 or not entries[0].startswith(b"0:"):
                raise lines.wrong(part, "0:number is wanted, the number of a training sample")
            entries = [entries[0].removeprefix(b"0:") + b":1"]
        for token in entries:
            index, colon, value = token.partition(b":")
            if not colon:
                raise lines.wrong(part, f"{shown(token)} where index:value is wanted")
            number = lines.whole_of(part, index, 1)
            if number <= last:
                raise lines.wrong(part, f"index {number} follows {last}; indices must rise")
            last = number
            indices.append(number - 1)
            values.append(lines.number_of(part, value))
        ends.append(len(values))
    lines.end(part, shape[0])
    d = feature_count(max(indices, default=0) + 1, len(indices), n_features, lambda what: lines.wrong(part, what))
    X = sp.csr_array((np.array(values), np.array(indices, dtype="i4"), np.array(ends, dtype="i4")), shape=(shape[0], d))
    table = np.array(coefficients).reshape(shape).T.copy()
    return table, X.toarray() if len(values) >= DENSE * shape[0] * d else X


def feature_count(needed: int, n_entries: int, n_features: int | None, error: Callable[[str], Exception]) -> int:
    """How many features there are: as many as was said, or as the largest index needs, if the entries make it plausible."""
    if n_features is not None:
        if needed > n_features:
            raise error(
                f"feature {needed} appears in it where the model has {n_features} features (n_features={n_features})."
            )
        return n_features
    if needed > max(FEW_FEATURES, PER_ENTRY * n_entries):
        raise error(
            f"feature {needed} appears in it, beside {n_entries} entries in all; such a jump is mostly damage. "
            f"If it is right, pass n_features={needed}."
        )
    return needed


def shown(token: bytes) -> str:
    """A piece of a file for an error message: short, and without control characters."""
    text = token.decode("utf-8", "replace")
    return repr(text if len(text) <= 40 else text[:40] + "…")
