"""One value for every kind of binary: what it says of itself, or why it cannot be read; no exception."""

from __future__ import annotations

import dataclasses
import os
import struct
from pathlib import Path

import pytest

from assay.machine import Machine
from assay.machine.binary import Binary
from assay.machine.stated import Stated
from tests.machines.build_elf import elf_bytes
from tests.machines.build_pe import pe_bytes


def read(folder: Path, content: bytes, *, symbols: bool = True) -> Binary:
    (folder / "file").write_bytes(content)
    return Machine(folder, {}).binary("/file", symbols=symbols)


def test_elf(tmp_path: Path) -> None:
    content = elf_bytes(
        soname="libgpu.so.1",
        needed=("libc.so.6",),
        rpath="/r",
        runpath="/rr",
        exports=("one",),
        undefined=("two",),
        needs={"libc.so.6": ("GLIBC_2.28",)},
        provides=("GLIBC_2.31",),
        interpreter="/lib/ld-musl-x86_64.so.1",
        build_id=b"\x01\x02",
    )
    found = read(tmp_path, content)
    assert found == Binary(
        path="/file",
        format="elf",
        arch="x86_64",
        bits=64,
        kind="shared",
        soname="libgpu.so.1",
        needed=("libc.so.6",),
        exports=frozenset({"one"}),
        undefined=frozenset({"two"}),
        interpreter="/lib/ld-musl-x86_64.so.1",
        rpath="/r",
        runpath="/rr",
        glibc_needed="2.28",
        glibc_provided="2.31",
        needs={"libc.so.6": ("GLIBC_2.28",)},
        provides=("GLIBC_2.31",),
        build_id="0102",
    )
    without = dataclasses.replace(found, exports=frozenset(), undefined=frozenset())
    assert read(tmp_path, content, symbols=False) == without


def test_pe(tmp_path: Path) -> None:
    content = pe_bytes(name="a.dll", exports=("one",), imports=("ucrtbased.dll",), version="1.2.3.4")
    assert read(tmp_path, content) == Binary(
        path="/file",
        format="pe",
        arch="x86_64",
        bits=64,
        kind="shared",
        soname="a.dll",
        needed=("ucrtbased.dll",),
        exports=frozenset({"one"}),
        version="1.2.3.4",
        build_type="debug",
    )
    assert read(tmp_path, pe_bytes()).build_type == "release"


def test_a_script_tells_its_interpreter(tmp_path: Path) -> None:
    found = read(tmp_path, b"#! /usr/bin/env bash\nexec nvcc\n")
    assert (found.format, found.kind, found.interpreter, found.problem) == (
        "script",
        "script",
        "/usr/bin/env bash",
        "",
    )
    assert read(tmp_path, b"#!" + b"x" * 9999).interpreter == "x" * 254


@pytest.mark.parametrize(
    ("head", "arch"),
    [
        (struct.pack("<II", 0xFEED_FACF, 0x0100_000C), "aarch64"),
        (struct.pack("<II", 0xFEED_FACF, 0x0100_0007), "x86_64"),
        (struct.pack(">II", 0xFEED_FACF, 18), "0x12"),
    ],
)
def test_mach_o_is_recognised_and_says_that_it_is_not_read(tmp_path: Path, head: bytes, arch: str) -> None:
    found = read(tmp_path, head + bytes(24))
    assert (found.format, found.arch) == ("mach-o", arch)
    assert "not read" in found.problem


@pytest.mark.parametrize(
    ("content", "form", "says"),
    [
        (b"", "", "is empty"),
        (b"INPUT(-lc)", "", "neither ELF, PE, Mach-O nor a script: it begins with 49 4e 50"),
        (b"\x7fEL", "", "neither"),
        (b"\x7fELF", "elf", "malformed"),
        (b"MZ", "pe", "malformed"),
        (b"\xcf\xfa\xed\xfe", "mach-o", "ends inside its header"),
        (b"<!DOCTYPE html>", "", "begins with 3c 21"),
    ],
)
def test_what_is_no_binary_says_why(tmp_path: Path, content: bytes, form: str, says: str) -> None:
    found = read(tmp_path, content)
    assert found.format == form
    assert says in found.problem


def test_what_is_no_file_says_why(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "denied").write_bytes(elf_bytes())
    (tmp_path / "loop").symlink_to("loop")
    os.mkfifo(tmp_path / "pipe")
    machine = Machine(tmp_path, {}, Stated(denied=("/denied",)))
    assert "is a folder" in machine.binary("/folder").problem
    assert "Permission denied" in machine.binary("/denied").problem
    assert "loop" in machine.binary("/loop").problem
    assert "not a regular file" in machine.binary("/pipe").problem
    assert "No such file" in machine.binary("/none").problem


def test_a_sparse_file_of_three_gigabytes_is_no_binary(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    os.truncate(tmp_path / "file", 3_000_000_000)
    assert "begins with 00 00 00" in Machine(tmp_path, {}).binary("/file").problem
