"""ELF files: what binutils and the loader say of them is what is read; what is broken is said to be so."""

from __future__ import annotations

import ctypes
import dataclasses
import io
import os
import re
import struct
import tracemalloc
from pathlib import Path
from typing import BinaryIO, cast

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assay.errors import BinaryFormatError
from assay.machine import Machine
from assay.machine.elf import Elf, newest_glibc, read_elf
from tests.machine.peers import dynamic, real_libraries, said, symbols
from tests.machines.build_elf import elf_bytes

WHOLE = elf_bytes(
    soname="libgpu.so.1",
    needed=("libc.so.6", "libm.so.6"),
    rpath="/opt/rpath",
    runpath="$ORIGIN/../lib",
    exports=("open_gpu", "close_gpu"),
    undefined=("malloc",),
    needs={"libc.so.6": ("GLIBC_2.2.5", "GLIBC_2.28"), "libm.so.6": ("GLIBC_2.9",)},
    provides=("GPU_1", "GPU_2"),
    interpreter="/lib64/ld-linux-x86-64.so.2",
    build_id=bytes(range(20)),
)


def read(data: bytes) -> Elf:
    return read_elf(io.BytesIO(data))


def put(data: bytes, offset: int, layout: str, *values: int) -> bytes:
    """Return ``data`` with a packed structure written over it."""
    packed = struct.pack(layout, *values)
    return data[:offset] + packed + data[offset + len(packed) :]


def tag_value(data: bytes, tag: int) -> int:
    """Return the offset of the value of a dynamic tag in a file of ``elf_bytes``."""
    at = next(at for at in range(0, len(data) - 8, 8) if data[at : at + 8] == struct.pack("<Q", tag))
    return at + 8


def test_every_field_is_read() -> None:
    assert read(WHOLE) == Elf(
        bits=64,
        little_endian=True,
        arch="x86_64",
        kind="shared",
        soname="libgpu.so.1",
        needed=("libc.so.6", "libm.so.6"),
        rpath="/opt/rpath",
        runpath="$ORIGIN/../lib",
        interpreter="/lib64/ld-linux-x86-64.so.2",
        exports=frozenset({"open_gpu", "close_gpu"}),
        undefined=frozenset({"malloc"}),
        needs={"libc.so.6": ("GLIBC_2.2.5", "GLIBC_2.28"), "libm.so.6": ("GLIBC_2.9",)},
        provides=("GPU_1", "GPU_2"),
        build_id=bytes(range(20)).hex(),
    )


def test_versions_are_compared_as_numbers() -> None:
    assert read(WHOLE).glibc_needed == "2.28"
    assert read(WHOLE).glibc_provided == ""
    assert (
        newest_glibc(("GLIBC_2.9", "GLIBC_2.10", "GLIBC_PRIVATE", "GLIBCXX_3.4", "GLIBC_2." + "9" * 9))
        == "2.10"
    )
    assert newest_glibc(()) == ""


def test_symbols_may_be_left_out() -> None:
    without = read_elf(io.BytesIO(WHOLE), symbols=False)
    assert without == dataclasses.replace(read(WHOLE), exports=frozenset(), undefined=frozenset())


@pytest.mark.parametrize("machine", ["x86", "x86_64", "aarch64", "riscv"])
@pytest.mark.parametrize("kind", ["shared", "executable"])
def test_processor_and_kind(machine: str, kind: str) -> None:
    found = read(elf_bytes(machine=machine, kind=kind))
    assert (found.arch, found.kind) == (machine, kind)


def test_a_processor_without_a_name_here_keeps_its_own() -> None:
    assert read(put(WHOLE, 18, "<H", 8)).arch == "mips"
    assert read(put(WHOLE, 18, "<H", 0xFFF0)).arch == "65520"


@pytest.mark.parametrize("path", [*real_libraries()], ids=lambda path: path.name)
def test_real_files_say_what_binutils_say(path: Path) -> None:
    with path.open("rb") as stream:
        found = read_elf(stream)
    tags = dynamic(path)
    assert list(found.needed) == tags.get("NEEDED", [])
    assert [found.soname] == tags.get("SONAME", [""])
    assert [found.runpath] == tags.get("RUNPATH", [""])
    assert [found.rpath] == tags.get("RPATH", [""])
    assert found.exports == symbols(path, "--defined-only")
    assert found.undefined == symbols(path, "--undefined-only")
    versions = said("readelf", "-VW", str(path))
    assert {name for names in found.needs.values() for name in names} == set(
        re.findall(r"Name: (\S+)  Flags: \S+  Version: \d+", versions)
    )
    assert [found.build_id] == re.findall(
        r"Build ID: (\w+)", said("readelf", "-nW", str(path))
    ) or not found.build_id
    interpreter = re.findall(r"program interpreter: (\S+)\]", said("readelf", "-lW", str(path)))
    assert [found.interpreter] == (interpreter or [""])


