"""Linear regression against LIBLINEAR's, `-s 13` (dual coordinate descent), at equal certified relative gap; no bias.

Standardised features and targets. LIBLINEAR does not give its dual point, so that it is judged by its objective alone: its gap is
taken to be the distance to our dual value at a gap of a thousandth of the goal, which is less than what it could prove itself.
"""

import warnings
from typing import Any

import numpy as np
import sklearn.svm

from benchmarks import datasets, family
from benchmarks.calibration import Trial
from benchmarks.contenders import Contender
from benchmarks.options import Options, case_name, select
from benchmarks.race import Race, Task, report
from benchmarks.summary import Floor, geometric_mean
from benchmarks.timing import timed, timed_fit
from maxmargin import LinearSVR

CASES = ((0.1, 1e-3), (1.0, 1e-3), (100.0, 1e-3))
"""C and gap."""

FIRST_EPOCHS = 1000
FLOORS = (Floor("LIBLINEAR", None, min, 1.0), Floor("LIBLINEAR", None, geometric_mean, 3.0))


def ours(C: float, tol: float, max_seconds: float | None) -> LinearSVR:
    """Our estimator."""
    return LinearSVR(C=C, epsilon=family.EPSILON, tol=tol, max_seconds=max_seconds, fit_intercept=False)


class Liblinear(Contender):
    """scikit-learn's LinearSVR, in one thread."""

    name = "LIBLINEAR"
    package = "scikit-learn"

    def __init__(self) -> None:
        self._duals: dict[tuple[int, float], float] = {}

    def train(self, X: Any, y: Any, C: float, tol: float, epochs: int, loud: bool = False) -> Any:
        """Fit; the limit is one of sweeps."""
        machine = sklearn.svm.LinearSVR(C=C, epsilon=family.EPSILON, tol=tol, max_iter=epochs, fit_intercept=False)
        return machine.fit(X, y)

    def read(self, model: Any, printed: str, y: Any, C: float) -> Any:
        """Nothing is printed that the model does not hold."""
        return model

    def gap(self, model: Any, X: Any, y: Any, C: float) -> float:
        """The distance of its objective to a proved lower bound of the best one."""
        key = (id(X), C)
        if key not in self._duals:
            self._duals[key] = ours(C, 1e-6, None).fit(X, y).certificate_.dual
        excess = np.maximum(np.abs(y - X @ model.coef_) - family.EPSILON, 0.0)
        primal = 0.5 * float(model.coef_ @ model.coef_) + C * float(excess.sum())
        return (primal - self._duals[key]) / primal


def run_once(contender: Contender, X: Any, y: Any, C: float, tol: float, epochs: int) -> Trial:
    """Train, and judge what was learnt unless the limit ended it."""
    assert isinstance(contender, Liblinear)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model, seconds = timed(lambda: contender.train(X, y, C, tol, epochs))
    is_capped = bool(model.n_iter_ >= epochs)
    return Trial(tol, epochs, seconds, np.inf if is_capped else contender.gap(model, X, y, C), is_capped)


def run(options: Options) -> None:
    """Run, print, save and draw."""
    X, y = family.regression(family.REGRESSION[0], 1500)
    timed_fit(ours(CASES[0][0], 1e-3, None), X, y)
    tasks = []
    for name in select(options.data, family.REGRESSION):
        X, y = family.regression(name, options.rows)
        title = name if datasets.shared(name) is not None else f"{name} (synthetic)"
        for C, gap in options.cases or CASES:
            notes = {"case": case_name(C, gap), "rows": X.shape[0], "columns": X.shape[1]}
            tasks.append(Task(title, X, y, C, gap, notes))
    peer = Liblinear()
    part = "linear_svr_part" if options.is_narrowed and not options.merge else "linear_svr"
    Race(ours, {peer.name: peer}, run_once, first_epochs=FIRST_EPOCHS).run(part, tasks, options)
    report(part, FLOORS)
