"""The order in which a process is ended: asked, killed, given up; and what its pipes still hold is read."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from assay.process.pump import TICK_S, Pump, seconds_left
from assay.process.system import Running
from assay.process.values import Patience

Sink = Callable[[str, bytes], None]
"""Takes what came on a pipe: the pipe's name and its bytes, never empty."""


@dataclass(frozen=True)
class Stopped:
    """How a process ended: its exit (None: it could not be killed) and whether a pipe was still held."""

    exit: int | None
    held: bool


def read_until_exit(running: Running, pump: Pump, sink: Sink, until: float) -> bool:
    """Read until the process has ended; return False once the monotonic clock shows ``until``."""
    while not running.ended():
        if time.monotonic() >= until:
            return False
        _pass_on(pump, sink, seconds_left(until))
    return True


def ask_to_end(running: Running, pump: Pump, sink: Sink, patience: Patience) -> None:
    """Ask the group to end and give it the time to."""
    running.ask_to_end()
    read_until_exit(running, pump, sink, time.monotonic() + patience.term)


def stop(running: Running, pump: Pump, sink: Sink, patience: Patience) -> Stopped:
    """Kill what is left of the group, read what its pipes hold, and reap the process.

    A pipe that is open after that is held by a process that left the group: it is closed, not waited for.
    """
    running.kill()
    read_until_exit(running, pump, sink, time.monotonic() + patience.kill)
    until = time.monotonic() + patience.drain
    while pump.open() and running.ended() and time.monotonic() < until:
        _pass_on(pump, sink, min(TICK_S, seconds_left(until)))
    stopped = Stopped(running.reap(), held=bool(pump.open()))
    pump.close()
    running.close()
    return stopped


def _pass_on(pump: Pump, sink: Sink, seconds: float) -> None:
    """Give the sink what came."""
    for name, data in pump.wait(seconds):
        if data:
            sink(name, data)
