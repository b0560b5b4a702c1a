"""NVRTC kernels through cuda-python: PTX loaded into the device's *primary* context.

The primary context is retained by ``open`` and current only inside ``run`` and ``facts``; PyCUDA's own
context lives beside it.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator
from importlib import metadata
from typing import TYPE_CHECKING, Any

from . import driver, nvrtc
from .cuda_calls import check
from .packages import load
from .release import releasing
from .values import CUDA_BLOCK, Image, Ran, both_ways, cuda_grid

if TYPE_CHECKING:
    from .spec import RunRequest
    from .words import Array

NAME = "nvrtc"


class Runtime:
    """An open cuda-python with the primary context retained."""

    def __init__(self, cuda: Any, device: Any, context: Any) -> None:  # noqa: ANN401  # cuda.bindings is untyped
        self._cuda = cuda
        self._device = device
        self._context = context

    @classmethod
    def open(cls, request: RunRequest) -> Runtime:
        """Retain the primary context of the requested device.

        Raises:
            UnavailableError: cuda-python, NVRTC, the driver or the device are missing.
        """
        cuda = load("cuda.bindings.driver")
        nvrtc.facts()
        driver.load().require(request.ordinal)
        check(cuda, "cuInit", 0)
        device = check(cuda, "cuDeviceGet", request.ordinal)
        return cls(cuda, device, check(cuda, "cuDevicePrimaryCtxRetain", device))

    def run(self, image: Image, entry: str, values: Array) -> Ran:
        """Run a kernel ``(const float *in, float *out, unsigned int count)`` over values of shape (n,)."""
        grid = cuda_grid(values.size, image.each)
        with self._current(), self._kernel(image, entry) as kernel:
            result = self._launch(kernel, grid, values)
        return Ran(result, grid, CUDA_BLOCK, both_ways(values.nbytes, NAME))

    def _launch(self, kernel: object, grid: tuple[int, int, int], values: Array) -> Array:
        """Copy, launch, wait and copy back."""
        result: Array = load("numpy").empty_like(values)
        with self._memory(values.nbytes) as given, self._memory(values.nbytes) as made:
            self._call("cuMemcpyHtoD", given, values.ctypes.data, values.nbytes)
            arguments = ((given, made, values.size), (None, None, ctypes.c_uint32))
            self._call("cuLaunchKernel", kernel, *grid, *CUDA_BLOCK, 0, 0, arguments, 0)
            self._call("cuCtxSynchronize")
            self._call("cuMemcpyDtoH", result.ctypes.data, made, result.nbytes)
        return result

    def facts(self) -> dict[str, object]:
        """Return versions, NVRTC's library, the context and the device as cuda-python sees it."""
        raw: bytes = self._call("cuDeviceGetUuid", self._device).bytes
        name: bytes = self._call("cuDeviceGetName", 256, self._device)
        return {
            "context": f"{int(self._context):#x}",
            "device": {"name": name.partition(b"\0")[0].decode("utf-8", "replace"), "uuid_bytes": raw.hex()},
            "driver_version": self._call("cuDriverGetVersion"),
            "library": load("cuda.bindings.driver").__file__,
            "nvrtc": nvrtc.facts(),
            "version": metadata.version("cuda-bindings"),
        }

    def close(self) -> None:
        """Release the primary context."""
        self._call("cuDevicePrimaryCtxRelease", self._device)

    def _call(self, name: str, *arguments: object) -> Any:  # noqa: ANN401  # cuda.bindings is untyped
        """Call the driver."""
        return check(self._cuda, name, *arguments)

    @contextlib.contextmanager
    def _current(self) -> Iterator[None]:
        """Make the primary context current inside the block."""
        self._call("cuCtxPushCurrent", self._context)
        with releasing(lambda: self._call("cuCtxPopCurrent")):
            yield

    @contextlib.contextmanager
    def _kernel(self, image: Image, entry: str) -> Iterator[object]:
        """Load an image and yield its kernel; it is unloaded after the block."""
        module = self._call("cuModuleLoadData", image.data + b"\0")  # PTX must end in NUL
        with releasing(lambda: self._call("cuModuleUnload", module)):
            yield self._call("cuModuleGetFunction", module, entry.encode("ascii"))

    @contextlib.contextmanager
    def _memory(self, size: int) -> Iterator[object]:
        """Allocate ``size`` bytes of device memory inside the block."""
        memory = self._call("cuMemAlloc", size)
        with releasing(lambda: self._call("cuMemFree", memory)):
            yield memory
