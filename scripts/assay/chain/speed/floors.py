"""What this machine can do at best, measured in the same run: copies and an empty launch."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from ..cuda_calls import Cuda
from .clock import device_ns, host_ns

if TYPE_CHECKING:
    from ..words import Array


def cuda_floors(cuda: Cuda, host: Array, device: tuple[int, int], turns: int) -> dict[str, list[int]]:
    """Return the durations (ns) of pinned copies each way and of the device's own copy of the same buffer.

    Args:
        cuda: the open device.
        host: pinned memory of shape (n,).
        device: two buffers of the same size on the device.
        turns: how often each is measured.
    """
    given, made = device
    size, stream, address = host.nbytes, cuda.stream, host.ctypes.data

    def up() -> None:
        cuda.call("cuMemcpyHtoDAsync", given, address, size, stream)
        cuda.synchronise()

    def down() -> None:
        cuda.call("cuMemcpyDtoHAsync", address, given, size, stream)
        cuda.synchronise()

    return {
        "device-copy": device_ns(
            cuda, lambda: cuda.call("cuMemcpyDtoDAsync", made, given, size, stream), turns
        ),
        "pinned-to-device": host_ns(up, turns),
        "pinned-to-host": host_ns(down, turns),
    }


def empty_launch(cuda: Cuda, kernel: Any, address: int, turns: int) -> list[int]:  # noqa: ANN401  # cuda.bindings is untyped
    """Return how long a launch over no values takes by the host's clock, until the device is done."""
    arguments = ((address, address, 0), (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint32))

    def launch() -> None:
        cuda.call("cuLaunchKernel", kernel, 1, 1, 1, 32, 1, 1, 0, cuda.stream, arguments, 0)
        cuda.synchronise()

    return host_ns(launch, turns)
