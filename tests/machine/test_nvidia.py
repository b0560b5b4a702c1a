"""What an NVIDIA driver shows in files: the forms of several drivers, and what is none of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.machine import Machine, nvidia
from assay.machine.nvidia import DeviceNode, KernelModule
from tests.machines.building import Builder

OPEN = (
    "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build  (builder@host)  "
    "Tue Aug 12 21:02:09 UTC 2025\nGCC version:  gcc version 12.2.0 (Debian 12.2.0-14)\n"
)
PROPRIETARY = (
    "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu Oct 19 18:56:32 UTC 2023\n"
    "GCC version:  gcc version 11.4.0 (Ubuntu 11.4.0-1ubuntu1~22.04)\n"
)


@pytest.fixture
def build(tmp_path: Path) -> Builder:
    return Builder(tmp_path / "machine")


@pytest.mark.parametrize(
    ("text", "version", "flavour"),
    [
        (OPEN, "580.159.04", "open"),
        (PROPRIETARY, "535.129.03", "proprietary"),
        ("NVRM version: NVIDIA UNIX aarch64 Kernel Module  999.88.77  Mon\n", "999.88.77", "proprietary"),
        (
            "NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  540.3.0  Release Build\n",
            "540.3.0",
            "open",
        ),
        ("junk\nNVRM version: NVIDIA UNIX x86_64 Kernel Module  470.57  x", "470.57", "proprietary"),
    ],
)
def test_the_kernel_modules_line(build: Builder, text: str, version: str, flavour: str) -> None:
    build.file(nvidia.VERSION_FILE, text)
    found = nvidia.kernel_module(build.machine())
    assert (found.version, found.flavour, found.problem) == (version, flavour, "")
    assert found.text.startswith("NVIDIA UNIX")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no line names"),
        ("NVRM version: something else\n", "no line names"),
        ("NVRM version: NVIDIA UNIX x86_64 Kernel Module\n", "holds no version"),
        ("NVRM version: NVIDIA UNIX x86_64 Kernel Module  latest\n", "holds no version"),
        ("NVRM version: NVIDIA UNIX x86_64 Kernel Module  " + "9" * 5000 + ".1\n", "holds no version"),
    ],
)
def test_a_line_that_is_not_understood_says_so(text: str, problem: str) -> None:
    found = nvidia.parse_version_file(text)
    assert found.version == ""
    assert problem in found.problem
    assert len(found.text) <= 200


def test_no_driver_is_missing_and_a_denied_file_is_not(build: Builder) -> None:
    assert nvidia.kernel_module(build.machine()) == KernelModule(problem="missing")
    build.file(nvidia.VERSION_FILE, OPEN)
    denied = build.machine(stated={"denied": ["/proc/driver"]})
    assert "Permission denied" in nvidia.kernel_module(denied).problem


def test_a_gigantic_proc_file_is_a_problem(build: Builder) -> None:
    with build.file(nvidia.VERSION_FILE).open("r+b") as stream:
        stream.truncate(1 << 30)
    assert "larger than" in nvidia.kernel_module(build.machine()).problem


def test_loaded_modules_and_their_versions(build: Builder) -> None:
    build.file("/sys/module/nvidia/version", "580.159.04\n")
    build.file("/sys/module/nvidia_uvm/version", "x" * 1000)
    build.folder_at("/sys/module/nvidia_drm")
    versions = nvidia.module_versions(build.machine())
    assert versions == {"nvidia": "580.159.04", "nvidia_uvm": "x" * 100, "nvidia_drm": ""}
    build.file("/proc/modules", "nvidia_uvm 1 0 - Live 0x0 (OE)\nnvidia 2 1 nvidia_uvm, Live 0x0\n\n")
    assert nvidia.loaded_modules(build.machine()) == ("nvidia", "nvidia_uvm")


def test_gpus_keep_the_drivers_fields(build: Builder) -> None:
    text = (
        "Model: \t\t NVIDIA GeForce RTX 4070\nIRQ:   \t\t 104\nGPU UUID: \t GPU-0f0f\n"
        "Bus Location: \t 0000:01:00.0\nGPU Firmware: \t 999.88.77\nGPU Excluded:\t No\nnothing\n: odd\n"
    )
    build.file("/proc/driver/nvidia/gpus/0000:02:00.0/information", "")
    build.file("/proc/driver/nvidia/gpus/0000:01:00.0/information", text)
    first, second = nvidia.gpus(build.machine())
    assert first == {
        "Model": "NVIDIA GeForce RTX 4070",
        "IRQ": "104",
        "GPU UUID": "GPU-0f0f",
        "Bus Location": "0000:01:00.0",
        "GPU Firmware": "999.88.77",
        "GPU Excluded": "No",
        "bus": "0000:01:00.0",
    }
    assert second == {"bus": "0000:02:00.0"}


def test_device_nodes(build: Builder) -> None:
    for path in (
        "/dev/nvidia0",
        "/dev/nvidiactl",
        "/dev/nvidia-uvm",
        "/dev/nvidia-caps/nvidia-cap1",
        "/dev/null",
    ):
        build.file(path, mode=0o666)
    nodes = nvidia.device_nodes(build.machine())
    assert [node.path for node in nodes] == [
        "/dev/nvidia-uvm",
        "/dev/nvidia0",
        "/dev/nvidiactl",
        "/dev/nvidia-caps/nvidia-cap1",
    ]
    assert nodes[0] == DeviceNode("/dev/nvidia-uvm", -1, -1, 0o666)


def test_a_real_node_has_its_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvidia, "NODES", ("/dev/null",))
    (node,) = nvidia.device_nodes(Machine.real())
    assert (node.path, node.major, node.minor) == ("/dev/null", 1, 3)


def test_firmware_by_version(build: Builder) -> None:
    build.file("/usr/lib/firmware/nvidia/580.159.04/gsp_ga10x.bin")
    build.file("/usr/lib/firmware/nvidia/580.159.04/gsp_tu10x.bin")
    build.folder_at("/usr/lib/firmware/nvidia/550.76")
    build.folder_at("/usr/lib/firmware/nvidia/tu102")
    build.link("/lib", "usr/lib")
    found = nvidia.firmware_versions(build.machine())
    assert found == {"550.76": (), "580.159.04": ("gsp_ga10x.bin", "gsp_tu10x.bin")}
    denied = build.machine(stated={"denied": ["/usr/lib/firmware/nvidia/580.159.04"]})
    assert nvidia.firmware_versions(denied) == {"550.76": ()}


def test_firmware_lies_in_every_folder_that_the_kernel_looks_into(build: Builder) -> None:
    build.file("/proc/sys/kernel/osrelease", "6.8.0\n")
    build.file("/sys/module/firmware_class/parameters/path", "/run/firmware\n")
    build.file("/run/firmware/nvidia/580.159.04/gsp_ga10x.bin")
    build.file("/lib/firmware/updates/6.8.0/nvidia/570.86.15/gsp_ga10x.bin.zst")
    build.file("/lib/firmware/nvidia/570.86.15/gsp_tu10x.bin.xz")
    build.file("/lib/firmware/nvidia/570.86.15/README")
    machine = build.machine()
    roots = ("/run/firmware", "/lib/firmware/updates/6.8.0", "/lib/firmware/updates", "/lib/firmware")
    assert nvidia.firmware_roots(machine) == roots
    assert nvidia.firmware_versions(machine) == {
        "570.86.15": ("gsp_ga10x.bin.zst", "gsp_tu10x.bin.xz"),
        "580.159.04": ("gsp_ga10x.bin",),
    }


@pytest.mark.parametrize("path", ["", "(null)", "relative", "\n"])
def test_a_parameter_that_names_no_folder_is_left_out(build: Builder, path: str) -> None:
    build.file("/sys/module/firmware_class/parameters/path", path)
    assert nvidia.firmware_roots(build.machine()) == ()


@given(st.text(max_size=200))
def test_no_text_crashes_the_parsers(text: str) -> None:
    found = nvidia.parse_version_file("NVRM version: " + text)
    assert bool(found.version) is not bool(found.problem)
    fields = nvidia.parse_information(text)
    assert all(name and name == name.strip() for name in fields)
