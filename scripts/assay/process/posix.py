"""Starts, signals and reaps processes on POSIX: a new session each, so that a signal reaches all of it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from assay.process.pump import Pump, SelectPump


class Process:
    """A started process.

    It is reaped only by ``reap``: until then its number names its group and nothing else, so that a signal
    never reaches a stranger.
    """

    def __init__(self, popen: subprocess.Popen[bytes]) -> None:
        """Hold a process that leads its own session."""
        self._popen = popen
        self.pid = popen.pid
        self._wake = _pidfd(popen.pid)

    def pump(self, pipes: Mapping[str, int]) -> Pump:
        """Return a pump over pipes that the end of this process wakes."""
        return SelectPump(pipes, self._wake)

    def ended(self) -> bool:
        """Tell whether the process has ended, without reaping it."""
        if self._popen.returncode is not None:
            return True
        if not hasattr(os, "waitid"):
            return self._popen.poll() is not None
        try:
            return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:
            return True

    def ask_to_end(self) -> None:
        """Send SIGTERM to the whole group."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """Send SIGKILL to the whole group."""
        self._signal(signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        """Signal the group unless the process has been reaped."""
        if self._popen.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, number)

    def reap(self) -> int | None:
        """Return the exit code (negative: a signal) once the process has ended, else None."""
        return self._popen.poll()

    def close(self) -> None:
        """Close what this object holds open."""
        if self._wake is not None:
            os.close(self._wake)
            self._wake = None


def start(
    argv: Sequence[str],
    env: Mapping[str, str],
    cwd: Path | None,
    streams: tuple[IO[bytes] | int, int, int],
    inherited: Sequence[int] = (),
) -> Process:
    """Start a process.

    Args:
        argv: its words.
        env: its whole environment.
        cwd: its working folder, None for the caller's.
        streams: its standard input, output and error.
        inherited: further descriptors that it gets under the same numbers.

    Raises:
        OSError: it cannot be started.
        ValueError: a word or a variable holds a NUL.
    """
    stdin, stdout, stderr = streams
    popen = subprocess.Popen(  # noqa: S603  # a list of words, no shell
        list(argv),
        env=dict(env),
        cwd=cwd,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        start_new_session=True,
        pass_fds=tuple(inherited),
    )
    return Process(popen)


def name_of(descriptor: int) -> str:
    """Return the number under which the child knows an inherited descriptor."""
    return str(descriptor)


def _pidfd(pid: int) -> int | None:
    """Return a descriptor that becomes readable when the process ends (Linux 5.3), or None."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None
