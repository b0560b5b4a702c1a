"""Shared memory of the blocks of a chunk, with what is needed to see races.

Every granule (as many bytes as the kernel's smallest access to shared memory) has the *stamp* of its last
writer and of its last two readers: a clock that every synchronisation moves on, and the thread.  Two accesses
by different threads race when the earlier stamp is not older than the later thread's last synchronisation
with
the other one: of the block, or within one warp also of the warp.

Not counted as races: two writes of the same value, which are common and harmless; accesses that are both
strong
(atomic, volatile, ordered).  A thread that passes a fence or acquires is taken as ordered behind everything
before: the race detector errs on the side of silence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Addresses, Array
from ..device import WARP
from ..ptx.values import aligned
from .access import Access, Update, misaligned
from .dtypes import RAW
from .undefined import IDS

if TYPE_CHECKING:
    from .chunk import Chunk
    from .lanes import Lanes

_THREAD_BITS = 10
"""A block has at most 1024 threads."""

_THREAD = (1 << _THREAD_BITS) - 1

_BEFORE = 1
"""A stamp from before the first clock: a write that is ordered before everything."""

_STAMPS = 4 * 8 + 4
"""Bytes that are kept for a granule: four stamps, and the identity of an undefined value."""


class SharedSpace:
    """Shared memory of a chunk.

    Args:
        chunk: whose.
        size: bytes of a block's window.
        segments: (start, stop) of what is allocated in the window, ascending.
        granule: bytes that one stamp stands for.
        system: where the window's end is the system's own, which counts as written before the launch.
    """

    def __init__(
        self,
        chunk: Chunk,
        size: int,
        segments: tuple[tuple[int, int], ...],
        granule: int,
        system: int | None = None,
    ) -> None:
        self._chunk = chunk
        self._size = size
        self._stride = aligned(size, 16)
        self._granule = granule
        self._data = np.zeros(chunk.blocks * self._stride, np.uint8)
        self._holes = self._valid(segments)
        count = self._data.size // granule
        self._writers, self._strong, self._readers, self._others = (
            np.zeros(count, np.int64) for _ in range(4)
        )
        if system is not None:
            self._writers.reshape(chunk.blocks, -1)[:, system // granule :] = _BEFORE
        self._undefined: Array | None = None
        self._clock = 1
        self._fenced = False
        threads = chunk.threads if size else 0
        self._block_since = np.full(threads, 1 << _THREAD_BITS)
        self._warp_since = self._block_since.copy()
        self._thread = chunk.in_block[:threads].astype(np.int64)
        self._base = chunk.block_of[:threads] * self._stride

    @staticmethod
    def bytes_needed(size: int, granule: int) -> int:
        """Return how many bytes a block's shared memory takes, stamps included."""
        return aligned(size, 16) * (1 + -(-_STAMPS // granule))

    def _valid(self, segments: tuple[tuple[int, int], ...]) -> Array | None:
        """Return which bytes of the window are allocated, or None where that is all of them."""
        if len(segments) <= 1:
            return None
        valid = np.zeros(self._size, np.bool_)
        for start, stop in segments:
            valid[start:stop] = True
        return valid

    def synchronise(self, threads: Array | slice) -> None:
        """Order these threads behind everything before: a barrier of the block."""
        if self._size:
            self._clock += 1
            self._warp_since[threads] = self._block_since[threads] = self._clock << _THREAD_BITS

    def fence(self, threads: Array) -> None:
        """Order these threads behind everything before: a fence or an acquire."""
        self.synchronise(threads)
        self._fenced = bool(self._size)

    def synchronise_warp(self, threads: Array) -> None:
        """Order these threads behind everything before within their warps (``bar.warp.sync``)."""
        if self._size:
            self._clock += 1
            self._warp_since[threads] = self._clock << _THREAD_BITS

    def meet(self, threads: Array) -> None:
        """Let threads of a warp that met share what one of them is ordered behind by a fence.

        Cooperative groups rely on it: one lane acquires, a shuffle hands on what it saw.
        """
        if not self._fenced:
            return
        since, warps = self._block_since[threads], self._chunk.warp[threads]
        latest = np.zeros(self._chunk.blocks * self._chunk.warps_per_block, np.int64)
        np.maximum.at(latest, warps, since)
        self._block_since[threads] = latest[warps]
        self._warp_since[threads] = np.maximum(self._warp_since[threads], latest[warps])

    def load(self, lanes: Lanes, address: Addresses, access: Access) -> tuple[Array, ...]:
        """Return the elements: see ``access.Space``."""
        if address.shape[0] == 1 and self._chunk.blocks > 1:
            address = lanes.all(address)
        offset, right = self._offsets(lanes, address, access)
        chosen = lanes if right is None else lanes.narrow(right)
        if right is not None:
            offset = offset[right]
        self._reading(chosen, offset, access)
        elements = self._data.view(RAW[access.size])
        index = offset // access.size
        found = tuple(elements[index + j] for j in range(access.count))
        return found if right is None else tuple(_spread(value, right) for value in found)

    def store(self, lanes: Lanes, address: Addresses, access: Access, values: tuple[Array, ...]) -> None:
        """Write the elements: see ``access.Space``."""
        offset, right = self._offsets(lanes, lanes.all(address), access)
        if right is not None:
            values = tuple(lanes.all(value)[right] for value in values)
            lanes, offset = lanes.narrow(right), offset[right]
        elements = self._data.view(RAW[access.size])
        for j, value in enumerate(values):
            index = offset // access.size + j
            changed = elements[index] != value
            self._writing(lanes, offset + j * access.size, access, changed)
            elements[index] = value
            self._written(lanes, offset + j * access.size, access, elements, lanes.all(value))
            self._define(lanes, offset + j * access.size, access, j)

    def atomic(self, lanes: Lanes, address: Addresses, access: Access, update: Update) -> Array:
        """Apply an operation: see ``access.Space``."""
        offset, right = self._offsets(lanes, lanes.all(address), access)
        where = None if right is None else np.flatnonzero(right)
        if right is not None:
            lanes, offset = lanes.narrow(right), offset[right]
        self._reading(lanes, offset, access)
        self._writing(lanes, offset, access, np.ones(lanes.count, np.bool_))
        self._written(lanes, offset, access, self._data, None)
        self._define(lanes, offset, access, 0)
        old = update(self._data.view(RAW[access.size]), offset // access.size, where)
        return old if right is None else _spread(old, right)

    def _offsets(self, lanes: Lanes, address: Addresses, access: Access) -> tuple[Array, Array | None]:
        """Return where in the data the accesses begin, and which are right (None: all)."""
        wrong = misaligned(lanes, address, access)
        offset = address.view(np.int64)
        outside = (offset < 0) | (offset > self._size - access.span)
        if self._holes is not None:
            inside = ~outside
            outside[inside] = ~(self._holes[offset[inside]] & self._holes[offset[inside] + access.span - 1])
        if outside.any():
            self._outside(lanes, address, access, lanes.all(outside))
            wrong = outside if wrong is None else wrong | outside
        base = self._base[:1] if self._chunk.blocks == 1 else lanes.pick(self._base)
        return offset + base, None if wrong is None else ~lanes.all(wrong)

    def _outside(self, lanes: Lanes, address: Addresses, access: Access, outside: Array) -> None:
        first = int(lanes.all(address)[outside][0])
        message = (
            f"an access of {access.span} bytes at offset {first:#x} of shared memory, which is not allocated"
        )
        lanes.chunk.note("out-of-bounds", access.site, message, lanes.threads()[outside], first)

    def _reading(self, lanes: Lanes, offset: Array, access: Access) -> None:
        """Check and stamp a read."""
        threads = lanes.threads()
        if not threads.size:
            return
        offset = lanes.all(offset)
        unwritten = np.ones(offset.shape, np.bool_)
        ids: Array | None = None
        own = (self._clock << _THREAD_BITS) | self._thread[threads]
        for start in range(0, access.span, self._granule):
            granule = (offset + start) // self._granule
            writer = self._writers[granule]
            strong = self._strong[granule]
            if start % access.size == 0:
                unwritten[:], ids = True, None
            nothing = (writer | strong) == 0
            if self._undefined is not None:
                held = self._undefined[granule]
                ids = held if ids is None else np.maximum(ids, held)
                nothing |= held > 0
            unwritten &= nothing
            if (start + self._granule) % access.size == 0 and unwritten.any():
                self._unwritten(lanes, offset, access, unwritten, start // access.size, ids)
            self._race(lanes, writer, offset, access, "read what another thread wrote")
            if not access.strong:
                self._race(lanes, strong, offset, access, "read what another thread wrote")
                self._stamp_reader(granule, own)

    def _stamp_reader(self, granule: Array, own: Array) -> None:
        before = self._readers[granule]
        other = before != own
        if other.any():
            moved = other & ((before & _THREAD) != (own & _THREAD))
            self._others[granule[moved]] = before[moved]
            self._readers[granule] = own
            lost = self._readers[granule] != own
            self._others[granule[lost]] = own[lost]

    def _writing(self, lanes: Lanes, offset: Array, access: Access, changed: Array) -> None:
        """Check a write against what was before."""
        for start in range(0, access.size, self._granule):
            granule = (offset + start) // self._granule
            self._race(lanes, np.where(changed, self._writers[granule], 0), offset, access, _WROTE)
            if not access.strong:
                self._race(lanes, self._strong[granule], offset, access, _WROTE)
            self._race(lanes, self._readers[granule], offset, access, "wrote what another thread read")
            self._race(lanes, self._others[granule], offset, access, "wrote what another thread read")

    def _written(
        self, lanes: Lanes, offset: Array, access: Access, elements: Array, value: Array | None
    ) -> None:
        """Stamp a write, and see whether several threads wrote different values to one place at once."""
        threads = lanes.threads()
        own = (self._clock << _THREAD_BITS) | self._thread[threads]
        stamps = self._strong if access.strong else self._writers
        for start in range(0, access.size, self._granule):
            granule = (offset + start) // self._granule
            stamps[granule] = own
            if value is None or access.strong:
                continue
            last = stamps[granule]
            lost = (last != own) & (elements[offset // access.size] != value)
            if lost.any():
                self._race(lanes, np.where(lost, last, 0), offset, access, _WROTE)

    def _race(self, lanes: Lanes, stamp: Array, offset: Array, access: Access, what: str) -> None:
        """Record accesses that race with the one that left ``stamp``."""
        threads = lanes.threads()
        recent = stamp >= self._block_since[threads]
        if not recent.any():
            return
        thread, other = self._thread[threads], stamp & _THREAD
        same_warp = thread // WARP == other // WARP
        racing = recent & (other != thread) & (~same_warp | (stamp >= self._warp_since[threads]))
        if racing.any():
            first = int(np.flatnonzero(racing)[0])
            place = int(offset[first]) % self._stride
            whom = lanes.chunk.place(int(other[first]))[1]
            where = f"in one barrier interval at offset {place:#x} of shared memory"
            message = f"{what}, thread {whom} of the block, {where}"
            lanes.chunk.note("race", access.site, message, threads[racing], place)

    def _unwritten(  # noqa: PLR0913, PLR0917  # an access, and what is known of one of its elements
        self,
        lanes: Lanes,
        offset: Array,
        access: Access,
        unwritten: Array,
        element: int,
        ids: Array | None,
    ) -> None:
        """Note that an element holds nothing that was written, or (``ids``) what was undefined before."""
        undefined, threads = lanes.chunk.undefined, lanes.threads()
        if ids is not None:
            copied = unwritten & (ids > 0)
            if copied.any():
                undefined.loaded(element, threads[copied], ids[copied])
            unwritten = unwritten & ~copied
        if unwritten.any():
            place = offset[unwritten] % self._stride + element * access.size
            what = f"a read of {access.size} bytes at offset {{}} of shared memory"
            undefined.read(access.site, element, threads[unwritten], place, what)

    def _define(self, lanes: Lanes, offset: Array, access: Access, element: int) -> None:
        """Keep which elements that are stored are undefined."""
        storing = lanes.chunk.undefined.storing
        ids = storing[element] if storing else None
        if ids is None and self._undefined is None:
            return
        if self._undefined is None:
            self._undefined = np.zeros(self._writers.size, IDS)
        value = 0 if ids is None else ids[lanes.threads()]
        for start in range(0, access.size, self._granule):
            self._undefined[(offset + start) // self._granule] = value


_WROTE = "wrote what another thread wrote"


def _spread(value: Array, right: Array) -> Array:
    spread = np.zeros(right.size, value.dtype)
    spread[right] = value
    return spread
