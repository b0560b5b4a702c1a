"""Events and control: descriptors of their own, whole lines, bounded."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator

import pytest

from assay.chain.events import LINE_LIMIT, Events, open_descriptor, wait
from assay.chain.failures import UnavailableError
from tests.chain.support import open_pipe


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    with open_pipe() as descriptors:
        yield descriptors


def drain(read: int) -> list[dict[str, object]]:
    with os.fdopen(os.dup(read), "rb") as stream:
        return [json.loads(line) for line in stream]


def test_events_are_numbered_lines(pipe: tuple[int, int]) -> None:
    read, write = pipe
    events = Events(write)
    events.emit("hello", pid=1)
    events.emit("end", errors=0)
    os.close(write)
    assert drain(read) == [
        {"event": "hello", "pid": 1, "seq": 0},
        {"event": "end", "errors": 0, "seq": 1},
    ]


def test_an_error_says_where_what_and_of_which_kind(pipe: tuple[int, int]) -> None:
    read, write = pipe
    events = Events(write)
    no_device = UnavailableError("no device", reason="CUDA_ERROR_NO_DEVICE", code=100)
    events.error(no_device, step="open", runtime="nvrtc")
    os.close(write)
    (event,) = drain(read)
    assert events.errors == 1
    assert str(event.pop("traceback")).endswith("UnavailableError: no device\n")
    assert event == {
        "chain": None,
        "code": 100,
        "event": "error",
        "input": None,
        "kind": "unavailable",
        "message": "no device",
        "reason": "CUDA_ERROR_NO_DEVICE",
        "runtime": "nvrtc",
        "seq": 0,
        "stage": None,
        "step": "open",
        "type": "UnavailableError",
    }


def test_a_line_longer_than_the_pipe_arrives_whole(pipe: tuple[int, int]) -> None:
    read, write = pipe
    got: list[dict[str, object]] = []
    reader = threading.Thread(target=lambda: got.extend(drain(read)))
    reader.start()
    Events(write).emit("long", text="x" * 1_000_000)
    os.close(write)
    reader.join()
    assert got == [{"event": "long", "seq": 0, "text": "x" * 1_000_000}]


def test_a_line_past_the_limit_is_refused_and_nothing_is_written(pipe: tuple[int, int]) -> None:
    read, write = pipe
    with pytest.raises(ValueError, match="more than"):
        Events(write).emit("flood", text="x" * LINE_LIMIT)
    os.close(write)
    assert drain(read) == []


def test_a_float_is_refused(pipe: tuple[int, int]) -> None:
    with pytest.raises(TypeError):
        Events(pipe[1]).emit("value", x=0.5)


def test_a_reader_that_has_gone_is_told(pipe: tuple[int, int]) -> None:
    read, write = pipe
    os.close(read)
    with pytest.raises(BrokenPipeError):
        Events(write).emit("hello")


@pytest.mark.parametrize("number", [0, 1, 2])
def test_standard_streams_are_log(number: int) -> None:
    with pytest.raises(ValueError, match="standard stream"):
        open_descriptor(number, os.O_WRONLY)


def test_a_descriptor_is_closed_to_children(pipe: tuple[int, int]) -> None:
    os.set_inheritable(pipe[1], True)  # noqa: FBT003  # positional only
    assert open_descriptor(pipe[1], os.O_WRONLY) == pipe[1]
    assert os.get_inheritable(pipe[1]) is False


def test_a_closed_descriptor_is_an_error(pipe: tuple[int, int]) -> None:
    os.close(pipe[1])
    with pytest.raises(OSError, match="Bad file descriptor"):
        open_descriptor(pipe[1], os.O_WRONLY)


@pytest.mark.parametrize("farewell", [b"x", b""])
def test_waiting_ends_with_a_byte_or_the_end(pipe: tuple[int, int], farewell: bytes) -> None:
    read, write = pipe
    waiting = threading.Thread(target=wait, args=(read,))
    waiting.start()
    os.write(write, farewell)
    os.close(write)
    waiting.join(timeout=30)
    assert not waiting.is_alive()
