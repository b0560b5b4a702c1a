"""What the commands that run gates share."""

from __future__ import annotations

import argparse
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from assay.commands.output import print_json, speaker
from assay.engine.console import Say
from assay.engine.prepare import Request
from assay.model import Json

_AGAIN_S = 3.0
"""Longer than a run needs to end its children and close its journal."""


def run_and_print(
    options: argparse.Namespace, challenge: str, work: Callable[[Request, Say], tuple[int, Json]]
) -> int:
    """Do a command's work, print its document where ``--json`` wants it, and return its exit code."""
    request = Request(options.project, options.selection, options.artifact, challenge)
    with termination_interrupts():
        code, document = work(request, speaker(as_json=options.json))
    print_json(document, wanted=options.json)
    return code


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
