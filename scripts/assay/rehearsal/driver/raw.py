"""Host memory by address: what a caller's pointers point to."""

from __future__ import annotations

import ctypes
import struct

import numpy as np

from ..arrays import Bytes
from .codes import DriverError

POINTER = 8
"""Bytes of a pointer on both architectures."""


def host_view(address: int, size: int) -> Bytes:
    """Return host memory in place, shape (size,).

    Raises:
        DriverError: the pointer is null (``INVALID_VALUE``).
    """
    if not address:
        raise DriverError("INVALID_VALUE", "a pointer is null")
    view: Bytes = np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address))
    return view


def read(address: int, size: int) -> bytes:
    """Return ``size`` bytes of host memory.

    Raises:
        DriverError: the pointer is null (``INVALID_VALUE``).
    """
    if not address:
        raise DriverError("INVALID_VALUE", "a pointer is null")
    return ctypes.string_at(address, size)


def read_string(address: int) -> bytes:
    """Return the bytes of a C string, without its NUL.

    Raises:
        DriverError: the pointer is null (``INVALID_VALUE``).
    """
    if not address:
        raise DriverError("INVALID_VALUE", "a pointer is null")
    return ctypes.string_at(address)


def read_text(address: int) -> str:
    """Return a C string as text.

    Raises:
        DriverError: the pointer is null or the text no UTF-8 (``INVALID_VALUE``).
    """
    try:
        return read_string(address).decode()
    except UnicodeDecodeError as error:
        raise DriverError("INVALID_VALUE", "a name is no UTF-8") from error


def unpack(form: str, address: int) -> tuple[int, ...]:
    """Return the members of a structure, by ``struct``'s format (little-endian, no padding of its own)."""
    return struct.unpack(f"<{form}", read(address, struct.calcsize(f"<{form}")))


def put(address: int, form: str, *values: float) -> None:
    """Write values by ``struct``'s format.

    Raises:
        DriverError: the pointer is null (``INVALID_VALUE``).
    """
    put_bytes(address, struct.pack(f"<{form}", *values))


def put_bytes(address: int, data: bytes) -> None:
    """Write bytes.

    Raises:
        DriverError: the pointer is null (``INVALID_VALUE``).
    """
    if not address:
        raise DriverError("INVALID_VALUE", "a pointer is null")
    ctypes.memmove(address, data, len(data))


def put_text(address: int, size: int, text: str) -> None:
    """Write as much of a text as ``size`` bytes hold with the NUL behind it.

    Raises:
        DriverError: there is no room at all, or the pointer is null (``INVALID_VALUE``).
    """
    if size < 1:
        raise DriverError("INVALID_VALUE", f"a buffer of {size} bytes")
    put_bytes(address, text.encode()[: size - 1] + b"\0")


def put_handle(address: int, handle: int) -> None:
    """Write a handle or pointer."""
    put(address, "Q", handle)


def put_int(address: int, value: int) -> None:
    """Write an ``int``."""
    put(address, "i", value)


def put_size(address: int, value: int) -> None:
    """Write a ``size_t`` where the caller asked for it: a null pointer is no wish."""
    if address:
        put(address, "Q", value)
