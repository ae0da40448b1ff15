"""Parquet, by pyarrow: columns of numbers, labels in one column."""

from collections.abc import Sequence
from typing import IO, Any

import numpy as np

from maxmargin.errors import InvalidInputError, MissingExtraError
from maxmargin.io._data.table import Data, Request, Table, tidy_labels


class ParquetTable(Table):
    """An open file, of which columns are read when they are asked for."""

    names: tuple[str, ...]

    def __init__(self, arrow: Any, file: Any) -> None:
        self._arrow, self._file = arrow, file
        self.names = tuple(str(name) for name in file.schema_arrow.names)
        self.n_columns = len(self.names)

    def features(self, columns: Sequence[int]) -> Any:
        """One array; float32 if all columns are."""
        is_single = all(self._arrow.types.is_float32(self._file.schema_arrow.types[k]) for k in columns)
        X = np.empty((self._file.metadata.num_rows, len(columns)), dtype=np.float32 if is_single else np.float64)
        for place, k in enumerate(columns):
            X[:, place] = self._values(k, "fiub")
        return X

    def labels(self, column: int) -> Any:
        """Whole numbers, numbers, truth values or texts."""
        return tidy_labels(self._values(column, "fiubUO"))

    def _values(self, k: int, kinds: str) -> Any:
        """A column, of one of some kinds; objects must be texts."""
        where = f"column {self.names[k]!r}"
        try:
            column = self._file.read(columns=[self._file.schema_arrow.names[k]]).column(0)
        except (self._arrow.ArrowException, OSError, ValueError) as error:
            raise InvalidInputError(f"{where} cannot be read ({_line(error)}).") from error
        if column.null_count:
            raise InvalidInputError(f"{where} has {column.null_count} missing values. Fill them in.")
        if self._arrow.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        values = np.asarray(column.to_numpy())
        if values.dtype.kind not in kinds or (values.dtype == object and not all(isinstance(v, str) for v in values)):
            raise InvalidInputError(f"{where} holds {column.type}. Encode it as numbers first.")
        return values


def read_parquet(file: IO[bytes], request: Request) -> Data:
    """Samples and labels; the size is looked at before columns are read."""
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
    if size > request.max_bytes:
        raise InvalidInputError(f"its values take {size} bytes, more than the limit of {request.max_bytes}.")
    return ParquetTable(pyarrow, found).split(request)


def _line(error: Exception) -> str:
    return str(error).partition("\n")[0][:200]