def test_the_c_library_provides_what_it_defines() -> None:
    library = next(path for path in real_libraries() if path.name.startswith("libc.so"))
    with library.open("rb") as stream:
        provides = read_elf(stream).provides
    defined = re.findall(
        r"^  0x\w+: Rev: 1  Flags: none .*Name: (\S+)", said("readelf", "-VW", str(library)), re.MULTILINE
    )
    assert sorted(provides) == sorted(defined)


@pytest.mark.parametrize("style", ["sysv", "gnu", "both"])
@pytest.mark.parametrize(("bits", "emulation"), [("--32", "elf_i386"), ("--64", "elf_x86_64")])
def test_files_of_the_gnu_linker(tmp_path: Path, style: str, bits: str, emulation: str) -> None:
    source = tmp_path / "code.s"
    names = [f"function_{number}" for number in range(40)]
    lines = [f".globl {name}\n.type {name}, @function\n{name}: ret" for name in names]
    lines += [".hidden secret", ".globl secret", "secret: ret", ".weak light", "light: ret", ".data"]
    lines += [f"{'.long' if bits == '--32' else '.quad'} elsewhere", "local: .long 0"]
    source.write_text("\n".join(lines) + "\n")
    said("as", bits, "-o", str(tmp_path / "code.o"), str(source))
    built = tmp_path / "libcode.so.2"
    linked = ("-shared", f"--hash-style={style}", "-soname", "libcode.so.2", "--build-id=sha1")
    said(
        "ld",
        "-m",
        emulation,
        *linked,
        "--enable-new-dtags",
        "-rpath",
        "$ORIGIN",
        "-o",
        str(built),
        str(tmp_path / "code.o"),
    )
    found = read(built.read_bytes())
    assert found.bits == int(bits.strip("-"))
    assert found.arch == {"elf_i386": "x86", "elf_x86_64": "x86_64"}[emulation]
    assert found.exports == {*names, "light"}
    assert found.undefined == {"elsewhere"}
    assert (found.soname, found.runpath) == ("libcode.so.2", "$ORIGIN")
    assert len(found.build_id) == 40


def test_a_library_without_a_hashed_symbol_still_tells_what_it_expects(tmp_path: Path) -> None:
    (tmp_path / "code.s").write_text(".data\n.quad elsewhere\n")
    said("as", "-o", str(tmp_path / "code.o"), str(tmp_path / "code.s"))
    said("ld", "-shared", "--hash-style=gnu", "-o", str(tmp_path / "lib.so"), str(tmp_path / "code.o"))
    found = read((tmp_path / "lib.so").read_bytes())
    assert found.exports == frozenset()
    assert found.undefined == frozenset({"elsewhere"})


def test_the_builder_makes_what_the_loader_loads(tmp_path: Path) -> None:
    path = tmp_path / "libgpu.so.1"
    path.write_bytes(
        elf_bytes(
            machine=Machine.real().arch,
            soname="libgpu.so.1",
            needed=("libc.so.6",),
            exports=("open_gpu",),
            provides=("GPU_1",),
        )
    )
    library = ctypes.CDLL(str(path))
    assert ctypes.cast(library.open_gpu, ctypes.c_void_p).value
    with pytest.raises(AttributeError, match="close_gpu"):
        _ = library.close_gpu


def test_the_loaders_view_counts_and_not_the_sections(tmp_path: Path) -> None:
    """A section header that points to another string table does not change what is read."""
    data = put(WHOLE, 40, "<Q", len(WHOLE)) + bytes(64)
    liar = struct.pack("<IIQQQQIIQQ", 0, 3, 2, 0, 0, 64, 0, 0, 1, 0)
    data = put(data + liar, 58, "<HHH", 64, 2, 1)
    (tmp_path / "liar").write_bytes(data)
    assert read(data) == read(WHOLE)


