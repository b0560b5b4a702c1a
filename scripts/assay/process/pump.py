"""Reads several pipes at once.  Two ways with one behaviour: ``select`` on POSIX, threads on Windows."""

from __future__ import annotations

import contextlib
import os
import queue
import selectors
import threading
import time
from collections.abc import Mapping
from typing import Protocol

CHUNK = 1 << 16
"""Bytes of one read: a Linux pipe holds as many (pipe(7))."""

TICK_S = 0.05
"""How long one wait lasts at most where nothing wakes it when the process ends."""

EXIT = "exit"
"""The channel that becomes readable when the process ends."""

_BACKLOG = 16
"""Chunks that threads read ahead; a full backlog makes them wait, and so the writer."""


class Pump(Protocol):
    """Reads pipes by name."""

    def wait(self, seconds: float) -> list[tuple[str, bytes]]:
        """Return what came within ``seconds``, at once when there is something; ``b""`` is a pipe's end."""

    def open(self) -> frozenset[str]:
        """Return the pipes that have not ended."""

    def close(self) -> None:
        """Close every pipe that is still open, whoever holds its other end."""


class SelectPump:
    """Reads pipes in the calling thread.  ``wake`` is a descriptor that wakes it when the process ends."""

    def __init__(self, pipes: Mapping[str, int], wake: int | None = None) -> None:
        """Take over the descriptors in ``pipes``; ``wake`` stays the caller's."""
        self._selector = selectors.DefaultSelector()
        self._pipes = dict(pipes)
        self._tick = TICK_S if wake is None else None
        for name, descriptor in self._pipes.items():
            self._selector.register(descriptor, selectors.EVENT_READ, name)
        if wake is not None:
            self._selector.register(wake, selectors.EVENT_READ, EXIT)

    def wait(self, seconds: float) -> list[tuple[str, bytes]]:
        """Return what came within ``seconds``; a process's end wakes it once and is not told here."""
        limit = max(0.0, seconds if self._tick is None else min(seconds, self._tick))
        came: list[tuple[str, bytes]] = []
        for key, _ in self._selector.select(limit):
            if key.data == EXIT:
                self._selector.unregister(key.fd)
            else:
                came.append((key.data, self._read(key.data)))
        return came

    def _read(self, name: str) -> bytes:
        """Read what a ready pipe has; at its end, or on its failure, close it."""
        try:
            data = os.read(self._pipes[name], CHUNK)
        except OSError:
            data = b""
        if not data:
            self._end(name)
        return data

    def _end(self, name: str) -> None:
        """Forget and close a pipe."""
        descriptor = self._pipes.pop(name)
        self._selector.unregister(descriptor)
        os.close(descriptor)

    def open(self) -> frozenset[str]:
        """Return the pipes that have not ended."""
        return frozenset(self._pipes)

    def close(self) -> None:
        """Close the pipes and the selector."""
        for name in tuple(self._pipes):
            self._end(name)
        self._selector.close()


class ThreadPump:
    """Reads each pipe in a thread, for systems that cannot wait for a pipe.

    A thread that waits for a pipe which is held elsewhere cannot be ended; it is a daemon and is left.
    """

    def __init__(self, pipes: Mapping[str, int]) -> None:
        """Take over the descriptors in ``pipes`` and begin to read."""
        self._came: queue.Queue[tuple[str, bytes]] = queue.Queue(_BACKLOG)
        self._open = set(pipes)
        self._closed = threading.Event()
        for name, descriptor in pipes.items():
            threading.Thread(target=self._read, args=(name, descriptor), daemon=True).start()

    def _read(self, name: str, descriptor: int) -> None:
        """Read one pipe to its end, then close it."""
        data = b"-"
        while data and not self._closed.is_set():
            try:
                data = os.read(descriptor, CHUNK)
            except OSError:
                data = b""
            self._put(name, data)
        with contextlib.suppress(OSError):
            os.close(descriptor)

    def _put(self, name: str, data: bytes) -> None:
        """Hand over a chunk; give up once nobody takes any."""
        while not self._closed.is_set():
            with contextlib.suppress(queue.Full):
                self._came.put((name, data), timeout=TICK_S)
                return

    def wait(self, seconds: float) -> list[tuple[str, bytes]]:
        """Return what came within ``seconds``."""
        try:
            name, data = self._came.get(timeout=max(0.0, min(seconds, TICK_S)))
        except queue.Empty:
            return []
        if not data:
            self._open.discard(name)
        return [(name, data)]

    def open(self) -> frozenset[str]:
        """Return the pipes that have not ended."""
        return frozenset(self._open)

    def close(self) -> None:
        """Let the threads end as soon as they can."""
        self._closed.set()


def seconds_left(until: float) -> float:
    """Return the seconds until a time of the monotonic clock, never negative."""
    return max(0.0, until - time.monotonic())
