"""The tables of the small suite: scikit-learn's own, and some of ../shared/data; cut to so many rows and standardized."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from benchmarks import datasets

TUNED = "abcdefghijklm"
"""First letters of the sets that may be tuned on; the others only report."""


@dataclass(frozen=True)
class Table:
    """Where a table comes from, and its shape; digits, whose pixels share one scale, are not standardized."""

    source: Callable[..., Any] | str
    n: int
    d: int
    n_classes: int


TABLES = {
    "iris": Table(load_iris, 150, 4, 3),
    "wine": Table(load_wine, 178, 13, 3),
    **{f"breast_cancer_{n}": Table(load_breast_cancer, n, 30, 2) for n in (100, 250, 569)},
    **{f"digits_{n}": Table(load_digits, n, 64, 10) for n in (300, 900, 1797)},
    "australian": Table("australian", 690, 14, 2),
    "german": Table("german", 1000, 24, 2),
    "satimage": Table("satimage", 2000, 36, 6),
    "sonar": Table("sonar", 208, 60, 2),
}


def table(name: str) -> tuple[Any, Any]:
    """One of TABLES as (X, y): rows in a seeded order, cut."""
    found = TABLES[name]
    X, y = _whole(found)
    chosen = np.random.default_rng(0).permutation(len(y))[: found.n]
    X, y = np.array(X[chosen], dtype=np.float64), y[chosen]
    if found.source is load_digits:
        return X / 16.0, y
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0), y


def title(name: str) -> str:
    """The name, and that a table is synthetic where it need not be."""
    return datasets.title(name) if isinstance(TABLES[name].source, str) else name


def half(name: str) -> str:
    """Which half of the sets a table belongs to."""
    return "a-m" if name[0] in TUNED else "n-z"


def _whole(found: Table) -> tuple[Any, Any]:
    if callable(found.source):
        return found.source(return_X_y=True)
    data = datasets.shared(found.source)
    return datasets.clusters(found.n, found.d, found.n_classes) if data is None else (data["X_train"], data["y_train"])
