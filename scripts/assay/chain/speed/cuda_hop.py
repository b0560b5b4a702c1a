"""One hop through CUDA's primary context: up, kernel and down overlap in pieces, on two streams."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..cuda_calls import Cuda
from ..values import CUDA_BLOCK
from .buffers import ITEM, pieces

if TYPE_CHECKING:
    from ..words import Array

_DISABLE_TIMING = 2
"""``CU_EVENT_DISABLE_TIMING``: an event that only orders is cheaper."""

PIECES = 8
"""A copy engine works each way, so piece n goes down while n+1 goes up; more pieces gained nothing (H200)."""


@dataclass(frozen=True)
class CudaHop:
    """A kernel with the buffers that it reuses; ``given`` and ``made`` are device addresses."""

    cuda: Cuda
    kernel: Any
    each: int
    given: int
    made: int
    down: Any
    events: tuple[Any, ...]

    def run(self, values: Array, result: Array, done: Callable[[slice], None] | None = None) -> None:
        """Transform pinned ``values`` of shape (n,) into pinned ``result``.

        Args:
            values: input, at most as long as the hop's buffers.
            result: output.
            done: called with each piece as soon as it is in ``result``, while others are still on their way.
        """
        parts = pieces(values.size, PIECES)
        for part, event in zip(parts, self.events, strict=False):
            self._enqueue(values, result, part, event)
        for part, event in zip(parts, self.events, strict=False):
            if done is not None:
                self.cuda.call("cuEventSynchronize", event)
                done(part)
        self.cuda.call("cuStreamSynchronize", self.down)

    def _enqueue(self, values: Array, result: Array, part: slice, event: Any) -> None:  # noqa: ANN401  # cuda.bindings is untyped
        """Enqueue one piece: up and kernel on the first stream, down on the second."""
        call, stream = self.cuda.call, self.cuda.stream
        size, at = (part.stop - part.start) * ITEM, part.start * ITEM
        call("cuMemcpyHtoDAsync", self.given + at, values.ctypes.data + at, size, stream)
        self.launch(part.start, part.stop - part.start)
        call("cuEventRecord", event, stream)
        call("cuStreamWaitEvent", self.down, event, 0)
        call("cuMemcpyDtoHAsync", result.ctypes.data + at, self.made + at, size, self.down)
        call("cuEventRecord", event, self.down)

    def launch(self, start: int, count: int) -> None:
        """Enqueue the kernel over ``count`` values from ``start``."""
        given, made = self.given + start * ITEM, self.made + start * ITEM
        arguments = ((given, made, count), (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint32))
        blocks = -(-count // (CUDA_BLOCK[0] * self.each))
        self.cuda.call(
            "cuLaunchKernel", self.kernel, blocks, 1, 1, *CUDA_BLOCK, 0, self.cuda.stream, arguments, 0
        )


@contextlib.contextmanager
def cuda_hop(cuda: Cuda, kernel: Any, each: int, count: int) -> Iterator[CudaHop]:  # noqa: ANN401  # cuda.bindings is untyped
    """Yield a hop with room for ``count`` values."""
    with contextlib.ExitStack() as stack:
        given, made = (stack.enter_context(cuda.memory(count * ITEM)) for _ in range(2))
        down = stack.enter_context(cuda.new_stream())
        events = tuple(stack.enter_context(cuda.event(_DISABLE_TIMING)) for _ in range(PIECES))
        stack.callback(cuda.synchronise)
        yield CudaHop(cuda, kernel, each, given, made, down, events)
