"""scikit-learn's LinearSVC as users have it: a penalized bias, and one-vs-rest for several classes."""

from functools import partial
from typing import Any

import numpy as np

from benchmarks import calibration
from benchmarks.calibration import hinge_objective, relative_gap
from benchmarks.contenders import Answer, ScikitLearn, printed_duals

FIRST_EPOCHS = 1000
"""Its default `max_iter`."""


class PenalizedBias(ScikitLearn):
    """The bias is the weight of a constant column; there is a dual value for each class."""

    fit_intercept = True

    def read(self, model: Any, printed: str, y: Any, C: float) -> Answer:
        """Weights with the bias behind them, a row for each problem, and the dual values."""
        w = np.column_stack([model.coef_, model.intercept_])
        return Answer(w, np.array(printed_duals(printed)), int(model.n_iter_))


def worst_gap(X: Any, y: Any, answer: Answer, C: float) -> float:
    """The largest relative gap of the classes' problems."""
    rows, classes = np.column_stack([X, np.ones(len(y))]), np.unique(y)
    signs = [np.where(y == label, 1.0, -1.0) for label in (classes if len(classes) > 2 else classes[1:])]
    problems = zip(signs, answer.w, answer.dual, strict=True)
    return max(relative_gap(hinge_objective(rows, sign, w, C), float(dual)) for sign, w, dual in problems)


run_once = partial(calibration.run_once, gap_of=worst_gap)
