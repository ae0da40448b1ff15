"""Data for the suites: real sets where ../shared/data is present, else synthetic ones of the same shape, seeded."""

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np

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
    if not (SHARED / "load.py").exists():
        return separable(n, d, 1.0)
    spec = importlib.util.spec_from_file_location("shared_data_load", SHARED / "load.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    data = module.load(name)
    return data["X_train"], data["y_train"]
