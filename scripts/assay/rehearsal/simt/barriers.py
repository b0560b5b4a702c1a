"""Barriers of a block (PTX ISA 9.0, section 9.7.13.1 "bar, barrier").

A barrier is met by number: threads may come to it from several instructions.  It opens when every thread of
the
block that has not exited is there (Volta Tuning Guide, "Independent Thread Scheduling"), or as many as the
instruction says, counted in whole warps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array
from ..device import WARP
from ..ptx.types import TYPES
from ..ptx.values import Instruction, Operand
from .lanes import Frame, Lanes
from .operands import Reader, Writer, reader, writer
from .unsupported import UnsupportedError

if TYPE_CHECKING:
    from .chunk import Chunk
    from .linking import Scope

_REDUCTIONS = frozenset({"popc", "and", "or"})
U32, PRED = TYPES["u32"], TYPES["pred"]


@dataclass(frozen=True, eq=False)
class Barrier:
    """A barrier instruction.

    Attributes:
        site: the instruction.
        number: reads which barrier.
        count: reads how many threads it waits for, None for all of the block.
        aligned: whether all threads of a warp must execute it together.
        waits: whether the threads wait: not with ``bar.arrive``.
        reduction: ``popc``, ``and``, ``or`` or empty.
        value: reads the predicate that is reduced.
        put: writes the reduction's result.
    """

    site: Instruction
    number: Reader
    count: Reader | None
    aligned: bool
    waits: bool = True
    reduction: str = ""
    value: Reader | None = None
    put: Writer | None = None


def barrier(instruction: Instruction, scope: Scope) -> Barrier:
    """Build ``bar`` and ``barrier`` of a block.

    Raises:
        UnsupportedError: it is one of a cluster, or has an unknown form.
    """
    modifiers = [m for m in instruction.modifiers if m not in {"cta", "aligned"}]
    aligned = instruction.opcode == "bar" or "aligned" in instruction.modifiers
    operands = list(instruction.operands)
    if modifiers in (["sync"], ["arrive"]) and 1 <= len(operands) <= 2:  # noqa: PLR2004  # barrier and count
        number, count = _number(operands, scope)
        return Barrier(instruction, number, count, aligned, waits=modifiers == ["sync"])
    if len(modifiers) == 3 and modifiers[0] == "red" and modifiers[1] in _REDUCTIONS:  # noqa: PLR2004  # red, operation, type
        return _reducing(instruction, operands, modifiers[1], scope, aligned=aligned)
    raise UnsupportedError("only bar.sync, .arrive and .red of a block are supported")


def _number(operands: list[Operand], scope: Scope) -> tuple[Reader, Reader | None]:
    number = reader(operands[0], U32, scope)
    return number, reader(operands[1], U32, scope) if len(operands) > 1 else None


def _reducing(
    instruction: Instruction, operands: list[Operand], name: str, scope: Scope, *, aligned: bool
) -> Barrier:
    if len(operands) not in {3, 4}:
        raise UnsupportedError("destination, barrier, count and predicate expected")
    number, count = _number(operands[1:-1], scope)
    put = writer(operands[0], U32 if name == "popc" else PRED)
    value = reader(operands[-1], PRED, scope)
    return Barrier(instruction, number, count, aligned, reduction=name, value=value, put=put)


@dataclass(frozen=True, eq=False)
class Waiting:
    """Threads at a barrier.

    Attributes:
        barrier: the instruction.
        frame: of the threads.
        resume: the number of the block behind it.
        index: the threads, ascending.
        number: of the barrier.
        needed: threads that it waits for, 0 for all of the block.
        value: their predicates for a reduction, shape (n,).
    """

    barrier: Barrier
    frame: Frame
    resume: int
    index: Array
    number: int
    needed: int
    value: Array | None

    def part(self, chosen: Array) -> Waiting:
        """Return those of the threads for which ``chosen`` is true."""
        value = None if self.value is None else self.value[chosen]
        return Waiting(
            self.barrier, self.frame, self.resume, self.index[chosen], self.number, self.needed, value
        )


class Barriers:
    """The barriers of a chunk's blocks and who waits at them."""

    def __init__(self, chunk: Chunk) -> None:
        self._chunk = chunk
        self.waiting: list[Waiting] = []

    def arrive(self, item: Barrier, lanes: Lanes, resume: int) -> list[tuple[Frame, int, Array]]:
        """Let threads come to a barrier and return (frame, block, threads) for those that may go on.

        Threads of ``bar.arrive`` go on at once.
        """
        number = lanes.all(item.number(lanes))
        needed = lanes.all(item.count(lanes)) if item.count is not None else np.zeros(lanes.count, np.uint32)
        value = None if item.value is None else lanes.all(item.value(lanes))
        threads = lanes.threads()
        for which in np.unique(number):
            for count in np.unique(needed[number == which]):
                chosen = (number == which) & (needed == count)
                arrived = Waiting(
                    item,
                    lanes.frame,
                    resume,
                    threads[chosen],
                    int(which),
                    int(count),
                    None if value is None else value[chosen],
                )
                self.waiting.append(arrived)
        released = self.open()
        return released if item.waits else [*released, (lanes.frame, resume, threads)]

    def open(self) -> list[tuple[Frame, int, Array]]:
        """Open the barriers that are complete; return (frame, block, threads) for those that may go on."""
        released: list[tuple[Frame, int, Array]] = []
        for number in sorted({w.number for w in self.waiting}):
            items = [w for w in self.waiting if w.number == number]
            blocks = self._complete(items)
            if blocks.any():
                released += self._release(items, blocks)
        return released

    def _complete(self, items: list[Waiting]) -> Array:
        """Return which blocks of the chunk have all threads at a barrier."""
        chunk = self._chunk
        here = np.zeros(chunk.threads, np.bool_)
        for item in items:
            here[item.index] = True
        arrived = here.reshape(chunk.blocks, -1).sum(axis=1)
        needed = max(item.needed for item in items)
        if needed:
            missing = chunk.ballot(chunk.alive & ~here).reshape(chunk.blocks, -1)
            whole = chunk.ballot(here).reshape(chunk.blocks, -1) != 0
            counted: Array = ((missing == 0) & whole).sum(axis=1) * WARP >= needed
            return counted
        complete: Array = (arrived > 0) & (arrived == chunk.per_block - chunk.exited)
        return complete

    def _release(self, items: list[Waiting], blocks: Array) -> list[tuple[Frame, int, Array]]:
        chunk = self._chunk
        self._check(items, blocks)
        results = _reduced(chunk, items)
        released: list[tuple[Frame, int, Array]] = []
        for item in items:
            self.waiting.remove(item)
            going = blocks[chunk.block_of[item.index]]
            if not going.all():
                self.waiting.append(item.part(~going))
            gone = item.part(going)
            if not gone.index.size:
                continue
            chunk.shared.synchronise(gone.index)
            if gone.barrier.put is not None:
                whole = gone.index if gone.index.size < chunk.threads else None
                lanes = Lanes(chunk, gone.frame, whole)
                result = results[gone.barrier.reduction][chunk.block_of[gone.index]]
                gone.barrier.put(lanes, result)
            if gone.barrier.waits:
                released.append((gone.frame, gone.resume, gone.index))
        return released

    def _check(self, items: list[Waiting], blocks: Array) -> None:
        """Record barriers that only some threads of a block, or of a warp, come to."""
        chunk = self._chunk
        for item in items:
            of_block = chunk.block_of[item.index]
            lonely = blocks[of_block] & (chunk.exited[of_block] > 0) & (item.needed == 0)
            if item.barrier.aligned and lonely.any():
                gone = int(chunk.exited[of_block[lonely]][0])
                message = f"a barrier in divergent code: {gone} threads of the block have returned before it"
                chunk.note("barrier", item.barrier.site, message, item.index[lonely], None)
        sites = list({id(item.barrier): item.barrier for item in items}.values())
        if len(sites) > 1:
            self._check_warps(items, blocks, sites)

    def _check_warps(self, items: list[Waiting], blocks: Array, sites: list[Barrier]) -> None:
        """Record warps whose threads came to one barrier from several instructions."""
        chunk = self._chunk
        first = np.full(chunk.blocks * chunk.warps_per_block, len(sites))
        for item in items:
            np.minimum.at(first, chunk.warp[item.index], sites.index(item.barrier))
        for item in items:
            at = first[chunk.warp[item.index]]
            other = (at != sites.index(item.barrier)) & blocks[chunk.block_of[item.index]]
            if item.barrier.aligned and other.any():
                line = sites[int(at[other][0])].site.line
                message = (
                    f"a barrier in divergent code: other threads of the warp are at that of PTX line {line}"
                )
                chunk.note("barrier", item.barrier.site, message, item.index[other], None)


def _reduced(chunk: Chunk, items: list[Waiting]) -> dict[str, Array]:
    """Return, for each reduction, the result of each block."""
    true, false = (np.zeros(chunk.blocks, np.int64) for _ in range(2))
    for item in items:
        if item.value is not None:
            blocks = chunk.block_of[item.index]
            true += np.bincount(blocks[item.value], minlength=chunk.blocks)
            false += np.bincount(blocks[~item.value], minlength=chunk.blocks)
    return {"popc": true.astype(np.uint32), "and": false == 0, "or": true > 0}
