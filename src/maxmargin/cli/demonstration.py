"""What `maxmargin demo` shows: the library in less than a minute, on data that scikit-learn brings along."""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.padding import Padding
from rich.text import Text
from sklearn import svm
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.preprocessing import StandardScaler

import maxmargin
from maxmargin._loops.compile_time import Stopwatch, seconds_in_words
from maxmargin.cli.about import bounds_table, loo_tables, proof_parts, proofs
from maxmargin.cli.options import Screen
from maxmargin.estimators import SVC, HardMarginSVC, certify, leave_one_out
from maxmargin.rounding import shown_above

WIDTH = 100


def run_demo(report: str | None) -> None:
    """Fit, certify, fail with a proof, leave out, bound, compare, write a page; prints as it goes."""
    page = (Path(tempfile.mkdtemp(prefix="maxmargin_"), "maxmargin_demo.html") if report is None else Path(report)).absolute()
    _say(Text("maxmargin: every answer carries its proof", style="bold"), indent=0)
    with Console().status("working (on the first run: compiling the loops)"):
        cancer = load_breast_cancer()
        _hard_margins(cancer, load_iris())
        _left_out(cancer, page)
        _two_clouds()
    ending = Text(f"A page about the model of part 3 was written to {page}. Open it in a browser.", style="bold")
    _say("", ending, "Next: maxmargin fit --help, `from maxmargin import SVC`, and the pages in docs/.", indent=0)


def _hard_margins(cancer: Any, iris: Any) -> None:
    X, y, model = cancer.data, cancer.target, HardMarginSVC()
    seconds, compile_seconds = _seconds(model, X, y)
    _part("1. A hard margin", f"breast cancer, {X.shape[0]} samples × {X.shape[1]} features, unscaled")
    _say(f"Fitted in {seconds_in_words(seconds, compile_seconds)}. The certificate, recomputed from the data:")
    _say(*proof_parts(proofs(model, certify(model, X, y))))
    X, y = iris.data[iris.target > 0], iris.target_names[iris.target[iris.target > 0]]
    _part("2. No hyperplane, and why", "iris: versicolor against virginica")
    try:
        HardMarginSVC().fit(X, y)
    except maxmargin.NotSeparableError as error:
        _say(str(error), f"Anyone can check the witness. {error.witness.check()}")
    model = HardMarginSVC(kernel="rbf", gamma=0.5).fit(X, y)
    _say(f"With an RBF kernel there is a hyperplane; its margin is {model.certificate_.margin:.3g}.")


def _left_out(cancer: Any, page: Path) -> None:
    X, y = StandardScaler().fit_transform(cancer.data), cancer.target_names[cancer.target]
    _part("3. A kernel machine, and every sample left out once", "breast cancer, scaled; SVC, RBF kernel, C = 10")
    model = SVC(C=10).fit(X, y)
    _say(str(certify(model, X, y)))
    result = leave_one_out(model, X, y)
    _say(f"Exact leave-one-out: {result.n} models, of which {result.n_retrained} had to be retrained.")
    _say("", *loo_tables(result))
    maxmargin.report(model, X, y, page, feature_names=cancer.feature_names, leave_one_out=result, title="maxmargin demo")


def _two_clouds() -> None:
    X, y = _clouds(4000, 5)
    bounds = maxmargin.bounds.of_model(HardMarginSVC(fit_intercept=False).fit(X, y), X, y)
    _part("4. What the margin promises", "two well separated clouds, 4000 samples × 5 features")
    _say("", *bounds_table(bounds))
    X, y = _clouds(20_000, 50, gap=0.05)
    _part("5. Speed", "20 000 separable samples × 50 features")
    model = HardMarginSVC()
    ours, compile_seconds = _seconds(model, X, y)
    proved = "certified" if model.certificate_.is_certified else "not certified"
    took = seconds_in_words(ours, compile_seconds)
    _say(f"maxmargin     {took}, {proved}: relative gap {shown_above(model.certificate_.relative_gap, 2)}")
    theirs, _ = _seconds(svm.SVC(kernel="linear", C=1e6), X, y)
    _say(f"scikit-learn  {seconds_in_words(theirs)}, SVC(kernel='linear', C=1e6), gap unknown")
    _say(f"maxmargin was {theirs / ours:.0f} times as fast.")


def _seconds(model: Any, X: Any, y: Any) -> tuple[float, float]:
    """Of fitting, and of compiling."""
    watch = Stopwatch()
    model.fit(X, y)
    return watch.seconds, watch.compile_seconds


def _clouds(n: int, d: int, gap: float = 1.0) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    direction = rng.normal(size=d)
    direction /= np.linalg.norm(direction)
    X = rng.normal(size=(n, d))
    y = np.where(X @ direction > 0, 1, -1)
    return X + gap * np.outer(y, direction), y


def _part(title: str, subtitle: str) -> None:
    _say("", Text(title, style="bold cyan"), Text(subtitle, style="dim"), indent=0)


def _say(*parts: Any, indent: int = 4) -> None:
    Screen().show(*(Padding(part, (0, 0, 0, indent)) for part in parts), width=min(Console().width, WIDTH))
