"""Stochastic learning against scikit-learn's, to the same primal suboptimality; and the perceptron, epoch by epoch.

All train (λ/2)‖w‖² + mean hinge without a bias, λ = 1e-4. Suboptimality is (P(w) − D) / D with D a dual value that LinearSVC
proved, so that no claim of a learner counts. Each makes the fewest epochs, of a fixed list, whose model is within 1e-2; then
these are timed in turn and the fastest of the runs is kept. Our times include validation and the certificate. The stream comes in
pieces of 50 000 rows, to all by `partial_fit`, whose calls alone are timed: cutting a piece is not learning. "ours, certified"
runs until its own certificate says 1e-2: more than reaching it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import sklearn.linear_model

from benchmarks import datasets, results
from benchmarks.options import Options, select
from benchmarks.timing import small_sets, timed
from maxmargin import LinearSVC, PegasosSVC, Perceptron, Regularization

SETS = {"20newsgroups": 1e-4, "a9a": 1e-4, "covtype": 1e-4, "zipf_1m": 1e-4}
"""Each with its λ."""
STREAMS = ("zipf_1m",)
PIECE = 50_000
GOAL = 1e-2
EPOCHS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 28, 32, 40, 48, 64, 80, 96, 112, 128)
PERCEPTRON_EPOCHS = 10

Train = Callable[[Any, Any, float, int], tuple[Any, float]]


@dataclass(frozen=True)
class Learner:
    """A name and a way to train with λ for so many epochs: the model and its seconds."""

    name: str
    train: Train


def run(options: Options) -> None:
    """Run, print and save."""
    _warm_up()
    rows: list[results.Row] = []
    perceptrons: list[results.Row] = []
    for name in select(options.data, tuple(SETS)):
        X, y = datasets.linear_set(name)
        fresh = _race(datasets.title(name), X, y, SETS[name], name in STREAMS, options.repeats)
        results.show(datasets.title(name), fresh)
        rows += fresh
        perceptrons.append(_perceptrons(datasets.title(name), X, y, options.repeats))
        suffix = "_part" if options.is_narrowed else ""
        results.save(f"online{suffix}", rows, repeats=options.repeats)
        results.save(f"perceptron{suffix}", perceptrons, repeats=options.repeats)
    results.show(f"{PERCEPTRON_EPOCHS} epochs of the perceptron", perceptrons)


def _race(title: str, X: Any, y: Any, lam: float, is_stream: bool, repeats: int) -> list[results.Row]:
    C = Regularization.pegasos(lam)
    least = LinearSVC(C=C, fit_intercept=False, tol=1e-4).fit(X, y).certificate_.dual * lam
    chosen = {}
    for learner in _learners(is_stream):
        for epochs in EPOCHS:
            excess = _excess(learner.train(X, y, lam, epochs)[0], X, y, lam, least)
            if excess <= GOAL:
                break
        chosen[learner.name] = (learner, epochs, excess)
    seconds: dict[str, list[float]] = {name: [] for name in chosen}
    for _ in range(repeats):
        for name, (learner, epochs, _) in chosen.items():
            seconds[name].append(learner.train(X, y, lam, epochs)[1])
    ours = min(seconds["ours"])
    rows = [_row(title, name, epochs, excess, min(seconds[name]), ours) for name, (_, epochs, excess) in chosen.items()]
    if not is_stream:
        model, certified = timed(lambda: PegasosSVC(C=C, fit_intercept=False, tol=GOAL).fit(X, y))
        rows.append(_row(title, "ours, certified", model.n_iter_, _excess(model, X, y, lam, least), certified, ours))
    return rows


def _learners(is_stream: bool) -> list[Learner]:
    def ours(lam: float, epochs: int) -> Any:
        return PegasosSVC(C=Regularization.pegasos(lam), fit_intercept=False, tol=None, n_epochs=epochs)

    def theirs(lam: float, epochs: int, average: bool) -> Any:
        return sklearn.linear_model.SGDClassifier(
            loss="hinge", alpha=lam, fit_intercept=False, max_iter=epochs, tol=None, average=average, random_state=0
        )

    kinds: list[tuple[str, Callable[[float, int], Any]]] = [
        ("ours", ours),
        ("SGDClassifier", lambda lam, epochs: theirs(lam, epochs, False)),
        ("SGDClassifier, averaged", lambda lam, epochs: theirs(lam, epochs, True)),
    ]
    return [Learner(name, _streamed(make) if is_stream else _fitted(make)) for name, make in kinds]


def _fitted(make: Callable[[float, int], Any]) -> Train:
    return lambda X, y, lam, epochs: timed(lambda: make(lam, epochs).fit(X, y))


def _streamed(make: Callable[[float, int], Any]) -> Train:
    def train(X: Any, y: Any, lam: float, epochs: int) -> tuple[Any, float]:
        model, seconds = make(lam, epochs), 0.0
        for _ in range(epochs):
            for start in range(0, X.shape[0], PIECE):
                piece = X[start : start + PIECE], y[start : start + PIECE]
                seconds += timed(lambda piece=piece: model.partial_fit(*piece, classes=[-1, 1]))[1]
        return model, seconds

    return train


def _row(title: str, name: str, epochs: int, excess: float, seconds: float, ours: float) -> results.Row:
    return {
        "data": title,
        "learner": name,
        "epochs": epochs,
        "suboptimality": excess,
        "reached": excess <= GOAL,
        "seconds": seconds,
        "ratio": seconds / ours,
    }


def _excess(model: Any, X: Any, y: Any, lam: float, least: float) -> float:
    """(P(w) − D) / D."""
    w = model.coef_[0]
    primal = 0.5 * lam * float(w @ w) + float(np.maximum(0.0, 1.0 - y * (X @ w)).mean())
    return primal / least - 1.0


def _perceptrons(title: str, X: Any, y: Any, repeats: int) -> results.Row:
    """The same number of epochs of both, in turn."""
    ours, theirs = [], []
    for _ in range(repeats):
        model = Perceptron(max_iter=PERCEPTRON_EPOCHS, fit_intercept=False)
        ours.append(timed(lambda model=model: model.fit(X, y))[1])
        peer = sklearn.linear_model.Perceptron(max_iter=PERCEPTRON_EPOCHS, tol=None, fit_intercept=False, random_state=0)
        theirs.append(timed(lambda peer=peer: peer.fit(X, y))[1])
    return {"data": title, "ours": min(ours), "scikit-learn": min(theirs), "ratio": min(theirs) / min(ours)}


def _warm_up() -> None:
    """Compile the loops, or load them."""
    for X, y in small_sets():
        timed(lambda X=X, y=y: PegasosSVC(n_epochs=2, tol=None).fit(X, y))
        timed(lambda X=X, y=y: Perceptron(max_iter=2).fit(X, y))
        timed(lambda X=X, y=y: LinearSVC(fit_intercept=False).fit(X, y))
