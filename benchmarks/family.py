"""What the suites `svr`, `one_class` and `nu` share: the sets, scikit-learn as the peer, and the gap of what it learnt.

RBF, gamma="scale", standardised features and targets. scikit-learn is judged by what `certify` says of its `dual_coef_` and
`intercept_` on our problem. Its iterations are limited, as it hears no clock: a run that meets the limit is given twice as many.
"""

import warnings
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
import sklearn.svm

from benchmarks import datasets
from benchmarks.calibration import Trial
from benchmarks.contenders import Contender
from benchmarks.kernel_contenders import CACHE_MB, FIRST_ITERATIONS
from benchmarks.options import Options, case_name, select
from benchmarks.race import Race, Task, report
from benchmarks.summary import Floor, geometric_mean
from benchmarks.timing import timed, timed_fit
from maxmargin.core import Candidate, certify
from maxmargin.core.regression import unfolded
from maxmargin.threads import one_blas_thread, usable_threads

TUNED_ON = ("reg_cpu_act", "reg_2dplanes", "reg_fried")
"""The sets on which the numbers of the solver were looked at; the others are for the report alone."""

REGRESSION = (*TUNED_ON, "reg_puma8nh", "reg_houses", "reg_pwlinear")
CLOUDS = ("cod_rna", "ijcnn1", "magic", "adult")

MOST_ROWS = 6000
"""Rows of a set, drawn at random: with all of them LIBSVM takes hours."""

EPSILON = 0.1
"""Half the width of the tube, in standard deviations of the targets."""

FLOORS = (Floor("scikit-learn", None, min, 3.0), Floor("scikit-learn", None, geometric_mean, 8.0))


def regression(name: str, rows: int | None = None) -> tuple[Any, Any]:
    """Features and targets of mean 0 and variance 1; synthetic where the real ones are missing."""
    if (data := datasets.shared(name)) is None:
        rng = np.random.default_rng(0)
        X = rng.standard_normal((4000, 10))
        y = np.sin(X[:, 0]) * X[:, 1] + X[:, 2] + 0.3 * rng.standard_normal(4000)
    else:
        X, y = np.asarray(data["X_train"], dtype=np.float64), np.asarray(data["y_train"], dtype=np.float64)
    at = np.random.default_rng(0).permutation(len(y))[:rows]
    return standardised(X[at]), standardised(y[at])


def cloud(name: str, rows: int | None = None) -> tuple[Any, Any]:
    """Features, and classes that one-class machines do not look at."""
    if (data := datasets.shared(name)) is None:
        X, y = datasets.clusters(4000, 10, 2)
    else:
        X, y = data["X_train"], data["y_train"]
    at = np.random.default_rng(0).permutation(len(y))[:rows]
    X = X[np.sort(at)]
    return standardised(np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)), np.asarray(y)[np.sort(at)]


def standardised(values: Any) -> Any:
    """Mean 0 and variance 1 in each column."""
    return (values - values.mean(axis=0)) / np.maximum(values.std(axis=0), 1e-12)


class ScikitLearn(Contender):
    """LIBSVM in one thread; `make` is its class, from the trade-off to parameters."""

    name = "scikit-learn"
    package = "scikit-learn"
    most_epochs: ClassVar[int] = 200_000_000

    def __init__(self, kind: str, ours: Callable[..., Any], **options: Any) -> None:
        self.kind, self.ours, self.options = kind, ours, options

    def train(self, X: Any, y: Any, C: float, tol: float, epochs: int, loud: bool = False) -> Any:
        """Fit; the limit is one of iterations."""
        trade_off = {"SVR": "C", "NuSVR": "C"}.get(self.kind, "nu")
        machine = getattr(sklearn.svm, self.kind)
        return machine(tol=tol, max_iter=epochs, cache_size=CACHE_MB, **{trade_off: C}, **self.options).fit(X, y)

    def read(self, model: Any, printed: str, y: Any, C: float) -> Any:
        """Nothing is printed that the model does not hold."""
        return model

    def gap(self, model: Any, X: Any, y: Any, C: float) -> float:
        """The relative gap of our problem at its dual variables and its best bias."""
        judge = self.ours(C=C, tol=1e-3, max_seconds=None)
        rows, targets, weights = judge._validated(X, y, None)
        (problem,) = judge._problems(rows, targets, weights)
        signed = np.zeros(len(y))
        signed[model.support_] = model.dual_coef_[0]
        beta, b = signed, float(model.intercept_[0])
        if problem.period < problem.n:
            beta = unfolded(signed)
        with one_blas_thread():
            return certify(problem, Candidate(beta, b, beta), n_threads=usable_threads(None)).relative_gap


def run_once(contender: Contender, X: Any, y: Any, C: float, tol: float, epochs: int) -> Trial:
    """Train, and certify what was learnt unless the limit ended it."""
    assert isinstance(contender, ScikitLearn)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model, seconds = timed(lambda: contender.train(X, y, C, tol, epochs))
    is_capped = bool(np.max(model.n_iter_) >= epochs)
    return Trial(tol, epochs, seconds, np.inf if is_capped else contender.gap(model, X, y, C), is_capped)


def race(
    suite: str, ours: Callable[..., Any], peer: ScikitLearn, data: Callable[..., Any], names: tuple[str, ...],
    cases: tuple[tuple[float, float], ...], options: Options,
) -> None:  # fmt: skip
    """Run a suite, print, save and draw."""
    X, y = data(names[0], 400)
    timed_fit(ours(C=cases[0][0], tol=1e-3, max_seconds=None), X, y)
    X, y = data(names[0], 1500)
    timed_fit(ours(C=cases[0][0], tol=1e-3, max_seconds=None), X, y)
    tasks = []
    for name in select(options.data, names):
        X, y = data(name, options.rows or MOST_ROWS)
        title = name if datasets.shared(name) is not None else f"{name} (synthetic)"
        for C, gap in options.cases or cases:
            notes = {"case": case_name(C, gap), "rows": X.shape[0], "columns": X.shape[1]}
            tasks.append(Task(title, X, y, C, gap, notes))
    part = f"{suite}_part" if options.is_narrowed and not options.merge else suite
    Race(ours, {peer.name: peer}, run_once, first_epochs=FIRST_ITERATIONS).run(part, tasks, options)
    report(part, FLOORS)
