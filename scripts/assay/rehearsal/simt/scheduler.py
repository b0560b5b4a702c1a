"""Runs the threads of a chunk through a program: which group of threads goes next, where they part and meet.

Groups wait at block numbers; the group at the lowest number runs until it parts, waits or is overtaken
(``graph``).  Two exceptions keep threads from waiting for ever: a loop that reads volatile or atomic memory
again and again is set aside for a while, so that the threads it waits for can go on; and whoever waits for
its
warp or at a barrier waits outside the order.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array
from ..ptx.values import Instruction
from .barriers import Barriers
from .lanes import Frame, Lanes
from .nodes import Branch, Call, Jump, Latch, Meet, Programs, Return, Switch, Wait
from .unsupported import TrapError, UnsupportedError

if TYPE_CHECKING:
    from .chunk import Chunk

MAX_DEPTH = 128
"""Calls inside calls.  The hardware's stack of 512 KiB a thread ends some recursion earlier, some later."""

_SPINS = 16
_QUANTUM = 256


class _Group:
    """Threads that wait at a block for their turn."""

    __slots__ = ("frame", "parts", "rank")

    def __init__(self, frame: Frame, rank: int) -> None:
        self.frame = frame
        self.rank = rank
        self.parts: list[Array | None] = []


class Scheduler:
    """Runs one kernel over one chunk.

    Args:
        chunk: the blocks.
        programs: the module's functions.
    """

    def __init__(self, chunk: Chunk, programs: Programs) -> None:
        self._chunk = chunk
        self._programs = programs
        self._ready: dict[tuple[int, ...], _Group] = {}
        self._parked: list[tuple[Frame, int, Array | None]] = []
        self._since_parked = 0
        self._meeting: dict[tuple[int, ...], tuple[Frame, int, Array]] = {}
        self._barriers = Barriers(chunk)
        self._loops: dict[tuple[int, ...], tuple[int, int]] = {}
        self._calls = 0
        self._registers = 0
        self.site: Instruction | None = None

    def run(self, entry: str) -> None:
        """Run a kernel until all threads have exited.

        Raises:
            TrapError, UnsupportedError: it cannot go on; ``site`` is the instruction.
        """
        frame = self._frame(entry, None, 0)
        self._push(frame, frame.program.entry, None)
        while True:
            if self._parked and (not self._ready or self._since_parked > _QUANTUM):
                self._unpark()
            if not self._ready:
                if not (self._meeting or self._barriers.waiting):
                    return
                self._deadlock()
            key = min(self._ready)
            group = self._ready.pop(key)
            self._advance(Lanes(self._chunk, group.frame, self._joined(group.parts)), group.rank)

    def _joined(self, parts: list[Array | None]) -> Array | None:
        if len(parts) == 1:
            return parts[0]
        index = np.sort(np.concatenate([part for part in parts if part is not None]))
        return None if index.size == self._chunk.threads else index

    def _push(self, frame: Frame, rank: int, index: Array | None) -> None:
        key = (*frame.key, rank)
        group = self._ready.get(key)
        if group is None:
            group = self._ready[key] = _Group(frame, rank)
        group.parts.append(index)

    def _unpark(self) -> None:
        for frame, rank, index in self._parked:
            self._push(frame, rank, index)
        self._parked.clear()

    def _advance(self, lanes: Lanes, rank: int) -> None:
        """Run threads from a block on until they part, wait, end or are overtaken."""
        nodes, launch, undefined = lanes.frame.program.nodes, self._chunk.launch, self._chunk.undefined
        spend, deadline, now = launch.spend, launch.deadline, time.monotonic
        while True:
            node = nodes[rank]
            for step, site in node.steps:
                self.site = site
                if undefined.active:
                    undefined.before(lanes, site)
                step(lanes)
                if undefined.active:
                    undefined.after(lanes, site)
                if now() > deadline:
                    break
            spend(node.cost * lanes.count)
            self._since_parked += bool(self._parked)
            following = self._end(lanes, rank)
            if following is None:
                return
            rank = following
            if self._ready and min(self._ready) <= (*lanes.frame.key, rank):
                self._push(lanes.frame, rank, lanes.index)
                return

    def _end(self, lanes: Lanes, rank: int) -> int | None:
        """Return the block at which the threads go on now, or None where they have been sent elsewhere."""
        end = lanes.frame.program.nodes[rank].end
        if isinstance(end, Jump):
            return end.target
        if isinstance(end, Branch):
            return self._branch(lanes, end)
        if isinstance(end, (Latch, Meet, Wait)):
            return self._pause(lanes, rank, end)
        self._leave(lanes, rank, end)
        return None

    def _pause(self, lanes: Lanes, rank: int, end: Latch | Meet | Wait) -> int | None:
        if isinstance(end, Latch):
            return self._latch(lanes, rank, end)
        return self._meet(lanes, rank, end) if isinstance(end, Meet) else self._wait(lanes, end)

    def _leave(self, lanes: Lanes, rank: int, end: Return | Call | Switch) -> None:
        if isinstance(end, Return):
            self._return(lanes, end)
        elif isinstance(end, Call):
            self._call(lanes, rank, end)
        else:
            self._switch(lanes, end)

    def _branch(self, lanes: Lanes, end: Branch) -> int | None:
        if self._chunk.undefined.active:
            self._chunk.undefined.decide(lanes, end.slot, end.site)
        holds = lanes.get(end.slot)
        if end.negated:
            holds = ~holds
        if holds.all():
            return end.taken
        if not holds.any():
            return end.other
        threads = lanes.threads()
        self._push(lanes.frame, end.taken, threads[holds])
        self._push(lanes.frame, end.other, threads[~holds])
        return None

    def _switch(self, lanes: Lanes, end: Switch) -> None:
        self.site = end.site
        if self._chunk.undefined.active:
            self._chunk.undefined.before(lanes, end.site)
        chosen = lanes.all(end.index(lanes))
        if int(chosen.max()) >= len(end.targets):
            raise UnsupportedError(f"brx.idx {int(chosen.max())} of {len(end.targets)} targets")
        for number in np.unique(chosen):
            self._push(lanes.frame, end.targets[int(number)], lanes.threads()[chosen == number])

    def _latch(self, lanes: Lanes, rank: int, end: Latch) -> int | None:
        """Set a loop aside that waits for other threads: it reads strong memory in every iteration."""
        key = (*lanes.frame.key, rank)
        strong, spins = self._loops.get(key, (-1, 0))
        spins = spins + 1 if self._chunk.strong > strong >= 0 else 0
        others = self._ready or self._parked
        if spins > _SPINS and others:
            self._loops[key] = (self._chunk.strong, 0)
            if not self._parked:
                self._since_parked = 0
            self._parked.append((lanes.frame, end.target, lanes.index))
            return None
        self._loops[key] = (self._chunk.strong, spins)
        return end.target

    def _wait(self, lanes: Lanes, end: Wait) -> int | None:
        item, chunk = end.barrier, self._chunk
        self.site = item.site
        if chunk.undefined.active:
            chunk.undefined.before(lanes, item.site)
        whole = lanes.count == chunk.threads and not self._barriers.waiting
        if whole and item.count is None and not item.reduction and item.waits:
            number = item.number(lanes)
            if number.shape[0] == 1:
                chunk.shared.synchronise(slice(None))
                return end.then
        for frame, rank, index in self._barriers.arrive(item, lanes, end.then):
            self._push(frame, rank, self._whole(index))
        return None

    def _whole(self, index: Array) -> Array | None:
        return None if index.size == self._chunk.threads else index

    def _meet(self, lanes: Lanes, rank: int, end: Meet) -> int | None:
        self.site = end.site
        key = (*lanes.frame.key, rank)
        if key in self._meeting:
            _, _, earlier = self._meeting.pop(key)
            self._push(lanes.frame, rank, earlier)
            self._push(lanes.frame, rank, lanes.index)
            return None
        if lanes.count == self._chunk.living:
            self._run_meeting(lanes, end)
            return end.then
        complete = self._present(lanes, end)
        if complete.any():
            going = lanes if complete.all() else lanes.narrow(complete)
            self._run_meeting(going, end)
            self._push(lanes.frame, end.then, going.index)
        if not complete.all():
            self._meeting[key] = (lanes.frame, rank, lanes.threads()[~complete])
        return None

    def _run_meeting(self, lanes: Lanes, end: Meet) -> None:
        if self._chunk.undefined.active and end.site.opcode != "shfl":
            self._chunk.undefined.meet(lanes, end.site)
        end.meeting.run(lanes)
        self._chunk.shared.meet(lanes.threads())

    def _present(self, lanes: Lanes, end: Meet) -> Array:
        """Return which threads have all the living members of their mask beside them."""
        chunk = self._chunk
        here = np.zeros(chunk.threads, np.bool_)
        here[lanes.threads()] = True
        missing = (chunk.ballot(chunk.alive) & ~chunk.ballot(here))[lanes.pick(chunk.warp)]
        result: Array = lanes.all((missing & end.meeting.members(lanes)) == 0)
        return result

    def _return(self, lanes: Lanes, end: Return) -> None:
        frame = lanes.frame
        if frame.parent is None or end.exits:
            self._exit(lanes)
            return
        self._chunk.local.release(lanes, frame.local_base, frame.program.local_bytes)
        if self._chunk.undefined.active:
            self._chunk.undefined.leave(lanes, frame.parent, frame.names)
        for name, held in zip(frame.program.returns, frame.results, strict=False):
            given = frame.params.get(name)
            if given is not None:
                held[lanes.threads()] = given[lanes.threads()]
        frame.living -= lanes.count
        if not frame.living:
            self._registers -= frame.program.register_bytes * self._chunk.threads
        self._push(frame.parent, frame.resume, lanes.index)

    def _exit(self, lanes: Lanes) -> None:
        self._chunk.exit(lanes.threads())
        for frame, rank, index in self._meeting.values():
            self._push(frame, rank, index)
        self._meeting.clear()
        if self._barriers.waiting:
            for frame, rank, index in self._barriers.open():
                self._push(frame, rank, self._whole(index))

    def _call(self, lanes: Lanes, rank: int, end: Call) -> None:
        self.site = end.site
        if isinstance(end.callee, str):
            self._enter(lanes, rank, end, end.callee)
            return
        address = lanes.all(end.callee(lanes))
        for value in np.unique(address):
            name = self._chunk.launch.functions.get(int(value))
            if name is None:
                raise UnsupportedError(f"a call of {int(value):#x}, where no function is")
            mask = address == value
            self._enter(lanes if mask.all() else lanes.narrow(mask), rank, end, name)

    def _enter(self, lanes: Lanes, rank: int, end: Call, name: str) -> None:
        caller = lanes.frame
        if name not in self._programs:
            raise UnsupportedError(f"the function {name} is not defined")
        if caller.depth >= MAX_DEPTH:
            raise TrapError("memory", f"more than {MAX_DEPTH} calls inside calls")
        frame = self._frame(name, caller, end.then)
        frame.key = (*caller.key, rank, self._calls)
        frame.living = lanes.count
        if len(end.arguments) != len(frame.program.parameters):
            raise UnsupportedError(f"{name} takes {len(frame.program.parameters)} parameters")
        for given, name_inside in zip(end.arguments, frame.program.parameters, strict=True):
            if given in caller.params:
                frame.params[name_inside] = caller.params[given].copy()
        frame.results = [caller.parameter(result, self._chunk.threads) for result in end.results]
        frame.names = dict(zip(frame.program.returns, end.results, strict=False))
        if self._chunk.undefined.active:
            inside = dict(zip(end.arguments, frame.program.parameters, strict=True))
            self._chunk.undefined.enter(caller, frame, inside)
        self._push(frame, frame.program.entry, lanes.index)

    def _frame(self, name: str, parent: Frame | None, resume: int) -> Frame:
        """Return a new activation of a function.

        Raises:
            TrapError: its registers or local variables do not fit.
        """
        frame = Frame(self._programs[name](self._chunk.launch.check), parent, resume)
        if parent is not None:
            self._calls += 1
        self._registers += frame.program.register_bytes * self._chunk.threads
        if self._registers > self._chunk.launch.limits.memory and parent is not None:
            raise TrapError(
                "memory", "the registers of nested calls take more memory than the launch may use"
            )
        self._chunk.local.ensure(frame.local_base + frame.program.local_bytes)
        return frame

    def _deadlock(self) -> None:
        """Record who waits for whom in vain.

        Raises:
            TrapError: always.
        """
        for item in self._barriers.waiting:
            message = f"{item.index.size} threads wait at a barrier that the others never reach"
            self.site = item.barrier.site
            self._chunk.note("barrier", item.barrier.site, message, item.index, None)
        for frame, rank, index in self._meeting.values():
            end = frame.program.nodes[rank].end
            if isinstance(end, Meet):
                message = f"{index.size} threads wait for lanes of their warp that never come"
                self.site = end.site
                self._chunk.note("barrier", end.site, message, index, None)
        raise TrapError("deadlock", "threads wait for others that never come")
