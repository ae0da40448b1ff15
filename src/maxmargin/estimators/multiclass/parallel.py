"""Several problems of one fit: in threads, under one budget of seconds and one Ctrl-C, or on joblib's backend.

    with joblib.parallel_config("dask"):
        leave_one_out(LinearSVC(), X, y)

Where the user has chosen a backend that shares no memory (Dask, loky, Ray), independent work is sent there. Without such a choice
all of it runs in threads of this process, which copy nothing.
"""

import math
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from typing import Any, TypeVar

from maxmargin._loops.compile_time import Stopwatch
from maxmargin.solvers import Budget
from maxmargin.solvers.base import deferred_interrupt
from maxmargin.threads import one_blas_thread, short_turns, usable_threads

T = TypeVar("T")
Task = Callable[..., T]
Run = Callable[[int, Budget], T]


def jobs_elsewhere() -> int:
    """How many jobs the chosen backend takes at a time; 0 where it shares memory with this process, or this is its own work.

    Examples
    --------
    >>> jobs_elsewhere()
    0
    """
    from joblib.parallel import get_active_backend

    backend, n_jobs = get_active_backend()
    shares_memory = getattr(backend, "supports_sharedmem", False)
    if n_jobs in (None, 1) or shares_memory or (backend.nesting_level or 0) != 0:
        return 0
    return int(backend.effective_n_jobs(n_jobs))


def map_elsewhere(function: Callable[..., T], arguments: Iterable[tuple[Any, ...]]) -> list[T]:
    """What the function gives for each tuple of arguments, in their order, on the chosen backend."""
    from joblib import Parallel, delayed

    return list(Parallel(n_jobs=jobs_elsewhere())(delayed(function)(*those) for those in arguments))


def in_threads(train: Run[T], n_problems: int, budget: Budget, n_threads: int) -> list[T]:
    """What `train` gives for each problem 0 … n_problems − 1, each with its share of the seconds that are left.

    Ctrl-C asks all of them to stop with the best that they have; what they return then is returned here, and they say that they
    were interrupted.

    Examples
    --------
    >>> in_threads(lambda k, budget: budget.seconds is None, 3, Budget(), n_threads=2)
    [True, True, True]
    """
    stop, watch = threading.Event(), Stopwatch()
    n_threads = min(n_threads, usable_threads(-1))  # more than there are cores would wait for each other

    def share(k: int) -> T:
        seconds = budget.seconds
        if seconds is not None:
            turns = math.ceil((n_problems - k) / n_threads)
            seconds = max(seconds - watch.seconds, 0.0) / turns
        return train(k, replace(budget, seconds=seconds, stop=stop.is_set))

    with short_turns(), one_blas_thread(), ThreadPoolExecutor(n_threads) as pool:
        try:
            with deferred_interrupt():  # until all are there: the first may be at work already
                futures = [pool.submit(share, k) for k in range(n_problems)]
            wait(futures)
        except KeyboardInterrupt:
            stop.set()
        return [future.result() for future in futures]
