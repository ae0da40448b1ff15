"""A zip file with one layout: members stored as they are, one behind the other, and nothing else.

Every unzip reads it. We read nothing but this layout: each byte that is not a member's is compared with what we would have
written, so that no member is compressed (no bombs), overlaps another, hides behind a second directory or goes on past the end.
"""

import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any

from maxmargin.errors import ModelFileError

LOCAL, CENTRAL, END = struct.Struct("<4s5H3I2H"), struct.Struct("<4s6H3I5H2I"), struct.Struct("<4s4H2IH")
VERSION, NO_FLAGS, STORED, MIDNIGHT, FIRST_DAY = 20, 0, 0, 0, 0x21
MAX_BYTES = 2**32 - 1
"""What the numbers of a plain zip file hold."""

MAX_MEMBERS = 64
MAX_NAME = 64
CHUNK = 1 << 20


@dataclass(frozen=True)
class Member:
    """Where a member's bytes lie, and their checksum."""

    name: str
    start: int
    size: int
    crc: int

    def local_header(self) -> bytes:
        """What stands before the bytes."""
        name = self.name.encode()
        sizes = (self.crc, self.size, self.size, len(name), 0)
        return LOCAL.pack(b"PK\x03\x04", VERSION, NO_FLAGS, STORED, MIDNIGHT, FIRST_DAY, *sizes) + name

    def directory_entry(self) -> bytes:
        """What the directory says."""
        name = self.name.encode()
        begin = self.start - LOCAL.size - len(name)
        fixed = (VERSION, VERSION, NO_FLAGS, STORED, MIDNIGHT, FIRST_DAY, self.crc, self.size, self.size, len(name))
        return CENTRAL.pack(b"PK\x01\x02", *fixed, 0, 0, 0, 0, 0, begin) + name


def _end(n_members: int, size: int, start: int) -> bytes:
    return END.pack(b"PK\x05\x06", 0, 0, n_members, n_members, size, start, 0)


def write_archive(file: IO[bytes], members: Sequence[tuple[str, Sequence[Any]]]) -> None:
    """Write members, each a name and its bytes in pieces; the caller keeps to `MAX_BYTES`."""
    at, entries = 0, []
    for name, pieces in members:
        crc, size = 0, 0
        for piece in pieces:
            crc, size = zlib.crc32(piece, crc), size + len(piece)
        member = Member(name, at + LOCAL.size + len(name.encode()), size, crc)
        file.write(member.local_header())
        for piece in pieces:
            file.write(piece)
        entries.append(member.directory_entry())
        at = member.start + size
    directory = b"".join(entries)
    file.write(directory + _end(len(entries), len(directory), at))


def archive_size(members: Sequence[tuple[str, Sequence[Any]]]) -> int:
    """How many bytes `write_archive` writes."""
    names = sum(len(name.encode()) for name, _ in members)
    content = sum(len(piece) for _, pieces in members for piece in pieces)
    return content + 2 * names + len(members) * (LOCAL.size + CENTRAL.size) + END.size


class Archive:
    """The members of an open file, found and checked without reading them."""

    def __init__(self, file: IO[bytes], size: int) -> None:
        self._file = file
        self.members = {member.name: member for member in self._found(size)}

    def _found(self, size: int) -> Iterator[Member]:
        if size < END.size:
            raise _damaged("the end of the archive", "the file is truncated")
        end = self._at(size - END.size, END.size)
        _, _, _, n_members, _, length, start, _ = END.unpack(end)
        if end != _end(n_members, length, start) or start + length + END.size != size:
            raise _damaged("the end of the archive", "the file is truncated, or something follows it")
        if not 0 < n_members <= MAX_MEMBERS or length > MAX_MEMBERS * (CENTRAL.size + MAX_NAME):
            raise _damaged("the archive's directory", f"{n_members} members, at most {MAX_MEMBERS} are possible")
        directory, at, expected, seen = self._at(start, length), 0, 0, set()
        for _ in range(n_members):
            member, entry = _parse(directory, at)
            at += len(entry)
            if member.name in seen or member.directory_entry() != entry:
                raise _damaged("the archive's directory", f"the entry of {member.name!r} is not as we write it")
            seen.add(member.name)
            header = member.local_header()
            if member.start != expected + len(header) or member.start + member.size > start:
                raise _damaged("the archive's directory", f"{member.name!r} is not where it should be")
            if self._at(expected, len(header)) != header:
                raise _damaged(member.name, "its header contradicts the archive's directory")
            expected = member.start + member.size
            yield member
        if at != length or expected != start:
            raise _damaged("the archive's directory", "bytes that belong to no member")

    def read(self, name: str, buffer: memoryview) -> None:
        """Fill a buffer of the member's size, and compare its checksum."""
        member, crc, at = self.members[name], 0, 0
        self._file.seek(member.start)
        while at < member.size:
            count = self._file.readinto(buffer[at : at + CHUNK])  # type: ignore[attr-defined]
            if not count:
                raise _damaged(name, "the file became shorter while it was read")
            crc, at = zlib.crc32(buffer[at : at + count], crc), at + count
        if crc != member.crc:
            raise _damaged(name, "its checksum is not that of its bytes")

    def _at(self, start: int, length: int) -> bytes:
        self._file.seek(start)
        return self._file.read(length)


def _parse(directory: bytes, at: int) -> tuple[Member, bytes]:
    """(member, entry) of the directory at a place; whether the entry is right is seen by writing it again."""
    if at + CENTRAL.size > len(directory):
        raise _damaged("the archive's directory", "it ends within an entry")
    fixed = CENTRAL.unpack_from(directory, at)
    crc, size, length, begin = fixed[7], fixed[9], fixed[10], fixed[16]
    entry = directory[at : at + CENTRAL.size + length]
    name = entry[CENTRAL.size :]
    if not 0 < len(name) <= MAX_NAME or not name.isascii() or not name.decode().replace(".", "_").isidentifier():
        raise _damaged("the archive's directory", f"{name[:MAX_NAME]!r} is no name of a member")
    return Member(name.decode(), begin + LOCAL.size + len(name), size, crc), entry


def _damaged(part: str, what: str) -> ModelFileError:
    return ModelFileError(f"The model file is damaged at {part}: {what}. Take it again from where it came.", part)
