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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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


def damaged(part: str, what: str) -> ModelFileError:
    """The error of a part of a model file that is not as it should be."""
    return ModelFileError(f"The model file is damaged at {part!r}: {what}.", part)


def require(is_right: Any, part: str, what: str) -> None:
    """Refuse a part of a model file that is not right."""
    if not is_right:
        raise damaged(part, what)


@dataclass(frozen=True)
class Member:
    """Where a member's bytes lie, and their checksum."""

    name: str
    start: int
    size: int
    crc: int

    @property
    def _description(self) -> tuple[int, ...]:
        return (*LIKE_ALL, self.crc, self.size, self.size, len(self.name), 0)

    def local_header(self) -> bytes:
        """What stands before the bytes."""
        return LOCAL.pack(b"PK\x03\x04", *self._description) + self.name.encode()

    def directory_entry(self) -> bytes:
        """What the directory says."""
        begin = self.start - LOCAL.size - len(self.name)
        return CENTRAL.pack(b"PK\x01\x02", ZIP_VERSION, *self._description, 0, 0, 0, 0, begin) + self.name.encode()


def _directory(members: Sequence[Member]) -> bytes:
    """What follows the last member."""
    entries = b"".join(member.directory_entry() for member in members)
    count, start = len(members), members[-1].start + members[-1].size
    return entries + END.pack(b"PK\x05\x06", 0, 0, count, count, len(entries), start, 0)


def write_archive(file: IO[bytes], members: Sequence[tuple[str, Sequence[Any]]]) -> None:
    """Write members, each a name (short, ASCII) and its bytes in pieces."""
    total = sum(len(piece) for _, pieces in members for piece in pieces)
    if total > MAX_CONTENT or len(members) > MAX_MEMBERS:
        what = f"The model takes {total:.3g} bytes; a model file has room for {MAX_CONTENT:.3g}."
        raise NotSupportedError(f"{what} Train on fewer samples, or pickle it.")
    written: list[Member] = []
    for name, pieces in members:
        crc, size = 0, 0
        for piece in pieces:
            crc, size = zlib.crc32(piece, crc), size + len(piece)
        written.append(Member(name, file.tell() + LOCAL.size + len(name), size, crc))
        file.write(written[-1].local_header())
        for piece in pieces:
            file.write(piece)
    file.write(_directory(written))


class Archive:
    """The members of an open file, found and checked without reading their content."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        found = list(self._found())
        self.members = {member.name: member for member in found}
        require(0 < len(found) == len(self.members), "the archive", "a member appears twice, or there is none")
        end = _directory(found)
        is_ours = self._at(found[-1].start + found[-1].size, len(end) + 1) == end
        require(is_ours, "the end of the archive", "the file is truncated or altered; get a new copy of it")

    def _found(self) -> Iterator[Member]:
        at = 0
        for _ in range(MAX_MEMBERS):
            head = self._at(at, LOCAL.size + MAX_NAME)
            if len(head) < LOCAL.size or not head.startswith(b"PK\x03\x04"):
                return
            crc, size, _, length = LOCAL.unpack_from(head)[6:10]
            name = head[LOCAL.size : LOCAL.size + length]
            if not name.isascii() or not name.decode().replace(".", "_").isidentifier():
                raise damaged("the archive", f"{name!r} is not the name of a member")
            member = Member(name.decode(), at + LOCAL.size + len(name), size, crc)
            if not head.startswith(member.local_header()):
                raise damaged(member.name, "it is compressed, or its header is not as maxmargin writes it")
            yield member
            at = member.start + size

    def read(self, name: str) -> bytearray:
        """The bytes of a member; their checksum is compared."""
        member = self.members[name]
        buffer = bytearray(member.size)
        self._file.seek(member.start)
        self._file.readinto(buffer)  # type: ignore[attr-defined]
        require(zlib.crc32(buffer) == member.crc, name, "it was altered (checksum); get a new copy of the file")
        return buffer

    def _at(self, start: int, length: int) -> bytes:
        self._file.seek(start)
        return self._file.read(length)


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


def read_array(archive: Archive, name: str, entry: Any) -> Array:
    """The array that the header describes; its size is compared with the member's before anything is read."""
    is_entry = isinstance(entry, dict) and set(entry) == {"dtype", "shape", "order", "sha256"}
    require(is_entry, name, "the header must give its dtype, shape, order and sha256")
    said, shape, order = entry["dtype"], entry["shape"], entry["order"]
    if not isinstance(said, str) or not DTYPE.fullmatch(said):
        raise damaged(name, f"dtype {said!r} is not one that a model file holds")
    if not isinstance(shape, list) or not all(type(side) is int and 0 <= side <= LARGEST_SIDE for side in shape):
        raise damaged(name, f"shape {shape!r} is not a list of whole numbers")
    if not 1 <= len(shape) <= 2 or order not in ("C", "F")[: len(shape)]:
        raise damaged(name, f"order {order!r} and {len(shape)} dimensions: 1 or 2 are possible, 'F' for 2 only")
    dtype, prefix = np.dtype(said), npy_prefix(said, tuple(shape), order)
    member = archive.members.get(f"{name}.npy")
    if member is None or member.size != len(prefix) + math.prod(shape) * dtype.itemsize:
        raise damaged(name, f"the archive has no member of dtype {said} and shape {shape}")
    buffer = archive.read(member.name)
    is_described = hashlib.sha256(buffer).hexdigest() == entry["sha256"] and buffer.startswith(prefix)
    require(is_described, name, "its SHA-256 or its own description contradicts the header")
    content = np.frombuffer(buffer, dtype=np.uint8, offset=len(prefix))
    # NumPy would believe these bytes, and fail later.
    if dtype.kind == "b" and content.max(initial=0) > 1:
        raise damaged(name, "a truth value is neither 0 nor 1")
    if dtype.kind == "U" and content.view(np.dtype("<u4")).max(initial=0) > LARGEST_CHARACTER:
        raise damaged(name, "a character is not one of Unicode's")
    array: Array = content.view(dtype).reshape(shape, order=order).astype(dtype.newbyteorder("="), copy=False)
    return array
