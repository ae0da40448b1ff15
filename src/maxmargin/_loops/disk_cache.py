"""Compiled loops on disk, kept under the content of all of `_loops`.

numba's own cache looks at one file: a function that calls a changed function of another file, or imports a changed constant,
would run its old code. Here the folder is named after a hash of every source file of this package and of the versions that
compiled code depends on. Changed sources are therefore compiled again, and unchanged ones are loaded.

Folders: ``NUMBA_CACHE_DIR`` alone where it is set; else the ``__pycache__`` of this package, then numba's cache folder of the
user. Code is loaded from each of them and written to the first that can be written. Each file carries its own checksum and
appears at once (written aside, then renamed), so that several processes can share a folder.

Imports numba where it is used: `maxmargin info` and the tests can import this module without it.
"""

import contextlib
import hashlib
import os
import pickle
import shutil
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
"""The folder whose source files are hashed."""

PREFIX = "maxmargin_loops_"
"""The start of the name of a folder of compiled loops; a hash follows."""

KEPT = 8
"""Folders of other sources or versions that are kept, the last used first: room for several environments on one machine."""

RECENT = 86400.0
"""Seconds; a folder used within this time is never removed, as a running process may use it."""

CODE_OPTIONS = (
    "OPT",
    "BOUNDSCHECK",
    "LOOP_VECTORIZE",
    "SLP_VECTORIZE",
    "DEBUGINFO_DEFAULT",
    "EXTEND_VARIABLE_LIFETIMES",
    "USING_SVML",
    "LLVM_REFPRUNE_PASS",
    "LLVM_REFPRUNE_FLAGS",
    "JIT_COVERAGE",
)
"""numba's settings that change the code; the processor's name and features are in numba's own key."""


def source_hash() -> str:
    """The hash of all source files of `_loops`; empty where there are none (in a zip archive)."""
    with contextlib.suppress(OSError):
        return _hash_of(tuple(sorted(_source_files(str(HERE)))))
    return ""


