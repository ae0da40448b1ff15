"""The files that a call passes through: ``python -m tests.routes`` prints them in the order in which they are first entered.

Three calls, each after a first run that loads what it needs: ``LinearSVC().fit`` on a text matrix, ``SVC().fit`` and ``predict``
on 20 000 rows, ``leave_one_out(SVC())`` on 400 rows. A file counts when one of its functions is entered, in whatever thread; what
runs while a module is imported does not count. Files of compiled loops are counted aside: numba reports a loop that Python calls,
not the loops that this one calls.
"""

import argparse
import inspect
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from benchmarks.datasets import clusters, zipf
from maxmargin import SVC, LinearSVC, leave_one_out
from maxmargin import __file__ as package

FOLDER = Path(package).parent
LOOPS = "_loops/"


@dataclass(frozen=True)
class Route:
    """What one call enters: the function first entered by file, in order."""

    files: dict[str, str]
    loops: dict[str, str]


@dataclass
class Recorder:
    """A profile function that notes the first function entered of each file, while it is on."""

    is_on: bool = False
    entered: dict[str, str] = field(default_factory=dict)
    _seen: set[CodeType] = field(default_factory=set)

    def __call__(self, frame: FrameType, event: str, _argument: object) -> None:
        """Note a call; anything else costs a look."""
        if not self.is_on or event != "call" or frame.f_code in self._seen:
            return
        code = frame.f_code
        path = code.co_filename
        if not path.startswith(str(FOLDER)) or path in self.entered:
            self._seen.add(code)
        elif code.co_flags & inspect.CO_NEWLOCALS and not _is_importing(frame):  # a class's body has none
            self.entered.setdefault(path, code.co_qualname)

    def route(self) -> Route:
        """What was entered since the last call of this."""
        files = {Path(path).relative_to(FOLDER).as_posix(): name for path, name in self.entered.items()}
        self.entered, self._seen = {}, set()
        return Route(
            files={path: name for path, name in files.items() if not path.startswith(LOOPS)},
            loops={path: name for path, name in files.items() if path.startswith(LOOPS)},
        )


def _is_importing(frame: FrameType | None) -> bool:
    """Whether a module of the package is being executed further up."""
    while frame is not None:
        if frame.f_code.co_name == "<module>" and frame.f_code.co_filename.startswith(str(FOLDER)):
            return True
        frame = frame.f_back
    return False


@contextmanager
def recording() -> Iterator[Recorder]:
    """Install a recorder in this thread and those that start meanwhile; from Python 3.12 on in those that run already, too."""
    recorder = Recorder()
    here, others = sys.getprofile(), threading.getprofile()
    set_others: Callable[[Any], None] = getattr(threading, "setprofile_all_threads", threading.setprofile)
    set_others(recorder)
    sys.setprofile(recorder)
    try:
        yield recorder
    finally:
        recorder.is_on = False
        set_others(others)
        sys.setprofile(here)


def route_of(call: Callable[[], object]) -> Route:
    """The route of a call, after a first run of it. The recorder is there from the start, for threads that outlive that run."""
    with recording() as recorder:
        call()
        recorder.is_on = True
        call()
        recorder.is_on = False
        return recorder.route()


def linear_fit(n: int = 3000, n_words: int = 5000) -> Callable[[], object]:
    """A linear fit on a made-up text matrix."""
    X, y = zipf(n, n_words, 60)
    return lambda: LinearSVC().fit(X, y)


def kernel_fit(n: int = 20_000) -> Callable[[], object]:
    """A fit with a kernel, and predictions of its rows."""
    X, y = clusters(n, 20, 2)
    return lambda: SVC().fit(X, y).predict(X)


def left_out(n: int = 400) -> Callable[[], object]:
    """Leave-one-out with a kernel."""
    X, y = clusters(n, 20, 2)
    return lambda: leave_one_out(SVC(), X, y)


ROUTES: dict[str, tuple[str, Callable[[], Callable[[], object]], int]] = {
    "linear": ("LinearSVC().fit, text, 3000 × 5000", linear_fit, 29),
    "kernel": ("SVC().fit and predict, 20 000 rows", kernel_fit, 38),
    "left_out": ("leave_one_out(SVC()), 400 rows", left_out, 46),
}
"""By name: what is called, what prepares it, and how many files it may enter at most."""


def shown(title: str, route: Route, limit: int) -> str:
    """One route."""
    rows = [f"{title}: {len(route.files)} files, limit {limit}; {len(route.loops)} files of loops"]
    rows += [f"  {i:2}  {path:<44} {name}" for i, (path, name) in enumerate(route.files.items(), 1)]
    rows += [f"   ·  {path:<44} {name}" for path, name in route.loops.items()]
    return "\n".join(rows) + "\n"


def main(arguments: list[str]) -> int:
    """Print the routes that are named, or all."""
    parser = argparse.ArgumentParser(prog="python -m tests.routes", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="ROUTE", help=f"of {', '.join(ROUTES)}; all if none is named")
    given = parser.parse_args(arguments)
    if unknown := [name for name in given.names if name not in ROUTES]:
        parser.error(f"unknown: {', '.join(unknown)}; the routes are {', '.join(ROUTES)}")
    counts = []
    for name in given.names or ROUTES:
        title, prepare, limit = ROUTES[name]
        route = route_of(prepare())
        sys.stdout.write(shown(title, route, limit) + "\n")
        sys.stdout.flush()
        counts.append(f"{name} {len(route.files)} (limit {limit})")
    sys.stdout.write(", ".join(counts) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