@pytest.mark.parametrize("length", [0, 3, 4, 16, 40, 63, 64, 100, 200, len(WHOLE) // 2, len(WHOLE) - 1])
def test_a_truncated_file_is_an_error(length: int) -> None:
    with pytest.raises(BinaryFormatError) as caught:
        read(WHOLE[:length])
    assert caught.value.expected
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (put(WHOLE, 4, "B", 7), "malformed"),
        (put(WHOLE, 5, "B", 9), "malformed"),
        (put(WHOLE, 56, "<H", 0xFFFF), "65535 program headers"),
        (put(WHOLE, 54, "<H", 1), "program headers of 1 bytes"),
        (put(WHOLE, 32, "<Q", 1 << 62), "malformed|bounds"),
        (put(WHOLE, tag_value(WHOLE, 5), "<Q", 1 << 40), "lies in none of its loaded segments"),
        (put(WHOLE, tag_value(WHOLE, 10), "<Q", 1 << 40), "bounds"),
        (put(WHOLE, tag_value(WHOLE, 14), "<Q", 1 << 20), "no string"),
        (
            put(WHOLE, int.from_bytes(WHOLE[tag_value(WHOLE, 4) :][:8], "little") + 4, "<I", 1 << 30),
            "dynamic symbols",
        ),
    ],
)
def test_a_contradiction_is_an_error(data: bytes, says: str) -> None:
    with pytest.raises(BinaryFormatError, match=says):
        read(data)


@pytest.mark.parametrize("claim", [(5, 0), (10, 2_900_000_000), (4, 0x1000)])
def test_three_gigabytes_cost_little(tmp_path: Path, claim: tuple[int, int]) -> None:
    """Whatever a header claims of a file of 3 GB, some 64 MiB are read at most."""
    tag, value = claim
    path = tmp_path / "huge"
    path.write_bytes(put(put(WHOLE, tag_value(WHOLE, tag), "<Q", value), 0, "4s", b"\x7fELF"))  # type: ignore[arg-type]  # bytes are what "4s" packs
    os.truncate(path, 3_000_000_000)
    tracemalloc.start()
    try:
        with path.open("rb") as stream:
            _read_or_refuse(stream)
        assert tracemalloc.get_traced_memory()[1] < 200 << 20
    finally:
        tracemalloc.stop()


def _read_or_refuse(stream: BinaryIO) -> str:
    """Return what came of a hostile file: a value, or the one error that is allowed."""
    try:
        return read_elf(stream).arch
    except BinaryFormatError as error:
        return error.observed


@given(st.binary(max_size=600))
@example(b"\x7fELF\x02\x01\x01")
def test_garbage_is_an_error_and_never_a_crash(tail: bytes) -> None:
    with pytest.raises(BinaryFormatError):
        read(b"\x7fELF" + tail[:40])
    assert _read_or_refuse(cast("BinaryIO", io.BytesIO(WHOLE[:64] + tail)))


@given(
    st.lists(
        st.tuples(st.integers(4, len(WHOLE) - 1), st.binary(min_size=1, max_size=8)), min_size=1, max_size=6
    )
)
def test_a_damaged_file_is_read_or_refused(changes: list[tuple[int, bytes]]) -> None:
    data = bytearray(WHOLE)
    for offset, change in changes:
        data[offset : offset + len(change)] = change
    assert isinstance(_read_or_refuse(cast("BinaryIO", io.BytesIO(bytes(data)))), str)


NAMES = st.text("abcxyz_019.", min_size=1, max_size=12)


@given(
    soname=NAMES,
    needed=st.lists(NAMES, max_size=5, unique=True),
    exports=st.sets(NAMES, max_size=20),
    undefined=st.sets(NAMES, max_size=5),
    versions=st.lists(NAMES, max_size=4, unique=True),
    runpath=st.text("/:$ORIGIN", max_size=20),
)
def test_what_was_built_is_what_is_read(  # noqa: PLR0913  # one argument a property of the file
    *,
    soname: str,
    needed: list[str],
    exports: set[str],
    undefined: set[str],
    versions: list[str],
    runpath: str,
) -> None:
    data = elf_bytes(
        soname=soname,
        needed=needed,
        exports=sorted(exports),
        undefined=sorted(undefined),
        provides=versions,
        needs=dict.fromkeys(needed, ("V_1",)),
        runpath=runpath,
    )
    found = read(data)
    assert (found.soname, list(found.needed), found.runpath) == (soname, needed, runpath)
    assert found.exports == exports
    assert found.undefined == undefined
    assert list(found.provides) == versions
    assert found.needs == dict.fromkeys(needed, ("V_1",))
