"""Files that are written whole or not at all."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from maxmargin.errors import InvalidInputError


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A file to write to that takes the place of `path` when all is written; on any error what was there stays.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "a.txt"
    ...     with replacing(path) as file:
    ...         _ = file.write(b"all of it")
    ...     path.read_bytes()
    b'all of it'
    """
    target = Path(os.path.realpath(os.fsdecode(path)))
    if target.exists() and not target.is_file():
        raise InvalidInputError(f"Cannot write {str(target)!r}: it is no regular file. Choose another place.")
    # beside the target, because os.replace does not cross file systems
    name = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    try:
        with open(name, "x+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        with suppress(OSError):  # a new file has the permissions of any new file
            os.chmod(name, target.stat().st_mode & 0o777)
        os.replace(name, target)
    except OSError as error:
        what = f"Cannot write {str(target)!r}: {error.strerror or error}. Choose another place."
        raise InvalidInputError(what) from error
    finally:
        with suppress(OSError):  # it is gone if all went well
            os.unlink(name)
