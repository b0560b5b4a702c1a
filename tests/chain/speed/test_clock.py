"""Durations: how often an action is called, which runs count, and what the device's events say."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest

from assay.chain.speed.clock import WARM_UP, device_ns, host_ns
from assay.judge import throughput


class Device:
    """CUDA whose events are numbered and whose clock is a list of milliseconds."""

    stream = "stream"

    def __init__(self, taken: list[float]) -> None:
        self.taken = iter(taken)
        self.calls: list[str] = []
        self.open = 0

    @contextlib.contextmanager
    def event(self) -> Iterator[int]:
        """Count what is open."""
        self.open += 1
        try:
            yield self.open
        finally:
            self.open -= 1

    def call(self, name: str, *_: object) -> float | None:
        """Record a call."""
        self.calls.append(name)
        return next(self.taken) if name == "cuEventElapsedTime" else None


def test_the_judge_knows_the_warm_up() -> None:
    assert throughput.WARM_UP == WARM_UP


@pytest.mark.parametrize("turns", [1, 3, 7])
def test_the_host_s_clock_leaves_the_warm_up_out(turns: int) -> None:
    called: list[None] = []
    taken = host_ns(lambda: called.append(None), turns)
    assert (len(taken), len(called)) == (turns, turns + WARM_UP)
    assert min(taken) >= 0


def test_the_device_s_milliseconds_become_whole_nanoseconds_after_the_warm_up() -> None:
    device: Any = Device([9.0, 9.0, 0.0015, 1.25, 0.0000005])
    assert device_ns(device, lambda: device.calls.append("work"), 3) == [1500, 1_250_000, 0]
    turn = ["cuEventRecord", "work", "cuEventRecord", "cuEventSynchronize", "cuEventElapsedTime"]
    assert device.calls == turn * 5
    assert device.open == 0


def test_events_are_freed_where_the_work_fails() -> None:
    device: Any = Device([])

    def lost() -> None:
        raise RuntimeError("lost")

    with pytest.raises(RuntimeError, match="lost"):
        device_ns(device, lost, 3)
    assert device.open == 0
