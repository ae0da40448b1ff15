"""Problems like those people have, each made from a family's name and a seed: ``draw("linear", 7)``.

Families: `linear` (judged in rational arithmetic), `kernels` (in 64 digits), `large` (kernels on 2 000 samples and more, in
extended precision), `words` (bags of words and wide tables, for progress), `left_out` (few samples, left out one by one), `units`
(linear and kernel problems in units as far from 1 as float64 allows).
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin import (
    SVC,
    ConvergenceWarning,
    HardMarginSVC,
    LinearSVC,
    PegasosSVC,
    Perceptron,
    Regularization,
)
from maxmargin.kernels import Custom, FeatureMap

SECONDS = {"linear": 2.0, "kernels": 2.0, "words": 10.0, "large": 30.0, "left_out": 5.0, "units": 2.0}
"""Time budget of one fit in each family."""

FAMILIES = tuple(SECONDS)


@dataclass(frozen=True, eq=False)
class Case:
    """A drawn problem: data, and an estimator that was not fitted yet."""

    family: str
    seed: int
    kind: str
    X: Any
    y: Any
    sample_weight: Any
    estimator: Any

    def fit(self) -> Any:
        """The fitted estimator; numpy's warnings are errors, a gap that was not reached is none."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("error", RuntimeWarning)
            if self.sample_weight is None:
                return self.estimator.fit(self.X, self.y)
            return self.estimator.fit(self.X, self.y, self.sample_weight)

    @property
    def title(self) -> str:
        """One line that says what it is."""
        form = f"{'CSR' if sp.issparse(self.X) else 'dense'} {self.X.dtype}"
        weights = "" if self.sample_weight is None else ", weighted"
        return f"{self.kind}, {self.X.shape[0]} × {self.X.shape[1]} {form}{weights}: {self.estimator!r}"

    def reproduction(self, check: str = "judge", *others: Any) -> str:
        """Lines that make it again."""
        text, more = " ".join(self.title.split()), "".join(f", {other!r}" for other in others)
        return (
            f"from tests.campaign import draw, {check}\n"
            f'case = draw("{self.family}", {self.seed})  # {text}\n'
            f"for failure in {check}(case, case.fit(){more}): print(failure)"
        )


def draw(family: str, seed: int) -> Case:
    """The problem with this number in the family; the same one each time."""
    rng = np.random.default_rng([FAMILIES.index(family), seed])
    return _MAKERS[family](rng, seed)


# -- rows ------------------------------------------------------------------------------------------------------------


