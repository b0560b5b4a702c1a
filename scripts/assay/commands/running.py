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
    """Let SIGTERM end a run as Ctrl-C does: children are killed and the journal is closed."""

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
