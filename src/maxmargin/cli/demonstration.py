"""What `maxmargin demo` shows: the library in less than a minute, on data that scikit-learn brings along."""

import sys
import time
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console, Group
from rich.padding import Padding
from rich.panel import Panel
from rich.rule import Rule
from rich.text import Text

from maxmargin.bounds import of_model
from maxmargin.cli.about import certificate_table
from maxmargin.cli.bounds_table import bounds_table
from maxmargin.cli.loo_table import loo_tables
from maxmargin.errors import NotSeparableError
from maxmargin.estimators import SVC, HardMarginSVC, certify, leave_one_out
from maxmargin.html_report import report

WIDTH = 100


class _Paper(Console):
    """A console that lets the command say how it ends when nobody reads on."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def run_demo(page: Path, console: Console | None = None) -> None:
    """Fit, certify, fail with a proof, leave out, bound, compare, write a page; prints as it goes."""
    console = _Paper(width=min(Console().width, WIDTH)) if console is None else console
    console.print(Panel(Text("maxmargin: every answer carries its proof", justify="center"), style="bold"))
    with _busy(console, "loading the compiled loops (on the first run: compiling them)"):
        HardMarginSVC(solver="constraint_generation").fit([[0.0], [1.0]], [0, 1])
    _separable(console)
    _not_separable(console)
    _left_out(console, page)
    _bounds(console)
    _speed(console)
    console.print()
    console.print(Rule(style="dim"))
    console.print(Text(f"A page about the model of part 3 was written to {page}. Open it in a browser.", style="bold"))
    console.print("Next: maxmargin fit --help, `from maxmargin import SVC`, and the pages in docs/.")


def _separable(console: Console) -> None:
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    started = time.perf_counter()
    model = HardMarginSVC().fit(X, y)
    seconds = time.perf_counter() - started
    _title(console, "1. A hard margin", f"breast cancer, {X.shape[0]} samples × {X.shape[1]} features, unscaled")
    _say(console, f"Fitted in {seconds:.2f} s. The certificate, recomputed from the data:")
    _say(console, str(certify(model, X, y)))
    console.print(Padding(certificate_table(model.certificate_), (1, 0, 0, 4)))


def _not_separable(console: Console) -> None:
    from sklearn.datasets import load_iris

    iris = load_iris()
    X, y = iris.data[iris.target > 0], iris.target_names[iris.target[iris.target > 0]]
    _title(console, "2. No hyperplane, and why", "iris: versicolor against virginica")
    try:
        HardMarginSVC().fit(X, y)
    except NotSeparableError as error:
        _say(console, str(error))
        _say(console, f"Anyone can check the witness. {error.witness.check()}")
    model = HardMarginSVC(kernel="rbf", gamma=0.5).fit(X, y)
    _say(console, f"With an RBF kernel there is a hyperplane; its margin is {model.certificate_.margin:.3g}.")


def _left_out(console: Console, page: Path) -> None:
    from sklearn.datasets import load_breast_cancer
    from sklearn.preprocessing import StandardScaler

    cancer = load_breast_cancer()
    X, y = StandardScaler().fit_transform(cancer.data), cancer.target_names[cancer.target]
    _title(
        console, "3. A kernel machine, and every sample left out once", "breast cancer, scaled; SVC, RBF kernel, C = 10"
    )
    with _busy(console, "training"):
        model = SVC(C=10).fit(X, y)
    _say(console, str(certify(model, X, y)))
    with _busy(console, "leaving each sample out (on the first run: compiling)"):
        result = leave_one_out(model, X, y)
    _say(console, f"Exact leave-one-out: {result.n} models, of which {result.n_retrained} had to be retrained.")
    console.print()
    for table in loo_tables(result):
        console.print(Padding(table, (0, 0, 0, 2)))
    with _busy(console, "writing the page"):
        report(model, X, y, page, feature_names=cancer.feature_names, leave_one_out=result, title="maxmargin demo")


def _bounds(console: Console) -> None:
    X, y = _two_clouds(4000, 5)
    model = HardMarginSVC(fit_intercept=False).fit(X, y)
    _title(console, "4. What the margin promises", "two well separated clouds, 4000 samples × 5 features")
    console.print()
    console.print(Padding(bounds_table(of_model(model, X, y)), (0, 0, 0, 2)))


def _speed(console: Console) -> None:
    from sklearn import svm

    X, y = _two_clouds(20_000, 50, gap=0.05)
    _title(console, "5. Speed", "20 000 separable samples × 50 features")
    model = HardMarginSVC()
    ours = _seconds(model, X, y)
    gap, is_certified = model.certificate_.relative_gap, model.certificate_.is_certified
    _say(
        console,
        f"maxmargin     {ours:.3f} s, {'certified' if is_certified else 'not certified'}: relative gap {gap:.0e}",
    )
    with _busy(console, "waiting for scikit-learn"):
        theirs = _seconds(svm.SVC(kernel="linear", C=1e6), X, y)
    _say(console, f"scikit-learn  {theirs:.3f} s, SVC(kernel='linear', C=1e6), gap unknown")
    _say(console, f"maxmargin was {theirs / ours:.0f} times as fast.")


def _seconds(model: Any, X: Any, y: Any) -> float:
    started = time.perf_counter()
    model.fit(X, y)
    return time.perf_counter() - started


def _two_clouds(n: int, d: int, gap: float = 1.0) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    direction = rng.normal(size=d)
    direction /= np.linalg.norm(direction)
    X = rng.normal(size=(n, d))
    y = np.where(X @ direction > 0, 1, -1)
    return X + gap * np.outer(y, direction), y


def _busy(console: Console, what: str) -> AbstractContextManager[Any]:
    """Something that moves while one waits, on a terminal."""
    return console.status(what) if sys.stdout.isatty() else nullcontext()


def _title(console: Console, title: str, subtitle: str) -> None:
    console.print()
    console.print(Group(Text(title, style="bold cyan"), Text(subtitle, style="dim")))


def _say(console: Console, sentence: str) -> None:
    console.print(Padding(Text(sentence), (0, 0, 0, 4)))
