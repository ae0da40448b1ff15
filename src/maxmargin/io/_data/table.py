"""Columns of a table become samples and labels; Parquet files, by pyarrow, are such tables."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import IO, Any

import numpy as np

from maxmargin.errors import InvalidInputError, MissingExtraError
from maxmargin.io._model.archive import Array


@dataclass(frozen=True)
class Data:
    """Samples X (dense or CSR), labels y (None where the file has none), and the features' names where they are known."""

    X: Any
    y: Any
    feature_names: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Table:
    """Columns of a file: how many there are, what they are called, and how some are read as samples, and one as labels."""

    n_columns: int
    names: tuple[str, ...] | None
    features: Callable[[Sequence[int]], Any]
    labels: Callable[[int], Any]

    def split(self, target: str | int | None, n_features: int | None, feature_names: Sequence[str] | None, **_: Any) -> Data:
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
        return Data(self.features(columns), None if place is None else self.labels(place), names)

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
        found = pyarrow.parquet.ParquetFile(file)
        schema, n = found.schema_arrow, found.metadata.num_rows
    except damage as error:
        raise InvalidInputError(f"it is no Parquet file ({_line(error)}).") from error
    size = 8 * n * len(schema.names)
    if size > max_bytes:
        raise InvalidInputError(f"its values take {size} bytes, more than the limit of {max_bytes}.")

    def values(k: int, kinds: str) -> Array:
        """A column whose dtype is of one of these kinds; objects must be texts."""
        where = f"column {schema.names[k]!r}"
        try:
            column = found.read(columns=[schema.names[k]]).column(0)
        except damage as error:
            raise InvalidInputError(f"{where} cannot be read ({_line(error)}).") from error
        if column.null_count:
            raise InvalidInputError(f"{where} has {column.null_count} missing values. Fill them in.")
        if pyarrow.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        read = np.asarray(column.to_numpy())
        if read.dtype.kind not in kinds or (read.dtype == object and not all(isinstance(one, str) for one in read)):
            raise InvalidInputError(f"{where} holds {column.type}. Encode it as numbers first.")
        return read

    def features(columns: Sequence[int]) -> Array:
        is_single = all(pyarrow.types.is_float32(schema.types[k]) for k in columns)
        X = np.empty((n, len(columns)), dtype=np.float32 if is_single else np.float64)
        for place, k in enumerate(columns):
            X[:, place] = values(k, "fiub")
        return X

    names = tuple(map(str, schema.names))
    return Table(len(names), names, features, lambda k: tidy_labels(values(k, "fiubUO"))).split(**wanted)


def _line(error: Exception) -> str:
    return str(error).partition("\n")[0][:200]
