"""The driver's libraries on disk: which one a loader takes, of which version, and what tells it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.machine import driverfiles
from assay.machine.driverfiles import Library
from tests.machines.build_elf import elf_bytes
from tests.machines.building import Builder

MODULE = "570.124.06"
DEBIAN = "/usr/lib/x86_64-linux-gnu"


@pytest.fixture
def build(tmp_path: Path) -> Builder:
    builder = Builder(tmp_path / "machine")
    builder.program("/bin/sh", elf_bytes(kind="executable", interpreter="/lib64/ld-linux-x86-64.so.2"))
    return builder


def library(build: Builder, path: str, *, arch: str = "x86_64", text: bytes = b"") -> None:
    """Add a library."""
    build.file(path, elf_bytes(soname="libcuda.so.1", machine=arch, text=text))


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("libcuda.so.570.124.06", "570.124.06"),
        ("libcuda.so.550.76", "550.76"),
        ("libnvidia-glcore.so.999.88.77", "999.88.77"),
        ("libcuda.so.1", ""),
        ("libcuda.so.1.1", ""),  # what WSL projects
        ("libcuda.so", ""),
        ("libcuda.so.570", ""),
        ("libcuda.so.570.124.06.bak", ""),
        ("libcuda.so.570.x", ""),
        ("libcuda.so." + "9" * 5000 + ".1", ""),
        ("", ""),
    ],
)
def test_a_file_name_tells_a_whole_version_or_none(name: str, version: str) -> None:
    assert driverfiles.version_in_name(name) == version


@pytest.mark.parametrize(
    "links",
    [
        {f"{DEBIAN}/libcuda.so.1": "libcuda.so.570.124.04"},
        {  # Debian's alternatives
            f"{DEBIAN}/libcuda.so.1": "/etc/alternatives/glx--libcuda.so.1-x86_64-linux-gnu",
            "/etc/alternatives/glx--libcuda.so.1-x86_64-linux-gnu": f"{DEBIAN}/nvidia/current/libcuda.so.1",
            f"{DEBIAN}/nvidia/current/libcuda.so.1": f"{DEBIAN}/libcuda.so.570.124.04",
        },
    ],
)
def test_the_loaders_library_has_the_version_of_the_file_behind_its_links(
    build: Builder, links: dict[str, str]
) -> None:
    library(build, f"{DEBIAN}/libcuda.so.570.124.04")
    for path, target in links.items():
        build.link(path, target)
    found = driverfiles.loaded(build.machine(stated={"os": "linux"}), "libcuda", MODULE)
    path, real = f"{DEBIAN}/libcuda.so.1", f"{DEBIAN}/libcuda.so.570.124.04"
    assert found == Library(path, real, "570.124.04", "file name", "default")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b"\x00570.124.06\x00", (MODULE, "contents")),
        (b"NVIDIA UNIX x86_64 570.124.06 x", (MODULE, "contents")),
        (b"\x001570.124.06\0", ("", "")),
        (b"\x00570.124.061\0", ("", "")),
        (b"\x00570.124.06.1\0", ("", "")),
        (b"\x00570.124.04\0", ("", "")),
    ],
)
def test_a_plain_file_tells_the_modules_version_by_its_contents_or_none(
    build: Builder, text: bytes, told: tuple[str, str]
) -> None:
    library(build, f"{DEBIAN}/libcuda.so.1", text=text)
    assert driverfiles.version_of(build.machine(), f"{DEBIAN}/libcuda.so.1", MODULE) == told


def test_a_version_across_two_chunks_is_found(build: Builder, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = build.file("/lib/plain", b"x" * 30 + MODULE.encode() + b"y" * 30)
    longer = build.file("/lib/longer", b"x" * 30 + b"1570.124.061" + b"y" * 30)
    last = build.file("/lib/last", b"x" * 30 + MODULE.encode())
    for chunk in range(len(MODULE) + 3, 50):
        monkeypatch.setattr(driverfiles, "CHUNK", chunk)
        assert driverfiles.holds(plain, MODULE)
        assert driverfiles.holds(last, MODULE)
        assert not driverfiles.holds(plain, "570.124.0")
        assert not driverfiles.holds(longer, MODULE)


def test_what_cannot_be_read_and_an_unknown_module_tell_nothing(build: Builder) -> None:
    library(build, f"{DEBIAN}/libcuda.so.1", text=b"570.124.06")
    denied = build.machine(stated={"denied": [f"{DEBIAN}/libcuda.so.1"]})
    assert driverfiles.version_of(denied, f"{DEBIAN}/libcuda.so.1", MODULE) == ("", "")
    assert driverfiles.version_of(build.machine(), f"{DEBIAN}/libcuda.so.1", "") == ("", "")
    assert driverfiles.version_of(build.machine(), "/nowhere", MODULE) == ("", "")


def test_a_library_for_another_processor_is_not_the_loaded_one(build: Builder) -> None:
    library(build, f"{DEBIAN}/libcuda.so.1", arch="x86")
    machine = build.machine(stated={"os": "linux", "arch": "x86_64"})
    found = driverfiles.loaded(machine, "libcuda", MODULE)
    assert found is None


def test_private_libraries_are_those_of_the_folders_that_are_named(build: Builder) -> None:
    for folder, version in ((DEBIAN, "570.124.04"), (DEBIAN, "570.124.06"), ("/opt/old", "470.57.02")):
        library(build, f"{folder}/libnvidia-glcore.so.{version}")
    library(build, f"{DEBIAN}/libnvidia-ml.so.570.124.06")
    library(build, f"{DEBIAN}/libnvidia-tls.so.old")
    found = driverfiles.private_versions(build.machine(), [DEBIAN, DEBIAN, "/nowhere"])
    assert found == {"libnvidia-glcore": ("570.124.04", "570.124.06")}


def test_copies_are_all_versions_in_usual_folders_for_this_processor(build: Builder) -> None:
    build.link("/lib64", "usr/lib64")
    for path in (
        f"{DEBIAN}/libcuda.so.570.124.04",
        "/usr/lib64/libcuda.so.570.124.06",
        "/usr/local/nvidia/lib64/libcuda.so.580.159.04",
        "/usr/local/cuda-13.0/compat/libcuda.so.580.95.05",
        "/usr/lib/i386-linux-gnu/libcuda.so.535.1.1",
        "/home/user/libcuda.so.1.2.3",
    ):
        library(build, path)
    assert [(each.path, each.version) for each in driverfiles.copies(build.machine(), "libcuda")] == [
        (f"{DEBIAN}/libcuda.so.570.124.04", "570.124.04"),
        ("/usr/lib64/libcuda.so.570.124.06", "570.124.06"),
        ("/usr/local/nvidia/lib64/libcuda.so.580.159.04", "580.159.04"),
        ("/usr/local/cuda-13.0/compat/libcuda.so.580.95.05", "580.95.05"),
    ]


@given(st.text(max_size=40))
def test_no_name_is_too_odd(text: str) -> None:
    for name in (text, f"libcuda.so.{text}"):
        version = driverfiles.version_in_name(name)
        assert name.endswith(version)
        assert not version or version[0].isdigit()
