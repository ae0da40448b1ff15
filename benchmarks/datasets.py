"""Data for the suites: real sets where ../shared/data is present, else synthetic ones of the same shape, seeded."""

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

SHARED = Path(__file__).parent.parent.parent / "shared" / "data"


def separable(n: int, d: int, margin: float, seed: int = 0) -> tuple[Any, Any]:
    """n normal samples in d dimensions, split by a random hyperplane off the origin and moved `margin` away from it."""
    rng = np.random.default_rng(seed)
    direction = rng.normal(size=d)
    direction /= np.linalg.norm(direction)
    X = rng.normal(size=(n, d))
    y = np.where(X @ direction + 0.3 > 0, 1, -1)
    return X + margin * np.outer(y, direction), y


def overlapping(n: int, d: int, seed: int = 0) -> tuple[Any, Any]:
    """n normal samples in d dimensions with random labels."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.integers(0, 2, n)


def genes(name: str) -> tuple[Any, Any]:
    """A gene-expression set by name ("array_golub", "array_alon"), or a synthetic one of the same shape."""
    n, d = {"array_golub": (72, 7129), "array_alon": (62, 2000)}[name]
    data = shared(name)
    return separable(n, d, 1.0) if data is None else (data["X_train"], data["y_train"])


LINEAR = {
    "reuters_modapte": (9603, 27336, 70),
    "20newsgroups": (11314, 130107, 157),
    "a9a": (32561, 123, 14),
    "mushrooms": (8124, 112, 21),
    "covtype": (581012, 54, 12),
    "mnist": (60000, 784, 150),
    "zipf_200k": (200_000, 50_000, 40),
    "zipf_1m": (1_000_000, 100_000, 20),
}
"""The binary tasks of the linear suites: rows, columns, about how many entries a row. The zipf ones are always synthetic."""


def linear_set(name: str) -> tuple[Any, Any]:
    """One of LINEAR, labels in ±1; mnist is dense, all others are sparse."""
    data = _real_linear(name) if is_real(name) else zipf(*LINEAR[name])
    X = data[0].toarray() if name == "mnist" and sp.issparse(data[0]) else data[0]
    return X, np.where(data[1] == np.max(data[1]), 1, -1)


def is_real(name: str) -> bool:
    """Whether the set itself is there; else a synthetic one of its shape stands in."""
    return (SHARED / f"{name}.npz").exists()


def title(name: str) -> str:
    """The name of a set, and that it is synthetic where it need not be."""
    return name if is_real(name) or name.startswith("zipf") else f"{name} (synthetic)"


def zipf(n: int, d: int, per_row: int, seed: int = 0) -> tuple[Any, Any]:
    """A sparse set whose columns are used as words are: rank r about 1/r as often as the first; unit rows, noisy labels."""
    rng = np.random.default_rng(seed)
    columns = np.minimum((d ** rng.random((n, per_row))).astype(np.int32) - 1, d - 1)
    starts = np.arange(0, n * per_row + 1, per_row, dtype=np.int32)
    X = sp.csr_array((np.ones(n * per_row), columns.ravel(), starts), shape=(n, d))
    X.sum_duplicates()
    X.data /= np.repeat(np.sqrt(X.multiply(X).sum(axis=1)), np.diff(X.indptr))
    scores = X @ rng.normal(size=d)
    return X, (scores + 0.3 * np.std(scores) * rng.normal(size=n) > np.median(scores)).astype(int)


def _real_linear(name: str) -> tuple[Any, Any]:
    data = shared(name, tfidf=name in ("reuters_modapte", "20newsgroups"))
    X = data["X_train"]
    if name == "reuters_modapte":
        column = data["Y_train"][:, [list(data["topics"]).index("earn")]]
        return X, np.asarray(column.todense() if sp.issparse(column) else column).ravel().astype(int)
    y = data["y_train"]
    if name == "20newsgroups":
        return X, (y < 10).astype(int)
    if name == "covtype":
        X = X.astype(np.float64) / np.maximum(np.abs(X).max(axis=0), 1)
        return sp.csr_array(X), (y == 2).astype(int)
    if name == "mnist":
        return X / 255.0, (y % 2 == 0).astype(int)
    return X, (y == np.max(y)).astype(int)


def shared(name: str, **options: Any) -> Any:
    """A set from ../shared/data, or None where that folder is missing."""
    if not (SHARED / "load.py").exists():
        return None
    spec = importlib.util.spec_from_file_location("shared_data_load", SHARED / "load.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.load(name, **options)
