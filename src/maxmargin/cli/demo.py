"""``maxmargin demo``: the library in a few seconds, on data that scikit-learn brings along."""

import time
from typing import Any

import numpy as np
from rich.console import Console, Group
from rich.padding import Padding
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from maxmargin.analysis.bounds import Bound
from maxmargin.bounds import of_model
from maxmargin.core import Certificate
from maxmargin.errors import NotSeparableError
from maxmargin.estimators import HardMarginSVC, certify

WIDTH = 100


def run_demo(console: Console | None = None) -> None:
    """Fit, certify, fail with a proof, bound and compare; prints as it goes."""
    console = Console(width=min(Console().width, WIDTH)) if console is None else console
    console.print(Panel(Text("maxmargin: every answer carries its proof", justify="center"), style="bold"))
    with console.status("loading the compiled loops (the very first time: compiling them)"):
        HardMarginSVC(solver="constraint_generation").fit([[0.0], [1.0]], [0, 1])
    _separable(console)
    _not_separable(console)
    _bounds(console)
    _speed(console)
    console.print(Rule(style="dim"))
    console.print("Next: `from maxmargin import HardMarginSVC`, and the pages in docs/.")


def _separable(console: Console) -> None:
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    started = time.perf_counter()
    model = HardMarginSVC().fit(X, y)
    seconds = time.perf_counter() - started
    _title(console, "1. A hard margin", f"breast cancer, {X.shape[0]} samples × {X.shape[1]} features, not even scaled")
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
    _say(console, f"With an RBF kernel there is one: margin {model.certificate_.margin:.3g}.")


def _bounds(console: Console) -> None:
    X, y = _two_clouds(4000, 5)
    model = HardMarginSVC(fit_intercept=False).fit(X, y)
    _title(console, "3. What the margin promises", "two well separated clouds, 4000 samples × 5 features")
    table = Table(box=None, header_style="bold", padding=(0, 2, 0, 0))
    for heading, justify in (("bound", "left"), ("value", "right"), ("", "left")):
        table.add_column(heading, justify=justify)  # type: ignore[arg-type]
    for name, bound in of_model(model, X, y).items():
        table.add_row(name.replace("_", " "), _short(bound), Text(_remarks(bound)))
    console.print(Padding(table, (1, 0, 0, 4)))


def _speed(console: Console) -> None:
    from sklearn.svm import SVC

    X, y = _two_clouds(20_000, 50, gap=0.05)
    _title(console, "4. Speed", "20 000 separable samples × 50 features")
    model = HardMarginSVC()
    ours = _seconds(model, X, y)
    gap = model.certificate_.relative_gap
    _say(console, f"maxmargin     {ours:.3f} s, proved optimal to a relative {gap:.0e}")
    with console.status("waiting for scikit-learn"):
        theirs = _seconds(SVC(kernel="linear", C=1e6), X, y)
    _say(console, f"scikit-learn  {theirs:.3f} s, SVC(kernel='linear', C=1e6), gap unknown")
    _say(console, f"That is {theirs / ours:.0f} times as fast.")


def _seconds(model: Any, X: Any, y: Any) -> float:
    started = time.perf_counter()
    model.fit(X, y)
    return time.perf_counter() - started


def certificate_table(certificate: Certificate) -> Table:
    """The numbers of a certificate as two columns."""
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_column(style="dim")
    table.add_column(justify="right")
    rows: dict[str, Any] = {
        "primal": f"{certificate.primal:.10g}",
        "dual": f"{certificate.dual:.10g}",
        "relative gap": f"{certificate.relative_gap:.1e}",
        "KKT violation": f"{certificate.kkt_violation:.1e}",
        "margin": f"{certificate.margin:.6g}",
        "support vectors": str(certificate.groups.on + certificate.groups.inside),
    }
    for name, value in rows.items():
        table.add_row(name, value)
    return table


def _two_clouds(n: int, d: int, gap: float = 1.0) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    direction = rng.normal(size=d)
    direction /= np.linalg.norm(direction)
    X = rng.normal(size=(n, d))
    y = np.where(X @ direction > 0, 1, -1)
    return X + gap * np.outer(y, direction), y


def _short(bound: Bound) -> str:
    return f"{bound.value:,}" if isinstance(bound.value, int) else f"{float(bound):.3g}"


def _remarks(bound: Bound) -> str:
    remarks = [bound.formula]
    if bound.vacuous:
        remarks.append("vacuous")
    if bound.plug_in:
        remarks.append("plug-in")
    return ", ".join(remarks)


def _title(console: Console, title: str, subtitle: str) -> None:
    console.print()
    console.print(Group(Text(title, style="bold cyan"), Text(subtitle, style="dim")))


def _say(console: Console, sentence: str) -> None:
    console.print(Padding(Text(sentence), (0, 0, 0, 4)))
