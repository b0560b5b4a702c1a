"""One hop through wgpu: mapped staging each way, filled by several threads, one submission.

``queue.write_buffer`` and ``queue.read_buffer`` copy every value once or twice more on the way, and in one
thread.  Staging for the way up lies in the device's memory (wgpu-native puts ``MAP_WRITE`` there where the
host can reach it), so CUDA cannot be given it; one thread writes 11 GB/s into it, four 31 GB/s (H200).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from ..packages import load
from ..release import releasing
from ..runtime_wgpu import GROUPS_LIMIT, groups, workgroup_size
from ..values import Image
from .buffers import ITEM, pieces

if TYPE_CHECKING:
    from ..words import Array

WRITERS = 4
"""Threads that fill the staging buffer: more gained nothing."""

_WORTH_THREADS = 1 << 16
"""Values below which a second thread costs more than it saves."""


class WgpuHop:
    """A WGSL kernel with buffers for ``count`` values that are reused; made by ``wgpu_hop``."""

    def __init__(self, device: Any, image: Image, entry: str, count: int, each: int) -> None:  # noqa: ANN401  # wgpu is untyped here
        usage = load("wgpu").BufferUsage
        size = count * ITEM
        self.count = count
        self._device = device
        self._pool = ThreadPoolExecutor(WRITERS)
        self._up = device.create_buffer(size=size, usage=usage.MAP_WRITE | usage.COPY_SRC)
        self._given = device.create_buffer(size=size, usage=usage.STORAGE | usage.COPY_DST)
        self._made = device.create_buffer(size=size, usage=usage.STORAGE | usage.COPY_SRC)
        self._back = device.create_buffer(size=size, usage=usage.MAP_READ | usage.COPY_DST)
        source = image.data.decode("ascii")
        shader = device.create_shader_module(code=source)
        compute = {"module": shader, "entry_point": entry}
        self._pipeline = device.create_compute_pipeline(layout="auto", compute=compute)
        block = workgroup_size(source) * each
        self._grid = groups(count, block, device.limits[GROUPS_LIMIT])
        entries = [
            {"binding": at, "resource": {"buffer": buffer}}
            for at, buffer in enumerate((self._given, self._made))
        ]
        layout = self._pipeline.get_bind_group_layout(0)
        self._group = device.create_bind_group(layout=layout, entries=entries)
        self._staging: Array | None = None
        self._writing: list[Future[None]] = []

    def begin(self) -> None:
        """Map the staging buffer for writing."""
        self._up.map_sync("WRITE")
        # the only way to write mapped memory in place; the public one copies in one thread
        memory = self._up._experimental_get_mapped_range()  # noqa: SLF001  # as said above
        self._staging = load("numpy").frombuffer(memory, dtype="float32")

    def write(self, values: Array, part: slice) -> None:
        """Begin to write one piece of ``values`` of shape (count,); ``submit`` waits for it."""
        if self._staging is None:
            raise RuntimeError("write before begin")
        writers = WRITERS if part.stop - part.start >= _WORTH_THREADS else 1
        copy = load("numpy").copyto
        for piece in pieces(part.stop - part.start, writers):
            within = slice(part.start + piece.start, part.start + piece.stop)
            self._writing.append(self._pool.submit(copy, self._staging[within], values[within]))

    def submit(self) -> None:
        """Wait for what was written, and submit copy, kernel and copy back."""
        for written in self._writing:
            written.result()
        self._writing, self._staging = [], None
        self._up.unmap()
        size = self.count * ITEM
        encoder = self._device.create_command_encoder()
        encoder.copy_buffer_to_buffer(self._up, 0, self._given, 0, size)
        self._dispatch(encoder)
        encoder.copy_buffer_to_buffer(self._made, 0, self._back, 0, size)
        self._device.queue.submit([encoder.finish()])

    @contextlib.contextmanager
    def result(self) -> Iterator[Array]:
        """Yield the output, of shape (count,), in mapped memory: it is gone after the block."""
        self._back.map_sync("READ")
        with releasing(self._back.unmap):
            yield load("numpy").frombuffer(self._back.read_mapped(copy=False), dtype="float32")

    def kernel_ns(self, turns: int) -> list[int]:
        """Return the kernel's durations by the device's own time stamps; none where the device has none.

        WebGPU, "Timestamp Query": the values are nanoseconds.
        """
        if "timestamp-query" not in self._device.features:
            return []
        return [self._stamped() for _ in range(turns + 2)][2:]

    def _stamped(self) -> int:
        """Return one run's duration in ns."""
        usage = load("wgpu").BufferUsage
        device, size = self._device, 16
        stamps = device.create_query_set(type="timestamp", count=2)
        resolved = device.create_buffer(size=size, usage=usage.QUERY_RESOLVE | usage.COPY_SRC)
        readable = device.create_buffer(size=size, usage=usage.MAP_READ | usage.COPY_DST)
        encoder = device.create_command_encoder()
        self._dispatch(
            encoder,
            timestamp_writes={
                "query_set": stamps,
                "beginning_of_pass_write_index": 0,
                "end_of_pass_write_index": 1,
            },
        )
        encoder.resolve_query_set(stamps, 0, 2, resolved, 0)
        encoder.copy_buffer_to_buffer(resolved, 0, readable, 0, size)
        device.queue.submit([encoder.finish()])
        readable.map_sync("READ")
        with releasing(readable.unmap):
            begun, ended = load("numpy").frombuffer(readable.read_mapped(copy=True), dtype="uint64")
        return int(ended) - int(begun)

    def empty(self) -> None:
        """Submit a dispatch of no groups and wait for it by mapping four bytes."""
        usage = load("wgpu").BufferUsage
        readable = self._device.create_buffer(size=ITEM, usage=usage.MAP_READ | usage.COPY_DST)
        encoder = self._device.create_command_encoder()
        self._dispatch(encoder, grid=(0, 0, 0))
        encoder.copy_buffer_to_buffer(self._made, 0, readable, 0, ITEM)
        self._device.queue.submit([encoder.finish()])
        readable.map_sync("READ")
        readable.unmap()
        readable.destroy()

    def _dispatch(self, encoder: Any, grid: Sequence[int] = (), **descriptor: object) -> None:  # noqa: ANN401  # wgpu is untyped here
        """Record the kernel."""
        work = encoder.begin_compute_pass(**descriptor)
        work.set_pipeline(self._pipeline)
        work.set_bind_group(0, self._group)
        work.dispatch_workgroups(*(grid or self._grid))
        work.end()

    def close(self) -> None:
        """Free the buffers and end the threads."""
        self._pool.shutdown()
        for buffer in (self._up, self._given, self._made, self._back):
            buffer.destroy()


@contextlib.contextmanager
def wgpu_hop(device: Any, image: Image, entry: str, each: int, count: int) -> Iterator[WgpuHop]:  # noqa: ANN401  # wgpu is untyped here
    """Yield a hop with room for exactly ``count`` values."""
    hop = WgpuHop(device, image, entry, count, each)
    with releasing(hop.close):
        yield hop
