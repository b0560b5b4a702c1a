"""One hop through PyCUDA's own context: as ``cuda_hop``, with PyCUDA's streams, events and copies."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..packages import load
from ..values import CUDA_BLOCK, Image
from .buffers import ITEM, pieces
from .cuda_hop import PIECES

if TYPE_CHECKING:
    from ..words import Array


@dataclass(frozen=True)
class PycudaHop:
    """A kernel with the buffers that it reuses, in a context that is current where it runs."""

    cuda: Any
    context: Any
    kernel: Any
    each: int
    given: int
    made: int
    up: Any
    down: Any
    events: tuple[Any, ...]

    def run(self, values: Array, result: Array, done: Callable[[slice], None] | None = None) -> None:
        """Transform pinned ``values`` of shape (n,) into pinned ``result``; as ``CudaHop.run``."""
        parts = pieces(values.size, PIECES)
        self.context.push()
        try:
            for part, event in zip(parts, self.events, strict=False):
                self._enqueue(values, result, part, event)
            for part, event in zip(parts, self.events, strict=False):
                if done is not None:
                    event.synchronize()
                    done(part)
            self.down.synchronize()
        finally:
            self.context.pop()

    def _enqueue(self, values: Array, result: Array, part: slice, event: Any) -> None:  # noqa: ANN401  # PyCUDA is untyped
        """Enqueue one piece: up and kernel on the first stream, down on the second."""
        at, count = part.start * ITEM, part.stop - part.start
        given, made = self.given + at, self.made + at
        self.cuda.memcpy_htod_async(given, values[part], self.up)
        blocks = -(-count // (CUDA_BLOCK[0] * self.each))
        number = load("numpy").uint32(count)
        pointer = load("numpy").uintp
        self.kernel(
            pointer(given), pointer(made), number, grid=(blocks, 1, 1), block=CUDA_BLOCK, stream=self.up
        )
        event.record(self.up)
        self.down.wait_for_event(event)
        self.cuda.memcpy_dtoh_async(result[part], made, self.down)
        event.record(self.down)


@contextlib.contextmanager
def pycuda_hop(ordinal: int, image: Image, entry: str, each: int, count: int) -> Iterator[PycudaHop]:
    """Yield a hop with room for ``count`` values, in a context of its own that is released afterwards.

    Raises:
        UnavailableError: PyCUDA is missing.
    """
    cuda = load("pycuda.driver")
    cuda.init()
    context = cuda.Device(ordinal).make_context()
    try:
        # PTX must end in NUL
        kernel = cuda.module_from_buffer(image.data + b"\0").get_function(entry)
        given, made = cuda.mem_alloc(count * ITEM), cuda.mem_alloc(count * ITEM)
        up, down = cuda.Stream(), cuda.Stream()
        events = tuple(cuda.Event(cuda.event_flags.DISABLE_TIMING) for _ in range(PIECES))
        context.pop()
        hop = PycudaHop(cuda, context, kernel, each, int(given), int(made), up, down, events)
        try:
            yield hop
        finally:
            context.push()
            up.synchronize()
            down.synchronize()
            made.free()
            given.free()
            del hop, kernel, up, down, events
    finally:
        context.pop()
        context.detach()
