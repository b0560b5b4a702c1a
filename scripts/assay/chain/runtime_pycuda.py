"""PyCUDA: a context of its own, made and released here, never ``pycuda.autoinit``.

The context is current only inside ``run`` and ``facts``, so that the primary context of cuda-python lives
beside it; one that is left on the stack when Python ends aborts the process.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from . import driver
from .packages import load
from .release import releasing
from .values import CUDA_BLOCK, Image, Ran, both_ways, cuda_grid

if TYPE_CHECKING:
    from .spec import RunRequest
    from .words import Array

NAME = "pycuda"


class Runtime:
    """An open PyCUDA with a context of its own."""

    def __init__(self, cuda: Any, context: Any) -> None:  # noqa: ANN401  # PyCUDA is untyped
        self._cuda = cuda
        self._context = context

    @classmethod
    def open(cls, request: RunRequest) -> Runtime:
        """Make a context on the requested device.

        Raises:
            UnavailableError: PyCUDA, the driver or the device are missing.
        """
        cuda = load("pycuda.driver")
        driver.load().require(request.ordinal)
        cuda.init()
        context = cuda.Device(request.ordinal).make_context()
        context.pop()
        return cls(cuda, context)

    def run(self, image: Image, entry: str, values: Array) -> Ran:
        """Run a kernel ``(const float *in, float *out, unsigned int count)`` over values of shape (n,)."""
        with self._current():
            result = self._launch(image, entry, values)
        return Ran(result, cuda_grid(values.size, image.each), CUDA_BLOCK, both_ways(values.nbytes, NAME))

    def _launch(self, image: Image, entry: str, values: Array) -> Array:
        """Load, copy, launch, wait and copy back; the module goes with this frame, in its own context."""
        numpy = load("numpy")
        result: Array = numpy.empty_like(values)
        # PTX must end in NUL
        kernel = self._cuda.module_from_buffer(image.data + b"\0").get_function(entry)
        grid = cuda_grid(values.size, image.each)
        with self._memory(values.nbytes) as given, self._memory(values.nbytes) as made:
            self._cuda.memcpy_htod(given, values)
            kernel(given, made, numpy.uint32(values.size), grid=grid, block=CUDA_BLOCK)
            self._cuda.Context.synchronize()
            self._cuda.memcpy_dtoh(result, made)
        return result

    def facts(self) -> dict[str, object]:
        """Return versions, the driver module's file, the context and the device as PyCUDA sees it."""
        with self._current():
            device = self._cuda.Context.get_device()
            major, minor = device.compute_capability()
            return {
                "built_for": list(self._cuda.get_version()),
                "context": f"{self._context.handle:#x}",
                "device": {
                    "compute_capability": f"{major}.{minor}",
                    "memory": device.total_memory(),
                    "name": device.name(),
                    "pci_bus": device.pci_bus_id().lower(),
                },
                "driver_version": self._cuda.get_driver_version(),
                "library": load("pycuda._driver").__file__,
                "version": load("pycuda").VERSION_TEXT,
            }

    def close(self) -> None:
        """Destroy the context; it is on nobody's stack."""
        self._context.detach()

    @contextlib.contextmanager
    def _current(self) -> Iterator[None]:
        """Make the context current inside the block."""
        self._context.push()
        with releasing(self._context.pop):
            yield

    @contextlib.contextmanager
    def _memory(self, size: int) -> Iterator[Any]:
        """Allocate ``size`` bytes of device memory inside the block."""
        memory = self._cuda.mem_alloc(size)
        with releasing(memory.free):
            yield memory
