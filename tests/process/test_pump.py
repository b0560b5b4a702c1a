"""Reading several pipes at once: both ways behave the same."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping

import pytest

from assay.process import pump as pump_module
from assay.process.pump import CHUNK, Pump, SelectPump, ThreadPump, seconds_left

Make = Callable[[Mapping[str, int]], Pump]


@pytest.fixture(params=[SelectPump, ThreadPump], ids=["select", "threads"])
def make(request: pytest.FixtureRequest) -> Make:
    made: Make = request.param
    return made


class Pipes:
    """Two pipes, their writing ends by name."""

    def __init__(self) -> None:
        """Make them."""
        self.read: dict[str, int] = {}
        self.write: dict[str, int] = {}
        for name in ("one", "two"):
            self.read[name], self.write[name] = os.pipe()

    def end(self, *names: str) -> None:
        """Close writing ends."""
        for name in names:
            os.close(self.write.pop(name))


@pytest.fixture
def pipes() -> Iterator[Pipes]:
    made = Pipes()
    yield made
    made.end(*tuple(made.write))


def read_all(pump: Pump, seconds: float = 20) -> dict[str, bytes]:
    """Read until every pipe has ended."""
    came: dict[str, bytes] = {}
    until = time.monotonic() + seconds
    while pump.open() and time.monotonic() < until:
        for name, data in pump.wait(seconds_left(until)):
            came[name] = came.get(name, b"") + data
    return came


def test_each_pipe_gives_its_bytes_and_its_end(make: Make, pipes: Pipes) -> None:
    pump = make(pipes.read)
    assert pump.open() == {"one", "two"}
    os.write(pipes.write["one"], b"first")
    os.write(pipes.write["two"], b"second")
    pipes.end("one", "two")
    assert read_all(pump) == {"one": b"first", "two": b"second"}
    assert pump.open() == frozenset()
    pump.close()


def test_more_than_a_pipe_holds_comes_whole(make: Make, pipes: Pipes) -> None:
    data = os.urandom(40 * CHUNK)

    def write() -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(pipes.write["one"], view) :]
        pipes.end("one", "two")

    writer = threading.Thread(target=write)
    writer.start()
    pump = make(pipes.read)
    assert read_all(pump)["one"] == data
    writer.join()
    pump.close()


def test_a_wait_without_anything_ends(make: Make, pipes: Pipes) -> None:
    pump = make(pipes.read)
    assert pump.wait(0.02) == []
    assert pump.wait(-1) == []
    pump.close()


def test_a_pipe_that_is_still_held_can_be_left(make: Make, pipes: Pipes) -> None:
    pump = make(pipes.read)
    pump.close()
    assert len(pipes.write) == 2


def test_a_descriptor_that_cannot_be_read_is_a_pipes_end(
    make: Make, pipes: Pipes, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_descriptor: int, _size: int) -> bytes:
        raise OSError(5, "Input/output error")

    os.write(pipes.write["one"], b"x")
    os.write(pipes.write["two"], b"x")
    monkeypatch.setattr(os, "read", refuse)
    pump = make(pipes.read)
    assert read_all(pump) == {"one": b"", "two": b""}
    assert pump.open() == frozenset()
    pump.close()


_LONG = 3600.0
"""Longer than any run of tests: who waits so long was not woken."""


def test_the_end_of_a_process_wakes_the_pump_once(pipes: Pipes) -> None:
    wake, end = os.pipe()
    pump = SelectPump(pipes.read, wake)
    os.close(end)
    assert pump.wait(_LONG) == []
    os.write(pipes.write["one"], b"later")
    assert pump.wait(20) == [("one", b"later")]
    pump.close()
    os.close(wake)


def test_a_thread_that_nobody_listens_to_gives_up(pipes: Pipes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pump_module, "_BACKLOG", 1)
    before = threading.active_count()
    pump = ThreadPump({"one": pipes.read.pop("one")})
    for _ in range(3):
        os.write(pipes.write["one"], b"x" * CHUNK)
    pump.close()
    pipes.end("one")
    until = time.monotonic() + 20
    while threading.active_count() > before and time.monotonic() < until:
        pump.wait(0.01)
    assert threading.active_count() <= before


@pytest.mark.parametrize(("until", "left"), [(95.0, 0.0), (100.0, 0.0), (105.0, 5.0)])
def test_the_time_that_is_left_is_never_negative(
    until: float, left: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "monotonic", lambda: 100.0)
    assert seconds_left(until) == left
