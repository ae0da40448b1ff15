"""Threads: one BLAS thread at a time, for whoever asks, and short turns: the guards of settings that belong to the whole process.

Small matrix products lose more to waking a second thread than they gain, and their bits depend on the number of threads. Under
the guard every product runs on one thread; whoever has enough work for more starts threads of its own above it.
"""

import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, TypeVar

from maxmargin.errors import InvalidInputError

T = TypeVar("T")

_lock = threading.Lock()
_holders = 0
_limiter: Any = None


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread until the last of all concurrent holders leaves.

    Examples
    --------
    >>> with one_blas_thread():
    ...     pass
    """
    _enter()
    try:
        yield
    finally:
        _leave()


@lru_cache(maxsize=1)
def _controller() -> Any:
    """The BLAS libraries of this process, found once (a scan of all loaded libraries takes milliseconds)."""
    import scipy.linalg  # noqa: F401  (SciPy brings a BLAS of its own: it must be loaded to be found)
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _free_control() -> None:
    """Let this thread set OpenBLAS's limit: since 3.8 threadpoolctl hears one controlling thread, ours come and go."""
    from threadpoolctl import OpenBLASController

    if hasattr(OpenBLASController, "clear_controlling_thread"):
        OpenBLASController.clear_controlling_thread(force=True)


def _enter() -> None:
    global _holders, _limiter
    with _lock:
        _holders += 1
        if _holders == 1:
            _free_control()
            _limiter = _controller().limit(limits=1, user_api="blas")


def _leave() -> None:
    global _holders, _limiter
    with _lock:
        _holders -= 1
        if _holders == 0:
            _free_control()
            _limiter.restore_original_limits()
            _limiter = None
            _free_control()


SHORT_TURN = 2e-4
"""Seconds. Python's own 5e-3 let a thread that comes back from compiled code wait longer than that code had run."""

_short_turns = 0
_usual_turn = 0.0


@contextmanager
def short_turns() -> Iterator[None]:
    """Let Python's threads take turns sooner, until the last of all concurrent holders leaves.

    Examples
    --------
    >>> with short_turns():
    ...     sys.getswitchinterval() <= SHORT_TURN
    True
    """
    global _short_turns, _usual_turn
    with _lock:
        _short_turns += 1
        if _short_turns == 1:
            _usual_turn = sys.getswitchinterval()
            sys.setswitchinterval(min(_usual_turn, SHORT_TURN))
    try:
        yield
    finally:
        with _lock:
            _short_turns -= 1
            if _short_turns == 0:
                sys.setswitchinterval(_usual_turn)


def usable_threads(n_jobs: int | None) -> int:
    """How many threads a fit may use: `n_jobs` in scikit-learn's sense, None for as many as BLAS may use now.

    Examples
    --------
    >>> usable_threads(3)
    3
    >>> usable_threads(None) >= 1
    True
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_jobs is None:
        with _lock:
            if _holders:  # inside another fit, which has its own threads
                return 1
        limits = [pool["num_threads"] for pool in _controller().info() if pool.get("user_api") == "blas"]
        return int(max(1, min([cores, *limits])))
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int) or n_jobs == 0:
        raise InvalidInputError(f"n_jobs must be None or a whole number other than 0, got {n_jobs!r}.")
    return n_jobs if n_jobs > 0 else max(1, cores + 1 + n_jobs)


_pool: ThreadPoolExecutor | None = None


def together(tasks: Sequence[Callable[[], T]], n_threads: int) -> list[T]:
    """Run tasks at the same time where there are threads for it; their results in order.

    All tasks have ended when this returns or raises. The helper threads are kept for the next call.

    Examples
    --------
    >>> together([lambda: 1, lambda: 2], n_threads=2)
    [1, 2]
    """
    if n_threads < 2 or len(tasks) < 2:
        return [task() for task in tasks]
    helpers = _helpers()
    others = [helpers.submit(task) for task in tasks[1:]]
    try:
        first = tasks[0]()
    finally:
        wait(others)
    return [first, *(other.result() for other in others)]


def begun(task: Callable[[], T], n_threads: int) -> Callable[[], T]:
    """Begin a task beside the caller where there is a thread for it; what is returned waits for its result.

    Examples
    --------
    >>> begun(lambda: 1, n_threads=2)()
    1
    """
    return _helpers().submit(task).result if n_threads > 1 else task


def halves(count: int, whole: int = 32) -> list[tuple[int, int]]:
    """Two ranges (begin, end) that make up 0 … count, the first a multiple of `whole`: the same for any number of threads.

    Examples
    --------
    >>> halves(100)
    [(0, 32), (32, 100)]
    """
    middle = count // (2 * whole) * whole
    return [(0, middle), (middle, count)]


def _helpers() -> ThreadPoolExecutor:
    global _pool
    with _lock:
        if _pool is None:
            _pool = ThreadPoolExecutor(max(1, (os.cpu_count() or 2) - 1), thread_name_prefix="maxmargin")
        return _pool


def _forget_helpers() -> None:
    """A forked child has no threads but its own: make new ones there."""
    global _pool, _lock
    _pool, _lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_helpers)
