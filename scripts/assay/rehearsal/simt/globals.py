"""The global and constant space: allocations of the memory, each access checked against them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Addresses, Array
from ..memory import Allocation, Memory
from .access import Access, Update, misaligned
from .dtypes import RAW

if TYPE_CHECKING:
    from .lanes import Lanes


@dataclass(frozen=True)
class Part:
    """Elements of one allocation.

    Attributes:
        allocation: which.
        index: of the first element of each thread's vector, counted in elements; where each thread's follows
            that
            of the one before, the slice of them all.
        where: which of the active threads they belong to, None for all.
    """

    allocation: Allocation
    index: Array | slice
    where: Array | None

    def elements(self, size: int) -> Array:
        """Return the allocation's bytes as elements of so many bytes, in place."""
        data = self.allocation.data
        return data[: data.size // size * size].view(RAW[size])

    def at(self, number: int) -> Array | slice:
        """Return the index of an element of each thread's vector."""
        if isinstance(self.index, slice):
            return slice(self.index.start + number, self.index.stop + number, self.index.step)
        return self.index + number if number else self.index

    def numbers(self) -> Array:
        """Return the index as numbers."""
        if isinstance(self.index, slice):
            return np.arange(self.index.start, self.index.stop, self.index.step)
        return self.index

    def bounds(self) -> tuple[int, int]:
        """Return the first and the last index; there is one at least."""
        if isinstance(self.index, slice):
            return self.index.start, self.index.stop - self.index.step
        return int(self.index.min()), int(self.index.max())


class GlobalSpace:
    """Global memory as the threads of one launch see it."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self._last: Allocation | None = None

    def load(self, lanes: Lanes, address: Addresses, access: Access) -> tuple[Array, ...]:
        """Return the elements: see ``access.Space``."""
        parts = self._parts(lanes, address, access)
        if len(parts) == 1 and parts[0].where is None:
            self._read(lanes, parts[0], access)
            elements = parts[0].elements(access.size)
            return tuple(np.array(elements[parts[0].at(j)]) for j in range(access.count))
        found = tuple(np.zeros(lanes.count, RAW[access.size]) for _ in range(access.count))
        for part in parts:
            self._read(lanes, part, access)
            elements = part.elements(access.size)
            for j in range(access.count):
                found[j][part.where] = elements[part.at(j)]
        return found

    def store(self, lanes: Lanes, address: Addresses, access: Access, values: tuple[Array, ...]) -> None:
        """Write the elements: see ``access.Space``."""
        undefined = lanes.chunk.undefined
        for part in self._parts(lanes, lanes.all(address), access):
            elements = part.elements(access.size)
            for j, value in enumerate(values):
                if undefined.storing:
                    undefined.stored(access.site, j, _threads(lanes, part))
                chosen = value if value.shape[0] == 1 or part.where is None else value[part.where]
                elements[part.at(j)] = chosen
            self._mark(part, access)

    def atomic(self, lanes: Lanes, address: Addresses, access: Access, update: Update) -> Array:
        """Apply an operation: see ``access.Space``."""
        old = np.zeros(lanes.count, RAW[access.size])
        for part in self._parts(lanes, lanes.all(address), access):
            self._read(lanes, part, access)
            before = update(part.elements(access.size), part.numbers(), part.where)
            old[slice(None) if part.where is None else part.where] = before
            self._mark(part, access)
        return old

    def forget(self) -> None:
        """Drop what was remembered, because an allocation was freed."""
        self._last = None

    def _mark(self, part: Part, access: Access) -> None:
        written = part.allocation.written
        if written.complete:
            return
        if isinstance(part.index, slice):
            first, last = part.bounds()
            written.mark(first * access.size, (last + access.count) * access.size)
        elif part.index.size:
            written.mark_elements(part.index // access.count if access.count > 1 else part.index, access.span)

    def _read(self, lanes: Lanes, part: Part, access: Access) -> None:
        """Note reads of elements none of whose bytes was ever written."""
        written = part.allocation.written
        if written.complete or (not isinstance(part.index, slice) and not part.index.size):
            return
        first, last = part.bounds()
        if written.covers(first * access.size, (last + access.count) * access.size):
            return
        for j in range(access.count):
            missing = written.unwritten(part.numbers() + j, access.size)
            if missing.any():
                self._unwritten(lanes, part, access, missing, j)

    def _unwritten(self, lanes: Lanes, part: Part, access: Access, missing: Array, j: int) -> None:
        threads = _threads(lanes, part)
        missing = np.broadcast_to(missing, threads.shape) if missing.size == 1 else missing
        index = np.broadcast_to(part.numbers(), threads.shape)[missing]
        address = part.allocation.origin + (index + j) * access.size
        what = f"a read of {access.size} bytes at {{}}"
        lanes.chunk.undefined.read(access.site, j, threads[missing], address, what)

    def _parts(self, lanes: Lanes, address: Addresses, access: Access) -> list[Part]:
        low, high = int(address.min()), int(address.max())
        if _consecutive(address, low, high, access.span):
            allocation = self._holding(low, high + access.span)
            if allocation is not None:
                start = (low - allocation.origin) // access.size
                stop = start + address.size * access.count
                return [Part(allocation, slice(start, stop, access.count), None)]
        wrong = misaligned(lanes, address, access)
        if wrong is None:
            allocation = self._holding(low, high + access.span)
            if allocation is not None:
                return [Part(allocation, _index(address, allocation, access.size), None)]
        return self._scattered(lanes, lanes.all(address), access, wrong)

    def _holding(self, start: int, stop: int) -> Allocation | None:
        last = self._last
        if last is None or start < last.address or stop > last.end:
            self._last = last = self.memory.find(start, stop - start)
        return last

    def _scattered(self, lanes: Lanes, address: Addresses, access: Access, wrong: Array | None) -> list[Part]:
        """Return the parts of an access to several allocations, or with mistakes in it."""
        held = self.memory.allocations()
        ends = np.array([0, *(a.end for a in held)], np.uint64)
        which = np.searchsorted(self.memory.starts(), address, side="right")
        # Ends are below 2**63, so that the difference tells whether the whole access fits.
        outside = (address >= ends[which]) | (ends[which] - address < access.span)
        right = ~outside if wrong is None else ~(outside | wrong)
        if outside.any():
            self._outside(lanes, address, access, outside)
        parts = []
        for at in np.unique(which[right]):
            where = np.flatnonzero(right & (which == at))
            allocation = held[int(at) - 1]
            parts.append(Part(allocation, _index(address[where], allocation, access.size), where))
        return parts

    def _outside(self, lanes: Lanes, address: Addresses, access: Access, outside: Array) -> None:
        first = int(address[outside][0])
        kind = self.memory.fault(first)
        message = f"an access of {access.span} bytes at {first:#x}, {self._near(first, kind)}"
        lanes.chunk.note(kind, access.site, message, lanes.threads()[outside], first)

    def _near(self, address: int, kind: str) -> str:
        if kind == "use-after-free":
            return "which was freed"
        before = [a for a in self.memory.allocations() if a.address <= address]
        if not before:
            return "where nothing is allocated"
        past = address - before[-1].end
        distance = f"{past} bytes past" if past >= 0 else f"{-past} bytes before"
        return f"{distance} the end of {before[-1].size} bytes at {before[-1].address:#x}"


def _threads(lanes: Lanes, part: Part) -> Array:
    """Return the numbers in the chunk of the threads whose elements these are."""
    return lanes.threads() if part.where is None else lanes.threads()[part.where]


def _consecutive(address: Addresses, low: int, high: int, span: int) -> bool:
    """Return whether each thread's access follows that of the one before, aligned and without a gap."""
    if high - low != (address.size - 1) * span or low % span or int(address[0]) != low:
        return False
    return bool((address[1:] - address[:-1] == span).all())


def _index(address: Addresses, allocation: Allocation, size: int) -> Array:
    offset = (address - np.uint64(allocation.origin)).view(np.int64)
    return offset >> _SHIFTS[size] if size > 1 else offset


_SHIFTS = {1: 0, 2: 1, 4: 2, 8: 3}
