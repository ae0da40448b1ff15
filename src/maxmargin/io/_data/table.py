"""Columns of a table become samples and labels."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from maxmargin.errors import InvalidInputError
from maxmargin.io._model.archive import Array


@dataclass(frozen=True)
class Data:
    """Samples X (dense or CSR), labels y (None where the file has none), and the features' names where they are known."""

    X: Any
    y: Any
    feature_names: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Request:
    """What the caller of `read_data` wants; see there."""

    target: str | int | None
    n_features: int | None
    feature_names: Sequence[str] | None
    header: bool | None
    max_bytes: int
    zero_based: bool | None


class Table(ABC):
    """Columns of a file: abstract; a reader says how many there are, what they are called, and hands out samples and labels."""

    n_columns: int
    names: tuple[str, ...] | None

    @abstractmethod
    def features(self, columns: Sequence[int]) -> Any:
        """Some columns as samples."""

    @abstractmethod
    def labels(self, column: int) -> Any:
        """One column as labels."""

    def split(self, request: Request) -> Data:
        """The samples and, if there are any, the labels."""
        place, wanted = self._place(request), request.feature_names
        columns = [k for k in range(self.n_columns) if k != place]
        if wanted is not None and self.names is not None:
            for name in wanted:
                if name not in self.names:
                    raise InvalidInputError(f"there is no column {name!r}, a feature of the model; {self._listed()}.")
            columns = [self.names.index(name) for name in wanted]
        check_width(len(columns), request.n_features)
        names = None if self.names is None else tuple(self.names[k] for k in columns)
        return Data(self.features(columns), None if place is None else self.labels(place), names)

    def _place(self, request: Request) -> int | None:
        """The number of the labels' column; None without one."""
        target = request.target
        if target is None:
            if request.feature_names is not None and self.names is not None:
                has_labels = self.names[-1] not in request.feature_names
            else:
                has_labels = self.n_columns != request.n_features
            return self.n_columns - 1 if has_labels else None
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
    """Labels as whole numbers where they are, else as numbers or texts; a missing one is an error.

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
