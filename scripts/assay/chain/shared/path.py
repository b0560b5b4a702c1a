"""One buffer, two sides: a Vulkan shader writes, a CUDA kernel transforms in place, the shader goes on.

Between loading the values and reading them back nothing is copied: both sides name one allocation, and a
timeline semaphore hands it over.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..cuda_calls import Cuda
from ..packages import load
from ..values import Image
from .cuda_side import InPlace, enqueue_in_place, imported_memory, imported_timeline
from .vulkan_device import VulkanDevice
from .vulkan_work import Commands, Memory, Shader, Timeline, device_memory, host_memory, memory_descriptor

if TYPE_CHECKING:
    from ..words import Array

DEADLINE_S = 30
"""Seconds for one pass; a healthy one over 2**27 values takes two milliseconds."""

ITEM = 4
"""Bytes of a float32."""


@dataclass(frozen=True)
class Kernels:
    """What runs on the buffer: SPIR-V with its entry and values per thread, CUDA's image with its entry."""

    shader: bytes
    shader_entry: str
    shader_each: int
    image: Image
    entry: str


class SharedPath:
    """The shared buffer of ``count`` values, ready to run; made by ``opened``."""

    def __init__(self, cuda: Cuda, commands: Commands, timeline: Timeline, work: _Work) -> None:
        self._cuda = cuda
        self._commands = commands
        self._timeline = timeline
        self._work = work
        self._value = 0
        self._passes = 0
        self._steps: list[dict[str, object]] = []
        self._transfers: list[dict[str, object]] = []

    def load(self, values: Array) -> None:
        """Put values of shape (count,) into the buffer, once, before anything is shared."""
        self._work.staging[:] = values
        self._submit(self._work.upload)
        self._transferred("host-to-device")
        self._timeline.wait(self._value, DEADLINE_S)

    def read(self) -> Array:
        """Return a copy of the buffer's values, after everything has run."""
        self._submit(self._work.download)
        self._transferred("device-to-host")
        self._timeline.wait(self._value, DEADLINE_S)
        result: Array = self._work.staging.copy()
        return result

    def run(self) -> None:
        """Run shader, kernel and shader in place, each waiting for the one before, and wait for the end."""
        before = self._value
        self._submit(self._work.shader)
        enqueue_in_place(self._cuda, self._work.kernel, self._work.in_place, self._value, self._value + 1)
        self._value += 1
        self._submit(self._work.shader)
        self._timeline.wait(self._value, DEADLINE_S)
        if not self._passes:
            sides = enumerate(("vulkan", "cuda", "vulkan"), before)
            self._steps = [{"side": side, "signal": value + 1, "wait": value} for value, side in sides]
        self._passes += 1

    def facts(self) -> dict[str, object]:
        """Return what shows that both sides name one allocation, and that nothing was copied meanwhile.

        Every step raises the timeline by one: ``timeline`` is its value, ``transfers`` names that of each
        copy between host and device, ``steps`` those of the first of ``passes``.
        """
        work = self._work
        return {
            "allocated": work.memory.size,
            "cuda_address": f"{work.in_place.address:#x}",
            "cuda_attributes": _attributes(self._cuda, work.in_place.address),
            "descriptor": work.descriptor,
            "handle": "opaque-fd",
            "passes": self._passes,
            "semaphore": "timeline-opaque-fd",
            "size": work.in_place.count * ITEM,
            "steps": self._steps,
            "timeline": self._value,
            "transfers": self._transfers,
        }

    def _transferred(self, direction: str) -> None:
        """Record the copy between host and device that was submitted last."""
        size = self._work.in_place.count * ITEM
        self._transfers.append({"bytes": size, "direction": direction, "signal": self._value})

    def _submit(self, buffer: Any) -> None:  # noqa: ANN401  # cffi handle
        """Submit Vulkan's next step."""
        self._commands.submit(buffer, self._timeline, self._value, self._value + 1)
        self._value += 1


@dataclass(frozen=True)
class _Work:
    """Everything that a pass uses."""

    memory: Memory
    descriptor: str
    in_place: InPlace
    kernel: Any
    staging: Array
    upload: Any
    download: Any
    shader: Any


@contextlib.contextmanager
def opened(cuda: Cuda, vulkan: VulkanDevice, kernels: Kernels, count: int) -> Iterator[SharedPath]:
    """Yield a path over ``count`` values; everything is freed after the block, CUDA's side first.

    Raises:
        UnavailableError: a side lacks what sharing needs.
        CudaError: CUDA refuses the memory or the semaphore.
    """
    size = count * ITEM
    with vulkan.scope(), contextlib.ExitStack() as stack:
        memory = device_memory(vulkan, size)
        host, mapped = host_memory(vulkan, size)
        timeline, commands = Timeline(vulkan), Commands(vulkan)
        shader = Shader(vulkan, kernels.shader, kernels.shader_entry)
        descriptor = memory_descriptor(vulkan, memory)
        opened_as = _target(descriptor)
        address = stack.enter_context(imported_memory(cuda, descriptor, memory.size, size))
        handed = stack.enter_context(imported_timeline(cuda, timeline.descriptor()))
        kernel = stack.enter_context(cuda.kernel(kernels.image, kernels.entry))
        stack.callback(cuda.synchronise)
        numpy = load("numpy")
        work = _Work(
            memory=memory,
            descriptor=opened_as,
            in_place=InPlace(address, count, kernels.image.each, handed),
            kernel=kernel,
            staging=numpy.frombuffer(mapped, dtype=numpy.float32, count=count),
            upload=commands.copy(host, memory, size),
            download=commands.copy(memory, host, size),
            shader=commands.dispatch(shader, shader.bind(memory, size), count, kernels.shader_each),
        )
        yield SharedPath(cuda, commands, timeline, work)


def _target(descriptor: int) -> str:
    """Return what a descriptor is, as the kernel names it (Linux alone has the link)."""
    try:
        return str(Path(f"/proc/self/fd/{descriptor}").readlink())
    except OSError:
        return ""


def _attributes(cuda: Cuda, address: int) -> dict[str, object]:
    """Return what CUDA says of the imported address: its kind of memory and the device it lies on."""
    names = cuda.driver.CUpointer_attribute
    kind = cuda.call("cuPointerGetAttribute", names.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address)
    ordinal = cuda.call("cuPointerGetAttribute", names.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address)
    return {"device_ordinal": int(ordinal), "memory_type": int(kind)}
