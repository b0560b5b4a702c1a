"""The chain through host memory at full speed: three hops, each in pieces, no copy that can be left out.

PyCUDA's output goes piece by piece from pinned memory into wgpu's staging buffer while later pieces are still
on their way; wgpu's output is handed to CUDA where it lies, in mapped memory that CUDA has pinned.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .cuda_hop import CudaHop
from .pycuda_hop import PycudaHop
from .wgpu_hop import WgpuHop

if TYPE_CHECKING:
    from ..words import Array


@dataclass(frozen=True)
class FastChain:
    """Three hops with pinned buffers of shape (n,): input, what lies between, and result."""

    first: PycudaHop
    second: WgpuHop
    last: CudaHop
    given: Array
    between: Array
    result: Array

    def run(self) -> dict[str, int]:
        """Run the chain once and return each hop's nanoseconds; the second begins within the first."""
        begun = time.perf_counter_ns()
        self.second.begin()
        self.first.run(self.given, self.between, lambda part: self.second.write(self.between, part))
        first = time.perf_counter_ns()
        self.second.submit()
        with self.second.result() as added:
            second = time.perf_counter_ns()
            self.last.run(added, self.result)
        ended = time.perf_counter_ns()
        return {"nvrtc": ended - second, "pycuda": first - begun, "wgpu": second - first}

    def hops(self) -> dict[str, Callable[[], object]]:
        """Return each hop on its own, from host memory to host memory, to be measured."""
        return {
            "nvrtc": lambda: self.last.run(self.between, self.result),
            "pycuda": lambda: self.first.run(self.given, self.between),
            "wgpu": self._wgpu,
        }

    def _wgpu(self) -> None:
        """Run the second hop alone: from pinned memory until its output is mapped."""
        self.second.begin()
        self.second.write(self.between, slice(0, self.between.size))
        self.second.submit()
        with self.second.result():
            pass
