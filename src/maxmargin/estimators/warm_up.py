"""`warm_up`: compile what a typical day needs, and keep it on disk."""

import os
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin._loops.compile_time import COMPILE_TIME
from maxmargin.errors import NotSupportedError
from maxmargin.estimators.inspect import certify
from maxmargin.estimators.leave_one_out import leave_one_out
from maxmargin.estimators.linear import LinearSVC
from maxmargin.estimators.stochastic.pegasos import PegasosSVC
from maxmargin.estimators.stochastic.perceptron import Perceptron
from maxmargin.estimators.svc import SVC, HardMarginSVC


@dataclass(frozen=True)
class WarmUp:
    """What `warm_up` did.

    Attributes
    ----------
    seconds : float
        In all.
    compiled, loaded : int
        Loops that were compiled now; loops that were on disk already.
    folder : str or None
        Where they are kept; None where no folder can be written to.

    Examples
    --------
    >>> from maxmargin import WarmUp
    >>> print(WarmUp(21.34, compiled=40, loaded=2, folder="/home/ann/.cache"))
    21.3 s: 40 loops compiled, 2 loaded from disk. They are kept in /home/ann/.cache.
    """

    seconds: float
    compiled: int
    loaded: int
    folder: str | None

    def __str__(self) -> str:
        kept = f"They are kept in {self.folder}."
        if self.folder is None:
            kept = "They are not kept, as no folder for them can be written: set NUMBA_CACHE_DIR to one that can."
        return f"{self.seconds:.1f} s: {self.compiled} loops compiled, {self.loaded} loaded from disk. {kept}"


def warm_up(observe: Callable[[str, float], object] | None = None) -> WarmUp:
    """Compile the loops that common fits, predictions and leave-one-out need, and keep them on disk.

    It is done by small fits: linear machines on dense and sparse rows, kernel machines, hard margins, Pegasos, and leave-one-out,
    in float64 and float32. A loop that is met later for the first time (Perceptron, the L1 penalty, …) is still compiled then.

    Parameters
    ----------
    observe : callable, optional
        Called with the name of each part that is done, and its seconds.

    Returns
    -------
    WarmUp
        Its words say how long it took, and where the loops are.

    Notes
    -----
    Cost: half a minute the first time, some seconds afterwards. It does nothing with ``MAXMARGIN_JIT=0``.

    Examples
    --------
    >>> from maxmargin import warm_up
    >>> warm_up().seconds > 0  # doctest: +SKIP
    True
    """
    if os.environ.get("MAXMARGIN_JIT", "1") == "0":
        raise NotSupportedError("MAXMARGIN_JIT=0 turns the compiler off, so there is nothing to compile. Unset it to warm up.")
    before, started = _counts(), time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, fits in PARTS.items():
            began = time.perf_counter()
            for dtype in (np.float64, np.float32):
                fits(*_clouds(dtype))
            if observe is not None:
                observe(name, time.perf_counter() - began)
    compiled, loaded, not_kept = _counts() - before
    from maxmargin._loops.disk_cache import folder_in_use

    folder = None if not_kept else folder_in_use()
    return WarmUp(time.perf_counter() - started, int(compiled), int(loaded), None if folder is None else str(folder))


def _counts() -> Any:
    return np.array([COMPILE_TIME.compiled, COMPILE_TIME.loaded, COMPILE_TIME.not_kept])


def _clouds(dtype: Any) -> tuple[Any, Any, Any]:
    """Three clouds that overlap, their labels, and which samples are of the first two."""
    from maxmargin.solvers.smo.state import SMOTuning

    n = 3 * SMOTuning.few  # with two of the classes, too, they are so many that SMO takes float32
    rng, y = np.random.default_rng(0), np.arange(n) % 3
    X = rng.standard_normal((n, 10)) + 1.5 * np.eye(3, 10)[y]
    return X.astype(dtype), y, y < 2


def _linear(X: Any, y: Any, two: Any) -> None:
    wide = sp.csr_matrix(np.where(X > 1.0, X, 0))
    for rows in (X, wide):
        for loss in ("hinge", "squared_hinge"):
            for C in (1.0, 100.0):
                model = LinearSVC(loss=loss, C=C).fit(rows, y)
        model.certified_predictions(rows)
        for solver in ("dual_cd", "proximal_newton", "smo"):
            LinearSVC(solver=solver, tol=1e-6).fit(rows[two], y[two])
        certify(model, rows, y)


def _kernel(X: Any, y: Any, two: Any) -> None:
    for rows in (X, sp.csr_matrix(np.where(X > 1.0, X, 0))):
        for model in (SVC(), SVC(C=100.0), SVC(kernel="poly"), SVC(kernel="linear"), SVC(loss="squared_hinge")):
            model.fit(rows, y).predict(rows)
        certify(model, rows, y)
    SVC(tol=1e-9).fit(X[two], y[two]).decision_function(X[:1])


def _hard(X: Any, y: Any, two: Any) -> None:
    X, y = X[two] + 5 * np.eye(3, 10, dtype=X.dtype)[y[two]], y[two]
    for kernel in ("linear", "rbf"):
        HardMarginSVC(kernel=kernel).fit(X, y)
    HardMarginSVC().fit(X + 1e4, y)  # so far from the origin that scores are computed in twice the precision


def _left_out(X: Any, y: Any, two: Any) -> None:
    for model in (SVC(C=10.0), LinearSVC()):
        leave_one_out(model, X[two], y[two])
    leave_one_out(SVC(), X, y)


def _stochastic(X: Any, y: Any, two: Any) -> None:
    for model in (PegasosSVC(), Perceptron()):
        model.fit(X[two], y[two])


PARTS = {
    "linear machines": _linear,
    "kernel machines": _kernel,
    "hard margins": _hard,
    "leave-one-out": _left_out,
    "Pegasos and perceptron": _stochastic,
}
"""What is fitted, by the name that is shown."""
