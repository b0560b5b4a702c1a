"""Builds small, valid ELF64 little-endian shared objects, so that fake machines need no committed binaries.

Everything lies in one segment whose addresses are file offsets.  There are no section headers: the loader
needs none.  Numbers are those of the System V gABI and, for versions, of the Linux Standard Base.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

MACHINES = {"x86": 3, "x86_64": 62, "aarch64": 183, "riscv": 243}
KINDS = {"executable": 2, "shared": 3}

_HEADER, _SEGMENT, _SYMBOL = 64, 56, 24
_PT_LOAD, _PT_DYNAMIC, _PT_INTERP, _PT_NOTE = 1, 2, 3, 4
_DT = {
    "NEEDED": 1,
    "HASH": 4,
    "STRTAB": 5,
    "SYMTAB": 6,
    "STRSZ": 10,
    "SYMENT": 11,
    "SONAME": 14,
    "RPATH": 15,
    "RUNPATH": 29,
    "VERSYM": 0x6FFFFFF0,
    "VERDEF": 0x6FFFFFFC,
    "VERDEFNUM": 0x6FFFFFFD,
    "VERNEED": 0x6FFFFFFE,
    "VERNEEDNUM": 0x6FFFFFFF,
}


def elf_bytes(  # noqa: PLR0913  # one keyword a property of the file
    *,
    soname: str = "",
    needed: Sequence[str] = (),
    rpath: str = "",
    runpath: str = "",
    exports: Sequence[str] = (),
    undefined: Sequence[str] = (),
    needs: Mapping[str, Sequence[str]] | None = None,
    provides: Sequence[str] = (),
    interpreter: str = "",
    machine: str = "x86_64",
    kind: str = "shared",
    build_id: bytes = b"",
    text: bytes = b"",
) -> bytes:
    """Return an ELF64 file.

    Args:
        soname: its ``DT_SONAME``.
        needed: its ``DT_NEEDED`` libraries.
        rpath: its ``DT_RPATH``.
        runpath: its ``DT_RUNPATH``.
        exports: symbols that it defines.
        undefined: symbols that it expects.
        needs: versions that it needs, by library (a key of ``needed``).
        provides: versions that it defines.
        interpreter: its ``PT_INTERP``.
        machine: a key of ``MACHINES``.
        kind: a key of ``KINDS``.
        build_id: its GNU build id.
        text: bytes that lie somewhere in it, such as a banner.
    """
    strings = _Strings()
    image = _Image(_HEADER + 4 * _SEGMENT)
    tags: list[tuple[str, int]] = [("NEEDED", strings.add(name)) for name in needed]
    for tag, value in (("SONAME", soname), ("RPATH", rpath), ("RUNPATH", runpath)):
        if value:
            tags.append((tag, strings.add(value)))
    code = image.add(b"\xc3" * 16 + text)
    segments = [_note(image, build_id)] if build_id else []
    if interpreter:
        path = interpreter.encode() + b"\0"
        segments.append((_PT_INTERP, image.add(path), len(path)))
    count = 1 + len(undefined) + len(exports)
    tags.append(("SYMTAB", image.add(_symbols(strings, exports, undefined, code))))
    tags.append(("HASH", image.add(_hash(count))))
    if needs or provides:
        tags.append(("VERSYM", image.add(struct.pack("<H", 0) + struct.pack("<H", 1) * (count - 1))))
    if needs:
        tags += [("VERNEED", image.add(_needs(strings, needs))), ("VERNEEDNUM", len(needs))]
    if provides:
        tags += [
            ("VERDEF", image.add(_provides(strings, (soname, *provides)))),
            ("VERDEFNUM", 1 + len(provides)),
        ]
    tags += [("STRTAB", image.add(strings.data)), ("STRSZ", len(strings.data)), ("SYMENT", _SYMBOL)]
    dynamic = b"".join(struct.pack("<QQ", _DT[tag], value) for tag, value in tags) + bytes(16)
    segments.append((_PT_DYNAMIC, image.add(dynamic), len(dynamic)))
    segments.append((_PT_LOAD, 0, len(image.data)))
    return _header(machine, kind, segments) + bytes(image.data)[_HEADER + len(segments) * _SEGMENT :]


class _Strings:
    """A string table."""

    def __init__(self) -> None:
        """Begin with the empty string, which every table has at offset 0."""
        self.data = b"\0"

    def add(self, text: str) -> int:
        """Append a string and return its offset."""
        offset = len(self.data)
        self.data += text.encode() + b"\0"
        return offset


class _Image:
    """The bytes of the file from its beginning; headers are put over the first of them at the end."""

    def __init__(self, reserved: int) -> None:
        """Reserve room for the headers."""
        self.data = bytearray(reserved)

    def add(self, part: bytes) -> int:
        """Append a part at a multiple of eight and return its offset."""
        self.data += bytes(-len(self.data) % 8)
        offset = len(self.data)
        self.data += part
        return offset


def _symbols(strings: _Strings, exports: Sequence[str], undefined: Sequence[str], code: int) -> bytes:
    """Return the symbol table: global functions, of which the undefined ones belong to section 0."""
    function = 1 << 4 | 2
    table = bytes(_SYMBOL)
    for name in undefined:
        table += struct.pack("<IBBHQQ", strings.add(name), function, 0, 0, 0, 0)
    for name in exports:
        table += struct.pack("<IBBHQQ", strings.add(name), function, 0, 1, code, 1)
    return table


def _hash(count: int) -> bytes:
    """Return a hash table of one bucket whose chain goes through all symbols."""
    chain = [0, *range(2, count), 0] if count > 1 else [0]
    first = 1 if count > 1 else 0
    return struct.pack(f"<{3 + count}I", 1, count, first, *chain)


def _needs(strings: _Strings, needs: Mapping[str, Sequence[str]]) -> bytes:
    """Return ``.gnu.version_r``."""
    data, index = b"", 2
    for place, (library, versions) in enumerate(needs.items()):
        size = 16 + 16 * len(versions)
        following = size if place < len(needs) - 1 else 0
        data += struct.pack("<HHIII", 1, len(versions), strings.add(library), 16, following)
        for number, version in enumerate(versions):
            step = 16 if number < len(versions) - 1 else 0
            data += struct.pack("<IHHII", elf_hash(version), 0, index, strings.add(version), step)
            index += 1
    return data


def _provides(strings: _Strings, names: Sequence[str]) -> bytes:
    """Return ``.gnu.version_d``; the first name is the file's own."""
    data = b""
    for index, name in enumerate(names):
        following = 28 if index < len(names) - 1 else 0
        flags = 1 if index == 0 else 0
        data += struct.pack("<HHHHIII", 1, flags, index + 1, 1, elf_hash(name), 20, following)
        data += struct.pack("<II", strings.add(name), 0)
    return data


