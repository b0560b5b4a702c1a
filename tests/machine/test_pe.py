"""PE images: what pefile and objdump say of them is what is read; what is broken is said to be so."""

from __future__ import annotations

import importlib.util
import io
import os
import re
import struct
import tracemalloc
from pathlib import Path
from typing import Any

import pefile
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import BinaryFormatError
from assay.machine.pe import Pe, read_pe
from tests.machine.peers import said
from tests.machines.build_pe import pe_bytes

WHOLE = pe_bytes(
    name="nvcuda.dll",
    exports=("cuInit", "cuDeviceGet"),
    imports=("KERNEL32.dll", "VCRUNTIME140.dll"),
    version="32.0.16.1692",
)
HEADER = 64
SECTION_TABLE = HEADER + 24 + 240


def read(data: bytes) -> Pe:
    return read_pe(io.BytesIO(data))


def put(data: bytes, offset: int, layout: str, *values: int) -> bytes:
    """Return ``data`` with a packed structure written over it."""
    packed = struct.pack(layout, *values)
    return data[:offset] + packed + data[offset + len(packed) :]


def launchers() -> list[Path]:
    """Return the Windows launchers of distlib, which nox brings: real images for three processors."""
    spec = importlib.util.find_spec("distlib")
    assert spec is not None
    assert spec.origin is not None
    return sorted(Path(spec.origin).parent.glob("*.exe"))


def test_every_field_is_read() -> None:
    assert read(WHOLE) == Pe(
        bits=64,
        arch="x86_64",
        kind="shared",
        name="nvcuda.dll",
        needed=("KERNEL32.dll", "VCRUNTIME140.dll"),
        exports=frozenset({"cuInit", "cuDeviceGet"}),
        file_version="32.0.16.1692",
        product_version="32.0.16.1692",
        debug=False,
    )


def test_processor_and_kind() -> None:
    found = read(pe_bytes(machine="aarch64", dll=False))
    assert found == Pe(bits=64, arch="aarch64", kind="executable")
    assert read(put(WHOLE, HEADER + 4, "<H", 0x5032)).arch == "0x5032"


@pytest.mark.parametrize(
    ("library", "debug"),
    [
        ("VCRUNTIME140D.dll", True),
        ("vcruntime140_1d.dll", True),
        ("MSVCP140D.dll", True),
        ("ucrtbased.dll", True),
        ("ucrtbase.dll", False),
        ("VCRUNTIME140_1.dll", False),
        ("d3d12.dll", False),
        ("dxcored.dll", False),
    ],
)
def test_a_debug_build_imports_the_debug_runtime(library: str, *, debug: bool) -> None:
    assert read(pe_bytes(imports=(library,))).debug is debug


def test_a_debug_build_may_say_so_in_its_version() -> None:
    assert read(pe_bytes(version="1.2.3.4", debug=True)).debug


def test_symbols_may_be_left_out() -> None:
    without = read_pe(io.BytesIO(WHOLE), symbols=False)
    assert (without.name, without.exports, without.needed) == ("nvcuda.dll", frozenset(), read(WHOLE).needed)


@pytest.mark.parametrize("path", launchers(), ids=lambda path: path.name)
def test_real_images_say_what_pefile_says(path: Path) -> None:
    with path.open("rb") as stream:
        found = read_pe(stream)
    peer = pefile.PE(str(path))
    assert found.bits == {0x10B: 32, 0x20B: 64}[peer.OPTIONAL_HEADER.Magic]
    assert found.arch == {0x14C: "x86", 0x8664: "x86_64", 0xAA64: "aarch64"}[peer.FILE_HEADER.Machine]
    assert list(found.needed) == [entry.dll.decode() for entry in peer.DIRECTORY_ENTRY_IMPORT]
    fixed = peer.VS_FIXEDFILEINFO[0]
    numbers = (fixed.FileVersionMS, fixed.FileVersionLS)
    assert found.file_version == ".".join(f"{number >> 16}.{number & 0xFFFF}" for number in numbers)


def test_the_launchers_are_there() -> None:
    assert len(launchers()) >= 3


