"""Cuts runs short at every call that writes: ``python -m tests.evidence.cut_short HOW FOLDER``.

Each time a child makes the same run in ``FOLDER/<number>``; before its call of that number it is ``killed``,
without another instruction, or from there on its disk is ``full``.  How many calls there are is printed.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, TypeVar

import pytest

from assay.errors import StorageError
from tests.evidence import support

_P = ParamSpec("_P")
_R = TypeVar("_R")

NAMES = frozenset({"os.mkdir", "os.rename", "os.truncate", "os.link"})
"""Audit events of calls that change a folder or a length (Python's documentation, "Audit events table")."""


def kill() -> None:
    """End this process as SIGKILL does: nothing is flushed and no handler runs."""
    os._exit(9)


def fill() -> None:
    """Answer as a full disk does."""
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


ENDS: dict[str, Callable[[], None]] = {"killed": kill, "full": fill}


class Calls:
    """Counts the calls that write, and ends that of one number and all behind it."""

    def __init__(self, at: int, end: Callable[[], None]) -> None:
        self.count = 0
        self._at = at
        self._end = end
        os.write = self._guarded(os.write)  # no audit event tells of these two
        os.fsync = self._guarded(_synced)
        sys.addaudithook(self._heard)

    def _guarded(self, real: Callable[_P, _R]) -> Callable[_P, _R]:
        """Return a call that is counted."""

        def guarded(*arguments: _P.args, **options: _P.kwargs) -> _R:
            self._one_more()
            return real(*arguments, **options)

        return guarded

    def _heard(self, event: str, arguments: tuple[object, ...]) -> None:
        """Count an event that writes."""
        if event in NAMES or (event == "open" and _writes(arguments[2])):
            self._one_more()

    def _one_more(self) -> None:
        self.count += 1
        if self.count >= self._at:
            self._end()


def _synced(fd: object) -> None:
    """Do nothing: what a process wrote outlives it, and only a machine that stops loses it."""
    del fd  # as os.fsync has it


def _writes(flags: object) -> bool:
    """Say whether a file that is opened so may be written."""
    return isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))


def child(folder: Path, at: int, end: Callable[[], None]) -> int:
    """Make a run in a process of its own, and return how many calls of it wrote."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        tell = os.write
        calls = Calls(at, end)
        try:
            support.make_run(folder)
        except (StorageError, OSError) as error:
            if "No space left" not in str(error):
                os._exit(1)
        tell(writing, b"%d" % calls.count)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as told:
        said = told.read()
    if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) not in {0, 9}:
        msg = "the run ended otherwise"
        raise RuntimeError(msg)
    return int(said or "0")


def main() -> None:
    """Make a whole run, then one for each of its calls."""
    support.enter(pytest.MonkeyPatch())
    how, folder = sys.argv[1], Path(sys.argv[2])
    calls = child(folder / "0", sys.maxsize, fill)
    for number in range(1, calls + 1):
        child(folder / str(number), number, ENDS[how])
    sys.stdout.write(str(calls))


if __name__ == "__main__":
    main()
