"""Limits and results of processes."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from assay.model import Json

TIMEOUT: Literal["timeout"] = "timeout"
"""The exit of a process that outlived its deadline."""


@dataclass(frozen=True)
class Patience:
    """Seconds that are waited for what should take no time.

    Attributes:
        term: from asking a group to end until it is killed.
        kill: from killing it until it is given up.
        drain: for pipes that stay open after the process has ended.
    """

    term: float = 2.0
    kill: float = 5.0
    drain: float = 1.0


@dataclass(frozen=True)
class Finished:
    """How a command ended.

    Attributes:
        exit: its exit code, negative for a signal (POSIX), or ``timeout``.
        stdout: the beginning of its output, up to the capture limit; ``stderr`` likewise.
        abandoned: it could not be killed and may still run.
        held: a process that left the group still held an output pipe, so output may be missing.
        truncated: more was written than is kept here (the sink had all of it).
        duration_ns: how long it took.
        group: the number of its process group (POSIX), which ended with it.
    """

    exit: int | Literal["timeout"]
    stdout: bytes = b""
    stderr: bytes = b""
    abandoned: bool = False
    held: bool = False
    truncated: bool = False
    duration_ns: int = 0
    group: int = 0


@dataclass(frozen=True)
class EventLimits:
    """Bounds of a child's events: bytes of a line, bytes of all, and their number."""

    line: int = 1 << 20
    total: int = 64 << 20
    count: int = 10_000


@dataclass(frozen=True)
class Event:
    """One event: a JSON object on a line of its own."""

    value: Mapping[str, Json]


class Ending(enum.StrEnum):
    """Why a child says no more."""

    DEADLINE = "deadline"
    """No event came in time."""
    FLOOD = "flood"
    """A line, all events together, or their number went past the limits."""
    MALFORMED = "malformed"
    """A line is not a JSON object."""
    EXITED = "exited"
    """It ended; whether that was its turn is for the caller to know."""
    CLOSED = "closed"
    """It closed its event descriptor and runs on."""
    HELD = "held"
    """It ended, and a process that it started holds its event descriptor open."""


@dataclass(frozen=True)
class Ended:
    """The end of a child's events; ``exit`` is known where it ended (negative: a signal)."""

    reason: Ending
    detail: str
    exit: int | None = None
