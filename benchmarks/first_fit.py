"""What compiling costs: the first fit ever (empty cache of compiled loops), and the first in a process (filled cache).

Each in a fresh process, over the same fit once more; the slowest of a wide sparse, a tall dense and a tall sparse set. Run as
``python -m benchmarks.first_fit NUMBER`` it is that process.
"""

import json
import sys
import tempfile

from benchmarks.fresh_process import run_fresh
from benchmarks.timing import small_sets, timed_fit
from maxmargin import LinearSVC


def measure() -> dict[str, float]:
    """Seconds over the fit itself."""
    ever: list[float] = []
    in_process: list[float] = []
    for number in range(len(small_sets())):
        with tempfile.TemporaryDirectory() as cache:
            for seconds in (ever, in_process):
                seconds.append(run_fresh("benchmarks.first_fit", str(number), NUMBA_CACHE_DIR=cache))
    return {"first fit ever": round(max(ever), 2), "first fit in a process": round(max(in_process), 2)}


if __name__ == "__main__":
    X, y = small_sets()[int(sys.argv[1])]
    first, second = (timed_fit(LinearSVC(fit_intercept=False), X, y)[1] for _ in range(2))
    print(json.dumps(first - second))
