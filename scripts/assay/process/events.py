"""Makes events out of the bytes of a pipe, within limits.  Pure: no descriptor, no clock."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from assay import canonical
from assay.errors import BundleError
from assay.process.values import Ended, Ending, Event, EventLimits


class EventReader:
    """Collects bytes and hands out events; after the first fault it hands out that and nothing more."""

    def __init__(self, limits: EventLimits) -> None:
        """Start with nothing read."""
        self._limits = limits
        self._waiting = deque[bytes]()
        self._rest = bytearray()
        self._bytes = 0
        self._count = 0
        self._fault: Ended | None = None

    @property
    def mid_line(self) -> bool:
        """Tell whether the last byte read was not the end of a line."""
        return bool(self._rest)

    @property
    def count(self) -> int:
        """Return how many events were handed out."""
        return self._count

    @property
    def ready(self) -> bool:
        """Tell whether ``next`` has something to hand out."""
        return bool(self._waiting) or self._fault is not None

    def feed(self, data: bytes) -> None:
        """Take bytes as they came."""
        if self._fault:
            return
        self._bytes += len(data)
        self._rest += data
        if b"\n" in data:
            *lines, rest = self._rest.split(b"\n")
            self._waiting.extend(bytes(line) for line in lines)
            self._rest = bytearray(rest)
        if len(self._rest) > self._limits.line:
            self._break(Ending.FLOOD, f"an event line is longer than {self._limits.line} bytes")
        if self._count + len(self._waiting) > self._limits.count:
            self._break(Ending.FLOOD, f"it sent more than {self._limits.count} events")
        if self._bytes > self._limits.total:
            self._break(Ending.FLOOD, f"its events have more than {self._limits.total} bytes")

    def next(self) -> Event | Ended | None:
        """Return the next event, the fault that ended them, or None when more bytes are needed."""
        if self._fault is None and self._waiting:
            return self._event(self._waiting.popleft())
        return self._fault

    def _event(self, line: bytes) -> Event | Ended:
        """Return the event on a line."""
        self._count += 1
        if len(line) > self._limits.line:
            return self._break(Ending.FLOOD, f"an event line is longer than {self._limits.line} bytes")
        try:
            value = canonical.parse(line, limit=self._limits.line)
        except BundleError as error:
            return self._break(Ending.MALFORMED, f"event {self._count} {error.observed}: {_excerpt(line)}")
        if not isinstance(value, Mapping):
            return self._break(Ending.MALFORMED, f"event {self._count} is not an object: {_excerpt(line)}")
        return Event(value)

    def _break(self, reason: Ending, detail: str) -> Ended:
        """Remember the first fault and forget what is still unread."""
        self._waiting.clear()
        self._rest.clear()
        self._fault = self._fault or Ended(reason, detail)
        return self._fault


def _excerpt(line: bytes) -> str:
    """Return the beginning of a line in ASCII."""
    return ascii(line[:60].decode("utf-8", "backslashreplace"))
