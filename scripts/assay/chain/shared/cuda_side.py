"""Vulkan's memory and semaphore as CUDA sees them: imported by file descriptor, in the primary context.

Source: CUDA driver API 13.0, "External Resource Interoperability".  An imported descriptor belongs to the
driver; one that could not be imported is closed here.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..cuda_calls import Cuda
from ..release import releasing
from ..values import CUDA_BLOCK


@dataclass(frozen=True)
class InPlace:
    """What a kernel runs on: device address, number of values, values per thread, CUDA's timeline."""

    address: int
    count: int
    each: int
    timeline: Any


_FULL = 0
"""Flags: CUDA has none that the shared path needs."""


@contextlib.contextmanager
def imported_memory(cuda: Cuda, descriptor: int, allocated: int, size: int) -> Iterator[int]:
    """Yield the device address of the first ``size`` bytes of exported memory of ``allocated`` bytes."""
    driver = cuda.driver
    handle = driver.CUDA_EXTERNAL_MEMORY_HANDLE_DESC()
    handle.type = driver.CUexternalMemoryHandleType.CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD
    handle.handle.fd, handle.size = descriptor, allocated
    with _owned(descriptor):
        memory = cuda.call("cuImportExternalMemory", handle)
    with releasing(lambda: cuda.call("cuDestroyExternalMemory", memory)):
        view = driver.CUDA_EXTERNAL_MEMORY_BUFFER_DESC()
        view.offset, view.size, view.flags = 0, size, _FULL
        address = int(cuda.call("cuExternalMemoryGetMappedBuffer", memory, view))
        with releasing(lambda: cuda.call("cuMemFree", address)):
            yield address


@contextlib.contextmanager
def imported_timeline(cuda: Cuda, descriptor: int) -> Iterator[Any]:
    """Yield an exported timeline semaphore as CUDA's."""
    driver = cuda.driver
    handle = driver.CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC()
    handle.type = driver.CUexternalSemaphoreHandleType.CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD
    handle.handle.fd = descriptor
    with _owned(descriptor):
        semaphore = cuda.call("cuImportExternalSemaphore", handle)
    with releasing(lambda: cuda.call("cuDestroyExternalSemaphore", semaphore)):
        yield semaphore


@contextlib.contextmanager
def _owned(descriptor: int) -> Iterator[None]:
    """Close a descriptor that CUDA did not take."""
    try:
        yield
    except BaseException:
        os.close(descriptor)
        raise


def enqueue_in_place(cuda: Cuda, kernel: Any, work: InPlace, wait: int, signal: int) -> None:  # noqa: ANN401  # cuda.bindings is untyped
    """Enqueue: wait for the timeline's value ``wait``, run a kernel in place, raise it to ``signal``."""
    driver, stream = cuda.driver, cuda.stream
    before = driver.CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS()
    before.params.fence.value = wait
    after = driver.CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS()
    after.params.fence.value = signal
    cuda.call("cuWaitExternalSemaphoresAsync", [work.timeline], [before], 1, stream)
    blocks = -(-work.count // (CUDA_BLOCK[0] * work.each))
    arguments = (
        (work.address, work.address, work.count),
        (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint32),
    )
    cuda.call("cuLaunchKernel", kernel, blocks, 1, 1, *CUDA_BLOCK, 0, stream, arguments, 0)
    cuda.call("cuSignalExternalSemaphoresAsync", [work.timeline], [after], 1, stream)
