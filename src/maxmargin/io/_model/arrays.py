"""Arrays as .npy members: what the header says of them is all that is believed, and it is checked.

A member is NumPy's format 1.0, written here so that its first bytes follow from dtype, shape and order alone: a reader compares
them instead of parsing them.
"""

import hashlib
import re
from typing import Any

import numpy as np

from maxmargin.errors import ModelFileError, NotSupportedError
from maxmargin.io._model.archive import Archive

PLAIN = ("<f8", "<f4", "<f2", "<i8", "<i4", "<i2", "|i1", "<u8", "<u4", "<u2", "|u1", "|b1")
"""Numbers and truth values."""

TEXT = re.compile(r"(<U|\|S)([1-9][0-9]{0,6})")
"""Texts and bytes of a fixed length."""

LARGEST_SIDE = 2**48
LARGEST_CHARACTER = 0x10FFFF


def member_name(name: str) -> str:
    """The member that holds an array."""
    return f"{name}.npy"


def describe(name: str, array: np.ndarray[Any, Any]) -> tuple[dict[str, Any], list[Any]]:
    """(what the header says of an array, its member's bytes in pieces)."""
    dtype = array.dtype.newbyteorder("<")
    if dtype.str not in PLAIN and not TEXT.fullmatch(dtype.str):
        raise NotSupportedError(f"A model file holds numbers, truth values and texts; {name} has dtype {array.dtype}.")
    is_fortran = array.ndim == 2 and array.flags.f_contiguous and not array.flags.c_contiguous
    stored = np.asarray(array, dtype=dtype, order="F" if is_fortran else "C")
    entry = {"dtype": dtype.str, "shape": list(stored.shape), "order": "F" if is_fortran else "C"}
    prefix = npy_prefix(dtype.str, stored.shape, is_fortran)
    content = (stored.T if is_fortran else stored).reshape(-1).view(np.uint8).data if stored.size else b""
    digest = hashlib.sha256(prefix)
    digest.update(content)
    return {**entry, "sha256": digest.hexdigest()}, [prefix, content]


def npy_prefix(dtype: str, shape: tuple[int, ...], is_fortran: bool) -> bytes:
    """The first bytes of an .npy file: magic, version 1.0, and the description, padded to a multiple of 64.

    Examples
    --------
    >>> npy_prefix("<f8", (3,), False)[10:70]
    b"{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }   "
    """
    text = f"{{'descr': {dtype!r}, 'fortran_order': {is_fortran}, 'shape': {shape}, }}".encode()
    text += b" " * (-(10 + len(text) + 1) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


def read_array(archive: Archive, name: str, entry: Any) -> np.ndarray[Any, Any]:
    """The array that the header describes; its size is compared with the member's before anything is read."""
    dtype, shape, is_fortran, digest = _checked_entry(name, entry)
    member = archive.members.get(member_name(name))
    if member is None:
        raise _wrong(name, "the archive has no such member")
    prefix = npy_prefix(dtype.str, shape, is_fortran)
    count = 1
    for side in shape:
        count *= side
    if member.size != len(prefix) + count * dtype.itemsize:
        raise _wrong(name, f"{member.size} bytes where dtype {dtype.str} and shape {shape} need another number")
    buffer = bytearray(member.size)
    archive.read(member.name, memoryview(buffer))
    if hashlib.sha256(buffer).hexdigest() != digest:
        raise _wrong(name, "its SHA-256 is not that of the header")
    if buffer[: len(prefix)] != prefix:
        raise _wrong(name, "its own description contradicts the header")
    _check_bytes(name, dtype, np.frombuffer(buffer, dtype=np.uint8, offset=len(prefix)))
    flat = np.frombuffer(buffer, dtype=dtype, offset=len(prefix))
    return flat.reshape(shape, order="F" if is_fortran else "C").astype(dtype.newbyteorder("="), copy=False)


def _checked_entry(name: str, entry: Any) -> tuple[np.dtype[Any], tuple[int, ...], bool, str]:
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "order", "sha256"}:
        raise _wrong(name, "the header must give its dtype, shape, order and sha256")
    dtype, shape, order, digest = entry["dtype"], entry["shape"], entry["order"], entry["sha256"]
    if not isinstance(dtype, str) or (dtype not in PLAIN and not TEXT.fullmatch(dtype)):
        raise _wrong(name, f"dtype {dtype!r} is none that a model file holds")
    is_shape = isinstance(shape, list) and 1 <= len(shape) <= 2
    if not is_shape or not all(type(side) is int and 0 <= side <= LARGEST_SIDE for side in shape):
        raise _wrong(name, f"shape {shape!r} is not one or two whole numbers")
    if order not in ("C", "F") or (order == "F" and len(shape) != 2):
        raise _wrong(name, f"order {order!r} is neither 'C' nor, for two dimensions, 'F'")
    if not isinstance(digest, str):
        raise _wrong(name, "its sha256 is no text")
    return np.dtype(dtype), tuple(shape), order == "F", digest


def _check_bytes(name: str, dtype: np.dtype[Any], content: np.ndarray[Any, Any]) -> None:
    """Truth values are 0 or 1, characters are Unicode's: NumPy believes other bytes, and trips later."""
    if dtype.kind == "b" and content.max(initial=0) > 1:
        raise _wrong(name, "a truth value is neither 0 nor 1")
    if dtype.kind == "U" and content.view(np.dtype("<u4")).max(initial=0) > LARGEST_CHARACTER:
        raise _wrong(name, "a character is none of Unicode's")


def _wrong(name: str, what: str) -> ModelFileError:
    return ModelFileError(f"The model file is damaged at array {name!r}: {what}.", name)
