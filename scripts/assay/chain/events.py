"""The child's descriptors: events out, control in; standard output and error stay log."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable
from typing import TypeVar

from . import document
from .failures import describe

T = TypeVar("T")

SCHEMA = "assay/chain-events/1"

LINE_LIMIT = 4 << 20
"""Bytes of the longest line: a few thousand imported modules with their files take under 1 MiB."""


class Events:
    """Writes events to a descriptor, one JSON line each, numbered from 0."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._seq = 0
        self.errors = 0

    def emit(self, event: str, **fields: object) -> None:
        """Write one event.

        Raises:
            OSError: the reader has gone.
            ValueError: the event is longer than ``LINE_LIMIT``.
            TypeError: a field has no form in JSON (a float, for example).
        """
        line = document.dumps({**fields, "event": event, "seq": self._seq}) + b"\n"
        if len(line) > LINE_LIMIT:
            message = f"event {event} has {len(line)} bytes, more than {LINE_LIMIT}"
            raise ValueError(message)
        _write(self._descriptor, line)
        self._seq += 1

    def error(self, error: BaseException, **where: object) -> None:
        """Write an ``error`` event; ``where`` gives step, runtime, chain, stage and input as known."""
        self.errors += 1
        place = dict.fromkeys(("chain", "input", "runtime", "stage", "step"))
        self.emit("error", **{**place, **where, **describe(error)})


def attempt(events: Events, action: Callable[[], T], **place: object) -> T | None:
    """Return what an action gives, or None after an ``error`` event that says where it failed."""
    try:
        return action()
    except Exception as error:  # noqa: BLE001  # whatever a library raises becomes an event
        events.error(error, **place)
        return None


def open_descriptor(value: int, flags: int) -> int:
    """Return a descriptor of this process for an inherited descriptor, or for a handle on Windows.

    It is closed to children: a compiler that outlives its parent must not hold the event pipe open.

    Args:
        value: the number given on the command line.
        flags: ``os.O_RDONLY`` or ``os.O_WRONLY``.

    Raises:
        OSError: nothing is open under that number.
        ValueError: it is a standard stream.
    """
    if sys.platform == "win32":
        import msvcrt  # noqa: PLC0415  # exists on Windows only

        return msvcrt.open_osfhandle(value, flags | os.O_NOINHERIT)
    if value <= 2:  # noqa: PLR2004  # 0, 1 and 2 are the standard streams of POSIX
        message = f"descriptor {value} is a standard stream, which is log"
        raise ValueError(message)
    os.set_inheritable(value, False)  # noqa: FBT003  # positional only
    return value


def wait(descriptor: int) -> None:
    """Block until a byte or the end arrives on the control descriptor."""
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        os.read(descriptor, 1)


def _write(descriptor: int, data: bytes) -> None:
    """Write all bytes: a pipe may take fewer than it is given."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
