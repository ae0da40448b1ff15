"""A zip file with one layout, and the arrays in it: members stored as they are, one behind the other, and nothing else.

Every unzip program reads it. We read nothing but this layout: each byte that is not a member's is compared with what we would
have written, so that no member is compressed (no bombs), overlaps another, hides behind a second directory or goes on past the
end. An array is a member in NumPy's format 1.0, whose first bytes follow from dtype, shape and order alone: they are compared,
not parsed.
"""

import hashlib
import math
import re
import struct
import zlib
from collections.abc import Mapping, Sequence
from typing import IO, Any

import numpy as np

from maxmargin.errors import ModelFileError, NotSupportedError

Array = np.ndarray[Any, Any]

LOCAL, CENTRAL, END = struct.Struct("<4s5H3I2H"), struct.Struct("<4s6H3I5H2I"), struct.Struct("<4s4H2IH")
"""What stands before a member; its entry in the directory; what ends the file."""

ZIP_VERSION = 20
LIKE_ALL = (ZIP_VERSION, 0, 0, 0, 0x21)
"""What all members have in common: the zip version 2.0, no flags, no compression, midnight, 1 January 1980."""

MAX_BYTES = 2**32 - 1
"""Bytes of a plain zip file."""

MAX_MEMBERS, MAX_NAME = 64, 64
"""Members of a model file, and bytes of a member's name."""

MAX_CONTENT = MAX_BYTES - MAX_MEMBERS * (LOCAL.size + CENTRAL.size + 2 * MAX_NAME) - END.size
"""Bytes of all members of a model file."""

DTYPE = re.compile(r"<[fiu][248]|\|[iub]1|(<U|\|S)[1-9][0-9]{0,6}")
"""Numbers, truth values, texts and bytes of a fixed length."""

LARGEST_SIDE = 2**48
LARGEST_CHARACTER = 0x10FFFF
END_OF_ARCHIVE, TRUNCATED = "the end of the archive", "the file is truncated or altered; get a new copy of it"


def damaged(part: str, what: str) -> ModelFileError:
    """The error of a part of a model file that is not as it should be."""
    return ModelFileError(f"The model file is damaged at {part!r}: {what}.", part)


def require(is_right: Any, part: str, what: str) -> None:
    """Refuse a part of a model file that is not right."""
    if not is_right:
        raise damaged(part, what)


def _frame(name: str, at: int, size: int, crc: int) -> tuple[bytes, bytes]:
    """What stands before the bytes of a member, from `at` on, and its entry in the directory."""
    description = (*LIKE_ALL, crc, size, size, len(name), 0)
    before = LOCAL.pack(b"PK\x03\x04", *description) + name.encode()
    return before, CENTRAL.pack(b"PK\x01\x02", ZIP_VERSION, *description, 0, 0, 0, 0, at) + name.encode()


def _end(entries: Sequence[bytes], at: int) -> bytes:
    """What follows the last member, from `at` on."""
    directory = b"".join(entries)
    return directory + END.pack(b"PK\x05\x06", 0, 0, len(entries), len(entries), len(directory), at, 0)


def write_archive(file: IO[bytes], members: Sequence[tuple[str, Sequence[Any]]]) -> None:
    """Write members, each a name (short, ASCII) and its bytes in pieces."""
    total = sum(len(piece) for _, pieces in members for piece in pieces)
    if total > MAX_CONTENT or len(members) > MAX_MEMBERS:
        what = f"The model takes {total:.3g} bytes in {len(members)} members; a file has room for {MAX_CONTENT:.3g}"
        raise NotSupportedError(f"{what} in {MAX_MEMBERS}. Train on fewer samples, with fewer steps, or pickle it.")
    entries = []
    for name, pieces in members:
        crc = 0
        for piece in pieces:
            crc = zlib.crc32(piece, crc)
        before, entry = _frame(name, file.tell(), sum(map(len, pieces)), crc)
        entries.append(entry)
        file.writelines([before, *pieces])
    file.write(_end(entries, file.tell()))


