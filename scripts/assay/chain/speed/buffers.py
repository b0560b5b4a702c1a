"""Host memory that copy engines reach directly: pinned, or mapped by wgpu and registered with CUDA."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..cuda_calls import Cuda
from ..packages import load
from ..release import releasing

if TYPE_CHECKING:
    from ..words import Array

PORTABLE = 1
"""``CU_MEMHOSTALLOC_PORTABLE`` and ``CU_MEMHOSTREGISTER_PORTABLE``: pinned for every context."""

ITEM = 4
"""Bytes of a float32."""


@contextlib.contextmanager
def pinned(cuda: Cuda, count: int) -> Iterator[Array]:
    """Yield pinned float32 of shape (count,), pinned for PyCUDA's context too."""
    address = int(cuda.call("cuMemHostAlloc", count * ITEM, PORTABLE))
    with releasing(lambda: cuda.call("cuMemFreeHost", address)):
        yield view(address, count)


@contextlib.contextmanager
def registered(cuda: Cuda, values: Array) -> Iterator[bool]:
    """Pin memory that somebody else allocated; yield False where the driver refuses: copies are slower."""
    address = values.ctypes.data
    status, *_ = cuda.driver.cuMemHostRegister(address, values.nbytes, PORTABLE)
    if int(status):
        yield False
        return
    with releasing(lambda: cuda.call("cuMemHostUnregister", address)):
        yield True


def view(address: int, count: int) -> Array:
    """Return memory at an address as float32 of shape (count,); the caller keeps it alive."""
    numpy = load("numpy")
    memory = (ctypes.c_char * (count * ITEM)).from_address(address)
    array: Array = numpy.frombuffer(memory, dtype=numpy.float32)
    return array


def pieces(count: int, most: int, *, whole: int = 1024) -> list[slice]:
    """Return at most ``most`` slices of about equal length that cover ``count`` values.

    Each but the last is a multiple of ``whole`` values, so that every piece begins at an aligned address.
    """
    length = -(-count // most)
    length = -(-length // whole) * whole
    return [slice(begin, min(begin + length, count)) for begin in range(0, count, length)]
