"""Ctrl-C while foreign code runs that must not see an exception: noted, and raised afterwards."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def deferred_interrupt() -> Iterator[Callable[[], bool]]:
    """Within the block Ctrl-C only makes the yielded function return True; KeyboardInterrupt is raised when the block ends.

    Where Python would not raise KeyboardInterrupt here (another thread, a handler of the user's), nothing is changed.

    Examples
    --------
    >>> with deferred_interrupt() as was_interrupted:
    ...     was_interrupted()
    False
    """
    heard: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        heard.append(number)

    is_main = threading.current_thread() is threading.main_thread()
    applies = is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if applies:
        signal.signal(signal.SIGINT, note)
    try:
        yield lambda: bool(heard)
    finally:
        if applies:
            signal.signal(signal.SIGINT, signal.default_int_handler)
    if heard:
        raise KeyboardInterrupt
