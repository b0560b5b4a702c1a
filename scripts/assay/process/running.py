"""``run``: a command to its end or its deadline."""

from __future__ import annotations

import contextlib
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

from assay.process.pump import Pump
from assay.process.stopping import Sink, Stopped, ask_to_end, read_until_exit, stop
from assay.process.system import Running, begin
from assay.process.values import TIMEOUT, Finished, Patience

CAPTURE = 1 << 20
"""Bytes of each output stream that are kept unless the caller says otherwise."""


class _Captured:
    """The beginning of each output stream; everything goes on to the listener."""

    def __init__(self, limit: int, listener: Callable[[bytes], None] | None) -> None:
        """Keep ``limit`` bytes of each stream."""
        self._limit = limit
        self._listener = listener
        self.kept = {"stdout": bytearray(), "stderr": bytearray()}
        self.truncated = False

    def __call__(self, name: str, data: bytes) -> None:
        """Take what came on one stream."""
        kept = self.kept[name]
        room = self._limit - len(kept)
        kept += data[:room]
        self.truncated = self.truncated or len(data) > room
        if self._listener is not None:
            self._listener(data)


def run(  # noqa: PLR0913  # each option is a bound or a place of its own, all by keyword
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    deadline_s: float,
    cwd: Path | None = None,
    on_output: Callable[[bytes], None] | None = None,
    capture_limit: int = CAPTURE,
    input: bytes | None = None,  # noqa: A002  # the name that subprocess.run gives it
    patience: Patience | None = None,
    inherited: Sequence[int] = (),
) -> Finished:
    """Run a command.

    Args:
        argv: its words; the first is looked up in ``env``'s ``PATH`` unless it has a folder.
        env: its whole environment.
        deadline_s: seconds after which its process group is ended.
        cwd: its working folder, None for the caller's.
        on_output: gets every piece of both output streams as it comes, in the calling thread.
        capture_limit: bytes of each stream that the result keeps.
        input: what it reads; without it its input is empty.
        patience: what is waited for what should take no time.
        inherited: further descriptors that it gets, such as a lock that is to be held while it runs.

    Raises:
        GateError: it cannot be started.
    """
    began = time.monotonic_ns()
    captured = _Captured(capture_limit, on_output)
    with _input(input) as stdin:
        running, pipes = begin(argv, env, cwd, stdin, inherited)
    timed_out, stopped = _attend(running, pipes, captured, deadline_s, patience or Patience())
    return Finished(
        exit=TIMEOUT if timed_out or stopped.exit is None else stopped.exit,
        stdout=bytes(captured.kept["stdout"]),
        stderr=bytes(captured.kept["stderr"]),
        abandoned=stopped.exit is None,
        held=stopped.held,
        truncated=captured.truncated,
        duration_ns=time.monotonic_ns() - began,
        group=running.pid,
    )


def _attend(
    running: Running, pipes: Mapping[str, int], sink: Sink, deadline_s: float, patience: Patience
) -> tuple[bool, Stopped]:
    """Read until the process ends or its deadline passes; return which, and how it ended."""
    pump = running.pump(pipes)
    try:
        timed_out = not read_until_exit(running, pump, sink, time.monotonic() + deadline_s)
        if timed_out:
            ask_to_end(running, pump, sink, patience)
        return timed_out, stop(running, pump, sink, patience)
    except BaseException:
        _abort(running, pump, patience)
        raise


def _abort(running: Running, pump: Pump, patience: Patience) -> None:
    """End a process whose output could not be handled, or whose caller was interrupted."""
    stop(running, pump, lambda _name, _data: None, patience)


@contextlib.contextmanager
def _input(data: bytes | None) -> Iterator[IO[bytes] | int]:
    """Yield a command's input.  It comes from a file, so that a command that never reads it blocks nobody."""
    if data is None:
        yield subprocess.DEVNULL
        return
    with tempfile.TemporaryFile() as stream:
        stream.write(data)
        stream.seek(0)
        yield stream
