"""Instructions in which the threads of a warp exchange values (PTX ISA 9.0, section 9.7.9.6 and 9.7.13).

The threads that the member mask names wait for one another; ``Meeting`` says for whom and what happens then.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array
from ..device import WARP
from ..ptx.types import TYPES
from ..ptx.values import Instruction, Operand, Pair
from .dtypes import dtype
from .forms import Step, arity, form
from .operands import Reader, Writer, reader, writer
from .unsupported import UnsupportedError

if TYPE_CHECKING:
    from .lanes import Lanes
    from .linking import Scope

B32, U32, PRED = TYPES["b32"], TYPES["u32"], TYPES["pred"]


@dataclass(frozen=True)
class Meeting:
    """A warp-wide instruction.

    Attributes:
        members: reads the member mask of each thread.
        run: what the threads do once all of them that are alive have come.
    """

    members: Reader
    run: Step


def exchange(lanes: Lanes, value: Array) -> tuple[Array, Array]:
    """Return a value of the active threads spread over the chunk, and which threads those are."""
    chunk = lanes.chunk
    value = lanes.all(value)
    if lanes.index is None:
        return value, np.ones(chunk.threads, np.bool_)
    present = np.zeros(chunk.threads, np.bool_)
    present[lanes.index] = True
    spread = np.zeros(chunk.threads, value.dtype)
    spread[lanes.index] = value
    return spread, present


def ballot(lanes: Lanes, value: Array) -> Array:
    """Return for each active thread the bits of those of its warp for which ``value`` is true."""
    spread, present = exchange(lanes, value)
    bits: Array = lanes.chunk.ballot(spread & present)[lanes.pick(lanes.chunk.warp)]
    return bits


def _own(lanes: Lanes) -> Array:
    return np.uint32(1) << lanes.pick(lanes.chunk.lane)


def shuffle(instruction: Instruction, scope: Scope) -> Meeting:
    """Build ``shfl.sync``; a source lane that is not active gives 0 (PTX leaves it open)."""
    modes = frozenset({"up", "down", "bfly", "idx"})
    f = form(instruction, modes | {"sync"}, "b32")
    mode = f.one_of(modes, "")
    if "sync" not in f.flags or not mode:
        raise UnsupportedError("only shfl.sync is supported")
    d, a, b, c, members = arity(instruction, 5)
    put, put_valid = _destinations(d)
    source, offset, clamp = (reader(o, U32, scope) for o in (a, b, c))

    def run(lanes: Lanes) -> None:
        lane = lanes.pick(lanes.chunk.lane).astype(np.int64)
        by = offset(lanes).astype(np.int64) & 31
        from_lane, valid = _source_lane(mode, lane, by, clamp(lanes).astype(np.int64))
        spread, present = exchange(lanes, source(lanes))
        thread, exists = _thread_of(lanes, from_lane)
        there = present[thread] & exists
        if lanes.chunk.undefined.active:
            lanes.chunk.undefined.shuffle(lanes, instruction, thread, there)
        put(lanes, np.where(there, spread[thread], np.uint32(0)))
        if put_valid is not None:
            put_valid(lanes, valid)

    return Meeting(reader(members, U32, scope), run)


def _source_lane(mode: str, lane: Array, by: Array, clamp: Array) -> tuple[Array, Array]:
    """Return the lane that each thread reads, and whether it lies in its segment (section 9.7.9.6)."""
    segment = clamp >> 8 & 31
    limit = clamp & 31
    last = (lane & segment) | (limit & ~segment)
    if mode == "up":
        wanted = lane - by
        valid = wanted >= last
    elif mode == "down":
        wanted = lane + by
        valid = wanted <= last
    elif mode == "bfly":
        wanted = lane ^ by
        valid = wanted <= last
    else:
        wanted = (lane & segment) | (by & ~segment)
        valid = wanted <= last
    return np.where(valid, wanted, lane), valid


def _destinations(d: Operand) -> tuple[Writer, Writer | None]:
    if isinstance(d, Pair):
        return writer(d.first, U32), writer(d.second, PRED)
    return writer(d, U32), None


def vote(instruction: Instruction, scope: Scope) -> Meeting:
    """Build ``vote.sync``: all, any, uni or ballot."""
    modes = frozenset({"all", "any", "uni", "ballot"})
    f = form(instruction, modes | {"sync"}, "pred b32")
    mode = f.one_of(modes, "")
    if "sync" not in f.flags or not mode:
        raise UnsupportedError("only vote.sync is supported")
    d, a, members = arity(instruction, 3)
    put = writer(d, U32 if mode == "ballot" else PRED)
    read, named = reader(a, PRED, scope), reader(members, U32, scope)

    def run(lanes: Lanes) -> None:
        mask = named(lanes) & ballot(lanes, np.ones(1, np.bool_))
        yes = ballot(lanes, read(lanes)) & mask
        put(lanes, _voted(mode, yes, mask))

    return Meeting(named, run)


def _voted(mode: str, yes: Array, mask: Array) -> Array:
    nobody: Array = yes == 0
    everybody: Array = yes == mask
    return {"ballot": yes, "any": ~nobody, "all": everybody, "uni": everybody | nobody}[mode]


def match(instruction: Instruction, scope: Scope) -> Meeting:
    """Build ``match.any.sync`` and ``match.all.sync``: which lanes hold the same value."""
    f = form(instruction, {"any", "all", "sync"}, "b32 b64")
    d, a, members = arity(instruction, 3)
    put, put_all = _destinations(d)
    read, named = reader(a, f.type, scope), reader(members, U32, scope)
    everybody = "all" in f.flags

    def run(lanes: Lanes) -> None:
        value = lanes.all(read(lanes))
        mask = named(lanes) & ballot(lanes, np.ones(1, np.bool_))
        same: Array = np.zeros(lanes.count, np.uint32)
        for lane, other, there in _each_lane(lanes, value):
            same |= np.where(there & (other == value), np.uint32(1) << np.uint32(lane), np.uint32(0))
        same = same & mask
        whole = same == mask
        put(lanes, np.where(whole, mask, np.uint32(0)) if everybody else same)
        if put_all is not None:
            put_all(lanes, whole)

    return Meeting(named, run)


def _each_lane(lanes: Lanes, value: Array) -> list[tuple[int, Array, Array]]:
    """Return for each lane its number, its value as its warp's threads see it, and if it is active."""
    chunk = lanes.chunk
    spread, present = exchange(lanes, value)
    seen = []
    for lane in range(min(WARP, chunk.per_block)):
        thread, exists = _thread_of(lanes, np.int64(lane))
        seen.append((lane, spread[thread], present[thread] & exists))
    return seen


