"""Lines and numbers of text files, read strictly, with a line's number in every complaint."""

import re
import sys
from array import array
from collections.abc import Callable
from itertools import pairwise
from typing import IO, Any

import numpy as np
import scipy.sparse as sp

from maxmargin.errors import ModelFileError
from maxmargin.io._model.archive import Array

LONGEST_LINE = 64 << 20
LARGEST_INDEX, LARGEST = 2**31 - 1, sys.float_info.max
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

    def require(self, is_right: Any, part: str, what: str) -> None:
        """Refuse something in the present line that is not right."""
        if not is_right:
            raise self.wrong(part, what)

    def wrong(self, part: str, what: str) -> ModelFileError:
        """The error of something in the present line."""
        return ModelFileError(f"The model file is damaged at {part!r}, line {self._number}: {what}.", part)

    def numbers(self, part: str, tokens: list[bytes], count: int = 1, low: int | None = None) -> list[Any]:
        """So many finite numbers; where `low` is said, whole ones from there on that fit into 32 bits."""
        self.require(len(tokens) == count, part, f"{len(tokens)} values where {count} are wanted")
        form, kind, least, most = (NUMBER, float, -LARGEST, LARGEST) if low is None else (WHOLE, int, low, LARGEST_INDEX)
        for token in tokens:
            if not (form.fullmatch(token) and least <= kind(token) <= most):
                words = "a finite number" if low is None else f"a whole number from {low} to {LARGEST_INDEX}"
                raise self.wrong(part, f"{shown(token)} is not {words}")
        return [kind(token) for token in tokens]


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
        coefficients.extend(lines.numbers(part, tokens[: shape[1]], shape[1]))
        entries = [token.partition(b":") for token in tokens[shape[1] :]]
        lines.require(all(colon for _, colon, _ in entries), part, "index:value is wanted")
        if is_precomputed:
            is_right = [index for index, _, _ in entries] == [b"0"]
            lines.require(is_right, part, "0:number is wanted, the number of a training sample")
            entries = [(entries[0][2], b":", b"1")]
        places = lines.numbers(part, [index for index, _, _ in entries], len(entries), low=1)
        lines.require(all(a < b for a, b in pairwise(places)), part, "the indices do not rise")
        indices.extend(places)
        values.extend(lines.numbers(part, [value for _, _, value in entries], len(entries)))
        ends.append(len(values))
    lines.end(part, shape[0])
    d = feature_count(max(indices, default=1), len(indices), n_features, lambda what: lines.wrong(part, what))
    columns_of = np.array(indices, dtype=np.int64) - 1
    X = sp.csr_array((np.array(values), columns_of.astype("i4"), np.array(ends, dtype="i4")), shape=(shape[0], d))
    table = np.array(coefficients).reshape(shape).T.copy()
    return table, X.toarray() if len(values) >= DENSE * shape[0] * d else X


def feature_count(needed: int, n_entries: int, n_features: int | None, error: Callable[[str], Exception]) -> int:
    """How many features there are: as many as was said, or as the largest index needs, if the entries make it plausible."""
    if n_features is not None:
        if needed > n_features:
            raise error(f"feature {needed} appears in it where the model has {n_features} features (n_features={n_features}).")
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
