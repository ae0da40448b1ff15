"""One way to time a call, and what is done before."""

import os
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
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

EACH_SECONDS, MOST_SECONDS = 0.3, 10.0
"""Seconds that short calls made in turn take at least, each of them; and seconds after which `FEWEST_RUNS` of them are enough."""

FEWEST_RUNS = 3


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def load_before() -> float:
    """The load of the machine before a run, for the json; a busy machine is told on the screen."""
    load = round(os.getloadavg()[0], 2)
    if load > 0.5:
        print("This machine is busy: the times will not be worth much, least of all those of threads that wait for each other.")
    return load


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


def in_turn(calls: Mapping[str, Callable[[], Any]], least_runs: int) -> dict[str, list[float]]:
    """The seconds of short calls, made in turn: so many runs, and more until each call took `EACH_SECONDS`.

    Fewer, down to `FEWEST_RUNS`, where all took more than `MOST_SECONDS`. Warnings are not shown.
    """
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    runs, is_enough = 0, False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        while not is_enough:
            for name, call in calls.items():
                started = time.perf_counter()
                call()
                seconds[name].append(time.perf_counter() - started)
            runs += 1
            totals = [sum(taken) for taken in seconds.values()]
            is_long = sum(totals) >= MOST_SECONDS and runs >= FEWEST_RUNS
            is_enough = is_long or (runs >= least_runs and min(totals) >= EACH_SECONDS)
    return seconds


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
