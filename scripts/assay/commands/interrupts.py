"""Signals that end a command: all as Ctrl-C does."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_AGAIN_S = 3.0
"""Longer than a run needs to end its children and close its journal."""


@contextmanager
def termination_interrupts() -> Iterator[None]:
    """Let SIGTERM end a run as Ctrl-C does: children are ended and the journal is closed.

    A shell starts background jobs with SIGINT ignored; a run heeds it there too.  An interrupt that lands in
    a finaliser is dropped by Python, so it comes again until the run has been left.
    """

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, _AGAIN_S)
        raise KeyboardInterrupt

    heeded = [signal.SIGTERM, signal.SIGINT, *([signal.SIGALRM] if hasattr(signal, "SIGALRM") else [])]
    before = {number: signal.signal(number, interrupt) for number in heeded}
    try:
        yield
    finally:
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in before.items():
            signal.signal(number, handler)
