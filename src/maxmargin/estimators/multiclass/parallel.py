"""Several problems of one fit in threads, under one budget of seconds and one Ctrl-C."""

import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from typing import TypeVar

from maxmargin.solvers import Budget
from maxmargin.solvers.interrupts import deferred_interrupt
from maxmargin.threads import one_blas_thread, short_turns

T = TypeVar("T")


def in_threads(train: Callable[[int, Budget], T], n_problems: int, budget: Budget, n_threads: int) -> list[T]:
    """What `train` gives for each problem 0 … n_problems − 1, each with its share of the seconds that are left.

    Ctrl-C asks all of them to stop with the best that they have; what they return then is returned here, and they say that they
    were interrupted.

    Examples
    --------
    >>> in_threads(lambda k, budget: budget.seconds is None, 3, Budget(), n_threads=2)
    [True, True, True]
    """
    if n_problems == 1:
        return [train(0, budget)]
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
