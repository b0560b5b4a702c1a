"""The only place that starts processes.

``run`` runs a command to its end or its deadline, ``spawn`` does so beside its caller; ``Child`` holds the
chain's child, which speaks on a descriptor of its own and waits to be released.  All keep these promises:

- *A command is a list of words*, never a shell's text.
- *Nothing waits for ever.*  Both output streams are read while the process runs; a deadline ends the whole
  process group (POSIX: a new session; Windows: a job object), first asked to end, then killed.  A process
  that left the group and still holds a pipe is not waited for; one that cannot be killed (it waits in the
  kernel) is abandoned.  Both are said in the result.
- *Nothing fills memory.*  Output goes to a sink piece by piece and is kept up to a limit; events have
  limits for a line, their bytes and their number, and unread ones stay in the pipe.
- *Nothing is left behind.*  When the process ends, so does the rest of its group; ``end_strays`` finds what
  left the group.

The parts: ``values`` (limits and results), ``events`` (lines out of bytes, pure), ``pump`` (reads several
pipes at once), ``posix`` and ``windows`` (start, signal and reap: all that differs), ``stopping`` (the
order of asking, killing and giving up), ``running`` (``run``), ``promise`` (``Pending``),
``pending`` (``spawn``), ``child`` (``Child``) and ``strays`` (what left its group).  Each is imported when it
is first used: who starts nothing does not wait for what starts processes.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.process.child import CONTROL, EVENTS, Child
    from assay.process.pending import spawn
    from assay.process.promise import Pending
    from assay.process.running import run
    from assay.process.strays import Stray, end_strays
    from assay.process.values import Ended, Ending, Event, EventLimits, Finished, Patience

__all__ = [
    "CONTROL",
    "EVENTS",
    "Child",
    "Ended",
    "Ending",
    "Event",
    "EventLimits",
    "Finished",
    "Patience",
    "Pending",
    "Stray",
    "end_strays",
    "run",
    "spawn",
]

_MODULES = {
    "child": ("CONTROL", "EVENTS", "Child"),
    "pending": ("spawn",),
    "promise": ("Pending",),
    "running": ("run",),
    "strays": ("Stray", "end_strays"),
    "values": ("Ended", "Ending", "Event", "EventLimits", "Finished", "Patience"),
}


def __getattr__(name: str) -> object:
    """Return what this package offers under a name (PEP 562).

    Raises:
        AttributeError: it offers nothing of that name.
    """
    for module, names in _MODULES.items():
        if name in names:
            return getattr(import_module(f"assay.process.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
