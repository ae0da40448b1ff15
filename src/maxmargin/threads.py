"""Threads: guards of settings that belong to the whole process (BLAS's threads, Python's turns), and work on several threads.

Small matrix products lose more to waking a second thread than they gain, and their bits depend on the number of threads. Under
the guard every product runs on one thread. Code with enough work for more cuts it into pieces that depend on the data only
(`in_pieces`), so that its bits do not depend on the number of threads.
"""

import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache, partial
from itertools import pairwise
from typing import Any, TypeVar

from maxmargin.errors import InvalidInputError

T = TypeVar("T")

SHORT_TURN = 2e-4
"""Seconds. Python's own 5e-3 let a thread that comes back from compiled code wait longer than that code had run."""

MOST_PIECES = 16
"""Maximum number of pieces of one call. With p pieces of the same size, t threads wait for each other at most (t − 1)/p of the
time."""

_lock = threading.Lock()
_pool: ThreadPoolExecutor | None = None


class _Shared(AbstractContextManager[None]):
    """A setting of the whole process: made by the first of all concurrent holders, taken back by the last."""

    def __init__(self, setting: Callable[[], AbstractContextManager[None]]) -> None:
        self._setting, self.n_holders = setting, 0

    def __enter__(self) -> None:
        with _lock:
            self.n_holders += 1
            if self.n_holders == 1:
                self._held = self._setting()
                self._held.__enter__()

    def __exit__(self, *error: object) -> None:
        with _lock:
            self.n_holders -= 1
            if self.n_holders == 0:
                self._held.__exit__(None, None, None)


@lru_cache(maxsize=1)
def _blas() -> Any:
    """The BLAS libraries of this process, found once (a scan of all loaded libraries takes milliseconds)."""
    import scipy.linalg  # noqa: F401  (SciPy brings a BLAS of its own: it must be loaded to be found)
    from threadpoolctl import ThreadpoolController

    return [library for library in ThreadpoolController().lib_controllers if library.user_api == "blas"]


def _free_control() -> None:
    """Let this thread set OpenBLAS's limit: since 3.8 threadpoolctl obeys one controlling thread only, and ours come and go."""
    from threadpoolctl import OpenBLASController

    if hasattr(OpenBLASController, "clear_controlling_thread"):
        OpenBLASController.clear_controlling_thread(force=True)


def _limit_blas(limits: Sequence[int]) -> None:
    _free_control()
    for library, limit in zip(_blas(), limits, strict=True):
        library.set_num_threads(limit)
    _free_control()


@contextmanager
def _limited_blas() -> Iterator[None]:
    before = [library.num_threads for library in _blas()]  # and nothing else of them: the rest takes ten times as long
    _limit_blas([1] * len(before))
    yield
    _limit_blas(before)


@contextmanager
def _shortened_turns() -> Iterator[None]:
    usual = sys.getswitchinterval()
    sys.setswitchinterval(min(usual, SHORT_TURN))
    yield
    sys.setswitchinterval(usual)


_one_blas_thread, _short_turns = _Shared(_limited_blas), _Shared(_shortened_turns)


def one_blas_thread() -> AbstractContextManager[None]:
    """Hold BLAS to one thread until the last of all concurrent holders leaves.

    Examples
    --------
    >>> with one_blas_thread():
    ...     pass
    """
    return _one_blas_thread


def short_turns() -> AbstractContextManager[None]:
    """Let Python's threads take turns sooner, until the last of all concurrent holders leaves.

    Examples
    --------
    >>> with short_turns():
    ...     sys.getswitchinterval() <= SHORT_TURN
    True
    """
    return _short_turns


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
        if _one_blas_thread.n_holders:  # inside another fit, which has its own threads
            return 1
        return int(max(1, min([cores, *(library.num_threads for library in _blas())])))
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int) or n_jobs == 0:
        raise InvalidInputError(f"n_jobs must be None or a whole number other than 0, got {n_jobs!r}.")
    return n_jobs if n_jobs > 0 else max(1, cores + 1 + n_jobs)


def together(tasks: Sequence[Callable[[], T]], n_threads: int) -> list[T]:
    """Run tasks on up to `n_threads` threads; their results in order.

    Each thread takes the next task when it has ended one, and the calling thread is one of them: tasks may call this again. All
    tasks that were begun have ended when this returns or raises. The helper threads are kept for the next call.

    Examples
    --------
    >>> together([lambda: 1, lambda: 2], n_threads=2)
    [1, 2]
    """
    if n_threads < 2 or len(tasks) < 2:
        return [task() for task in tasks]
    todo, results = iter(range(len(tasks))), {}

    def work() -> None:
        for k in todo:  # whichever thread is free takes the next
            results[k] = tasks[k]()

    helpers = [_helpers().submit(work) for _ in range(min(n_threads, len(tasks)) - 1)]
    try:
        work()
    finally:
        list(todo)  # after an error nothing more is begun
        started = [helper for helper in helpers if not helper.cancel()]
        wait(started)
    for helper in started:
        helper.result()
    return [results[k] for k in range(len(tasks))]


def in_pieces(task: Callable[[int, int], T], n_items: int, n_threads: int, least: int = 1) -> list[T]:
    """What a task gives for each piece (begin, end) of 0 … n_items, in order; up to `n_threads` pieces at a time.

    The pieces depend on the number of items alone, so that results, and sums of them in order, have the same bits for any number
    of threads. There are 1, 2, 4 … or `MOST_PIECES`, so that 2 and 4 threads end together, each of `least` items at least.

    Examples
    --------
    >>> in_pieces(lambda begin, end: (begin, end), 100, n_threads=2, least=30)
    [(0, 50), (50, 100)]
    """
    count = 2 ** (max(1, min(n_items // least, MOST_PIECES)).bit_length() - 1)
    ends = [n_items * k // count for k in range(count + 1)]
    return together([partial(task, *piece) for piece in pairwise(ends)], n_threads)


def begun(task: Callable[[], T], n_threads: int) -> Callable[[], T]:
    """Begin a task beside the caller where there is a thread for it; what is returned waits for its result.

    Examples
    --------
    >>> begun(lambda: 1, n_threads=2)()
    1
    """
    return _helpers().submit(task).result if n_threads > 1 else task


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
