"""Parquet, by pyarrow: columns of numbers, labels in one column."""

from collections.abc import Sequence
from typing import IO, Any

import numpy as np

from maxmargin.errors import InvalidInputError, MissingExtraError
from maxmargin.io._data.table import Table, tidy_labels


class ParquetTable(Table):
    """An open file, of which columns are read when they are asked for."""

    names: tuple[str, ...]

    def __init__(self, arrow: Any, file: Any) -> None:
        self._arrow, self._file = arrow, file
        self.names = tuple(str(name) for name in file.schema_arrow.names)
        self.n_columns = len(self.names)

    def features(self, columns: Sequence[int]) -> Any:
        """One array; float32 if all columns are."""
        schema = self._file.schema_arrow
        is_single = all(self._arrow.types.is_float32(schema.types[k]) for k in columns)
        X = np.empty((self._file.metadata.num_rows, len(columns)), dtype=np.float32 if is_single else np.float64)
        for place, k in enumerate(columns):
            kind = schema.types[k]
            is_number = self._arrow.types.is_integer(kind) or self._arrow.types.is_floating(kind)
            if not is_number and not self._arrow.types.is_boolean(kind):
                raise InvalidInputError(f"column {self.names[k]!r} holds {kind}. Encode it as numbers first.")
            column = self._column(k)
            if column.null_count:
                raise InvalidInputError(
                    f"column {self.names[k]!r} has {column.null_count} missing values. Fill them in."
                )
            X[:, place] = column.to_numpy()
        return X

    def labels(self, column: int) -> Any:
        """Whole numbers, numbers, truth values or texts."""
        found = self._column(column)
        if found.null_count:
            raise InvalidInputError(f"column {self.names[column]!r} has {found.null_count} missing labels.")
        if self._arrow.types.is_dictionary(found.type):
            found = found.cast(found.type.value_type)
        values = np.asarray(found.to_numpy())
        if values.dtype.kind not in "fiubUO" or (
            values.dtype == object and not all(isinstance(v, str) for v in values)
        ):
            raise InvalidInputError(f"column {self.names[column]!r} holds {found.type}, which are no labels.")
        return tidy_labels(values)

    def _column(self, k: int) -> Any:
        try:
            return self._file.read(columns=[self._file.schema_arrow.names[k]]).column(0)
        except (self._arrow.ArrowException, OSError, ValueError) as error:
            raise InvalidInputError(f"column {self.names[k]!r} cannot be read ({_line(error)}).") from error


def read_parquet(file: IO[bytes], max_bytes: int) -> ParquetTable:
    """The file's columns; nothing is read but their description."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtraError("Parquet needs the package pyarrow: pip install 'maxmargin[parquet]'.") from error
    try:
        found = pyarrow.parquet.ParquetFile(file)
        names = found.schema_arrow.names
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise InvalidInputError(f"it is no Parquet file ({_line(error)}).") from error
    if len(set(names)) != len(names):
        raise InvalidInputError("two columns have the same name. Rename one.")
    size = 8 * found.metadata.num_rows * len(names)
    if size > max_bytes:
        raise InvalidInputError(
            f"its {found.metadata.num_rows} rows take {size} bytes, more than the limit of {max_bytes}."
        )
    return ParquetTable(pyarrow, found)


def _line(error: Exception) -> str:
    return str(error).partition("\n")[0][:200]
