"""Values that come from memory which nothing wrote: followed until something depends on them.

A read of such memory is no mistake by itself: kernels read past what they need and drop it, and copy
structures with their holes.  As Valgrind's memcheck does, each value carries whether it is *undefined*
(Seward and Nethercote, "Using Valgrind to detect undefined value errors with bit-precision", USENIX 2005); it
goes on through registers, calls, shuffles, shared and local memory.  Where an undefined value is stored to
global memory, decides a branch, is an address, or takes part in an atomic operation, the *read* is recorded,
of the thread that made it.  Here the unit is a register, not a bit.

Nothing is followed until a chunk makes its first such read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array
from ..ptx.values import Immediate, Instruction, Negated, Operand, Register
from .flow import Flow, Key, flow_of

if TYPE_CHECKING:
    from .chunk import Chunk
    from .lanes import Frame, Lanes

MOST = 256
"""Reads, told apart by instruction, that are followed in a chunk: more than findings are kept of a launch."""

IDS = np.int32
"""Type of an identity: 0 is defined, else 1 + read x threads + thread."""


@dataclass(frozen=True, eq=False)
class _Read:
    """The latest read of unwritten memory by each thread at one instruction.

    Attributes:
        site: the instruction.
        what: the sentence about an address, with ``{}`` for it.
        address: of each thread.
        open: which threads' reads were not recorded yet.
    """

    site: Instruction
    what: str
    address: Array
    open: Array


class Undefined:
    """What is undefined in a chunk.

    Attributes:
        active: whether anything was ever undefined.
        storing: while a store runs that has undefined values, the identity of each element over the chunk's
            threads, None for a defined one; else empty.
    """

    def __init__(self, chunk: Chunk) -> None:
        self.active = False
        self.storing: tuple[Array | None, ...] = ()
        self._chunk = chunk
        self._reads: list[_Read] = []
        self._numbers: dict[tuple[int, int], int] = {}
        self._flows: dict[int, Flow] = {}
        self._loaded: dict[int, Array] = {}

    def read(self, site: Instruction, element: int, threads: Array, address: Array, what: str) -> None:
        """Note that an element of these threads' loads comes from memory that nothing wrote.

        Args:
            site: the load.
            element: its number in the vector.
            threads: their numbers in the chunk.
            address: of each of them.
            what: the sentence for a finding, with ``{}`` for the address.
        """
        key = (id(site), element)
        number = self._numbers.get(key)
        if number is None:
            if len(self._reads) >= MOST:
                return
            number = self._numbers[key] = len(self._reads)
            count = self._chunk.threads
            self._reads.append(_Read(site, what, np.zeros(count, np.int64), np.zeros(count, np.bool_)))
        self._reads[number].address[threads] = address
        self._reads[number].open[threads] = True
        self.loaded(element, threads, (number * self._chunk.threads + threads + 1).astype(IDS))

    def loaded(self, element: int, threads: Array, ids: Array) -> None:
        """Note that an element of these threads' loads has these identities."""
        self.active = True
        if element not in self._loaded:
            self._loaded[element] = np.zeros(self._chunk.threads, IDS)
        self._loaded[element][threads] = ids

    def hand_on(self, count: int) -> None:
        """Let what was loaded be what is stored next: a copy from memory to memory of so many elements."""
        self.storing = tuple(self._loaded.get(number) for number in range(count)) if self._loaded else ()
        self._loaded = {}

    def stored(self, site: Instruction, element: int, threads: Array) -> None:
        """Record what is undefined of an element that these threads store where others see it."""
        ids = self.storing[element] if self.storing else None
        if ids is not None:
            self._use(ids[threads], site, "stores it")

    def before(self, lanes: Lanes, site: Instruction) -> None:
        """Follow an instruction that is about to be executed by threads."""
        if site.guard is not None:
            narrowed = self._guarded(lanes, site)
            if narrowed is None:
                return
            lanes = narrowed
        flow, held = self._flow(site), lanes.frame.undefined
        if held:
            self._check(lanes, flow.addresses, site, "uses it as an address")
        if flow.rule == "store":
            found = tuple(held.get(key) for key in flow.reads) if held else ()
            self.storing = found if any(each is not None for each in found) else ()
        elif held:
            self._follow(lanes, flow, site)

    def after(self, lanes: Lanes, site: Instruction) -> None:
        """Follow what an instruction has read from memory."""
        self.storing = ()
        if not self._loaded:
            return
        flow, frame = self._flow(site), lanes.frame
        loaded, self._loaded = self._loaded, {}
        for element, ids in loaded.items():
            if flow.rule in {"atomic", "use"}:
                self._use(ids, site, "depends on it")
            elif element < len(flow.writes) and flow.writes[element] != -1:
                key = flow.writes[element]
                frame.undefined[key] = np.maximum(frame.undefined.get(key, 0), ids)

    def decide(self, lanes: Lanes, slot: int, site: Instruction) -> None:
        """Record a branch on an undefined predicate."""
        self._check(lanes, (slot,), site, "branches on it")

    def meet(self, lanes: Lanes, site: Instruction) -> None:
        """Follow an instruction whose result all threads of a warp share."""
        flow, chunk = self._flow(site), self._chunk
        own = self._any(lanes, flow.reads)
        if own is not None:
            shared = np.zeros(chunk.blocks * chunk.warps_per_block, IDS)
            warps = lanes.pick(chunk.warp)
            np.maximum.at(shared, warps, own)
            own = shared[warps]
        self._put_all(lanes, flow.writes, own)

    def shuffle(self, lanes: Lanes, site: Instruction, thread: Array, there: Array) -> None:
        """Follow values that threads take from registers of these others, where ``there``."""
        flow, held = self._flow(site), lanes.frame.undefined
        source, *control = flow.sources
        own = self._any(lanes, tuple(each.slot for each in control if isinstance(each, Register)))
        ids = held.get(source.slot) if isinstance(source, Register) else None
        if ids is not None:
            taken = np.where(there, ids[thread], IDS(0))
            self._put_all(lanes, flow.writes[:1], taken if own is None else np.maximum(taken, own))
            self._put_all(lanes, flow.writes[1:], own)
        else:
            self._put_all(lanes, flow.writes, own)

    def enter(self, caller: Frame, callee: Frame, names: dict[str, str]) -> None:
        """Hand the parameters of a call on, by the caller's name of each."""
        for key, ids in caller.undefined.items():
            if isinstance(key, tuple) and key[0] in names:
                callee.undefined[names[key[0]], key[1]] = ids.copy()

    def leave(self, lanes: Lanes, caller: Frame, names: dict[str, str]) -> None:
        """Hand the results of a call back, by the function's name of each."""
        frame, back = lanes.frame, set(names.values())
        wanted = {(names[k[0]], k[1]): v for k, v in _parameters(frame) if k[0] in names}
        stale = [key for key, _ in _parameters(caller) if key[0] in back and key not in wanted]
        for key in stale:
            _put(caller, lanes, key, None)
        for key, ids in wanted.items():
            _put(caller, lanes, key, lanes.pick(ids))

    def _guarded(self, lanes: Lanes, site: Instruction) -> Lanes | None:
        """Return the threads whose guard holds, and record where it is undefined."""
        slot = site.guard.slot if site.guard is not None else 0
        self.decide(lanes, slot, site)
        holds = lanes.all(lanes.get(slot))
        holds = ~holds if site.negated else holds
        return lanes.narrow(holds) if holds.any() else None

    def _flow(self, site: Instruction) -> Flow:
        flow = self._flows.get(id(site))
        if flow is None:
            flow = self._flows[id(site)] = flow_of(site)
        return flow

    def _follow(self, lanes: Lanes, flow: Flow, site: Instruction) -> None:
        if flow.rule in {"use", "atomic", "exchange"}:
            how = "stores it" if flow.rule == "exchange" else "depends on it"
            self._check(lanes, flow.reads, site, how)
            self._put_all(lanes, flow.writes, None)
        elif flow.rule == "copy":
            for source, target in zip(flow.reads, flow.writes, strict=True):
                _put(lanes.frame, lanes, target, self._any(lanes, (source,)))
        elif flow.rule == "load":
            self._put_all(lanes, flow.writes, None)
        elif flow.rule != "nothing":
            self._put_all(lanes, flow.writes, self._computed(lanes, flow))

    def _computed(self, lanes: Lanes, flow: Flow) -> Array | None:
        """Return the identities of a result."""
        found = self._any(lanes, flow.reads)
        if found is None or flow.rule == "any":
            return found
        if flow.rule == "select":
            return self._selected(lanes, flow.sources)
        joined = flow.rule.removeprefix("joined-")
        deciding = flow.sources[-1:] if joined != flow.rule else flow.sources
        for operand in deciding:
            found = np.where(self._decides(lanes, operand, joined), IDS(0), found)
        return found

    def _selected(self, lanes: Lanes, sources: tuple[Operand, ...]) -> Array:
        """Return the identities of ``selp``: those of what is chosen, and of the predicate."""
        a, b, p = (self._of(lanes, each) for each in sources)
        return np.maximum(np.where(_value(lanes, sources[2]), a, b), p)

    def _decides(self, lanes: Lanes, operand: Operand, name: str) -> Array:
        """Return where an operand is defined and decides a conjunction or disjunction alone."""
        value = _value(lanes, operand)
        if name == "and":
            deciding = value == 0
        else:
            deciding = value == (True if value.dtype == np.bool_ else np.iinfo(value.dtype).max)
        result: Array = lanes.all(deciding) & (self._of(lanes, operand) == 0)
        return result

    def _of(self, lanes: Lanes, operand: Operand) -> Array:
        register = operand.register if isinstance(operand, Negated) else operand
        found = self._any(lanes, (register.slot,)) if isinstance(register, Register) else None
        return np.zeros(lanes.count, IDS) if found is None else found

    def _any(self, lanes: Lanes, reads: tuple[Key, ...]) -> Array | None:
        """Return the identities of what depends on all of these, None where all are defined."""
        found: Array | None = None
        for key in reads:
            held = lanes.frame.undefined.get(key)
            if held is not None:
                part = lanes.pick(held)
                found = part if found is None else np.maximum(found, part)
        return found

    def _put_all(self, lanes: Lanes, writes: tuple[Key, ...], ids: Array | None) -> None:
        for key in writes:
            _put(lanes.frame, lanes, key, ids)

    def _check(self, lanes: Lanes, reads: tuple[Key, ...], site: Instruction, how: str) -> None:
        for key in reads:
            held = lanes.frame.undefined.get(key)
            if held is not None:
                self._use(lanes.pick(held), site, how)

    def _use(self, ids: Array, site: Instruction, how: str) -> None:
        """Record the reads that these identities name, once each."""
        numbers, threads = np.divmod(np.unique(ids[ids > 0]).astype(np.int64) - 1, self._chunk.threads)
        for number in np.unique(numbers):
            read = self._reads[int(number)]
            made = threads[numbers == number]
            made = made[read.open[made]]
            if made.size:
                read.open[made] = False
                address = int(read.address[made[0]])
                place = self._chunk.launch.recorder.place(site)
                message = f"{read.what.format(f'{address:#x}')} that nothing wrote; {place} {how}"
                self._chunk.note("uninitialised", read.site, message, made, address)


def _value(lanes: Lanes, operand: Operand) -> Array:
    """Return an operand's bits; one that is no register and no constant decides nothing."""
    if isinstance(operand, Negated):
        return ~lanes.get(operand.register.slot)
    if isinstance(operand, Register):
        return lanes.get(operand.slot)
    return np.array([operand.value & _ALL if isinstance(operand, Immediate) else 1], np.uint64)


def _parameters(frame: Frame) -> list[tuple[tuple[str, int], Array]]:
    return [(key, ids) for key, ids in frame.undefined.items() if isinstance(key, tuple)]


def _put(frame: Frame, lanes: Lanes, key: Key, ids: Array | None) -> None:
    """Let what threads have written have these identities, shape (count,); None for defined."""
    held = frame.undefined.get(key)
    if key == -1 or (held is None and (ids is None or not ids.any())):
        return
    if held is None:
        held = frame.undefined[key] = np.zeros(lanes.chunk.threads, IDS)
    held[slice(None) if lanes.index is None else lanes.index] = 0 if ids is None else ids
    if not held.any():
        del frame.undefined[key]


_ALL = (1 << 64) - 1