def read_archive(file: IO[bytes]) -> dict[str, bytearray]:
    """The bytes of each member of an open file; a size is compared with the file's, and a checksum with the bytes."""
    members: dict[str, bytearray] = {}
    entries: list[bytes] = []
    length = file.seek(0, 2)
    at = file.seek(0)
    while (head := file.read(LOCAL.size)).startswith(b"PK\x03\x04") and len(head) == LOCAL.size:
        crc, size, _, name_length = LOCAL.unpack(head)[6:10]
        name = file.read(name_length).decode("ascii", "replace")
        is_new = name.replace(".", "_").isidentifier() and name not in members and len(members) < MAX_MEMBERS
        require(is_new, "the archive", f"{name[:MAX_NAME]!r} is not the name of a member, or of one too many")
        before, entry = _frame(name, at, size, crc)
        require(before.startswith(head), name, "it is compressed, or its header is not as maxmargin writes it")
        require(file.tell() + size <= min(length, MAX_BYTES), END_OF_ARCHIVE, TRUNCATED)
        members[name] = bytearray(size)
        file.readinto(members[name])  # type: ignore[attr-defined]
        require(zlib.crc32(members[name]) == crc, name, "it was altered (checksum); get a new copy of the file")
        entries.append(entry)
        at = file.tell()
    end = _end(entries, at)
    require(members and head + file.read(len(end)) == end, END_OF_ARCHIVE, TRUNCATED)
    return members


def describe(name: str, array: Array) -> tuple[dict[str, Any], list[Any]]:
    """(what the header says of an array, its member's bytes in pieces)."""
    dtype = array.dtype.newbyteorder("<")
    if not DTYPE.fullmatch(dtype.str):
        raise NotSupportedError(f"A model file holds numbers, truth values and texts; {name} has dtype {array.dtype}.")
    order = "F" if array.ndim == 2 and array.flags.f_contiguous and not array.flags.c_contiguous else "C"
    stored = np.asarray(array, dtype=dtype, order="F" if order == "F" else "C")
    prefix = npy_prefix(dtype.str, stored.shape, order)
    content = stored.reshape(-1, order="A").view(np.uint8).data if stored.size else b""
    digest = hashlib.sha256(prefix)
    digest.update(content)
    entry = {"dtype": dtype.str, "shape": list(stored.shape), "order": order, "sha256": digest.hexdigest()}
    return entry, [prefix, content]


def npy_prefix(dtype: str, shape: tuple[int, ...], order: str) -> bytes:
    """The first bytes of an .npy file: magic, version 1.0, and the description, padded to a multiple of 64.

    Examples
    --------
    >>> npy_prefix("<f8", (3,), "C")[10:70]
    b"{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }   "
    """
    text = f"{{'descr': {dtype!r}, 'fortran_order': {order == 'F'}, 'shape': {shape}, }}".encode()
    text += b" " * (-(10 + len(text) + 1) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


def read_array(members: Mapping[str, bytearray], name: str, entry: Any) -> Array:
    """The array that the header describes: what it says is compared with the member's first bytes, size and SHA-256."""
    match entry:
        case {"dtype": str(said), "shape": [*shape], "order": "C" | "F" as order, "sha256": digest} if len(entry) == 4:
            are_sides = len(shape) in (1, 2) and all(type(side) is int and 0 <= side <= LARGEST_SIDE for side in shape)
            require(DTYPE.fullmatch(said), name, f"dtype {said!r} is not one that a model file holds")
            require(are_sides, name, f"shape {shape!r} is not one or two whole numbers")
        case _:
            raise damaged(name, "the header must give its dtype, shape, order and sha256")
    dtype, prefix, content = np.dtype(said), npy_prefix(said, tuple(shape), order), members.get(f"{name}.npy", b"")
    is_so = len(content) == len(prefix) + math.prod(shape) * dtype.itemsize and content.startswith(prefix)
    require(is_so, name, f"the archive has no member of dtype {said} and shape {shape}")
    require(hashlib.sha256(content).hexdigest() == digest, name, "its SHA-256 contradicts the header")
    values = np.frombuffer(content, dtype=np.uint8, offset=len(prefix))
    # NumPy would believe these bytes, and fail later.
    if dtype.kind == "b":
        require(values.max(initial=0) <= 1, name, "a truth value is neither 0 nor 1")
    if dtype.kind == "U":
        largest = values.view(np.dtype("<u4")).max(initial=0)
        require(largest <= LARGEST_CHARACTER, name, "a character is not one of Unicode's")
    array: Array = values.view(dtype).reshape(shape, order=order).astype(dtype.newbyteorder("="), copy=False)
    return array
