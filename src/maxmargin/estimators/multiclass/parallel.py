"""Several problems of one fit: in threads, under one budget of seconds and one Ctrl-C, or on joblib's backend."""

import math
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from typing import Any, TypeVar

from maxmargin.estimators.multiclass.backends import elsewhere
from maxmargin.solvers import Budget
from maxmargin.solvers.base import deferred_interrupt
from maxmargin.threads import one_blas_thread, short_turns

T = TypeVar("T")
Task = Callable[..., T]
Run = Callable[[int, Budget], T]


def solve_several(
    tasks: Sequence[Task[T]], run: Run[T], budget: Budget, n_threads: int, watch: Any, takes_backends: bool
) -> list[T]:
    """The solution of each task: by `run` in threads, or by the tasks themselves where joblib's backend takes them.

    Another process tells nobody how it goes on, so that a watch hears of the ends alone.
    """
    backend = elsewhere() if takes_backends else None
    if backend is None:
        return in_threads(run, len(tasks), budget, n_threads)
    solutions = backend.map(_solved, [(task, budget) for task in tasks])
    for k, solution in enumerate(solutions if watch is not None else []):
        watch.begin(k)
        watch.end(k, solution)
    return solutions


def _solved(task: Task[T], budget: Budget) -> T:
    return task(budget=budget)


def in_threads(train: Run[T], n_problems: int, budget: Budget, n_threads: int) -> list[T]:
    """What `train` gives for each problem 0 … n_problems − 1, each with its share of the seconds that are left.

    Ctrl-C asks all of them to stop with the best that they have; what they return then is returned here, and they say that they
    were interrupted.

    Examples
    --------
    >>> in_threads(lambda k, budget: budget.seconds is None, 3, Budget(), n_threads=2)
    [True, True, True]
    """
    stop, start = threading.Event(), time.perf_counter()

    def share(k: int) -> T:
        seconds = budget.seconds
        if seconds is not None:
            turns = math.ceil((n_problems - k) / n_threads)
            seconds = max(seconds - (time.perf_counter() - start), 0.0) / turns
        return train(k, replace(budget, seconds=seconds, stop=stop.is_set))

    with short_turns(), one_blas_thread(), ThreadPoolExecutor(n_threads) as pool:
        try:
            with deferred_interrupt():  # until all are there: the first may be at work already
                futures = [pool.submit(share, k) for k in range(n_problems)]
            wait(futures)
        except KeyboardInterrupt:
            stop.set()
        return [future.result() for future in futures]
