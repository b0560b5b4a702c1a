"""Peak memory: what the kernel's file says, and the least free memory that CUDA told."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.chain.memory import Peak, resident_peak

STATUS = "Name:\tpython3\nVmPeak:\t  812345 kB\nVmHWM:\t   {} kB\nVmRSS:\t   9000 kB\n"


@dataclass
class Told:
    """A device whose free memory is told in turn."""

    free: Iterator[int]
    asked: list[str] = field(default_factory=list)

    def call(self, name: str) -> tuple[int, int]:
        """Return free and total bytes."""
        self.asked.append(name)
        return next(self.free), 1 << 40


@given(st.integers(0, 2**40))
def test_the_high_water_mark_is_in_kib(kib: int) -> None:
    class Text(type(Path())):  # type: ignore[misc]  # the class of this system's paths
        def read_text(self, *_: object, **__: object) -> str:
            return STATUS.format(kib)

    assert resident_peak(Text("status")) == kib * 1024


@pytest.mark.parametrize("text", ["", "VmHWM: 12 MB\n", "VmHWM:\n", "xVmHWM: 1 kB\n", "VmHWM:\t-1 kB\n"])
def test_a_file_that_does_not_say_gives_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "status").write_text(text)
    assert resident_peak(tmp_path / "status") is None
    assert resident_peak(tmp_path / "none") is None


@pytest.mark.parametrize(
    ("free", "used"), [([100, 30, 60], 70), ([100, 100, 100], 0), ([100, 130, 120], 0), ([100, 90, 0], 100)]
)
def test_the_device_s_use_is_the_least_that_was_free(free: list[int], used: int) -> None:
    cuda: Any = Told(iter(free))
    with Peak(cuda) as peak:
        peak.look()
        peak.look()
    assert peak.facts()["device"] == used
    assert cuda.asked == ["cuMemGetInfo"] * 3


@pytest.mark.skipif(sys.platform != "linux", reason="proc(5) is Linux'")
def test_the_host_s_peak_begins_anew_and_sees_what_is_touched() -> None:
    size = 64 << 20
    cuda: Any = Told(iter([0]))
    with Peak(cuda) as peak:
        touched = bytearray(b"\1") * size
        del touched
    facts = peak.facts()
    before, most = facts["host_before"], facts["host_peak"]
    assert (before is None) is (most is None)
    if isinstance(before, int) and isinstance(most, int):  # where the kernel lets a process reset its peak
        assert most >= before
        assert most >= size
