"""Data for the suites: real sets where ../shared/data is present, else synthetic ones of the same shape, seeded."""

import importlib.util
from dataclasses import dataclass
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


def l1_set(name: str) -> tuple[Any, Any, Any, Any]:
    """(X, y, X_test, y_test) of a task of the l1 suite, labels ±1; a synthetic one where the data are missing."""
    source, task = {
        "20newsgroups_8_9": ("20newsgroups", (8, 9)),
        "20newsgroups_0_1": ("20newsgroups", (0, 1)),
        "webkb": ("webkb4_cachopo", None),
        "reuters_r8": ("reuters_r8", None),
        "ohsumed": ("ohsumed_single23", None),
    }.get(name, (name, None))
    if name.startswith("array"):
        X, y = genes(name)
        X, y = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-12), np.where(y == np.max(y), 1, -1)
        order = np.random.default_rng(0).permutation(len(y))
        train, test = order[: 2 * len(y) // 3], order[2 * len(y) // 3 :]
        return X[train], y[train], X[test], y[test]
    data = shared(source, tfidf=True)
    if data is None:
        X, y = zipf(3000, 20_000, 80)
        return X[:2000], 2 * y[:2000] - 1, X[2000:], 2 * y[2000:] - 1
    parts = []
    names, counts = np.unique(data["y_train"], return_counts=True)
    positive = names[np.argmax(counts)] if task is None else task[0]
    for part in ("train", "test"):
        X, y = data[f"X_{part}"], data[f"y_{part}"]
        kept = np.ones(len(y), dtype=bool) if task is None else np.isin(y, task)
        parts += [sp.csr_array(X[np.flatnonzero(kept)]), np.where(y[kept] == positive, 1, -1)]
    return parts[0], parts[1], parts[2], parts[3]


def small_set(name: str) -> tuple[Any, Any]:
    """A small real set by its name, labels ±1, or a synthetic one."""
    data = shared(name)
    if data is None:
        X, y = clusters(700, 10, 2)
        return X, 2 * y - 1
    X = data["X_train"]
    X = np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
    return X, np.where(data["y_train"] == np.max(data["y_train"]), 1, -1)


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


@dataclass(frozen=True)
class KernelSet:
    """A task of the kernel suites: the file it comes from, rows used, columns, classes, and the C of its first case."""

    source: str
    n: int
    d: int
    n_classes: int
    C: float


KERNEL = {
    "a9a": KernelSet("a9a", 32_561, 123, 2, 1.0),
    "ijcnn1": KernelSet("ijcnn1", 49_990, 22, 2, 10.0),
    "mnist_parity": KernelSet("mnist", 20_000, 784, 2, 10.0),
    "mnist_digits": KernelSet("mnist", 20_000, 784, 10, 10.0),
    "cod_rna": KernelSet("cod_rna", 30_000, 8, 2, 10.0),
    "covtype_20k": KernelSet("covtype", 20_000, 54, 2, 10.0),
    "covtype_100k": KernelSet("covtype", 100_000, 54, 2, 10.0),
    "letter_a": KernelSet("pmlb_letter", 20_000, 16, 2, 10.0),
    "letter": KernelSet("pmlb_letter", 20_000, 16, 26, 10.0),
}
"""The tasks of the kernel suites, all dense."""


def kernel_set(name: str, n: int | None = None) -> tuple[Any, Any]:
    """One of KERNEL as (X, y); `n` takes fewer rows, the same for the same seed."""
    task = KERNEL[name]
    X, y = _real_kernel(name) if is_real(task.source) else clusters(task.n, task.d, task.n_classes)
    chosen = np.random.default_rng(0).permutation(X.shape[0])[: min(task.n, n or task.n)]
    X = X[chosen]
    return np.ascontiguousarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64), y[chosen]


def kernel_title(name: str) -> str:
    """The name of a task, and that it is synthetic where it need not be."""
    return name if is_real(KERNEL[name].source) else f"{name} (synthetic)"


def clusters(n: int, d: int, n_classes: int, seed: int = 0, spread: float = 0.7) -> tuple[Any, Any]:
    """n samples of n_classes classes, four normal clusters each, which overlap a little."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(4 * n_classes, d))
    which = rng.integers(0, len(centres), n)
    return centres[which] + spread * rng.normal(size=(n, d)), which % n_classes


def _real_kernel(name: str) -> tuple[Any, Any]:
    data = shared(KERNEL[name].source)
    X, y = data["X_train"], data["y_train"]
    match name:
        case "mnist_parity":
            return X / 255.0, (y % 2 == 0).astype(int)
        case "mnist_digits":
            return X / 255.0, y
        case "covtype_20k" | "covtype_100k":
            return X / np.maximum(np.abs(X).max(axis=0), 1), (y == 2).astype(int)
        case "letter_a":
            return X, (y == np.min(y)).astype(int)
    return X, y


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
