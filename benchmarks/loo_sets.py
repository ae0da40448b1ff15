"""The tasks of the leave-one-out suite: text with a linear machine, tables with RBF; a held-out part for each."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.datasets import clusters, is_real, shared, zipf

TOPICS = ("earn", "acq", "grain", "ship", "cpu")
"""Of reuters_modapte: the two usual ones and three rarer."""

PAIRS = ((0, 1), (8, 9), (15, 19))
"""Classes of 20newsgroups that are told apart."""

TABLES = ("svmguide1", "splice", "mushrooms", "german")


@dataclass(frozen=True, eq=False)
class LooTask:
    """Training and held-out samples of a binary task, and whether the machine is linear."""

    name: str
    X: Any
    y: Any
    X_test: Any
    y_test: Any
    is_text: bool


def names() -> tuple[str, ...]:
    """All tasks."""
    text = [f"reuters:{topic}" for topic in TOPICS] + ["webkb4", "ohsumed"] + [f"20news:{i}-{j}" for i, j in PAIRS]
    return (*text, *TABLES)


def task(name: str, rows: int | None = None) -> LooTask:
    """One of them; synthetic of about its shape, and named so, where the real one is missing."""
    kind, _, part = name.partition(":")
    is_text = kind not in TABLES
    source = {
        "reuters": "reuters_modapte",
        "webkb4": "webkb4_cachopo",
        "ohsumed": "ohsumed_single23",
        "20news": "20newsgroups",
    }
    file = source.get(kind, kind)
    if is_real(file):
        parts = _real(file, part)
    else:
        X, y = zipf(6000, 8000, 60) if is_text else clusters(3000, 20, 2)
        parts, name = (X[:4000], y[:4000], X[4000:], y[4000:]), f"{name} (synthetic)"
        if not is_text:
            parts = (X[:2000], y[:2000], X[2000:], y[2000:])
    X, y, X_test, y_test = parts
    return LooTask(name, X[:rows], y[:rows], X_test, y_test, is_text)


def tasks(wanted: tuple[str, ...], rows: int | None) -> Iterator[LooTask]:
    """The wanted ones."""
    for name in wanted:
        yield task(name, rows)


def _real(file: str, part: str) -> tuple[Any, Any, Any, Any]:
    is_text = file not in TABLES
    data = shared(file, tfidf=is_text)
    if file == "reuters_modapte":
        column = list(data["topics"]).index(part)
        labels = [np.asarray(sp.csc_array(data[key])[:, [column]].toarray()).ravel() for key in ("Y_train", "Y_test")]
        return data["X_train"], (labels[0] > 0).astype(int), data["X_test"], (labels[1] > 0).astype(int)
    X, y = data["X_train"], data["y_train"]
    if "X_test" in data:
        X_test, y_test = data["X_test"], data["y_test"]
    else:
        order = np.random.default_rng(0).permutation(X.shape[0])
        cut = 2 * len(order) // 3
        X, X_test, y, y_test = X[order[:cut]], X[order[cut:]], y[order[:cut]], y[order[cut:]]
    if part:
        i, j = (int(number) for number in part.split("-"))
        ours, theirs = (np.flatnonzero((labels == i) | (labels == j)) for labels in (y, y_test))
        return X[ours], (y[ours] == i).astype(int), X_test[theirs], (y_test[theirs] == i).astype(int)
    positive = np.unique(y)[np.argmax(np.unique(y, return_counts=True)[1])]
    if not is_text:
        X, X_test = (np.asarray(Z.toarray() if sp.issparse(Z) else Z, dtype=np.float64) for Z in (X, X_test))
        mean, spread = X.mean(axis=0), np.maximum(X.std(axis=0), 1e-12)
        X, X_test = (X - mean) / spread, (X_test - mean) / spread
    return X, (y == positive).astype(int), X_test, (y_test == positive).astype(int)
