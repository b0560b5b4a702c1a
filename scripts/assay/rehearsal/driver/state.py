"""The driver's state: one device's memory, contexts, and everything that has a handle."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from ..errors import BadAddressError
from ..findings import Finding
from ..memory import Memory
from .callers import place
from .codes import DriverError
from .report import Report

T = TypeVar("T")

FIRST_HANDLE = 0x5A5A_0000_0000
"""Handles are no addresses: nothing is mapped so far up and so evenly, and whoever follows one is stopped."""

CAPACITY = 4 << 30
"""Bytes of the device's memory."""

KERNEL_SECONDS = 60.0
"""How long a kernel may run."""

KERNEL_SECONDS_VARIABLE = "ASSAY_REHEARSAL_SECONDS"
"""Names another number of whole seconds."""

LEGACY_STREAM, THREAD_STREAM = 1, 2
"""``CU_STREAM_LEGACY`` and ``CU_STREAM_PER_THREAD`` (cuda.h); a null stream is the legacy one."""


@dataclass(eq=False)
class Context:
    """A context; ``fault`` is the code of a kernel's fault, told by every call from then on."""

    handle: int = 0
    primary: bool = False
    flags: int = 0
    fault: int = 0
    alive: bool = True
    uses: int = 1
    owned: set[int] = field(default_factory=set)
    limits: dict[int, int] = field(default_factory=dict)


@dataclass(eq=False)
class Stream:
    """A stream; everything that was put into it has ended."""

    context: Context
    flags: int = 0
    priority: int = 0


@dataclass(eq=False)
class Event:
    """An event; ``time`` is when it was last recorded, in nanoseconds, 0 before."""

    context: Context
    flags: int = 0
    time: int = 0


class Driver:
    """All state of the process's driver; ``lock`` is held by every call."""

    def __init__(
        self, report: Report, capacity: int = CAPACITY, kernel_seconds: float = KERNEL_SECONDS
    ) -> None:
        self.memory = Memory(capacity)
        self.kernel_seconds = kernel_seconds
        self.report = report
        self.lock = threading.RLock()
        self.ready = False
        self.primary = Context(primary=True, alive=False, uses=0)
        self._handles: dict[int, object] = {}
        self._asked: dict[int, str] = {}
        self._next = FIRST_HANDLE
        self._local = threading.local()

    @property
    def stack(self) -> list[Context]:
        """The calling thread's contexts, the current one last."""
        if not hasattr(self._local, "stack"):
            self._local.stack = []
        stack: list[Context] = self._local.stack
        return stack

    def current(self) -> Context:
        """Return the calling thread's context.

        Raises:
            DriverError: there is none (``INVALID_CONTEXT``), or it was destroyed (``CONTEXT_IS_DESTROYED``).
        """
        if not self.stack:
            raise DriverError("INVALID_CONTEXT")
        context = self.stack[-1]
        if not context.alive:
            raise DriverError("CONTEXT_IS_DESTROYED")
        return context

    def usable(self) -> Context:
        """Return the calling thread's context, if no kernel has ended it.

        Raises:
            DriverError: as ``current``, or the fault of an earlier kernel.
        """
        context = self.current()
        if context.fault:
            raise FaultError(context.fault)
        return context

    def handle(self, thing: object) -> int:
        """Return a new handle of a thing."""
        self._next += 64
        self._handles[self._next] = thing
        return self._next

    def get(self, handle: int, kind: type[T], error: str = "INVALID_HANDLE") -> T:
        """Return what a handle names.

        Raises:
            DriverError: it is no live handle of that kind; ``error`` names the code.
        """
        thing = self._handles.get(handle)
        if not isinstance(thing, kind):
            raise DriverError(error, f"{handle:#x} is no {kind.__name__.lower()}")
        return thing

    def drop(self, handle: int, kind: type[T]) -> T:
        """Return what a handle names, which it does no longer.

        Raises:
            DriverError: it is no live handle of that kind.
        """
        thing = self.get(handle, kind)
        del self._handles[handle]
        return thing

    def all(self, kind: type[T]) -> Iterator[tuple[int, T]]:
        """Yield every live handle of a kind with its thing."""
        for handle, thing in tuple(self._handles.items()):
            if isinstance(thing, kind):
                yield handle, thing

    def require_stream(self, handle: int) -> None:
        """Check a stream's handle.

        Raises:
            DriverError: there is no such stream.
        """
        if handle > THREAD_STREAM:
            self.get(handle, Stream)

    def allocate(self, size: int, kind: str = "device") -> int:
        """Return the address of new memory, which the current context owns.

        Raises:
            DriverError: there is no context, or the size is 0 (``INVALID_VALUE``).
            OutOfMemoryError: it does not fit.
        """
        context = self.usable()
        if not size:
            raise DriverError("INVALID_VALUE", "an allocation of 0 bytes")
        address = self.memory.allocate(size, kind)
        context.owned.add(address)
        self._asked[address] = place()
        return address

    def free(self, address: int) -> None:
        """Give memory back.

        Raises:
            BadAddressError: no allocation begins there.
        """
        try:
            self.memory.free(address)
        except BadAddressError as error:
            if error.kind == "use-after-free":
                message = f"memory at {address:#x} was freed before, and is freed again{place()}"
                self.report.finding(Finding(error.kind, message, "", address=address))
            raise
        self._asked.pop(address, None)
        for context in self.contexts():
            context.owned.discard(address)

    def contexts(self) -> tuple[Context, ...]:
        """Return every live context."""
        own = tuple(context for _, context in self.all(Context))
        return own if self.primary in own else (*own, self.primary)

    def owner(self, address: int) -> Context | None:
        """Return the context that owns the allocation at an address."""
        found = self.memory.find(address)
        owners = (context for context in self.contexts() if found and found.address in context.owned)
        return next(owners, None)

    def end(self, context: Context) -> None:
        """End a context: what it still owns is given back, and told as leaked.

        A context that a kernel's fault ended refuses to free anything, so that nothing was forgotten.
        """
        for address in sorted(context.owned):
            self._leaked(address, told=not context.fault)
        context.owned.clear()
        context.alive, context.fault = False, 0
        for handle, thing in tuple(self._handles.items()):
            if getattr(thing, "context", None) is context:
                del self._handles[handle]

    def _leaked(self, address: int, *, told: bool) -> None:
        """Free one allocation, and tell it where that is wanted."""
        found = self.memory.find(address)
        if found is None:
            return
        what = f"{found.size} bytes of {found.kind} memory at {address:#x}"
        asked = self._asked.pop(address, "")
        message = f"{what} were not freed when their context ended{asked and f'; asked for{asked}'}"
        if told:
            self.report.finding(Finding("leak", message, "", address=address))
        try:
            self.memory.free(address)
        except BadAddressError as error:
            raise DriverError("UNKNOWN", str(error)) from error


class FaultError(Exception):
    """An earlier kernel's fault, which every call tells from then on."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code
