"""What gates make of a command that has ended."""

from __future__ import annotations

import re

from assay.errors import DeadlineError
from assay.process import Finished

_LINES = 20
_CHARACTERS = 2000
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
"""Colours and cursor movements (ECMA-48, control sequences), which a finding has no use for."""


def ended(finished: Finished, what: str) -> Finished:
    """Return a command that ended by itself.

    Raises:
        DeadlineError: it did not.
    """
    if finished.exit == "timeout":
        raise DeadlineError(f"{what} did not end", "an end within the gate's deadline", "see the gate's log")
    return finished


def last_words(finished: Finished) -> str:
    """Return the end of what a command printed, errors last, short enough for a finding."""
    output = finished.stdout + b"\n" + finished.stderr
    plain = _ESCAPES.sub("", output.decode("utf-8", "replace")).replace("\0", "")
    lines = [line.rstrip() for line in plain.splitlines() if line.strip()]
    return "\n".join(lines[-_LINES:])[-_CHARACTERS:]
