"""Ends what a command left behind: processes that left its group, known by a word in their environment.

A command's group is killed whole (``posix``); a process that began a session of its own (setsid(2)) is in
another one and outlives it.  It still has the environment that it was started with, unless it put another in
its place: Linux shows that of every process of the same user (proc_pid_environ(5)).  On Windows a job object
holds all of a command's processes; on macOS nothing shows them.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
_ENVIRONMENT_LIMIT = 1 << 20
_NAME_LIMIT = 200
_NAMED = 20
_ROUNDS = 50
_TICK_S = 0.02


@dataclass(frozen=True)
class Stray:
    """A process that outlived its command: its number, its group's, and how it was called."""

    pid: int
    group: int
    name: str


def end_strays(variable: str, value: str, group: int) -> tuple[Stray, ...]:
    """Kill every process whose environment has ``variable=value``; return those outside the command's group.

    Args:
        variable: the marker's name.
        value: one that no other command's processes have.
        group: the command's own process group: it was killed before, its last processes may still be ending.

    Returns:
        at most 20 of them; none where the system does not show environments.
    """
    if sys.platform != "linux":
        return ()
    marker = f"{variable}={value}".encode()
    found: dict[int, Stray] = {}
    for _ in range(_ROUNDS):  # one may start another while the first are killed
        living = {stray.pid: stray for stray in _marked(marker)}
        if not living:
            break
        found = {**{pid: stray for pid, stray in living.items() if stray.group != group}, **found}
        for pid in living:
            _kill(pid, marker)
        time.sleep(_TICK_S)
    return tuple(found[pid] for pid in sorted(found))[:_NAMED]


def _marked(marker: bytes) -> Iterator[Stray]:
    """Yield the living processes that have the marker; one that has ended has no environment."""
    if sys.platform == "win32":
        return
    for folder in _PROC.iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid() and marker in _environment(folder):
            pid = int(folder.name)
            with contextlib.suppress(OSError):
                yield Stray(pid, os.getpgid(pid), _name(folder))


def _environment(folder: Path) -> list[bytes]:
    """Return the environment that a process was started with, none where it cannot be read."""
    try:
        with (folder / "environ").open("rb") as stream:
            return stream.read(_ENVIRONMENT_LIMIT).split(b"\0")
    except OSError:
        return []


def _name(folder: Path) -> str:
    """Return a process's words, or its short name (proc_pid_cmdline(5), proc_pid_comm(5))."""
    for name in ("cmdline", "comm"):
        with contextlib.suppress(OSError), (folder / name).open("rb") as stream:
            if words := stream.read(_NAME_LIMIT).replace(b"\0", b" ").strip():
                return words.decode("utf-8", "replace")
    return ""


def _kill(pid: int, marker: bytes) -> None:
    """Kill a process through a descriptor of it, so that a stranger with its number is never hit."""
    if sys.platform != "linux":
        return
    with contextlib.suppress(OSError):
        handle = os.pidfd_open(pid)
        try:
            if marker in _environment(_PROC / str(pid)):
                signal.pidfd_send_signal(handle, signal.SIGKILL)
        finally:
            os.close(handle)