def test_the_builder_makes_what_other_readers_read(tmp_path: Path) -> None:
    path = tmp_path / "nvcuda.dll"
    path.write_bytes(WHOLE)
    peer = pefile.PE(str(path))
    table: Any = peer.DIRECTORY_ENTRY_EXPORT
    assert {symbol.name for symbol in table.symbols} == {b"cuInit", b"cuDeviceGet"}
    assert table.name == b"nvcuda.dll"
    printed = said("objdump", "-p", str(path))
    assert re.findall(r"DLL Name: (\S+)", printed) == ["KERNEL32.dll", "VCRUNTIME140.dll"]
    assert re.findall(r"^\s+\[ +\d+\] (\w+)$", printed, re.MULTILINE) == ["cuDeviceGet", "cuInit"]


@pytest.mark.parametrize("length", [0, 1, 2, 40, 63, 64, 70, 200, SECTION_TABLE, 0x400, 0x450])
def test_a_truncated_image_is_an_error(length: int) -> None:
    with pytest.raises(BinaryFormatError) as caught:
        read(WHOLE[:length])
    assert caught.value.expected
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (put(WHOLE, 0, "<H", 0), "does not begin with MZ"),
        (put(WHOLE, 0x3C, "<I", 0xFFFF_FFF0), "ends"),
        (put(WHOLE, HEADER, "<I", 0), "no PE signature"),
        (put(WHOLE, HEADER + 24, "<H", 0x107), "optional header is of kind 0x107"),
        (put(WHOLE, HEADER + 6, "<H", 97), "97 sections"),
        (put(WHOLE, HEADER + 24 + 112, "<I", 0x00FF_0000), "lies in none of its sections"),
        (put(WHOLE, 0x400 + 16 + 24, "<I", 65_537), "exports 65537 names"),
    ],
)
def test_a_contradiction_is_an_error(data: bytes, says: str) -> None:
    with pytest.raises(BinaryFormatError, match=says):
        read(data)


def test_a_resource_tree_that_leads_round_in_circles_ends() -> None:
    root = WHOLE.index(struct.pack("<HHII", 0, 1, 16, 0x8000_0018)) - 12
    with pytest.raises(BinaryFormatError, match="resource tree"):
        read(put(WHOLE, root + 24 + 20, "<I", 0x8000_0018))


def test_three_gigabytes_cost_little(tmp_path: Path) -> None:
    path = tmp_path / "huge.dll"
    path.write_bytes(put(WHOLE, SECTION_TABLE + 16, "<I", 2_900_000_000))
    os.truncate(path, 3_000_000_000)
    tracemalloc.start()
    try:
        with path.open("rb") as stream:
            assert read_pe(stream) == read(WHOLE)
        assert tracemalloc.get_traced_memory()[1] < 2 << 20
    finally:
        tracemalloc.stop()


def read_or_refuse(data: bytes) -> str:
    """Return what came of a hostile image: a value, or the one error that is allowed."""
    try:
        return read(data).arch
    except BinaryFormatError as error:
        return error.observed


@given(st.binary(max_size=600))
def test_garbage_is_an_error_and_never_a_crash(tail: bytes) -> None:
    with pytest.raises(BinaryFormatError):
        read(b"MZ" + tail[:50])
    assert read_or_refuse(WHOLE[: HEADER + 24] + tail)


@given(
    st.lists(
        st.tuples(st.integers(2, len(WHOLE) - 1), st.binary(min_size=1, max_size=8)), min_size=1, max_size=6
    )
)
def test_a_damaged_image_is_read_or_refused(changes: list[tuple[int, bytes]]) -> None:
    data = bytearray(WHOLE)
    for offset, change in changes:
        data[offset : offset + len(change)] = change
    assert isinstance(read_or_refuse(bytes(data)), str)


NAMES = st.text("abcxyzABC_019?@.", min_size=1, max_size=12)


@given(
    name=NAMES,
    exports=st.sets(NAMES, max_size=20),
    imports=st.lists(NAMES, max_size=5, unique=True),
    version=st.tuples(*[st.integers(0, 65_535)] * 4),
)
def test_what_was_built_is_what_is_read(
    *, name: str, exports: set[str], imports: list[str], version: tuple[int, int, int, int]
) -> None:
    dotted = ".".join(map(str, version))
    found = read(pe_bytes(name=name, exports=sorted(exports), imports=imports, version=dotted))
    assert found.name == name
    assert found.exports == exports
    assert list(found.needed) == imports
    assert (found.file_version, found.product_version) == (dotted, dotted)
