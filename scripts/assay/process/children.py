"""Ends every process that this one started, for a run that is interrupted while gates still run.

Each child leads a group of its own (``posix``), so the group is killed whole.  A child that was only just
started may not lead one yet, and a gate's thread may start another: so this goes on until none is left.
Linux names a process's children in ``/proc``; on Windows the job objects of ``windows`` end with the process
that holds them.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

_TASKS = Path("/proc/self/task")
_TICK_S = 0.02


def end_children(patience_s: float = 5.0) -> bool:
    """Kill the groups of all children of this process until none is left.

    Args:
        patience_s: seconds after which it gives up: a child that waits in the kernel cannot be killed.

    Returns:
        whether none is left.
    """
    if sys.platform == "win32":
        return True
    until = time.monotonic() + patience_s
    while living := [pid for pid in _children() if not _is_dead(pid)]:
        if time.monotonic() > until:
            return False
        for pid in living:
            _kill(pid)
        time.sleep(_TICK_S)
    return True


def _children() -> Iterator[int]:
    """Yield the process ids of the children of every thread (proc_pid_children(5))."""
    for listing in sorted(_TASKS.glob("*/children")):
        with contextlib.suppress(OSError):
            yield from map(int, listing.read_text().split())


def _is_dead(pid: int) -> bool:
    """Say whether a child has ended and only waits to be reaped (proc_pid_stat(5): state Z or X)."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text("ascii", "replace").rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return True
    return state in {"Z", "X"}


def _kill(pid: int) -> None:
    """Kill a child, and the group that it leads."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if os.getpgid(pid) == pid:
            os.killpg(pid, signal.SIGKILL)
        os.kill(pid, signal.SIGKILL)