def words(rng: Any, n: int, d: int) -> Any:
    """Rows of unit length with few of many words, the frequent ones often."""
    X = np.zeros((n, d))
    share = 1.0 / np.arange(1, d + 1)
    for row in X:
        used = rng.choice(d, size=min(d, 1 + rng.poisson(min(12, d / 3))), replace=False, p=share / share.sum())
        row[used] = rng.integers(1, 5, size=len(used)) * np.log(2.0 + used)
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def texts(rng: Any, n: int, d: int) -> Any:
    """CSR rows of zeros and ones, of very different length, most of them copies of an earlier one with other words added."""
    rows: list[Any] = []
    for _ in range(n):
        if rows and rng.random() < 0.8:
            earlier = rows[rng.integers(0, len(rows))]
            row = np.concatenate([earlier[rng.random(len(earlier)) < 0.97], d ** rng.random(3)])
        else:
            row = d ** rng.random(1 + min(int(np.exp(rng.normal(4.5, 1.2))), d // 4))
        rows.append(np.unique(np.floor(row).astype(np.int64)))
    ends = np.cumsum([0, *map(len, rows)])
    columns = np.minimum(np.concatenate(rows), d - 1)
    X = sp.csr_array((np.ones(len(columns)), columns, ends), shape=(n, d))
    X.sum_duplicates()
    return X


def counts(rng: Any, n: int, d: int) -> Any:
    """Small whole numbers."""
    return rng.poisson(rng.choice([0.3, 2.0, 20.0], size=d), size=(n, d)).astype(np.float64)


def table(rng: Any, n: int, d: int) -> Any:
    """Columns as they come: each with a unit of its own."""
    return (rng.standard_normal((n, d)) + rng.choice([0.0, 3.0], size=d)) * 10.0 ** rng.integers(-3, 6, size=d)


def timestamps(rng: Any, n: int, d: int) -> Any:
    """Seconds since 1970 within a minute or a year, beside other columns."""
    X = rng.standard_normal((n, d))
    span = int(rng.choice([50, 3600, 30_000_000]))
    X[:, 0] = 1.7e9 + rng.integers(0, span, size=n)
    return X


def offsets(rng: Any, n: int, d: int) -> Any:
    """A structure that is small beside where it lies."""
    return 10.0 ** rng.integers(2, 8) * rng.choice([-1, 1], size=d) + 10.0 ** rng.integers(-3, 1) * rng.standard_normal((n, d))


def pairs(rng: Any, n: int, d: int) -> Any:
    """Two or three kinds of rows in turn."""
    period = int(rng.integers(2, 4))
    X = 10.0 ** rng.integers(-1, 2) * rng.standard_normal((n, d))
    for k in range(1, period):
        some = X[k::period]
        X[k::period] = 10.0 ** rng.integers(0, 3) * np.sign(rng.standard_normal((len(some), 1))) + 0.3 * some
    return X


def mixtures(rng: Any, n: int, d: int) -> Any:
    """Rows of very different length."""
    return rng.standard_normal((n, d)) * 10.0 ** rng.integers(-4, 5, size=(n, 1))


def near_duplicates(rng: Any, n: int, d: int) -> Any:
    """A few rows, each several times with a difference in the last digits, or none."""
    centres = rng.standard_normal((max(2, n // 4), d)) * rng.choice([1.0, 100.0])
    return centres[rng.integers(0, len(centres), size=n)] + rng.choice([0.0, 1e-12, 1e-8, 1e-4]) * rng.standard_normal((n, d))


def grid(rng: Any, n: int, d: int) -> Any:
    """Whole numbers from −2 to 2: ties everywhere."""
    return rng.integers(-2, 3, size=(n, d)).astype(np.float64)


def plain(rng: Any, n: int, d: int) -> Any:
    """Scaled features."""
    return rng.standard_normal((n, d))


ROWS: dict[str, Callable[[Any, int, int], Any]] = {
    function.__name__: function
    for function in (words, counts, table, timestamps, offsets, pairs, mixtures, near_duplicates, grid, plain)
}


def labels(rng: Any, X: Any, n_classes: int = 2) -> Any:
    """By a hyperplane through the middle, with some of them wrong, or at random; every class is there."""
    n = X.shape[0]
    weights = rng.standard_normal(X.shape[1])
    if not sp.issparse(X):
        weights /= np.maximum(np.abs(X - X.mean(axis=0)).max(axis=0), 1e-300)
    score = X @ weights
    ranks = np.argsort(np.argsort(score, kind="stable"), kind="stable")
    y = ranks * n_classes // n
    noise = rng.choice([0.0, 0.0, 0.1, 0.3, 1.0])
    y = np.where(rng.random(n) < noise, rng.integers(0, n_classes, size=n), y)
    y[rng.permutation(n)[:n_classes]] = np.arange(n_classes)
    return y


def sample_weights(rng: Any, y: Any) -> Any:
    """None, whole and broken weights with zeros, or factors of 1e12 and 1e-12; every class keeps some weight."""
    kind = rng.choice(["none", "none", "none", "whole", "extreme"])
    if kind == "none":
        return None
    values = [0.0, 0.5, 1.0, 2.0, 3.0] if kind == "whole" else [0.0, 1e-12, 1.0, 1e12]
    weights = rng.choice(values, size=len(y))
    for label in np.unique(y):
        if not weights[y == label].any():
            weights[np.flatnonzero(y == label)[0]] = 1.0
    return weights


def formed(rng: Any, X: Any) -> Any:
    """float32 or float64, dense or CSR."""
    X = X.astype(rng.choice([np.float64, np.float64, np.float32]))
    return sp.csr_array(X) if rng.random() < 0.3 else X


def cost(rng: Any, low: float = -4.0, high: float = 6.0) -> float:
    """C, two digits long."""
    return float(f"{10.0 ** rng.uniform(low, high):.2g}")


# -- families --------------------------------------------------------------------------------------------------------


def _linear(rng: Any, seed: int) -> Case:
    kind = str(rng.choice(list(ROWS)))
    n, d = int(rng.integers(4, 61)), int(rng.integers(1, 21))
    if kind == "words":
        d = int(rng.integers(20, 200))
    n_classes = 3 if n >= 12 and rng.random() < 0.1 else 2
    X = ROWS[kind](rng, n, d)
    y = labels(rng, X, n_classes)
    X = formed(rng, X)
    weights, estimator = sample_weights(rng, y), _linear_estimator(rng, SECONDS["linear"])
    return Case("linear", seed, kind, X, y, None if isinstance(estimator, Perceptron) else weights, estimator)


def _linear_estimator(rng: Any, seconds: float) -> Any:
    C, tol = cost(rng), float(rng.choice([1e-3, 1e-3, 1e-6, 1e-9]))
    class_weight = {None: None, "balanced": "balanced", "given": {0: 0.01, 1: 100.0, 2: 1.0}}[
        rng.choice(np.array([None, None, None, "balanced", "given"], dtype=object))
    ]
    has_bias = bool(rng.random() < 0.8)
    common: dict[str, Any] = {"tol": tol, "max_seconds": seconds}
    which = rng.choice(["LinearSVC", "SVC", "HardMarginSVC", "PegasosSVC", "Perceptron"], p=[0.65, 0.12, 0.1, 0.08, 0.05])
    if which == "HardMarginSVC":
        return HardMarginSVC(fit_intercept=has_bias, **common)
    if which == "PegasosSVC":
        by = Regularization.pegasos(cost(rng, -4, 0))
        return PegasosSVC(C=by, fit_intercept=has_bias, n_epochs=20, class_weight=class_weight, tol=tol, n_jobs=1)
    if which == "Perceptron":
        return Perceptron(fit_intercept=has_bias, max_iter=50, n_jobs=1)
    loss = str(rng.choice(["hinge", "squared_hinge", "ramp"], p=[0.6, 0.3, 0.1]))
    if which == "SVC":
        return SVC(C=C, kernel="linear", loss=loss, fit_intercept=has_bias, class_weight=class_weight, n_jobs=1, **common)
    scaling = float(rng.choice([0.1, 1.0, 10.0])) if has_bias and rng.random() < 0.3 else None
    penalty = "l1" if rng.random() < 0.3 else "l2"
    return LinearSVC(
        penalty,
        loss,
        C=C,
        fit_intercept=has_bias,
        intercept_scaling=scaling,
        class_weight=class_weight,
        n_jobs=1,
        **common,
    )


def powers(X: Any, Z: Any) -> Any:
    """⟨u, v⟩ + ⟨u, v⟩², exact on small whole numbers."""
    G = X @ Z.T
    G = np.asarray(G.toarray() if sp.issparse(G) else G, dtype=np.float64)
    return G + G * G


def doubled(X: Any) -> Any:
    """Φ(x) = (x, 2|x|), exact on whole numbers."""
    if sp.issparse(X):
        return sp.hstack([X, 2 * abs(X)], format="csr")
    return np.hstack([X, 2 * np.abs(X)])


def _kernels(rng: Any, seed: int) -> Case:
    kernel = str(
        rng.choice(["rbf", "poly", "sigmoid", "precomputed", "callable", "feature map"], p=[0.6, 0.15, 0.05, 0.08, 0.06, 0.06])
    )
    is_exact = kernel in ("precomputed", "callable", "feature map")
    kind = str(rng.choice(["grid", "counts"] if is_exact else [name for name in ROWS if name != "words"]))
    n, d = int(rng.integers(4, 61)), int(rng.integers(1, 9))
    X = ROWS[kind](rng, n, d)
    y = labels(rng, X)
    if kernel == "precomputed":
        X = X @ X.T
        X = X.astype(rng.choice([np.float64, np.float32]))
    else:
        X = formed(rng, X)
    return Case("kernels", seed, kind, X, y, sample_weights(rng, y), _kernel_estimator(rng, kernel, X, SECONDS["kernels"]))


def _kernel_estimator(rng: Any, kernel: str, X: Any, seconds: float) -> Any:
    settings: dict[str, Any] = {
        "tol": float(rng.choice([1e-3, 1e-3, 1e-6, 1e-9])),
        "max_seconds": seconds,
        "fit_intercept": bool(rng.random() < 0.8),
    }
    named: Any = {"callable": Custom(powers), "feature map": FeatureMap(doubled)}.get(kernel, kernel)
    if kernel in ("rbf", "poly", "sigmoid"):
        typical = float(np.mean(np.asarray(abs(X).max(axis=1).todense() if sp.issparse(X) else abs(X).max(axis=1)))) or 1.0
        by_hand = float(f"{10.0 ** rng.uniform(-2, 1) / (typical**2 if kernel != 'rbf' else 1.0):.2g}")
        settings["gamma"] = by_hand if rng.random() < 0.5 else "scale"
        settings["coef0"] = float(rng.choice([0.0, 1.0])) if kernel != "rbf" else 0.0
        settings["degree"] = int(rng.integers(1, 4))
    which = rng.choice(["SVC", "HardMarginSVC", "PegasosSVC"], p=[0.85, 0.08, 0.07])
    if which == "HardMarginSVC" and kernel != "sigmoid":
        return HardMarginSVC(kernel=named, **settings)
    if which == "PegasosSVC" and kernel != "sigmoid":
        return PegasosSVC(C=Regularization.pegasos(cost(rng, -3, 0)), kernel=named, n_epochs=10, n_jobs=1, **settings)
    return SVC(
        C=cost(rng),
        kernel=named,
        loss=str(rng.choice(["hinge", "squared_hinge", "ramp"], p=[0.7, 0.2, 0.1])),
        n_jobs=1,
        **settings,
    )


def _large(rng: Any, seed: int) -> Case:
    """Rows in periodic order, two far baselines, outliers, an offset: RBF on many samples, where values come in float32."""
    kind = str(rng.choice(["periodic order", "two baselines", "outliers", "offset", "plain"]))
    n = int(2000 * 10.0 ** (rng.random() ** 4))
    d = int(rng.integers(2, 10))
    gamma, C = float(rng.choice([0.1, 1.0])), cost(rng, -1, 4)
    X = rng.standard_normal((n, d))
    if kind == "periodic order":
        period = int(rng.integers(2, 5))
        X *= 2
        for k in range(1, period):
            X[k::period] = 7 * k * np.sign(rng.standard_normal((len(X[k::period]), 1))) + 0.15 * X[k::period]
    elif kind == "two baselines":
        X[::2] += 10.0 ** rng.integers(4, 9)
    elif kind == "outliers":
        X[rng.permutation(n)[: n // 100]] *= 1e6
    elif kind == "offset":
        X = 1e4 * rng.choice([-1, 1], size=d) + 1e-3 * X
        gamma *= 1e6
    y = np.where(rng.random(n) < 0.5, 1, -1)
    if rng.random() < 0.5:
        y = np.where((X[:, 0] > np.median(X[:, 0])) ^ (rng.random(n) < 0.1), 1, -1)
    return Case("large", seed, kind, formed(rng, X), y, None, SVC(C=C, gamma=gamma, max_seconds=SECONDS["large"], n_jobs=1))


def _words(rng: Any, seed: int) -> Case:
    """Sizes at which a solver has to get somewhere: bags of words with more words than texts, tables, all losses."""
    kind = str(rng.choice(["words", "texts", "texts", "counts", "table", "timestamps", "plain"]))
    n, d = int(rng.integers(100, 800)), int(rng.integers(5, 60))
    if kind in ("words", "texts"):
        d = int(rng.integers(500, 3000)) * (1 if kind == "words" else 5)
    X = texts(rng, n, d) if kind == "texts" else ROWS[kind](rng, n, d)
    y = labels(rng, X)
    X = sp.csr_array(X) if kind == "words" else X if kind == "texts" else formed(rng, X)
    has_bias = bool(rng.random() < 0.7)
    penalty, loss = ("l1" if rng.random() < 0.3 else "l2"), str(rng.choice(["hinge", "hinge", "squared_hinge"]))
    estimator = LinearSVC(penalty, loss, C=cost(rng), fit_intercept=has_bias, max_seconds=SECONDS["words"], n_jobs=1)
    return Case("words", seed, kind, X, y, None, estimator)


def _left_out(rng: Any, seed: int) -> Case:
    kind = str(rng.choice(["grid", "counts", "plain", "pairs", "near_duplicates"]))
    n, d = int(rng.integers(4, 15)), int(rng.integers(1, 5))
    X = ROWS[kind](rng, n, d)
    y = labels(rng, X)
    weights = rng.choice([0.0, 0.5, 1.0, 2.0], size=n) if rng.random() < 0.3 else None
    if weights is not None:
        for label in (0, 1):
            weights[np.flatnonzero(y == label)[0]] = 1.0
    settings: dict[str, Any] = {
        "C": cost(rng, -2, 3),
        "loss": str(rng.choice(["hinge", "hinge", "squared_hinge"])),
        "fit_intercept": bool(rng.random() < 0.7),
        "max_seconds": SECONDS["left_out"],
        "n_jobs": 1,
    }
    if rng.random() < 0.5:
        return Case("left_out", seed, kind, X, y, weights, LinearSVC(**settings))
    gamma = float(rng.choice([0.1, 1.0]))
    return Case("left_out", seed, kind, X, y, weights, SVC(kernel="rbf", gamma=gamma, **settings))


def _units(rng: Any, seed: int) -> Case:
    """A linear or a kernel problem with all features in one other unit; γ and C follow it, or do not."""
    case = _linear(rng, seed) if rng.random() < 0.4 else _kernels(rng, seed)
    settings = case.estimator.get_params()
    kernel = settings.get("kernel")
    furthest = 0 if isinstance(kernel, Custom | FeatureMap) else 25 if case.X.dtype == np.float32 else 60
    power = int(rng.integers(-furthest, furthest + 1))
    # A Gram matrix stays positive semi-definite only where no entry is rounded.
    unit = 2.0 ** (3 * power) if kernel == "precomputed" else 10.0**power
    changes: dict[str, Any] = {}
    if kernel == "poly":
        changes["degree"] = int(rng.choice([1, 2, 3, 5, 7, 20]))
    if isinstance(settings.get("gamma"), float) and kernel != "precomputed" and rng.random() < 0.8:
        changes["gamma"] = settings["gamma"] / unit**2
    elif isinstance(settings.get("C"), float) and kernel in (None, "linear", "precomputed") and rng.random() < 0.8:
        changes["C"] = settings["C"] / unit ** (1 if kernel == "precomputed" or settings.get("penalty") == "l1" else 2)
    X = case.X * case.X.dtype.type(unit)
    estimator = case.estimator.set_params(**changes)
    return Case("units", seed, f"{case.kind} × {unit:.0e}", X, case.y, case.sample_weight, estimator)


_MAKERS = {"linear": _linear, "kernels": _kernels, "words": _words, "large": _large, "left_out": _left_out, "units": _units}
