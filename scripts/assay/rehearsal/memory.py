"""The memory that kernels and the host reach: allocations with a shadow of what was freed and written.

Device addresses lie above every address of a process (48 bits) and are never given out twice, with a gap as
large as the allocation behind each: an index past the end, or a pointer kept too long, meets nothing.  Pinned
memory (kind ``host`` or ``managed``) has its real address, so that the host can use the pointer itself.
"""

from __future__ import annotations

import bisect
import ctypes
from dataclasses import dataclass

import numpy as np

from .arrays import Addresses, Bytes
from .errors import BadAddressError, OutOfMemoryError
from .findings import Finding
from .written import Written

DEVICE_BASE = 1 << 48
"""The first device address."""

DEVICE_END = 1 << 49
"""Device addresses lie below this; the windows of shared and local memory follow."""

ALIGNMENT = 256
"""``cudaMalloc`` aligns to at least 256 bytes (CUDA C++ Programming Guide, "Device Memory Accesses")."""

HOST_KINDS = frozenset({"host", "managed"})

_ALIGNED = 32
"""Bytes of the largest vector that a thread reads at once."""

_GAP = 1 << 20
_FREED_KEPT = 1 << 16


@dataclass(frozen=True, eq=False)
class Allocation:
    """One piece of memory.

    Attributes:
        address: its first byte.
        size: bytes.
        kind: as given to ``allocate``.
        data: shape (lead + size,), the bytes themselves.
        lead: bytes of ``data`` before the first one, so that ``data`` begins at a multiple of 32.
        written: which bytes of ``data`` were ever written.
    """

    address: int
    size: int
    kind: str
    data: Bytes
    written: Written
    lead: int = 0

    @property
    def origin(self) -> int:
        """The address of ``data[0]``."""
        return self.address - self.lead

    @property
    def end(self) -> int:
        """The address behind the last byte."""
        return self.address + self.size