def _source_files(folder: str) -> Iterator[tuple[str, int, int]]:
    """Path, time and size of the source files of a folder and of those below it."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                yield entry.path, entry.stat().st_mtime_ns, entry.stat().st_size
            elif entry.name != "__pycache__" and entry.is_dir():
                yield from _source_files(entry.path)


@lru_cache(maxsize=1)
def _hash_of(files: tuple[tuple[str, int, int], ...]) -> str:
    total = hashlib.sha256()
    for path, _, _ in files:
        with open(path, "rb") as file:
            content = file.read()
        total.update(f"{Path(path).relative_to(HERE).as_posix()} {len(content)}\n".encode() + content)
    return total.hexdigest() if files else ""


def folders(sources: str) -> list[Path]:
    """Where compiled loops of these sources may be, in the order of preference; none where there are no sources."""
    from numba import config

    return _folders(sources, config.CACHE_DIR) if sources else []


def folder_in_use() -> Path | None:
    """The folder that has loops of the present sources, or else the one that is tried first."""
    tried = folders(source_hash())
    return next((folder for folder in tried if folder.is_dir()), tried[0] if tried else None)


@lru_cache(maxsize=1)
def _folders(sources: str, chosen: str) -> list[Path]:
    import llvmlite
    import numba
    import numpy as np
    from numba.misc.appdirs import AppDirs

    versions = (
        numba.__version__,
        llvmlite.__version__,
        np.__version__,
        sys.implementation.cache_tag,
        sys.version_info[:3],
    )
    name = PREFIX + hashlib.sha256(f"{sources} {versions}".encode()).hexdigest()[:32]
    user = Path(AppDirs(appname="numba", appauthor=False).user_cache_dir)
    return [parent / name for parent in ([Path(chosen)] if chosen else [HERE / "__pycache__", user])]


class LoopCache:
    """What numba's dispatcher asks for compiled code: the interface of `numba.core.caching._Cache`."""

    def __init__(self, function: Callable[..., Any]) -> None:
        module = function.__module__.removeprefix(f"{__package__}.")
        self._name = f"{module}.{function.__qualname__}-{function.__code__.co_firstlineno}"
        self._sources = source_hash()
        self._folders = folders(self._sources)
        self._is_on = True

    @property
    def cache_path(self) -> str | None:
        """The preferred folder; numba shows it in ``stats``."""
        return str(self._folders[0]) if self._folders else None

    def load_overload(self, signature: Any, target: Any) -> Any:
        """The compiled code for these types, or None: then numba compiles."""
        from numba.core.compiler import CompileResult

        target.refresh()
        key = _key(signature, target.codegen())
        for folder in self._folders if self._is_on else ():
            found = _read(folder / self._file(key), key)
            if found is not None:
                _touch(folder)
                return CompileResult._rebuild(target, *found)
        _say("compiling", "compiling the loops that this needs takes some seconds; this happens once.")
        return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep new code, unless the sources changed since they were loaded: then it is not theirs."""
        if not self._is_on or compiled.library.has_dynamic_globals or source_hash() != self._sources:
            return
        from numba.core.serialize import dumps

        key = _key(signature, compiled.codegen)
        content = dumps((key, compiled._reduce()))
        if not any(_write(folder / self._file(key), content) for folder in self._folders):
            _say(
                "nowhere",
                "compiled loops cannot be written to disk, so that every process compiles them again. "
                "Set NUMBA_CACHE_DIR to a folder that can be written.",
            )

    def flush(self) -> None:
        """Neither load nor save from now on: `Dispatcher.recompile`, which calls this, is for globals changed by hand."""
        self._is_on = False

    def enable(self) -> None:
        """Load and save."""
        self._is_on = True

    def disable(self) -> None:
        """Neither load nor save."""
        self._is_on = False

    def _file(self, key: Any) -> str:
        return f"{self._name}.{hashlib.sha256(repr(key).encode()).hexdigest()[:32]}.code"


def _key(signature: Any, codegen: Any) -> Any:
    from numba import config

    options = tuple(f"{name}={getattr(config, name, None)}" for name in CODE_OPTIONS)
    return signature, codegen.magic_tuple(), options


def _read(path: Path, key: Any) -> Any:
    try:
        content = path.read_bytes()
    except OSError:
        return None
    if hashlib.sha256(content[32:]).digest() != content[:32]:  # damaged
        return None
    found, compiled = pickle.loads(content[32:])
    return compiled if found == key else None


def _write(path: Path, content: bytes) -> bool:
    aside = path.with_name(f"{path.name}.{uuid.uuid4().hex[:16]}")
    try:
        if not path.parent.is_dir():
            path.parent.mkdir(parents=True)
            _remove_old(path.parent)
        aside.write_bytes(hashlib.sha256(content).digest() + content)
        aside.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            aside.unlink()
        return path.is_file()  # Windows refuses to replace a file that another process reads
    return True


def _touch(folder: Path) -> None:
    with contextlib.suppress(OSError):
        os.utime(folder)


def _remove_old(mine: Path) -> None:
    """Remove other folders beside this one: all but the KEPT last used, and none that is in use."""
    used = []
    for folder in mine.parent.glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            if folder != mine:
                used.append((folder.stat().st_mtime, folder))
    for when, folder in sorted(used, reverse=True)[KEPT:]:
        if time.time() - when > RECENT:
            shutil.rmtree(folder, ignore_errors=True)


_said: set[str] = set()


def _say(what: str, sentence: str) -> None:
    """One line on stderr, once in a process; never with MAXMARGIN_QUIET=1."""
    if what in _said or os.environ.get("MAXMARGIN_QUIET", "0") not in ("", "0") or sys.stderr is None:
        return
    _said.add(what)
    with contextlib.suppress(OSError, ValueError):  # a closed stderr
        sys.stderr.write(f"maxmargin: {sentence}\n")
        sys.stderr.flush()
