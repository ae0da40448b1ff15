"""What compiling costs, told apart from what compiled loops do. (No numba here: whoever measures time need not load it.)"""

import threading
import time
from typing import Self


class CompileTime:
    """Counts the wall-clock seconds of this process in which any thread compiles loops, or loads them (and numba) from disk.

    Seconds in which several threads do so count once. `compiled`, `loaded` and `not_kept` count loops: not_kept were compiled,
    and could not be written to disk.
    """

    def __init__(self) -> None:
        self._lock, self._depth, self._since, self._before = threading.Lock(), 0, 0.0, 0.0
        self.compiled = self.loaded = self.not_kept = 0

    @property
    def seconds(self) -> float:
        """Seconds so far."""
        with self._lock:
            return self._before + (time.perf_counter() - self._since if self._depth else 0.0)

    def __enter__(self) -> Self:
        with self._lock:
            self._depth += 1
            if self._depth == 1:
                self._since = time.perf_counter()
        return self

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._depth -= 1
            if not self._depth:
                self._before += time.perf_counter() - self._since


COMPILE_TIME = CompileTime()
"""That of this process."""


class Stopwatch:
    """Seconds since it was made: those of the work, and apart from them those of compiling.

    Where another fit compiles meanwhile in this process, its seconds do not count here either.

    Examples
    --------
    >>> watch = Stopwatch()
    >>> 0.0 <= watch.seconds < 1.0, watch.compile_seconds
    (True, 0.0)
    """

    def __init__(self) -> None:
        self._compiled, self._start = COMPILE_TIME.seconds, time.perf_counter()

    @property
    def compile_seconds(self) -> float:
        """Seconds of compiling loops, or of loading them from disk."""
        return COMPILE_TIME.seconds - self._compiled

    @property
    def seconds(self) -> float:
        """All other seconds."""
        return max(time.perf_counter() - self._start - self.compile_seconds, 0.0)

    def __str__(self) -> str:
        return seconds_in_words(self.seconds, self.compile_seconds)


def seconds_in_words(seconds: float, compile_seconds: float = 0.0) -> str:
    """What work took, and what compiling took, if anybody can have noticed.

    Examples
    --------
    >>> seconds_in_words(0.0712, 0.001)
    '0.07 s'
    """
    told = f"{seconds:.2f} s" if 0.01 <= seconds < 10.0 else f"{seconds:.3g} s"
    if compile_seconds < 0.05:
        return told
    what = "loading compiled loops"
    if COMPILE_TIME.compiled:
        what = "compiling, in each process" if COMPILE_TIME.not_kept else "compiling, once"
    return f"{told} (+ {compile_seconds:.2g} s {what})"
