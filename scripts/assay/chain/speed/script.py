"""The rival: the same chain as the packages' own documentation writes it, nothing kept from run to run.

PyCUDA's tutorial (``mem_alloc``, ``memcpy_htod``, a call, ``memcpy_dtoh``), wgpu-py's guide
(``create_buffer_with_data``, a dispatch, ``queue.read_buffer``) and cuda-python's overview (``cuMemAlloc``,
``cuMemcpyHtoDAsync`` on a stream, ``cuLaunchKernel``, ``cuMemcpyDtoHAsync``).  Kernels are compiled and
loaded beforehand, as in the fast chain.
"""

from __future__ import annotations

import ctypes
import itertools
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..cuda_calls import Cuda
from ..packages import load
from ..runtime_wgpu import GROUPS_LIMIT, groups
from ..values import CUDA_BLOCK

if TYPE_CHECKING:
    from ..words import Array


@dataclass(frozen=True)
class Script:
    """What the script has ready: contexts, a device and loaded kernels."""

    pycuda: Any
    context: Any
    first: Any
    device: Any
    pipeline: Any
    block: int
    cuda: Cuda
    last: Any
    each: tuple[int, int, int]

    def run(self, values: Array) -> tuple[Array, dict[str, int]]:
        """Run the chain over values of shape (n,); return the result and each hop's nanoseconds."""
        marks = [time.perf_counter_ns()]
        doubled = self._pycuda(values)
        marks.append(time.perf_counter_ns())
        added = self._wgpu(doubled)
        marks.append(time.perf_counter_ns())
        result = self._cuda(added)
        marks.append(time.perf_counter_ns())
        names = ("pycuda", "wgpu", "nvrtc")
        spent = (end - begin for begin, end in itertools.pairwise(marks))
        return result, dict(zip(names, spent, strict=True))

    def _pycuda(self, values: Array) -> Array:
        """Run the first stage as PyCUDA's tutorial does."""
        numpy = load("numpy")
        self.context.push()
        try:
            given, made = self.pycuda.mem_alloc(values.nbytes), self.pycuda.mem_alloc(values.nbytes)
            self.pycuda.memcpy_htod(given, values)
            blocks = -(-values.size // (CUDA_BLOCK[0] * self.each[0]))
            self.first(given, made, numpy.uint32(values.size), grid=(blocks, 1), block=CUDA_BLOCK)
            result: Array = numpy.empty_like(values)
            self.pycuda.memcpy_dtoh(result, made)
            given.free()
            made.free()
        finally:
            self.context.pop()
        return result

    def _wgpu(self, values: Array) -> Array:
        """Run the second stage as wgpu-py's guide does."""
        wgpu, device = load("wgpu"), self.device
        usage = wgpu.BufferUsage
        given = device.create_buffer_with_data(data=values, usage=usage.STORAGE)
        made = device.create_buffer(size=values.nbytes, usage=usage.STORAGE | usage.COPY_SRC)
        entries = [{"binding": at, "resource": {"buffer": each}} for at, each in enumerate((given, made))]
        layout = self.pipeline.get_bind_group_layout(0)
        group = device.create_bind_group(layout=layout, entries=entries)
        encoder = device.create_command_encoder()
        work = encoder.begin_compute_pass()
        work.set_pipeline(self.pipeline)
        work.set_bind_group(0, group)
        work.dispatch_workgroups(*groups(values.size, self.block * self.each[1], device.limits[GROUPS_LIMIT]))
        work.end()
        device.queue.submit([encoder.finish()])
        result: Array = load("numpy").frombuffer(device.queue.read_buffer(made), dtype="float32")
        given.destroy()
        made.destroy()
        return result

    def _cuda(self, values: Array) -> Array:
        """Run the third stage as cuda-python's overview does."""
        cuda, size = self.cuda, values.nbytes
        with cuda.memory(size) as given, cuda.memory(size) as made:
            cuda.call("cuMemcpyHtoDAsync", given, values.ctypes.data, size, cuda.stream)
            blocks = -(-values.size // (CUDA_BLOCK[0] * self.each[2]))
            arguments = ((given, made, values.size), (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint32))
            cuda.call("cuLaunchKernel", self.last, blocks, 1, 1, *CUDA_BLOCK, 0, cuda.stream, arguments, 0)
            result: Array = load("numpy").empty_like(values)
            cuda.call("cuMemcpyDtoHAsync", result.ctypes.data, made, size, cuda.stream)
            cuda.synchronise()
        return result
