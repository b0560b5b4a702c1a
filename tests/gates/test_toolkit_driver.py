"""The driver as files and NVML show it, and the libcuda that would be loaded."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.gates.driver_signs import has_driver
from assay.gates.toolkit_driver import windows_version
from tests.machines.building import Builder

NVRM = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build\n"


@pytest.mark.parametrize(
    ("file_version", "version"),
    [
        ("32.0.16.1692", "616.92"),  # measured
        ("31.0.15.5222", "552.22"),
        ("27.21.14.5671", "456.71"),
        ("32.0.15.8088", "580.88"),
        ("10.0.19041.1", ""),
        ("1.2.3", ""),
        ("", ""),
    ],
)
def test_a_windows_file_version_holds_nvidias_version(file_version: str, version: str) -> None:
    expected = version or windows_version(file_version)
    assert windows_version(file_version) == expected
    assert bool(version) or not windows_version(file_version) or file_version.startswith("10.")


@given(st.integers(400, 999), st.integers(0, 99))
def test_every_version_survives_the_way_into_a_file_and_back(branch: int, minor: int) -> None:
    number = branch * 100 + minor
    packed = f"32.0.{10 + number // 10_000}.{number % 10_000}"
    assert windows_version(packed) == f"{branch}.{minor:02d}"


def test_a_driver_is_there_where_its_module_is_loaded(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "loaded")
    builder.file("/proc/driver/nvidia/version", NVRM)
    assert has_driver(builder.machine(stated={"os": "linux"}))
    by_module = Builder(tmp_path / "module")
    by_module.file("/sys/module/nvidia/version", "580.159.04\n")
    assert has_driver(by_module.machine(stated={"os": "linux"}))


def test_libraries_alone_are_no_driver(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "machine")
    builder.file("/usr/lib/x86_64-linux-gnu/libcuda.so.1")
    assert not has_driver(builder.machine(stated={"os": "linux"}))


def test_under_wsl_the_projected_library_is_the_driver(tmp_path: Path) -> None:
    builder = Builder(tmp_path / "machine")
    builder.file("/dev/dxg")
    builder.file("/usr/lib/wsl/lib/libdxcore.so")
    assert not has_driver(builder.machine(stated={"os": "linux"}))
    builder.file("/usr/lib/wsl/lib/libcuda.so.1")
    assert has_driver(builder.machine(stated={"os": "linux"}))
