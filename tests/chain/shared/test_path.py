"""The shared path's record of what was done, with sides that only count: the judge reads it as it stands."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from assay.chain.shared import path as shared_path
from assay.chain.shared.path import SharedPath
from assay.judge.shared_buffers import no_copy


class Timeline:
    """Counts the steps: each waits for the value before it and signals the next."""

    def __init__(self) -> None:
        self.value = 0
        self.done: list[str] = []

    def submit(self, step: str, _timeline: object, wait: int, signal: int) -> None:
        """Do a step of Vulkan's."""
        assert (wait, signal) == (self.value, self.value + 1)
        self.value = signal
        self.done.append(step)

    def wait(self, value: int, _seconds: int) -> None:
        """Wait for what has been signalled."""
        assert value == self.value


class Work:
    """What a pass uses, by name."""

    upload, download, shader, kernel = "upload", "download", "shader", "kernel"
    descriptor = "/dev/nvidiactl"

    def __init__(self, count: int) -> None:
        self.staging = np.zeros(count, dtype=np.float32)
        self.memory = type("Memory", (), {"size": 4 * count})()
        self.in_place = type("InPlace", (), {"address": 4096, "count": count})()


@pytest.fixture
def path(monkeypatch: pytest.MonkeyPatch) -> tuple[SharedPath, Timeline]:
    """Return a path of 37 values and what counts its steps."""
    timeline: Any = Timeline()

    def enqueue(_cuda: object, kernel: str, _work: object, wait: int, signal: int) -> None:
        timeline.submit(kernel, None, wait, signal)

    monkeypatch.setattr(shared_path, "enqueue_in_place", enqueue)
    monkeypatch.setattr(shared_path, "_attributes", lambda *_: {"device_ordinal": 0, "memory_type": 2})
    work: Any = Work(37)
    cuda: Any = None
    return SharedPath(cuda, timeline, timeline, work), timeline


@pytest.mark.parametrize("passes", [1, 2, 14])
def test_one_copy_in_one_out_and_nothing_between_is_what_the_judge_wants(
    path: tuple[SharedPath, Timeline], passes: int
) -> None:
    shared, timeline = path
    shared.load(np.arange(37, dtype=np.float32))
    shared.run()
    assert shared.read().tolist() == [float(value) for value in range(37)]
    for _ in range(passes - 1):
        shared.run()
    one = ["shader", "kernel", "shader"]
    assert timeline.done == ["upload", *one, "download", *one * (passes - 1)]
    assert list(no_copy("37", shared.facts(), 37, passes)) == []  # type: ignore[arg-type]  # the child's JSON


@pytest.mark.parametrize("more", ["load", "read", "run"])
def test_a_copy_or_a_pass_more_is_recorded_and_found(path: tuple[SharedPath, Timeline], more: str) -> None:
    shared, _ = path
    values = np.arange(37, dtype=np.float32)
    shared.load(values)
    if more == "read":
        shared.read()
    if more == "load":
        shared.load(values)
    shared.run()
    if more == "run":
        shared.run()
    shared.read()
    found = list(no_copy("37", shared.facts(), 37, 1))  # type: ignore[arg-type]  # as above
    assert {each.id for each in found} == {"SHARED-COPIED"}
