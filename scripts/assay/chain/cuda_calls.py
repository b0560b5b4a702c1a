"""Calls of the CUDA driver through cuda-python, and the device's primary context with a stream."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from . import driver as word
from .failures import cuda_error
from .packages import load
from .release import releasing
from .values import Image

NON_BLOCKING = 1
"""``CU_STREAM_NON_BLOCKING``: the stream does not wait for the default stream."""


def check(module: Any, name: str, *arguments: object) -> Any:  # noqa: ANN401  # cuda.bindings is untyped
    """Call a function of the driver and return what it gives: nothing, a value, or a tuple.

    Raises:
        CudaError: it failed.
        UnavailableError: it failed with a code that says what the machine lacks.
    """
    status, *given = getattr(module, name)(*arguments)
    if int(status):
        raise cuda_error(name, int(status), str(getattr(status, "name", "")))
    return given[0] if len(given) == 1 else tuple(given)


@dataclass(frozen=True)
class Cuda:
    """The primary context of a device, current in this thread, with one stream of its own.

    Attributes:
        driver: ``cuda.bindings.driver``.
        device: CUDA's handle of the device.
        stream: where work is enqueued.
    """

    driver: Any
    device: Any
    stream: Any

    def call(self, name: str, *arguments: object) -> Any:  # noqa: ANN401  # cuda.bindings is untyped
        """Call the driver; see ``check``."""
        return check(self.driver, name, *arguments)

    @property
    def uuid(self) -> bytes:
        """Return the device's UUID (16 bytes)."""
        return bytes(self.call("cuDeviceGetUuid", self.device).bytes)

    def synchronise(self) -> None:
        """Wait until the stream has nothing more to do."""
        self.call("cuStreamSynchronize", self.stream)

    @contextlib.contextmanager
    def kernel(self, image: Image, entry: str) -> Iterator[Any]:
        """Load an image and yield its kernel; it is unloaded after the block."""
        module = self.call("cuModuleLoadData", image.data + b"\0")  # PTX must end in NUL
        with releasing(lambda: self.call("cuModuleUnload", module)):
            yield self.call("cuModuleGetFunction", module, entry.encode("ascii"))

    @contextlib.contextmanager
    def memory(self, size: int) -> Iterator[int]:
        """Allocate ``size`` bytes of device memory inside the block and yield the address."""
        address = int(self.call("cuMemAlloc", size))
        with releasing(lambda: self.call("cuMemFree", address)):
            yield address

    @contextlib.contextmanager
    def new_stream(self) -> Iterator[Any]:
        """Make another stream inside the block."""
        stream = self.call("cuStreamCreate", NON_BLOCKING)
        with releasing(lambda: self.call("cuStreamDestroy", stream)):
            yield stream

    @contextlib.contextmanager
    def event(self, flags: int = 0) -> Iterator[Any]:
        """Make an event inside the block."""
        event = self.call("cuEventCreate", flags)
        with releasing(lambda: self.call("cuEventDestroy", event)):
            yield event


@contextlib.contextmanager
def primary(ordinal: int) -> Iterator[Cuda]:
    """Retain the primary context of a device and make it current inside the block.

    Raises:
        UnavailableError: cuda-python, the driver or the device are missing.
    """
    module = load("cuda.bindings.driver")
    word.load().require(ordinal)
    check(module, "cuInit", 0)
    device = check(module, "cuDeviceGet", ordinal)
    context = check(module, "cuDevicePrimaryCtxRetain", device)
    with releasing(lambda: check(module, "cuDevicePrimaryCtxRelease", device)):
        check(module, "cuCtxPushCurrent", context)
        with releasing(lambda: check(module, "cuCtxPopCurrent")):
            stream = check(module, "cuStreamCreate", NON_BLOCKING)
            with releasing(lambda: check(module, "cuStreamDestroy", stream)):
                yield Cuda(module, device, stream)
