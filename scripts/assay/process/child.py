"""``Child``: a process that reports events on a descriptor of its own and waits to be released.

The child gets the names of two descriptors (handles on Windows) where its words say ``EVENTS`` and
``CONTROL``.  It writes one JSON object a line to the first; from the second it reads a line each time that
it is released, and the end of the file when the parent is gone, which is its word to end.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from assay.process.events import EventReader
from assay.process.pump import Pump, seconds_left
from assay.process.stopping import ask_to_end, read_until_exit, stop
from assay.process.system import Running, begin, name_of
from assay.process.values import TIMEOUT, Ended, Ending, Event, EventLimits, Finished, Patience

EVENTS = "{events}"
"""The word of a child's command that becomes the name of the descriptor it writes events to."""

CONTROL = "{control}"
"""The word that becomes the name of the descriptor it is released through."""

_EVENTS = "events"


@dataclass(frozen=True)
class _Wires:
    """A started process, the pump over its events and output, and the descriptor that releases it."""

    running: Running
    pump: Pump
    control: int


class Child:
    """A running child; use it in a ``with`` statement, which ends it whatever happens.

    Attributes:
        pid: its process number, valid until ``finish`` returns.
    """

    def __init__(
        self,
        wires: _Wires,
        on_output: Callable[[bytes], None],
        limits: EventLimits,
        patience: Patience,
    ) -> None:
        """Hold a started child; ``start`` makes one."""
        self.pid = wires.running.pid
        self._running, self._pump = wires.running, wires.pump
        self._control: int | None = wires.control
        self._reader, self._on_output, self._patience = EventReader(limits), on_output, patience
        self._ended: Ended | None = None
        self._finished: Finished | None = None
        self._began = time.monotonic_ns()

    @classmethod
    def start(  # noqa: PLR0913  # each option is a bound or a place of its own, all by keyword
        cls,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        on_output: Callable[[bytes], None],
        cwd: Path | None = None,
        limits: EventLimits | None = None,
        patience: Patience | None = None,
    ) -> Child:
        """Start a child.

        Args:
            argv: its words, ``EVENTS`` and ``CONTROL`` among them where it shall get those names.
            env: its whole environment.
            on_output: gets what it writes to standard output and error, in the calling thread.
            cwd: its working folder, None for the caller's.
            limits: bounds of its events.
            patience: what is waited for what should take no time.

        Raises:
            GateError: it cannot be started.
        """
        events, control = os.pipe(), os.pipe()
        try:
            names = {EVENTS: name_of(events[1]), CONTROL: name_of(control[0])}
            words = [names.get(word, word) for word in argv]
            running, pipes = begin(words, env, cwd, subprocess.DEVNULL, (events[1], control[0]))
        except BaseException:
            os.close(events[0])
            os.close(control[1])
            raise
        finally:
            os.close(events[1])
            os.close(control[0])
        wires = _Wires(running, running.pump({_EVENTS: events[0], **pipes}), control[1])
        return cls(wires, on_output, limits or EventLimits(), patience or Patience())

    def __enter__(self) -> Self:
        """Return the child itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Kill the child's group if it still runs."""
        self.kill()

    def next_event(self, deadline_s: float) -> Event | Ended:
        """Return the child's next event, or why there is none; output is passed on meanwhile.

        Once it is an ``Ended``, every later call returns the same.

        Args:
            deadline_s: seconds that this event may take.
        """
        until = time.monotonic() + deadline_s
        while self._ended is None:
            came = self._reader.next()
            if isinstance(came, Event):
                return came
            self._ended = came or self._silence(until) or self._read(until)
        return self._ended

    def _read(self, until: float) -> Ended | None:
        """Wait for bytes of any kind, up to the deadline."""
        if time.monotonic() >= until:
            return Ended(Ending.DEADLINE, f"no event came in time{self._where()}")
        self._pass_on(seconds_left(until))
        return None

    def _pass_on(self, seconds: float) -> None:
        """Take what came within ``seconds``."""
        for name, data in self._pump.wait(seconds):
            self._take(name, data)

    def _take(self, name: str, data: bytes) -> None:
        """Give events to the reader and output to the listener."""
        if name == _EVENTS:
            self._reader.feed(data)
        elif data:
            self._on_output(data)

    def _where(self) -> str:
        """Say how far the events came."""
        middle = ", in the middle of one" if self._reader.mid_line else ""
        return f" after {self._reader.count} events{middle}"

    def _silence(self, until: float) -> Ended | None:
        """Return the end of a child that can say no more: it ended, or closed its descriptor."""
        closed = _EVENTS not in self._pump.open()
        if not closed and not self._running.ended():
            return None
        grace = min(until, time.monotonic() + self._patience.drain)
        while time.monotonic() < grace and not (self._running.ended() and _EVENTS not in self._pump.open()):
            self._pass_on(seconds_left(grace))
            if self._reader.ready:
                return None
        return self._last_word()

    def _last_word(self) -> Ended:
        """Name the end of a child whose descriptor or process has ended."""
        if not self._running.ended():
            return Ended(Ending.CLOSED, f"it closed its event descriptor{self._where()} and runs on")
        reason, more = Ending.EXITED, ""
        if _EVENTS in self._pump.open():
            reason, more = Ending.HELD, ", and a process that it started holds its event descriptor"
        code = self.kill().exit
        if code == TIMEOUT:
            return Ended(reason, f"it ended and cannot be reaped{self._where()}{more}")
        how = f"was ended by signal {-code}" if code < 0 else f"ended with exit {code}"
        return Ended(reason, f"it {how}{self._where()}{more}", code)

    def release(self) -> bool:
        """Let the child go on; return False when it no longer listens."""
        if self._control is None:
            return False
        try:
            return os.write(self._control, b"\n") == 1
        except OSError:
            return False

    def finish(self, deadline_s: float) -> Finished:
        """Wait for the child to end by itself, at most ``deadline_s`` seconds, then end it.

        Its later events are read and dropped: who wants them calls ``next_event`` first.
        """
        if self._finished is None:
            self._close_control()
            until = time.monotonic() + deadline_s
            in_time = read_until_exit(self._running, self._pump, self._take, until)
            if not in_time:
                ask_to_end(self._running, self._pump, self._take, self._patience)
            self._finished = self._stop(timed_out=not in_time)
        return self._finished

    def kill(self) -> Finished:
        """Kill the child and its group at once, and return how it ended."""
        if self._finished is None:
            self._close_control()
            self._finished = self._stop(timed_out=False)
        return self._finished

    def _stop(self, *, timed_out: bool) -> Finished:
        """End what is left of the child's group; its output went to the listener."""
        stopped = stop(self._running, self._pump, self._take, self._patience)
        return Finished(
            exit=TIMEOUT if timed_out or stopped.exit is None else stopped.exit,
            abandoned=stopped.exit is None,
            held=stopped.held,
            duration_ns=time.monotonic_ns() - self._began,
        )

    def _close_control(self) -> None:
        """Tell the child that nobody will release it again."""
        control, self._control = self._control, None
        if control is not None:
            os.close(control)
