"""Spark MLlib's LinearSVC in local mode: the same problem, in its spelling.

Spark minimises (λ/2)‖w‖² + mean hinge by OWL-QN, so that λ = 1/(C n). It certifies nothing: its weights are judged by P(w)
against the best dual value known. The data go to it as Parquet with its own vector type and are cached before the clock starts.
"""

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.timing import cores

SQL_TYPE = {
    "type": "struct",
    "fields": [
        {"name": "type", "type": "byte", "nullable": False, "metadata": {}},
        {"name": "size", "type": "integer", "nullable": True, "metadata": {}},
        {
            "name": "indices",
            "type": {"type": "array", "elementType": "integer", "containsNull": False},
            "nullable": True,
            "metadata": {},
        },
        {
            "name": "values",
            "type": {"type": "array", "elementType": "double", "containsNull": False},
            "nullable": True,
            "metadata": {},
        },
    ],
}
VECTOR = {
    "type": "udt",
    "class": "org.apache.spark.ml.linalg.VectorUDT",
    "pyClass": "pyspark.ml.linalg.VectorUDT",
    "sqlType": SQL_TYPE,
}


def spark_version() -> str | None:
    """The installed version, or None."""
    try:
        return version("pyspark")
    except PackageNotFoundError:
        return None


@contextmanager
def spark_session() -> Iterator[Any]:
    """A local session with as many threads as there are cores."""
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master(f"local[{cores()}]")
        .config("spark.driver.memory", "6g")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.log.level", "ERROR")
        .getOrCreate()
    )
    try:
        yield session
    finally:
        session.stop()


@contextmanager
def spark_table(session: Any, X: Any, y: Any, n_partitions: int) -> Iterator[Any]:
    """(label, features) with labels 0 and 1, cached."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.parquet"
        _write(sp.csr_array(X), np.where(y > 0, 1.0, 0.0), path)
        table = session.read.parquet(str(path)).repartition(n_partitions).cache()
        table.count()
        yield table
        table.unpersist()


def train(table: Any, n: int, C: float, rounds: int) -> Any:
    """The weights after so many iterations, without a bias."""
    from pyspark.ml.classification import LinearSVC

    machine = LinearSVC(regParam=1.0 / (C * n), maxIter=rounds, tol=1e-12, fitIntercept=False, standardization=False)
    model = machine.fit(table)
    return model.coefficients.toArray()


def _write(X: Any, y: Any, path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    offsets = pa.array(X.indptr.astype(np.int32))
    n, d = X.shape
    features = pa.StructArray.from_arrays(
        [
            pa.array(np.zeros(n, np.int8)),
            pa.array(np.full(n, d, np.int32)),
            pa.ListArray.from_arrays(offsets, pa.array(X.indices.astype(np.int32))),
            pa.ListArray.from_arrays(offsets, pa.array(X.data.astype(np.float64))),
        ],
        names=["type", "size", "indices", "values"],
    )
    fields = [
        {"name": "label", "type": "double", "nullable": True, "metadata": {}},
        {"name": "features", "type": VECTOR, "nullable": True, "metadata": {}},
    ]
    table = pa.table({"label": pa.array(y), "features": features})
    row = json.dumps({"type": "struct", "fields": fields})
    pq.write_table(table.replace_schema_metadata({"org.apache.spark.sql.parquet.row.metadata": row}), path)
