"""The running system's way to start, signal and reap processes, and what is the same everywhere around it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Protocol

from assay.errors import GateError
from assay.process.pump import Pump

if sys.platform == "win32":
    from assay.process.windows import name_of, start
else:
    from assay.process.posix import name_of, start

__all__ = ["Running", "begin", "name_of"]


class Running(Protocol):
    """A started process, on any system."""

    pid: int

    def pump(self, pipes: Mapping[str, int]) -> Pump:
        """Return a pump over pipes."""

    def ended(self) -> bool:
        """Tell whether the process has ended."""

    def ask_to_end(self) -> None:
        """Ask the whole group to end."""

    def kill(self) -> None:
        """Kill the whole group."""

    def reap(self) -> int | None:
        """Return the exit code once the process has ended."""

    def close(self) -> None:
        """Close what is held open for the process."""


def begin(
    argv: Sequence[str],
    env: Mapping[str, str],
    cwd: Path | None,
    stdin: IO[bytes] | int,
    inherited: Sequence[int] = (),
) -> tuple[Running, dict[str, int]]:
    """Start a process whose output is two pipes; return it and the pipes' reading ends by name.

    Raises:
        GateError: it cannot be started.
    """
    out, err = os.pipe(), os.pipe()
    try:
        running = start(argv, env, cwd, (stdin, out[1], err[1]), inherited)
    except (OSError, ValueError, IndexError) as error:
        _close(out[0], err[0])
        raise _cannot_start(argv, cwd, error) from error
    finally:
        _close(out[1], err[1])
    return running, {"stdout": out[0], "stderr": err[0]}


def _close(*descriptors: int) -> None:
    """Close descriptors."""
    for descriptor in descriptors:
        os.close(descriptor)


def _cannot_start(argv: Sequence[str], cwd: Path | None, error: Exception) -> GateError:
    """Return the error of a command that cannot be started."""
    reason = (isinstance(error, OSError) and error.strerror) or str(error) or type(error).__name__
    if cwd is not None and not cwd.is_dir():
        return GateError(
            f"the working folder {cwd} is no folder", "an existing folder", "make it or name another"
        )
    program = argv[0] if argv else "an empty command"
    return GateError(
        f"cannot start {program}: {reason}", "a program that can be started", "install it or correct its path"
    )
