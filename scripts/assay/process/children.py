"""Ends every process that this one started, for a run that is interrupted while gates still run.

Each child leads a group of its own (``posix``), so the group is killed whole.  Linux names a process's
children in ``/proc``; on Windows the job objects of ``windows`` end with the process that holds them.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

_TASKS = Path("/proc/self/task")


def kill_children() -> int:
    """Kill the groups of all children of this process and return how many were sent the signal."""
    if sys.platform == "win32":
        return 0
    return sum(_kill_group(pid) for pid in _children())


def _children() -> Iterator[int]:
    """Yield the process ids of the children of every thread (proc_pid_children(5))."""
    for listing in sorted(_TASKS.glob("*/children")):
        with contextlib.suppress(OSError):
            yield from map(int, listing.read_text().split())


def _kill_group(pid: int) -> bool:
    """Kill the group that a child leads; a child that leads none is left alone."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if os.getpgid(pid) == pid:
            os.killpg(pid, signal.SIGKILL)
            return True
    return False
