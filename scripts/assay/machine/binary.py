"""One value for every kind of library or executable: what it says of itself, or why it cannot be read."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, BinaryIO

from assay.errors import StorageError
from assay.files import storage_errors
from assay.machine import elf, pe
from assay.machine.bounded import malformed

if TYPE_CHECKING:
    from assay.machine.machine import Machine

HEAD = 256
"""Bytes that decide the format; a script's first line is read from them."""

_MACH_O = {b"\xcf\xfa\xed\xfe": "<", b"\xfe\xed\xfa\xcf": ">"}
"""MH_MAGIC_64 in both byte orders (mach-o/loader.h)."""
_MACH_O_HEAD = 8
"""Bytes up to the end of ``cputype``."""
_MACH_O_CPUS = {0x0100_0007: "x86_64", 0x0100_000C: "aarch64"}


@dataclass(frozen=True)
class Binary:
    """A library or executable.

    Attributes:
        path: where it was read, in the machine's terms.
        format: ``elf``, ``pe``, ``mach-o``, ``script`` or ``""`` where it is none of them.
        problem: why it could not be read, or ``""``; then the fields below are what is known.
        arch: processor, such as ``x86_64``; ``bits`` is 32 or 64, 0 where unknown.
        kind: ``shared``, ``executable``, ``script`` or the format's own word.
        soname: its own name: ELF's SONAME, PE's export name.
        needed: libraries it needs, in order.
        exports: names it defines for others; ``undefined`` names it expects (ELF).
        interpreter: program interpreter (ELF) or the first line after ``#!`` (script).
        rpath: ELF's ``DT_RPATH``; ``runpath`` is ``DT_RUNPATH``.
        glibc_needed: highest ``GLIBC_`` version it needs, such as ``2.28``; ``glibc_provided`` it defines.
        needs: versions of symbols it needs, by library (ELF); ``provides`` are those that it defines.
        version: PE's file version.
        build_type: ``debug``, ``release`` or ``""`` where the format does not tell (PE tells).
        build_id: ELF's build id (hex).
    """

    path: str
    format: str = ""
    problem: str = ""
    arch: str = ""
    bits: int = 0
    kind: str = ""
    soname: str = ""
    needed: tuple[str, ...] = ()
    exports: frozenset[str] = field(default=frozenset(), repr=False)
    undefined: frozenset[str] = field(default=frozenset(), repr=False)
    interpreter: str = ""
    rpath: str = ""
    runpath: str = ""
    glibc_needed: str = ""
    glibc_provided: str = ""
    needs: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    provides: tuple[str, ...] = ()
    version: str = ""
    build_type: str = ""
    build_id: str = ""


def read_binary(machine: Machine, path: str, *, symbols: bool = True) -> Binary:
    """Return what the file at ``path`` says of itself; ``problem`` says why it cannot be read."""
    try:
        host = machine.view.regular(path)
        with storage_errors("read", host), host.open("rb") as stream:
            return parse_binary(path, stream, symbols=symbols)
    except StorageError as error:
        return Binary(path, problem=error.observed)


def parse_binary(path: str, stream: BinaryIO, *, symbols: bool = True) -> Binary:
    """Return what an open file says of itself; it is read as the format that its first bytes name."""
    head = stream.read(HEAD)
    for magic, name, read in (
        (elf.MAGIC, "elf", _elf),
        (pe.MAGIC, "pe", _pe),
        (b"#!", "script", _script),
        (b"\xcf\xfa\xed\xfe", "mach-o", _mach_o),
        (b"\xfe\xed\xfa\xcf", "mach-o", _mach_o),
    ):
        if head.startswith(magic):
            try:
                return read(path, stream, symbols)
            except StorageError as error:
                return Binary(path, format=name, problem=error.observed)
    return Binary(path, problem=_unknown(head))


def _unknown(head: bytes) -> str:
    """Say what a file is that is no binary."""
    if not head:
        return "the file is empty"
    return f"the file is neither ELF, PE, Mach-O nor a script: it begins with {head[:8].hex(' ')}"


def _elf(path: str, stream: BinaryIO, symbols: bool) -> Binary:  # noqa: FBT001 - one signature for all formats
    """Read an ELF file."""
    value = elf.read_elf(stream, symbols=symbols)
    return Binary(
        path=path,
        format="elf",
        arch=value.arch,
        bits=value.bits,
        kind=value.kind,
        soname=value.soname,
        needed=value.needed,
        exports=value.exports,
        undefined=value.undefined,
        interpreter=value.interpreter,
        rpath=value.rpath,
        runpath=value.runpath,
        glibc_needed=value.glibc_needed,
        glibc_provided=value.glibc_provided,
        needs=value.needs,
        provides=value.provides,
        build_id=value.build_id,
    )


def _pe(path: str, stream: BinaryIO, symbols: bool) -> Binary:  # noqa: FBT001 - one signature for all formats
    """Read a PE image."""
    value = pe.read_pe(stream, symbols=symbols)
    return Binary(
        path=path,
        format="pe",
        arch=value.arch,
        bits=value.bits,
        kind=value.kind,
        soname=value.name,
        needed=value.needed,
        exports=value.exports,
        version=value.file_version,
        build_type="debug" if value.debug else "release",
    )


def _script(path: str, stream: BinaryIO, _symbols: bool) -> Binary:  # noqa: FBT001 - one signature for all formats
    """Read a script's first line."""
    stream.seek(2)
    line = stream.read(HEAD - 2).partition(b"\n")[0]
    return Binary(path, "script", kind="script", interpreter=line.decode("utf-8", "replace").strip())


def _mach_o(path: str, stream: BinaryIO, _symbols: bool) -> Binary:  # noqa: FBT001 - one signature for all formats
    """Read the processor of a Mach-O image; nothing here runs on macOS, so the rest is not read."""
    stream.seek(0)
    head = stream.read(_MACH_O_HEAD)
    if len(head) < _MACH_O_HEAD:
        raise malformed("it ends inside its header")
    (cpu,) = struct.unpack_from(f"{_MACH_O[head[:4]]}I", head, 4)
    problem = "Mach-O images are recognised and not read any further"
    return Binary(path, "mach-o", problem, _MACH_O_CPUS.get(cpu, f"{cpu:#x}"), 64, "shared")
