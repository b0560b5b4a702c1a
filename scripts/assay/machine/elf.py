"""Reads what an ELF file says of itself, as the loader would read it, without running it.

Done: the header, the program headers and everything that the dynamic segment points to (SONAME, NEEDED,
RPATH, RUNPATH, dynamic symbols, version needs and definitions), the program interpreter and the build id.
Not done: the section headers are never read.  The loader does not use them either, and a file whose
sections tell another story than its segments would otherwise show one face here and another when loaded.

Rules are those of the System V gABI (chapters 4 and 5) and of the Linux Standard Base (symbol versioning,
GNU hash).  pyelftools decodes the structures; every read goes through a budget.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, BinaryIO, cast

from elftools.common.exceptions import ELFError
from elftools.common.utils import struct_parse
from elftools.construct import ConstructError
from elftools.elf.elffile import ELFFile
from elftools.elf.notes import iter_notes

from assay.machine.bounded import BoundedStream, malformed, text_at
from assay.plan.versions import release

MAGIC = b"\x7fELF"

_PARSER_ERRORS = (
    ELFError,
    ConstructError,
    struct.error,
    UnicodeError,
    KeyError,
    AttributeError,
    AssertionError,
)
"""What the decoder of structures raises on bytes that are none."""

MAX_SEGMENTS = 1000
MAX_TAGS = 10_000
MAX_SYMBOLS = 1_000_000
MAX_VERSIONS = 10_000
MAX_NOTES = 1000
MAX_NAMES = 128 << 20
"""Bytes of all symbol names together: hostile symbols may share one long name."""

_MACHINES = {
    "EM_386": "x86",
    "EM_X86_64": "x86_64",
    "EM_AARCH64": "aarch64",
    "EM_ARM": "arm",
    "EM_PPC64": "ppc64",
    "EM_RISCV": "riscv",
    "EM_S390": "s390x",
}
_GLIBC = re.compile(r"GLIBC_(\d{1,4}(?:\.\d{1,4}){1,2})")
_NAMED_TAGS = ("DT_SONAME", "DT_NEEDED", "DT_RPATH", "DT_RUNPATH")
_KINDS = {"ET_REL": "relocatable", "ET_EXEC": "executable", "ET_DYN": "shared", "ET_CORE": "core"}
_SYMBOL = {32: "I8xBBH", 64: "IBBH16x"}
"""Elf32_Sym and Elf64_Sym without address and size: name, info, other, section."""
_NO_SYMBOLS: tuple[frozenset[str], frozenset[str]] = (frozenset(), frozenset())
_EXPORTING = (1, 2, 10)
"""STB_GLOBAL, STB_WEAK and STB_GNU_UNIQUE."""
_VISIBLE = (0, 3)
"""STV_DEFAULT and STV_PROTECTED."""


@dataclass(frozen=True)
class Elf:
    """What an ELF file says of itself.

    Attributes:
        bits: 32 or 64.
        little_endian: its byte order.
        arch: processor, such as ``x86_64``.
        kind: ``shared`` (also a position-independent executable), ``executable``, ``relocatable``, ``core``.
        soname: its own name, or ``""``.
        needed: the libraries it needs, in order.
        rpath: ``DT_RPATH`` as it stands; ``runpath`` is ``DT_RUNPATH``.
        interpreter: its program interpreter (``PT_INTERP``), or ``""``.
        exports: names that it defines for others.
        undefined: names that it expects of others.
        needs: versions it needs, by library.
        provides: versions it defines.
        build_id: the linker's build id (hex), or ``""``.
    """

    bits: int
    little_endian: bool
    arch: str
    kind: str
    soname: str = ""
    needed: tuple[str, ...] = ()
    rpath: str = ""
    runpath: str = ""
    interpreter: str = ""
    exports: frozenset[str] = frozenset()
    undefined: frozenset[str] = frozenset()
    needs: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    provides: tuple[str, ...] = ()
    build_id: str = ""

    @property
    def glibc_needed(self) -> str:
        """Return the highest ``GLIBC_`` version that it needs, such as ``2.28``, or ``""``."""
        return newest_glibc(version for versions in self.needs.values() for version in versions)

    @property
    def glibc_provided(self) -> str:
        """Return the highest ``GLIBC_`` version that it defines, or ``""``."""
        return newest_glibc(self.provides)


def newest_glibc(versions: Iterable[str]) -> str:
    """Return the highest of the versions named ``GLIBC_<numbers>``; ``GLIBC_PRIVATE`` is none."""
    numbers = (match[1] for match in map(_GLIBC.fullmatch, versions) if match)
    return max(numbers, key=release, default="")


def read_elf(stream: BinaryIO, *, symbols: bool = True) -> Elf:
    """Read an ELF file.

    Args:
        stream: the file, positioned anywhere.
        symbols: whether to read ``exports`` and ``undefined`` (the slow part of a large library).

    Raises:
        BinaryFormatError: it is not an ELF file, contradicts itself, or goes past the reader's bounds.
    """
    bounded = BoundedStream(stream)
    try:
        return _Reader(bounded).read(symbols=symbols)
    except _PARSER_ERRORS as error:
        raise malformed(f"{type(error).__name__}: {error}") from error


class _Reader:
    """One file's structures; each method reads one of them."""

    def __init__(self, stream: BoundedStream) -> None:
        """Decode the ELF header and the program headers."""
        self.stream = stream
        self.elf = ELFFile(cast("BinaryIO", stream))
        self.bits: int = self.elf.elfclass
        self.order = "<" if self.elf.little_endian else ">"
        self.segments = list(self._segments())

    def _segments(self) -> Iterator[Mapping[str, Any]]:
        """Yield the program headers (gABI chapter 5)."""
        count, stride = self.elf["e_phnum"], self.elf["e_phentsize"]
        if count > MAX_SEGMENTS or (count and stride < self.elf.structs.Elf_Phdr.sizeof()):
            raise malformed(f"it has {count} program headers of {stride} bytes")
        for index in range(count):
            offset = self.elf["e_phoff"] + index * stride
            yield struct_parse(self.elf.structs.Elf_Phdr, self.elf.stream, offset)

    def read(self, *, symbols: bool) -> Elf:
        """Return the file's value."""
        tags = list(self._tags())
        first = dict(reversed(tags))
        strings = self._strings(first)
        names = [(tag, text_at(strings, value)) for tag, value in tags if tag in _NAMED_TAGS]
        named = dict(reversed(names))
        exports, undefined = self._symbols(first, strings) if symbols else _NO_SYMBOLS
        machine, kind = str(self.elf["e_machine"]), self.elf["e_type"]
        return Elf(
            bits=self.bits,
            little_endian=self.elf.little_endian,
            arch=_MACHINES.get(machine, machine.removeprefix("EM_").lower()),
            kind=_KINDS.get(kind, str(kind)),
            soname=named.get("DT_SONAME", ""),
            needed=tuple(name for tag, name in names if tag == "DT_NEEDED"),
            rpath=named.get("DT_RPATH", ""),
            runpath=named.get("DT_RUNPATH", ""),
            interpreter=self._interpreter(),
            exports=exports,
            undefined=undefined,
            needs=MappingProxyType(dict(self._version_needs(first, strings))),
            provides=tuple(self._version_definitions(first, strings)),
            build_id=self._build_id(),
        )

    def _of_type(self, name: str) -> Iterator[Mapping[str, Any]]:
        """Yield the program headers of one type."""
        return (segment for segment in self.segments if segment["p_type"] == name)

    def _tags(self) -> Iterator[tuple[str, int]]:
        """Yield tag and value of each dynamic entry up to ``DT_NULL``; none in a static file."""
        layout = self.elf.structs.Elf_Dyn
        for segment in self._of_type("PT_DYNAMIC"):
            for index in range(min(segment["p_filesz"] // layout.sizeof(), MAX_TAGS + 1)):
                if index == MAX_TAGS:
                    raise malformed(f"it has more than {MAX_TAGS} dynamic entries")
                entry = struct_parse(layout, self.elf.stream, segment["p_offset"] + index * layout.sizeof())
                if entry["d_tag"] == "DT_NULL":
                    return
                yield str(entry["d_tag"]), entry["d_val"]

    def _offset(self, address: int) -> int:
        """Return the file offset of a virtual address."""
        for segment in self._of_type("PT_LOAD"):
            start: int = segment["p_vaddr"]
            if start <= address < start + segment["p_filesz"]:
                return address - start + int(segment["p_offset"])
        raise malformed(f"address {address:#x} lies in none of its loaded segments")

    def _strings(self, tags: Mapping[str, int]) -> bytes:
        """Return the dynamic string table, empty in a static file."""
        if "DT_STRTAB" not in tags:
            return b""
        return self.stream.read_at(self._offset(tags["DT_STRTAB"]), tags.get("DT_STRSZ", 0))

    def _words(self, offset: int, count: int) -> tuple[int, ...]:
        """Return ``count`` 32-bit words."""
        return struct.unpack(f"{self.order}{count}I", self.stream.read_at(offset, 4 * count))

    def _symbols(self, tags: Mapping[str, int], strings: bytes) -> tuple[frozenset[str], frozenset[str]]:
        """Return the names that the dynamic symbol table defines, and those that it expects of others."""
        if "DT_SYMTAB" not in tags:
            return _NO_SYMBOLS
        layout = struct.Struct(self.order + _SYMBOL[self.bits])
        count = self._symbol_count(tags)
        if count > MAX_SYMBOLS:
            raise malformed(f"it has {count} dynamic symbols")
        table = self.stream.read_at(self._offset(tags["DT_SYMTAB"]), count * layout.size)
        return _sorted_out(layout.iter_unpack(table), strings)

    def _symbol_count(self, tags: Mapping[str, int]) -> int:
        """Return the number of dynamic symbols: only the hash tables tell it."""
        if "DT_HASH" in tags:
            return self._words(self._offset(tags["DT_HASH"]) + 4, 1)[0]
        count = self._gnu_hash_count(self._offset(tags["DT_GNU_HASH"])) if "DT_GNU_HASH" in tags else 0
        return count or self._gap_count(tags)

    def _gnu_hash_count(self, offset: int) -> int:
        """Return the index after the last hashed symbol, 0 where none is hashed (LSB, GNU hash section)."""
        buckets, first, bloom, _shift = self._words(offset, 4)
        if max(buckets, bloom) > MAX_SYMBOLS:
            raise malformed(f"its hash table has {buckets} buckets and {bloom} filter words")
        start = offset + 16 + bloom * (self.bits // 8)
        last = max(self._words(start, buckets), default=0)
        if last < first or not last:
            return 0
        chain = start + 4 * buckets + 4 * (last - first)
        for step in range(MAX_SYMBOLS):
            if self._words(chain + 4 * step, 1)[0] & 1:
                return last + step + 1
        raise malformed("a chain of its hash table has no end")

    def _gap_count(self, tags: Mapping[str, int]) -> int:
        """Return how many symbols fit before the string table, which every linker puts right after them."""
        gap = tags.get("DT_STRTAB", 0) - tags["DT_SYMTAB"]
        return max(0, gap) // struct.calcsize("=" + _SYMBOL[self.bits])

    def _interpreter(self) -> str:
        """Return the path in ``PT_INTERP``."""
        for segment in self._of_type("PT_INTERP"):
            size = min(segment["p_filesz"], 4096)
            return text_at(self.stream.read_at(segment["p_offset"], size), 0)
        return ""

    def _version_needs(
        self, tags: Mapping[str, int], strings: bytes
    ) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield each library with the versions needed of it (LSB, .gnu.version_r)."""
        if "DT_VERNEED" not in tags:
            return
        offset, budget = self._offset(tags["DT_VERNEED"]), MAX_VERSIONS
        for _ in range(min(tags.get("DT_VERNEEDNUM", 0), MAX_VERSIONS)):
            _version, count, file, first, following = self._unpack("HHIII", offset)
            budget -= count
            if budget < 0:
                raise malformed(f"it needs more than {MAX_VERSIONS} versions")
            yield text_at(strings, file), tuple(self._needed_names(offset + first, count, strings))
            if not following:
                return
            offset += following

    def _needed_names(self, offset: int, count: int, strings: bytes) -> Iterator[str]:
        """Yield the names of one library's needed versions."""
        for _ in range(count):
            _hash, _flags, _other, name, following = self._unpack("IHHII", offset)
            yield text_at(strings, name)
            if not following:
                return
            offset += following

    def _version_definitions(self, tags: Mapping[str, int], strings: bytes) -> Iterator[str]:
        """Yield the versions that the file defines, its own name (VER_FLG_BASE) left out."""
        if "DT_VERDEF" not in tags:
            return
        offset = self._offset(tags["DT_VERDEF"])
        for _ in range(min(tags.get("DT_VERDEFNUM", 0), MAX_VERSIONS)):
            _version, flags, _index, _count, _hash, first, following = self._unpack("HHHHIII", offset)
            if not flags & 1:
                yield text_at(strings, self._unpack("II", offset + first)[0])
            if not following:
                return
            offset += following

    def _unpack(self, layout: str, offset: int) -> tuple[int, ...]:
        """Return the integers of one packed structure."""
        layout = self.order + layout
        return struct.unpack(layout, self.stream.read_at(offset, struct.calcsize(layout)))

    def _build_id(self) -> str:
        """Return the first GNU build id among the notes."""
        for segment in self._of_type("PT_NOTE"):
            notes = iter_notes(self.elf, segment["p_offset"], segment["p_filesz"])
            for note, _ in zip(notes, range(MAX_NOTES), strict=False):
                if note["n_type"] == "NT_GNU_BUILD_ID" and note["n_name"] == "GNU":
                    return str(note["n_desc"])
        return ""


def _sorted_out(symbols: Iterable[tuple[int, ...]], strings: bytes) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names that dynamic symbols define, and those that they leave undefined."""
    exports, undefined, budget = set[str](), set[str](), MAX_NAMES
    for name, info, other, section in symbols:
        if info >> 4 not in _EXPORTING or not name:
            continue
        text = text_at(strings, name)
        budget -= len(text)
        if budget < 0:
            raise malformed(f"its symbol names have more than {MAX_NAMES} bytes")
        if not section:
            undefined.add(text)
        elif other & 3 in _VISIBLE:
            exports.add(text)
    return frozenset(exports), frozenset(undefined)