def elf_hash(name: str) -> int:
    """Return the System V hash of a name (gABI, chapter 5)."""
    value = 0
    for byte in name.encode():
        value = (value << 4) + byte
        high = value & 0xF0000000
        value = (value ^ high >> 24) & ~high
    return value


def _note(image: _Image, build_id: bytes) -> tuple[int, int, int]:
    """Add a build id's note and return its segment."""
    note = struct.pack("<III", 4, len(build_id), 3) + b"GNU\0" + build_id
    return _PT_NOTE, image.add(note), len(note)


def _header(machine: str, kind: str, segments: Sequence[tuple[int, int, int]]) -> bytes:
    """Return the ELF header and the program headers."""
    identity = b"\x7fELF" + bytes([2, 1, 1]) + bytes(9)
    numbers = (
        KINDS[kind],
        MACHINES[machine],
        1,
        0,
        _HEADER,
        0,
        0,
        _HEADER,
        _SEGMENT,
        len(segments),
        64,
        0,
        0,
    )
    header = identity + struct.pack("<HHIQQQIHHHHHH", *numbers)
    for type_, offset, size in segments:
        alignment = 0x1000 if type_ == _PT_LOAD else 8
        header += struct.pack("<IIQQQQQQ", type_, 7, offset, offset, offset, size, size, alignment)
    return header
