"""Compiled loops on disk, which know the content of all of `_loops`.

numba's own cache looks at one file: a function that calls a changed function of another file, or imports a changed constant,
would run its old code. Here each file of compiled code begins with a checksum of itself and of every source file of this package.
Changed sources are therefore compiled again, in the place of the old code, and unchanged ones are loaded.

Folders: ``NUMBA_CACHE_DIR`` alone where it is set; else the ``__pycache__`` of this package, then numba's cache folder of the
user. Code is loaded from each of them and written to the first that can be written. A file appears at once (written aside, then
renamed), so that several processes can share a folder. Its name depends on the place of this package and on all versions, so that
several environments can, too.
"""

import contextlib
import hashlib
import os
import pickle
import sys
import uuid
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps
from numba.misc.appdirs import AppDirs

from maxmargin._loops.compile_time import COMPILE_TIME

HERE = Path(__file__).parent
"""The folder whose source files are hashed."""

VERSIONS = (numba.__version__, llvmlite.__version__, np.__version__, sys.implementation.cache_tag, sys.version_info[:3])
CODE_OPTIONS = (
    *("OPT", "BOUNDSCHECK", "LOOP_VECTORIZE", "SLP_VECTORIZE", "DEBUGINFO_DEFAULT", "EXTEND_VARIABLE_LIFETIMES"),
    *("USING_SVML", "LLVM_REFPRUNE_PASS", "LLVM_REFPRUNE_FLAGS", "JIT_COVERAGE"),
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
        content = Path(path).read_bytes()
        total.update(f"{Path(path).relative_to(HERE).as_posix()} {len(content)}\n".encode() + content)
    return total.hexdigest() if files else ""


def folders(sources: str) -> list[Path]:
    """Where compiled loops may be, in the order of preference; none where there are no sources."""
    user = Path(AppDirs(appname="numba", appauthor=False).user_cache_dir)
    parents = [Path(numba.config.CACHE_DIR)] if numba.config.CACHE_DIR else [HERE / "__pycache__", user]
    return [parent / "maxmargin_loops" for parent in parents] if sources else []


def folder_in_use() -> Path | None:
    """The first folder that is there, or else the one that is tried first."""
    tried = folders(source_hash())
    return next((folder for folder in tried if folder.is_dir()), tried[0] if tried else None)


class LoopCache:
    """What numba's dispatcher asks for compiled code: the interface of `numba.core.caching._Cache`."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._name = f"{function.__module__.removeprefix(f'{__package__}.')}.{function.__qualname__}"
        self._line = function.__code__.co_firstlineno
        self._sources, self._is_on = source_hash(), True
        self._folders = folders(self._sources)

    @property
    def cache_path(self) -> str | None:
        """The preferred folder; numba shows it in ``stats``."""
        return str(self._folders[0]) if self._folders else None

    def load_overload(self, signature: Any, target: Any) -> Any:
        """The compiled code for these types, or None: then numba compiles."""
        target.refresh()
        for folder in self._folders if self._is_on else ():
            with contextlib.suppress(OSError):
                content = (folder / self._file(signature, target.codegen())).read_bytes()
                checksum, code = content[:32], content[32:]
                if checksum == self._checksum(code):  # else it is damaged, or of other sources
                    COMPILE_TIME.loaded += 1
                    return CompileResult._rebuild(target, *pickle.loads(code))
        COMPILE_TIME.compiled += 1  # under numba's lock
        _say("compiling", "compiling the loops that this needs takes some seconds; this happens once.")
        return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep new code, unless the sources changed since they were loaded: then it is not theirs."""
        if not self._is_on or compiled.library.has_dynamic_globals or source_hash() != self._sources:
            return
        try:
            code = dumps(compiled._reduce())
        except RuntimeError:
            # numba did not get LLVM's code, as it happened when Ctrl-C came meanwhile. The loop runs, and is not kept.
            return
        content, name = self._checksum(code) + code, self._file(signature, compiled.codegen)
        if not any(_write(folder / name, content) for folder in self._folders):
            COMPILE_TIME.not_kept += 1
            _say(
                "nowhere",
                "compiled loops cannot be written to disk, so that every process compiles them again. "
                "Set NUMBA_CACHE_DIR to a folder that can be written.",
            )

    def enable(self) -> None:
        """Load and save."""
        self._is_on = True

    def disable(self) -> None:
        """Neither load nor save."""
        self._is_on = False

    flush = disable
    """`Dispatcher.recompile`, which calls this, is for globals changed by hand."""

    def _file(self, signature: Any, codegen: Any) -> str:
        """A name for these types on this processor, with these versions and settings, of this copy of the package."""
        options = [getattr(numba.config, name, None) for name in CODE_OPTIONS]
        key = repr((signature, codegen.magic_tuple(), options, VERSIONS, str(HERE)))
        return f"{self._name}.{hashlib.sha256(key.encode()).hexdigest()[:32]}.code"

    def _checksum(self, code: bytes) -> bytes:
        return hashlib.sha256(f"{self._sources} {self._line}".encode() + code).digest()


def _write(path: Path, content: bytes) -> bool:
    aside = path.with_name(f"{path.name}.{uuid.uuid4().hex[:16]}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        aside.write_bytes(content)
        aside.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            aside.unlink()
        return path.is_file()  # Windows refuses to replace a file that another process reads
    return True


_said: set[str] = set()


def _say(what: str, sentence: str) -> None:
    """One line on stderr, once in a process; never with MAXMARGIN_QUIET=1."""
    if what in _said or os.environ.get("MAXMARGIN_QUIET", "0") not in ("", "0") or sys.stderr is None:
        return
    _said.add(what)
    with contextlib.suppress(OSError, ValueError):  # a closed stderr
        sys.stderr.write(f"maxmargin: {sentence}\n")
        sys.stderr.flush()
