"""Blocks of a grid that are executed together."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array
from ..device import WARP
from ..findings import Index, Limits
from ..memory import Memory
from ..ptx.values import Instruction
from .access import Space
from .globals import GlobalSpace
from .recorder import Recorder
from .undefined import Undefined
from .unsupported import TrapError

if TYPE_CHECKING:
    from .lanes import Lanes
    from .local import LocalSpace
    from .shared import SharedSpace


@dataclass
class Launch:
    """What all blocks of a launch share.

    Attributes:
        grid, block: their (x, y, z).
        parameters: the parameter buffer, uint8, shape (bytes,).
        memory: global memory.
        limits: how far the launch may go.
        recorder: findings and output.
        shared_dynamic, shared_total: bytes of shared memory of a block.
        shared_system: where in a block's window the system's own shared memory begins.
        number: of the launch.
        functions: the number that stands for a function's address -> its name.
        geometries: what was made for chunks of so many blocks.
        deadline: of the monotonic clock.
    """

    grid: Index
    block: Index
    parameters: Array
    memory: Memory
    limits: Limits
    recorder: Recorder
    shared_dynamic: int = 0
    shared_total: int = 0
    shared_system: int = 0
    number: int = 0
    functions: dict[int, str] = field(default_factory=dict)
    geometries: dict[int, Geometry] = field(default_factory=dict)
    deadline: float = field(init=False)
    _last: int = 0

    def __post_init__(self) -> None:
        """Start the clock."""
        self.deadline = time.monotonic() + self.limits.seconds

    def geometry(self, blocks: int) -> Geometry:
        """Return the numbers of a chunk of so many blocks."""
        if blocks not in self.geometries:
            self.geometries[blocks] = Geometry(self.block, blocks)
        return self.geometries[blocks]

    def now(self) -> int:
        """Return a count of nanoseconds that never stands still."""
        self._last = max(self._last + 1, time.monotonic_ns())
        return self._last

    def spend(self, instructions: int) -> None:
        """Count executed instructions.

        Raises:
            TrapError: the deadline or the budget of instructions is reached.
        """
        self.recorder.instructions += instructions
        if self.recorder.instructions > self.limits.instructions:
            raise TrapError(
                "instructions", f"more than {self.limits.instructions} instructions were executed"
            )
        self.check()

    def check(self) -> None:
        """Look at the clock.

        Raises:
            TrapError: the deadline is reached.
        """
        if time.monotonic() > self.deadline:
            raise TrapError("deadline", f"the kernel ran for more than {self.limits.seconds:g} s")


class Geometry:
    """Numbers that are the same for every chunk of so many blocks.

    Attributes:
        blocks: how many; ``per_block`` threads of one; ``threads`` of all; ``warps_per_block``.
        numbers: 0 … threads - 1.
        in_block: each thread's number in its block; ``lane`` in its warp; ``warp`` its warp's number in the
            chunk.
        block_of: each thread's block, counted from the chunk's first.
        thread_index: each thread's index in its block, by axis.
    """

    def __init__(self, block: Index, blocks: int) -> None:
        x, y, z = block
        self.blocks = blocks
        self.per_block = x * y * z
        self.threads = blocks * self.per_block
        self.warps_per_block = -(-self.per_block // WARP)
        self.numbers: Array = np.arange(self.threads)
        inside = np.arange(self.per_block, dtype=np.uint32)
        self.in_block: Array = np.tile(inside, blocks)
        self.block_of: Array = np.repeat(np.arange(blocks), self.per_block)
        self.lane: Array = self.in_block % np.uint32(WARP)
        self.warp: Array = self.block_of * self.warps_per_block + self.in_block // WARP
        self.thread_index = tuple(np.tile(axis, blocks) for axis in _split(inside, block))


class Chunk:
    """Blocks from number ``first`` on (x fastest), thread after thread.

    Attributes:
        launch: what they share.
        threads, blocks, per_block, warps_per_block, numbers, in_block, lane, warp, block_of, thread_index:
            as in
            ``Geometry``.
        block_index: each thread's block index, by axis; of one element where all blocks agree.
        alive: which threads have not exited; ``living`` how many.
        exited: of each block, how many threads have exited.
        strong: volatile, atomic and ordered accesses so far (a loop without any cannot wait for another
            thread).
        spaces: the memory spaces by name.
        undefined: which values come from memory that nothing wrote.
    """

    def __init__(self, launch: Launch, first: int, blocks: int) -> None:
        geometry = launch.geometry(blocks)
        self.launch: Launch = launch
        self.first = first
        self.blocks = blocks
        self.per_block = geometry.per_block
        self.threads = geometry.threads
        self.warps_per_block = geometry.warps_per_block
        self.numbers = geometry.numbers
        self.in_block = geometry.in_block
        self.block_of = geometry.block_of
        self.lane = geometry.lane
        self.warp = geometry.warp
        self.thread_index = geometry.thread_index
        self.block_index = tuple(
            self._axis(axis) for axis in _split(np.arange(first, first + blocks), launch.grid)
        )
        self.alive: Array = np.ones(self.threads, np.bool_)
        self.living = self.threads
        self.exited: Array = np.zeros(blocks, np.int64)
        self.strong = 0
        self.shared: SharedSpace
        self.local: LocalSpace
        self.spaces: dict[str, Space] = {}
        self.undefined = Undefined(self)

    def _axis(self, values: Array) -> Array:
        values = values.astype(np.uint32)
        return values[:1] if (values == values[0]).all() else np.repeat(values, self.per_block)

    def place(self, thread: int) -> tuple[Index, Index]:
        """Return a thread's block index and its index in the block."""
        block = self.first + thread // self.per_block
        return _triple(block, self.launch.grid), _triple(thread % self.per_block, self.launch.block)

    def order(self, lanes: Lanes) -> None:
        """Order the active threads' accesses to shared memory behind everything before: a fence."""
        self.shared.fence(lanes.threads())

    def forget(self) -> None:
        """Note that an allocation was freed."""
        for space in self.spaces.values():
            if isinstance(space, GlobalSpace):
                space.forget()

    def dissolve(self) -> None:
        """Let go of the spaces, which know the chunk, so that its arrays are freed at once."""
        self.spaces.clear()
        del self.shared, self.local, self.undefined

    def exit(self, threads: Array) -> None:
        """Note that threads have exited."""
        self.alive[threads] = False
        self.living -= threads.size
        if threads.size == self.threads:
            self.exited += self.per_block
        else:
            self.exited += np.bincount(self.block_of[threads], minlength=self.blocks)

    def note(self, kind: str, site: Instruction, message: str, threads: Array, address: int | None) -> None:
        """Record a finding of these threads of the chunk; the first stands for all."""
        self.launch.recorder.note(kind, site, message, self, int(threads[0]), address, int(threads.size))

    def ballot(self, present: Array) -> Array:
        """Return, for each warp, a bit for each lane where ``present``, shape (threads,), is true."""
        padded = present.reshape(self.blocks, self.per_block)
        spare = self.warps_per_block * WARP - self.per_block
        if spare:
            padded = np.pad(padded, ((0, 0), (0, spare)))
        packed = np.packbits(padded.reshape(-1, WARP), axis=1, bitorder="little")
        bits: Array = np.ascontiguousarray(packed).view("<u4").reshape(-1).astype(np.uint32)
        return bits


def _split(numbers: Array, sizes: Index) -> tuple[Array, Array, Array]:
    x, y, _ = sizes
    kind = np.uint32 if numbers.dtype == np.uint32 else np.int64
    return (
        (numbers % x).astype(kind),
        (numbers // x % y).astype(kind),
        (numbers // (x * y)).astype(kind),
    )


def _triple(number: int, sizes: Index) -> Index:
    x, y, _ = sizes
    return number % x, number // x % y, number // (x * y)
