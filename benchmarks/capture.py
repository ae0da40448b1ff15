"""What compiled code prints: read from the file descriptor, which Python's own sys.stdout does not see (POSIX only)."""

import ctypes
import os
import sys
import tempfile
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def call_and_read(call: Callable[[], T]) -> tuple[T, str]:
    """(What the call returned, what was printed meanwhile by anyone in this process)."""
    sys.stdout.flush()
    with tempfile.TemporaryFile() as file:
        kept = os.dup(1)
        os.dup2(file.fileno(), 1)
        try:
            result = call()
        finally:
            sys.stdout.flush()
            ctypes.CDLL(None).fflush(None)
            os.dup2(kept, 1)
            os.close(kept)
        file.seek(0)
        return result, file.read().decode(errors="replace")
