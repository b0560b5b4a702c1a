"""Scripted processes that play every fault; they are real processes, run by this interpreter."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Mapping
from pathlib import Path

from assay.process import CONTROL, EVENTS, Patience

QUICK = Patience(term=0.2, kill=5.0, drain=0.3)
"""Little patience, so that tests of faults are short; the kill is the kernel's and takes none."""

ENV: Mapping[str, str] = dict(os.environ)

_START = """
import os, signal, subprocess, sys, threading
events, control = (int(word) for word in sys.argv[1:3]) if len(sys.argv) > 2 else (None, None)
def say(line): os.write(events, line if isinstance(line, bytes) else line.encode() + b"\\n")
def forever(): signal.sigwait([signal.SIGUSR1])
"""


def python(code: str) -> list[str]:
    """Return the command of a script without events."""
    return [sys.executable, "-I", "-S", "-c", _START + code]


def speaking(code: str) -> list[str]:
    """Return the command of a script that has ``say``, ``events`` and ``control``."""
    return [*python(code), EVENTS, CONTROL]


def alive(pid: int) -> bool:
    """Tell whether a process runs at this moment; one that waits to be reaped does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b") ")[2]
    except OSError:
        return False
    return not state.startswith((b"Z", b"X"))


def ends(pid: int) -> bool:
    """Tell whether a process has ended or does so within 20 s."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], 20)[0])
    finally:
        os.close(descriptor)
