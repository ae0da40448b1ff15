"""One way to time a call, and what is done before."""

import os
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar
from unittest import mock

import numpy as np
import scipy.sparse as sp

from maxmargin import LinearSVC
from maxmargin.solvers.driver import _Run
from maxmargin.solvers.smo import smo

T = TypeVar("T")


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def timed(call: Callable[[], T]) -> tuple[T, float]:
    """(What the call returned, its seconds); warnings are not shown."""
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = call()
    return result, time.perf_counter() - started


def timed_fit(model: Any, X: Any, y: Any) -> tuple[Any, float]:
    """The fitted model and the seconds its fit took."""
    return timed(lambda: model.fit(X, y))


@contextmanager
def proof_seconds() -> Iterator[list[float]]:
    """A list that collects the seconds of all certificates meanwhile, on any thread, and of scores that solvers make for them."""
    seconds: list[float] = []

    def with_time(call: Callable[..., T]) -> Callable[..., T]:
        def timed_call(*arguments: Any) -> T:
            found, taken = timed(partial(call, *arguments))
            seconds.append(taken)
            return found

        return timed_call

    with (
        mock.patch.object(_Run, "judge", with_time(_Run.judge)),
        mock.patch.object(smo, "scored", with_time(smo.scored)),
    ):
        yield seconds


def small_sets() -> list[tuple[Any, Any]]:
    """A wide sparse, a tall dense and a tall sparse set: between them they use every loop of the linear solvers."""
    rng = np.random.default_rng(0)
    tall = rng.normal(size=(200, 5))
    wide = sp.csr_array(sp.random(300, 400, 0.1, format="csr", random_state=0))
    return [(X, np.where(np.arange(X.shape[0]) % 2 == 0, -1, 1)) for X in (wide, tall, sp.csr_array(tall))]


def load_loops() -> None:
    """Compile the loops of the linear solvers, or load them."""
    for X, y in small_sets():
        for solver in ("dual_cd", "proximal_newton"):
            for fit_intercept in (False, True):
                timed_fit(LinearSVC(solver=solver, fit_intercept=fit_intercept), X, y)
