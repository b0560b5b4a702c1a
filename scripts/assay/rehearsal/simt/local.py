"""Local memory: each thread's own bytes, with a shadow of what was written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Addresses, Array
from ..ptx.values import aligned
from .access import Access, Update, misaligned
from .dtypes import RAW
from .unsupported import TrapError

if TYPE_CHECKING:
    from .chunk import Chunk
    from .lanes import Lanes

MAX_LOCAL = 512 << 10
"""Bytes of local memory of a thread (CUDA C++ Programming Guide, "Technical Specifications")."""


class LocalSpace:
    """Local memory of the threads of a chunk; it grows with the depth of calls.

    Args:
        chunk: whose.
        limit: bytes that all of it may take, shadow included.
    """

    def __init__(self, chunk: Chunk, limit: int) -> None:
        self._chunk = chunk
        self._limit = limit
        self._stride = 0
        self._data = np.zeros(0, np.uint8)
        self._written = np.zeros(0, np.uint8)

    def ensure(self, size: int) -> None:
        """Let every thread have at least ``size`` bytes.

        Raises:
            TrapError: that is more than a thread, or the chunk, may have.
        """
        if size <= self._stride:
            return
        stride = aligned(size, 16)
        if stride > MAX_LOCAL or 2 * stride * self._chunk.threads > self._limit:
            raise TrapError(
                "memory", f"{stride} bytes of local memory for each of {self._chunk.threads} threads"
            )
        self._data = self._grown(self._data, stride)
        self._written = self._grown(self._written, stride)
        self._stride = stride

    def _grown(self, held: Array, stride: int) -> Array:
        larger = np.zeros((self._chunk.threads, stride), np.uint8)
        larger[:, : self._stride] = held.reshape(self._chunk.threads, self._stride)
        return larger.reshape(-1)

    def release(self, lanes: Lanes, start: int, size: int) -> None:
        """Forget what these threads wrote: the function returned whose variables these bytes held."""
        if size:
            shadow = self._written.reshape(self._chunk.threads, self._stride)
            shadow[lanes.threads(), start : start + size] = 0

    def load(self, lanes: Lanes, address: Addresses, access: Access) -> tuple[Array, ...]:
        """Return the elements: see ``access.Space``."""
        offset, right = self._offsets(lanes, lanes.all(address), access)
        self._check(lanes, offset, right, access)
        elements = self._data.view(RAW[access.size])
        index = (offset if right is None else offset[right]) // access.size
        found = tuple(elements[index + j] for j in range(access.count))
        return found if right is None else tuple(_spread(value, right) for value in found)

    def store(self, lanes: Lanes, address: Addresses, access: Access, values: tuple[Array, ...]) -> None:
        """Write the elements: see ``access.Space``."""
        offset, right = self._offsets(lanes, lanes.all(address), access)
        elements = self._data.view(RAW[access.size])
        shadow = self._written.view(RAW[access.size])
        index = (offset if right is None else offset[right]) // access.size
        for j, value in enumerate(values):
            elements[index + j] = value if right is None or value.shape[0] == 1 else value[right]
            shadow[index + j] = self._marks(lanes, right, access, j)

    def atomic(self, lanes: Lanes, address: Addresses, access: Access, update: Update) -> Array:
        """Apply an operation: see ``access.Space``; a thread's local memory is its own."""
        offset, right = self._offsets(lanes, lanes.all(address), access)
        self._check(lanes, offset, right, access)
        where = None if right is None else np.flatnonzero(right)
        index = (offset if right is None else offset[right]) // access.size
        old = update(self._data.view(RAW[access.size]), index, where)
        return old if right is None else _spread(old, right)

    def _offsets(self, lanes: Lanes, address: Addresses, access: Access) -> tuple[Array, Array | None]:
        wrong = misaligned(lanes, address, access)
        offset = np.ascontiguousarray(address).view(np.int64)
        outside = (offset < 0) | (offset > self._stride - access.span)
        if outside.any():
            first = int(address[outside][0])
            place = f"offset {first:#x} of local memory, which is not allocated"
            message = f"an access of {access.span} bytes at {place}"
            lanes.chunk.note("out-of-bounds", access.site, message, lanes.threads()[outside], first)
            wrong = outside if wrong is None else wrong | outside
        return offset + lanes.threads() * self._stride, None if wrong is None else ~wrong

    def _check(self, lanes: Lanes, offset: Array, right: Array | None, access: Access) -> None:
        """Note reads of elements none of whose bytes was written."""
        shadow = self._written.view(RAW[access.size])
        threads = lanes.threads() if right is None else lanes.threads()[right]
        index = (offset if right is None else offset[right]) // access.size
        for j in range(access.count):
            missing = shadow[index + j] == 0
            if missing.any():
                place = (index[missing] + j) * access.size % self._stride
                what = f"a read of {access.size} bytes at offset {{}} of local memory"
                lanes.chunk.undefined.read(access.site, j, threads[missing], place, what)

    def _marks(self, lanes: Lanes, right: Array | None, access: Access, j: int) -> Array:
        """Return the shadow of an element that is stored; what nothing wrote stays unwritten by a copy."""
        kind = RAW[access.size]
        written: Array = np.array([_ALL_WRITTEN & ((1 << 8 * access.size) - 1)], kind)
        storing = lanes.chunk.undefined.storing
        ids = storing[j] if storing else None
        if ids is None:
            return written
        threads = lanes.threads() if right is None else lanes.threads()[right]
        marks: Array = np.where(ids[threads] > 0, kind.type(0), written)
        return marks


_ALL_WRITTEN = 0x0101010101010101


def _spread(value: Array, right: Array) -> Array:
    spread = np.zeros(right.size, value.dtype)
    spread[right] = value
    return spread