def _thread_of(lanes: Lanes, lane: Array | np.int64) -> tuple[Array, Array]:
    """Return the number of a lane of each active thread's warp, and whether the block has that thread.

    The last warp of a block may be short; there the number is that of the block's first thread.
    """
    chunk = lanes.chunk
    in_block = lanes.pick(chunk.in_block).astype(np.int64)
    wanted = in_block - in_block % WARP + lane
    exists = wanted < chunk.per_block
    return lanes.pick(chunk.block_of) * chunk.per_block + np.where(exists, wanted, 0), exists


_REDUCTIONS: dict[str, Callable[[Array, Array], Array]] = {
    "add": np.add,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}


def reduce(instruction: Instruction, scope: Scope) -> Meeting:
    """Build ``redux.sync``: one operation over the members' integers."""
    names = frozenset(_REDUCTIONS)
    f = form(instruction, names | {"sync"}, "u32 s32 b32")
    name = f.one_of(names, "")
    if not name:
        raise UnsupportedError("there is no operation")
    d, a, members = arity(instruction, 3)
    put, read, named = writer(d, f.type), reader(a, f.type, scope), reader(members, U32, scope)
    function = _REDUCTIONS[name]

    def run(lanes: Lanes) -> None:
        value = lanes.all(read(lanes))
        mask = lanes.all(named(lanes))
        total: Array = np.zeros(lanes.count, dtype(f.type))
        started = np.zeros(lanes.count, np.bool_)
        for lane, other, there in _each_lane(lanes, value):
            counts = there & (mask >> np.uint32(lane) & np.uint32(1)).astype(np.bool_)
            total = np.where(counts, np.where(started, function(total, other), other), total)
            started |= counts
        put(lanes, total)

    return Meeting(named, run)


def elect(instruction: Instruction, scope: Scope) -> Meeting:
    """Build ``elect.sync``: the lowest member leads."""
    if instruction.modifiers != ("sync",):
        raise UnsupportedError("only elect.sync is supported")
    d, members = arity(instruction, 2)
    put, put_leads = _destinations(d)
    named = reader(members, U32, scope)

    def run(lanes: Lanes) -> None:
        mask = named(lanes) & ballot(lanes, np.ones(1, np.bool_))
        lowest = mask & (~mask + np.uint32(1))
        put(lanes, np.bitwise_count(lowest - np.uint32(1)).astype(np.uint32))
        if put_leads is not None:
            put_leads(lanes, lowest == _own(lanes))

    return Meeting(named, run)


def warp_barrier(instruction: Instruction, scope: Scope) -> Meeting:
    """Build ``bar.warp.sync``: it orders the accesses of its members."""
    (members,) = arity(instruction, 1)
    return Meeting(
        reader(members, U32, scope),
        lambda lanes: lanes.chunk.shared.synchronise_warp(lanes.threads()),
    )


def active_mask(instruction: Instruction, scope: Scope) -> Step:
    """Build ``activemask``: the threads of the warp that execute it together."""
    del scope
    (d,) = arity(instruction, 1)
    put = writer(d, B32)
    return lambda lanes: put(lanes, ballot(lanes, np.ones(1, np.bool_)))


MEETINGS: dict[str, Callable[[Instruction, Scope], Meeting]] = {
    "shfl": shuffle,
    "vote": vote,
    "match": match,
    "redux": reduce,
    "elect": elect,
}
"""By opcode; ``bar.warp`` is ``warp_barrier``."""