class Memory:
    """Device memory of ``capacity`` bytes; shadows take at most as much again."""

    def __init__(self, capacity: int = 4 << 30) -> None:
        self.capacity = capacity
        self.used = 0
        self._next = DEVICE_BASE
        self._live: dict[int, Allocation] = {}
        self._starts: list[int] = []
        self._freed: dict[int, int] = {}
        self._owed: dict[int, Finding] = {}
        self._table: Addresses | None = None

    def allocate(self, size: int, kind: str = "device") -> int:
        """Return the address of ``size`` new bytes (at least 1), never written.

        Args:
            size: bytes.
            kind: ``device``, ``module`` (variables and code), ``heap`` (from a kernel), ``host`` or
                ``managed``;
                the last two have a real host address.

        Raises:
            OutOfMemoryError: they do not fit.
        """
        if size < 1 or size > self.capacity - self.used:
            raise OutOfMemoryError(size, self.capacity - self.used)
        data = self._bytes(size)
        address = self._host_address(data) if kind in HOST_KINDS else self._device_address(size)
        written = Written(size)
        if kind in HOST_KINDS:
            written.mark(0, size)  # the host writes through its own pointer, unseen
        self._add(Allocation(address, size, kind, data, written))
        self.used += size
        return address

    def adopt(self, address: int, size: int) -> None:
        """Let kernels reach ``size`` bytes of the caller's host memory until ``free`` (registered memory).

        Raises:
            BadAddressError: they overlap an allocation.
        """
        if size < 1 or self._overlaps(address, size):
            raise BadAddressError("not-allocated", address, size)
        lead = address % _ALIGNED
        raw = memoryview((ctypes.c_uint8 * (lead + size)).from_address(address - lead)).cast("B")
        written = Written(lead + size)
        written.mark(0, lead + size)
        self._add(Allocation(address, size, "adopted", np.frombuffer(raw, np.uint8), written, lead))

    def free(self, address: int) -> None:
        """Give an allocation back, by its first address.

        Raises:
            BadAddressError: no allocation begins there, or it was freed before.
        """
        allocation = self._live.pop(address, None)
        if allocation is None:
            raise BadAddressError(self.fault(address), address, 0)
        self._starts.remove(address)
        self._owed.pop(address, None)
        self._table = None
        if allocation.kind != "adopted":
            self.used -= allocation.size
            self._remember(allocation)

    def find(self, address: int, size: int = 1) -> Allocation | None:
        """Return the allocation that holds all of ``size`` bytes from ``address``, if one does."""
        at = bisect.bisect_right(self._starts, address) - 1
        if at < 0:
            return None
        allocation = self._live[self._starts[at]]
        return allocation if address + size <= allocation.end else None

    def contains(self, address: int, size: int = 1) -> bool:
        """Return whether all of ``size`` bytes from ``address`` lie in one allocation."""
        return self.find(address, size) is not None

    def fault(self, address: int) -> str:
        """Name what is wrong with an address that no allocation holds: the kind of finding."""
        for start, size in reversed(self._freed.items()):
            if start <= address < start + size and not self._overlaps(address, 1):
                return "use-after-free"
        return "out-of-bounds"

    def read(self, address: int, size: int) -> bytes:
        """Return ``size`` bytes.

        Raises:
            BadAddressError: they do not lie in one allocation.
        """
        return self.view(address, size).tobytes()

    def view(self, address: int, size: int) -> Bytes:
        """Return ``size`` bytes in place, shape (size,); writing to them needs ``mark``.

        Raises:
            BadAddressError: they do not lie in one allocation.
        """
        allocation = self._at(address, size)
        offset = address - allocation.origin
        return allocation.data[offset : offset + size]

    def touched(self, address: int, size: int) -> bool:
        """Return whether any of ``size`` bytes was ever written.

        Raises:
            BadAddressError: they do not lie in one allocation.
        """
        allocation = self._at(address, size)
        offset = address - allocation.origin
        return allocation.written.touched(offset, offset + size)

    def mark(self, address: int, size: int) -> None:
        """Note that the host wrote ``size`` bytes through ``view``."""
        allocation = self._at(address, size)
        offset = address - allocation.origin
        allocation.written.mark(offset, offset + size)

    def write(self, address: int, data: bytes | bytearray | memoryview) -> None:
        """Write bytes.

        Raises:
            BadAddressError: they do not fit into one allocation.
        """
        given = np.frombuffer(data, np.uint8)
        if given.size:
            self.view(address, given.size)[:] = given
            self.mark(address, given.size)

    def fill(self, address: int, pattern: bytes, count: int) -> None:
        """Write ``pattern`` (1, 2 or 4 bytes) ``count`` times, as ``cuMemsetD8`` and its kin do.

        Raises:
            BadAddressError: it does not fit into one allocation.
        """
        size = len(pattern) * count
        if size:
            self.view(address, size).reshape(count, len(pattern))[:] = np.frombuffer(pattern, np.uint8)
            self.mark(address, size)

    def copy(self, target: int, source: int, size: int) -> None:
        """Copy ``size`` bytes, which may overlap; what was never written stays unwritten.

        Raises:
            BadAddressError: either range does not lie in one allocation.
        """
        if not size:
            return
        held, given = self._at(target, size), self._at(source, size)
        to, start = target - held.origin, source - given.origin
        held.data[to : to + size] = given.data[start : start + size].copy()
        held.written.copy(given.written, start, size, to)

    def leaked(self) -> tuple[Allocation, ...]:
        """Return what is still allocated and was asked for by the host or by a kernel, oldest first."""
        return tuple(a for a in self._live.values() if a.kind not in {"module", "adopted"})

    def owe(self, finding: Finding) -> None:
        """Keep the finding that an allocation, at the finding's address, becomes if it is never freed."""
        if finding.address is not None:
            self._owed[finding.address] = finding

    def leaks(self) -> tuple[Finding, ...]:
        """Return a finding of kind ``leak`` for each of ``leaked``.

        What a kernel's ``malloc`` returned has kernel, source line and thread; what the host asked for has
        the address alone.
        """
        return tuple(self._owed.get(a.address, _leak(a)) for a in self.leaked())

    def allocations(self) -> tuple[Allocation, ...]:
        """Return everything that is allocated, by address."""
        return tuple(self._live[start] for start in self._starts)

    def starts(self) -> Addresses:
        """Return the first address of every allocation, ascending, shape (n,)."""
        if self._table is None:
            self._table = np.array(self._starts, np.uint64)
        return self._table

    def _at(self, address: int, size: int) -> Allocation:
        allocation = self.find(address, size)
        if allocation is None:
            raise BadAddressError(self.fault(address), address, size)
        return allocation

    def _bytes(self, size: int) -> Bytes:
        try:
            # One element more than asked for in eights, so that the data begins at a multiple of 64.
            raw = np.empty(size + 64, np.uint8)
        except MemoryError:
            raise OutOfMemoryError(size, self.capacity - self.used) from None
        start = -raw.ctypes.data % 64
        return raw[start : start + size]

    def _host_address(self, data: Bytes) -> int:
        return int(data.ctypes.data)

    def _device_address(self, size: int) -> int:
        address = self._next
        span = size + max(size, _GAP)
        if address + span > DEVICE_END:
            raise OutOfMemoryError(size, 0)
        self._next = address + -(-span // ALIGNMENT) * ALIGNMENT
        return address

    def _overlaps(self, address: int, size: int) -> bool:
        at = bisect.bisect_left(self._starts, address + size) - 1
        return at >= 0 and self._live[self._starts[at]].end > address

    def _add(self, allocation: Allocation) -> None:
        self._freed.pop(allocation.address, None)
        self._live[allocation.address] = allocation
        bisect.insort(self._starts, allocation.address)
        self._table = None

    def _remember(self, allocation: Allocation) -> None:
        self._freed[allocation.address] = allocation.size
        if len(self._freed) > _FREED_KEPT:
            del self._freed[next(iter(self._freed))]


def _leak(allocation: Allocation) -> Finding:
    message = f"{allocation.size} bytes at {allocation.address:#x} ({allocation.kind}) are still allocated"
    return Finding("leak", message, "", address=allocation.address)
