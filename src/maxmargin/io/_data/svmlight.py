"""svmlight and LIBSVM data: ``label index:value …``, indices from 1 on (from 0 on where a 0 appears).

scikit-learn reads it; its errors name no line and it lets NaN and huge indices pass, so what it makes is checked, and where it
gives up the line at fault is looked for.
"""

import re
from typing import IO

import numpy as np

from maxmargin.errors import InvalidInputError
from maxmargin.io._data.table import Data, Request, tidy_labels
from maxmargin.io._text import LARGEST_INDEX, LONGEST_LINE, NUMBER, feature_count, shown

ENTRY = re.compile(rb"(?:[0-9]{1,100}|qid):" + NUMBER.pattern)


def looks_like_svmlight(start: bytes) -> bool:
    """Whether the first line with content is a label and entries."""
    for line in start.split(b"\n"):
        tokens = line.partition(b"#")[0].split()
        if tokens:
            return len(tokens) > 1 and bool(NUMBER.fullmatch(tokens[0])) and bool(ENTRY.fullmatch(tokens[1]))
    return False


def read_svmlight(file: IO[bytes], request: Request) -> Data:
    """The samples as CSR, the labels as numbers; features are counted from 0 on, from 1 on, or (None) as it looks."""
    from sklearn.datasets import load_svmlight_file

    try:
        zero_based = "auto" if request.zero_based is None else request.zero_based
        X, y = load_svmlight_file(file, dtype=np.float64, zero_based=zero_based)
    except (ValueError, OverflowError) as error:
        file.seek(0)
        _find_fault(file)
        raise InvalidInputError(f"it is no svmlight file ({error}).") from error
    X.resize((X.shape[0], feature_count(X.shape[1], X.nnz, request.n_features, InvalidInputError)))
    return Data(X, tidy_labels(y))


def _find_fault(file: IO[bytes]) -> None:
    """Raise for the first line that is none of the format's."""
    number = 0
    while line := file.readline(LONGEST_LINE):
        number += 1
        tokens = line.partition(b"#")[0].split()
        if tokens and not NUMBER.fullmatch(tokens[0]):
            raise InvalidInputError(f"line {number}: {shown(tokens[0])} is no label; svmlight's are single numbers.")
        last = -1
        for token in tokens[1:]:
            if not ENTRY.fullmatch(token):
                raise InvalidInputError(f"line {number}: {shown(token)} where index:value is wanted.")
            if token.startswith(b"qid"):
                continue
            index = int(token.partition(b":")[0])
            if index > LARGEST_INDEX:
                raise InvalidInputError(f"line {number}: index {index} is too large; the largest is {LARGEST_INDEX}.")
            if index <= last:
                raise InvalidInputError(f"line {number}: index {index} follows {last}; indices must rise.")
            last = index
