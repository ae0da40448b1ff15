"""Peak memory of a call: the kernel's high-water mark, reset before it.

Freed memory is given back, the mark reset, the call made: the peak is the mark minus what was resident before. Where
the mark cannot be reset (not Linux) it also holds what was done earlier.
"""

import ctypes
import gc
import resource
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import scipy.sparse as sp

STATUS, MARK = Path("/proc/self/status"), Path("/proc/self/clear_refs")
MB = 2**20


def peak_megabytes(call: Callable[[], Any]) -> float:
    """What a call takes at most, beyond what is resident before it."""
    gc.collect()
    if sys.platform == "linux":
        ctypes.CDLL(None).malloc_trim(0)
        MARK.write_text("5")
    before = _kilobytes("VmRSS")
    call()
    return (_kilobytes("VmHWM") - before) * 1024 / MB


def data_megabytes(X: Any) -> float:
    """What the arrays of X hold."""
    arrays = (X.data, X.indices, X.indptr) if sp.issparse(X) else (X,)
    return float(sum(array.nbytes for array in arrays)) / MB


def _kilobytes(field: str) -> int:
    if STATUS.exists():
        line = next(line for line in STATUS.read_text().splitlines() if line.startswith(f"{field}:"))
        return int(line.split()[1])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1024 if sys.platform == "darwin" else 1)
