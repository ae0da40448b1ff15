"""The peers of the kernel suite: they train SVC(kernel="rbf"), and `certify` judges the duals that they keep."""

import warnings
from importlib import import_module
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from benchmarks.calibration import Trial
from benchmarks.contenders import Contender
from benchmarks.timing import timed
from maxmargin import SVC
from maxmargin.core import Candidate, Problem, certify
from maxmargin.estimators.multiclass.one_vs_one import unpack_dual
from maxmargin.threads import one_blas_thread, usable_threads

CACHE_MB = 1024
"""What our own fit takes by default, so what the peers are given."""

FIRST_ITERATIONS = 10_000
"""A peer whose steps can be limited is first given so many: with 100 000 samples they take minutes."""


class KernelContender(Contender):
    """A library with an SVC of scikit-learn's shape."""

    module: ClassVar[str]

    def __init__(self, gamma: float | str = "scale"):
        self.gamma = gamma

    def train(self, X: Any, y: Any, C: float, tol: float, epochs: int, loud: bool = False) -> Any:
        """Fit; the limit is one of iterations."""
        return self.machine(C, tol, epochs).fit(X, y)

    def machine(self, C: float, tol: float, epochs: int) -> Any:
        """The estimator, not fitted."""
        svc = import_module(self.module).SVC
        return svc(C=C, kernel="rbf", gamma=self.gamma, cache_size=CACHE_MB, **self.settings(tol, epochs))

    def settings(self, tol: float, iterations: int) -> dict[str, Any]:
        """The tolerance, and how iterations are limited, if they are."""
        return {"tol": tol, "max_iter": iterations}

    def was_capped(self, model: Any, iterations: int) -> bool:
        """Whether the limit ended a fit."""
        return bool(np.max(model.n_iter_) >= iterations)

    def read(self, model: Any, printed: str, y: Any, C: float) -> Any:
        """Nothing is printed that the model does not hold."""
        return model


class ScikitLearn(KernelContender):
    """LIBSVM in one thread. It hears no Ctrl-C and no clock, so its iterations are limited."""

    name = "scikit-learn"
    package = "scikit-learn"
    module = "sklearn.svm"
    most_epochs = 200_000_000


class ScikitLearnIntelex(KernelContender):
    """oneDAL's SVC in all cores; its iterations are of another kind, and are not limited."""

    name = "scikit-learn-intelex"
    package = "scikit-learn-intelex"
    module = "sklearnex.svm"

    def settings(self, tol: float, iterations: int) -> dict[str, Any]:
        """No limit; a tolerance of 1 is refused."""
        return {"tol": min(tol, 0.9)}

    def was_capped(self, model: Any, iterations: int) -> bool:
        """Never."""
        return False


def run_once(contender: Contender, X: Any, y: Any, C: float, tol: float, epochs: int) -> Trial:
    """Train, and certify what was learnt unless the limit ended it."""
    assert isinstance(contender, KernelContender)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model, seconds = timed(lambda: contender.train(X, y, C, tol, epochs))
    is_capped = contender.was_capped(model, epochs)
    gap = np.inf if is_capped else certified_gap(model, X, y, C)
    return Trial(tol, epochs, seconds, gap, is_capped)


def certified_gap(model: Any, X: Any, y: Any, C: float) -> float:
    """The largest relative gap of a fitted SVC's binary problems: P from its duals and intercept, D from its duals."""
    ours = SVC(C, gamma=model.gamma)
    X, labels, weights = ours._validated(X, y, None)
    dual_coef = model.dual_coef_.toarray() if sp.issparse(model.dual_coef_) else np.asarray(model.dual_coef_)
    table = np.zeros((len(dual_coef), len(labels)))
    table[:, np.asarray(model.support_, dtype=np.intp)] = dual_coef
    gaps = []
    with one_blas_thread():
        problems, betas = ours._problems(X, labels, weights), unpack_dual(table, labels, len(ours.classes_))
        for problem, beta, b in zip(problems, betas, np.ravel(model.intercept_), strict=True):
            gaps.append(_gap(problem, beta, float(b)))
    return max(gaps)


def _gap(problem: Problem, beta: Any, b: float) -> float:
    candidate = Candidate(beta, b, beta)
    return certify(problem, candidate, n_threads=usable_threads(None)).relative_gap


KERNEL: dict[str, Contender] = {peer.name: peer for peer in (ScikitLearn(), ScikitLearnIntelex())}
