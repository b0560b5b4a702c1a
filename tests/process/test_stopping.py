"""A process is asked, killed, and in the end given up; a scripted process plays one that cannot be killed."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping

import pytest

from assay.process.pump import Pump, SelectPump
from assay.process.stopping import Stopped, ask_to_end, read_until_exit, stop
from assay.process.values import Patience

SHORT = Patience(term=0.01, kill=0.01, drain=0.01)


class Scripted:
    """A process that ends on a given signal, or on none."""

    pid = 1

    def __init__(self, ends_on: str) -> None:
        """End on ``term``, ``kill`` or never."""
        self.ends_on = ends_on
        self.heard: list[str] = []

    def pump(self, pipes: Mapping[str, int]) -> Pump:
        return SelectPump(pipes)

    def ended(self) -> bool:
        return self.ends_on in self.heard

    def ask_to_end(self) -> None:
        self.heard.append("term")

    def kill(self) -> None:
        self.heard.append("kill")

    def reap(self) -> int | None:
        return -9 if self.ended() else None

    def close(self) -> None:
        self.heard.append("close")


def nothing(_name: str, _data: bytes) -> None:
    """Take nothing."""


def test_a_process_that_cannot_be_killed_is_given_up() -> None:
    reading, writing = os.pipe()
    process = Scripted("never")
    assert stop(process, process.pump({"stdout": reading}), nothing, SHORT) == Stopped(None, held=True)
    assert process.heard == ["kill", "close"]
    with pytest.raises(BrokenPipeError):
        os.write(writing, b"x")
    os.close(writing)


def test_a_killed_process_whose_pipe_is_held_elsewhere_is_not_waited_for() -> None:
    reading, writing = os.pipe()
    process, came = Scripted("kill"), list[bytes]()
    os.write(writing, b"last words")
    stopped = stop(process, process.pump({"stdout": reading}), lambda _, data: came.append(data), SHORT)
    assert (stopped, came) == (Stopped(-9, held=True), [b"last words"])
    os.close(writing)


def test_what_a_pipe_still_holds_is_read_to_its_end() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"x" * 60_000)
    os.close(writing)
    process, came = Scripted("kill"), list[bytes]()
    stopped = stop(process, process.pump({"stdout": reading}), lambda _, data: came.append(data), SHORT)
    assert (stopped, len(b"".join(came))) == (Stopped(-9, held=False), 60_000)


def test_asking_waits_only_as_long_as_patience_lasts() -> None:
    process = Scripted("never")
    pump = process.pump({})
    ask_to_end(process, pump, nothing, SHORT)
    assert process.heard == ["term"]
    assert not read_until_exit(process, pump, nothing, time.monotonic())
    assert read_until_exit(Scripted("never"), pump, nothing, time.monotonic() - 1) is False
    pump.close()


def test_a_process_that_has_ended_is_not_waited_for() -> None:
    process = Scripted("term")
    process.ask_to_end()
    pump = process.pump({})
    assert read_until_exit(process, pump, nothing, time.monotonic() - 1)
    pump.close()
