"""What CUDA says of itself: the real cuda-python over a driver on the CPU, and the ways that it can fail."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from assay.chain.cuda_probe import PINNED
from assay.selection import Selection
from tests.chain.support import child_of, compile_driver


@pytest.fixture(scope="module")
def library(selection: Selection, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compile_driver(selection, tmp_path_factory.mktemp("driver"))


class Drive:
    """Asks the part ``cuda`` of a child with the driver on the CPU."""

    def __init__(self, selection: Selection, library: Path, scratch: Path) -> None:
        self.selection, self.library, self.scratch = selection, library, scratch

    def told(self, **env: str) -> dict[str, Any]:
        given = {"LD_LIBRARY_PATH": str(self.library.parent), "ASSAY_DRIVER_LOG": str(self.scratch / "calls")}
        part: dict[str, Any] = child_of(self.selection, self.scratch, **given, **env).probe("cuda")["cuda"]
        return part

    def calls(self) -> Counter[str]:
        return Counter(line.split()[0] for line in (self.scratch / "calls").read_text().splitlines())


@pytest.fixture
def drive(selection: Selection, library: Path, tmp_path: Path) -> Drive:
    return Drive(selection, library, tmp_path)


def test_driver_device_and_pinned_memory_are_told_and_everything_is_given_back(drive: Drive) -> None:
    facts = drive.told()["facts"]
    assert facts["init"] == {"code": 0, "name": "CUDA_SUCCESS"}
    assert (facts["version"], facts["count"]) == (13000, 1)
    (device,) = facts["devices"]
    assert (device["name"], device["compute_capability"], device["memory"]) == ("Test Device", "9.0", 1 << 30)
    assert device["uuid"] == "GPU-00112233-4455-6677-8899-aabbccddeeff"  # 0x11 times its place
    assert device["managed_memory"] == device["concurrent_managed_access"] == 0
    assert facts["pinned"] == {"largest": PINNED[-1], "problem": "", "tried": list(PINNED)}
    calls = drive.calls()
    assert calls["cuMemHostAlloc"] == calls["cuMemFreeHost"] == len(PINNED)
    assert calls["cuDevicePrimaryCtxRetain"] == calls["cuDevicePrimaryCtxRelease_v2"] == 1
    assert calls["cuCtxPushCurrent_v2"] == calls["cuCtxPopCurrent_v2"] == 1


def test_a_limit_of_pinned_memory_is_found_and_the_context_given_back(drive: Drive) -> None:
    facts = drive.told(ASSAY_DRIVER_PINNED=str(20 << 20))["facts"]
    assert facts["pinned"]["largest"] == 16 << 20
    assert facts["pinned"]["problem"] == "CUDA_ERROR_OUT_OF_MEMORY"
    calls = drive.calls()
    assert calls["cuDevicePrimaryCtxRetain"] == calls["cuDevicePrimaryCtxRelease_v2"] == 1


@pytest.mark.parametrize(
    ("code", "name"),
    [
        (100, "CUDA_ERROR_NO_DEVICE"),
        (802, "CUDA_ERROR_SYSTEM_NOT_READY"),
        (803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"),
        (999, "CUDA_ERROR_UNKNOWN"),
    ],
)
def test_a_driver_that_does_not_start_is_told_by_its_code(drive: Drive, code: int, name: str) -> None:
    facts = drive.told(ASSAY_DRIVER_FAIL=f"cuInit={code}")["facts"]
    assert facts["init"] == {"code": code, "name": name}
    assert (facts["count"], facts["devices"], facts["pinned"], facts["version"]) == (None, [], None, None)
    assert set(drive.calls()) <= {"cuInit", "cuGetExportTable"}


def test_a_call_that_fails_later_is_named(drive: Drive) -> None:
    error = drive.told(ASSAY_DRIVER_FAIL="cuDeviceGetCount=999")["error"]
    assert (error["code"], error["reason"]) == (999, "CUDA_ERROR_UNKNOWN")


def test_a_context_that_cannot_be_had_is_what_stops_pinned_memory(drive: Drive) -> None:
    facts = drive.told(ASSAY_DRIVER_FAIL="cuDevicePrimaryCtxRetain=46")["facts"]
    assert facts["count"] == 1
    assert facts["pinned"]["largest"] == 0
    assert facts["pinned"]["problem"] == "CUDA_ERROR_DEVICE_UNAVAILABLE"


def test_no_driver_is_a_library_that_is_missing(selection: Selection, tmp_path: Path) -> None:
    error = child_of(selection, tmp_path).probe("cuda")["cuda"]["error"]
    assert (error["kind"], error["reason"]) == ("unavailable", "library-missing")
