"""Reads what an ELF file says of itself, as the loader would read it, without running it.

Done: the header, the program headers and everything that the dynamic segment points to (SONAME, NEEDED,
RPATH, RUNPATH, dynamic symbols, version needs and definitions), the program interpreter and the build id.
Not done: the section headers are never read.  The loader does not use them either, and a file whose
sections tell another story than its segments would otherwise show one face here and another when loaded.

Rules are those of the System V gABI (chapters 4 and 5) and of the Linux Standard Base (symbol versioning,
GNU hash).  Every read goes through a budget.  A library that decodes ELF as a whole takes as long to be
imported as all that is read here; the tests hold this against binutils.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import BinaryIO

from assay.machine.bounded import BoundedStream, malformed, text_at
from assay.plan.versions import release

MAGIC = b"\x7fELF"

_PARSER_ERRORS = (struct.error, UnicodeError)
"""What decoding raises on bytes that are none of the format."""

MAX_SEGMENTS = 1000
MAX_TAGS = 10_000
MAX_SYMBOLS = 1_000_000
MAX_VERSIONS = 10_000
MAX_NOTES = 1000
MAX_NAMES = 128 << 20
"""Bytes of all symbol names together: hostile symbols may share one long name."""

_CLASSES = {1: 32, 2: 64}
_ORDERS = {1: "<", 2: ">"}
_HEADER = {32: "HHIIIIIHHH", 64: "HHIQQQIHHH"}
"""Elf32_Ehdr and Elf64_Ehdr from ``e_type`` to ``e_phnum``."""

_PROGRAM = {32: "IIIIIIII", 64: "IIQQQQQQ"}
"""Elf32_Phdr (type, offset, vaddr, paddr, filesz, memsz, flags, align); Elf64_Phdr has the flags second."""

_DYNAMIC = {32: "iI", 64: "qQ"}
_PT_LOAD, _PT_DYNAMIC, _PT_INTERP, _PT_NOTE = 1, 2, 3, 4
_NT_GNU_BUILD_ID = 3
_MACHINES = {
    2: "sparc",
    3: "x86",
    8: "mips",
    20: "ppc",
    21: "ppc64",
    22: "s390x",
    40: "arm",
    62: "x86_64",
    183: "aarch64",
    243: "riscv",
    258: "loongarch",
}
_GLIBC = re.compile(r"GLIBC_(\d{1,4}(?:\.\d{1,4}){1,2})")
_TAGS = {
    1: "DT_NEEDED",
    4: "DT_HASH",
    5: "DT_STRTAB",
    6: "DT_SYMTAB",
    10: "DT_STRSZ",
    14: "DT_SONAME",
    15: "DT_RPATH",
    29: "DT_RUNPATH",
    0x6FFFFEF5: "DT_GNU_HASH",
    0x6FFFFFFC: "DT_VERDEF",
    0x6FFFFFFD: "DT_VERDEFNUM",
    0x6FFFFFFE: "DT_VERNEED",
    0x6FFFFFFF: "DT_VERNEEDNUM",
}
"""The dynamic tags that are read; others are passed over."""

_NAMED_TAGS = ("DT_SONAME", "DT_NEEDED", "DT_RPATH", "DT_RUNPATH")
_KINDS = {1: "relocatable", 2: "executable", 3: "shared", 4: "core"}
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


@dataclass(frozen=True)
class _Segment:
    """A program header: type, file offset, virtual address and bytes in the file."""

    type: int
    offset: int
    address: int
    size: int


class _Reader:
    """One file's structures; each method reads one of them."""

    def __init__(self, stream: BoundedStream) -> None:
        """Decode the ELF header and the program headers.

        Raises:
            BinaryFormatError: it is neither of the two classes and orders, or its headers contradict it.
        """
        self.stream = stream
        head = stream.read_at(0, 16)
        if not head.startswith(MAGIC) or head[4] not in _CLASSES or head[5] not in _ORDERS:
            raise malformed(f"its identification is {head[:6].hex(' ')}")
        self.bits = _CLASSES[head[4]]
        self.order = _ORDERS[head[5]]
        kind, machine, _version, _entry, programs, *_ = fields = self._unpack(_HEADER[self.bits], 16)
        self.kind = _KINDS.get(kind, str(kind))
        self.arch = _MACHINES.get(machine, str(machine))
        self.segments = tuple(self._segments(programs, stride=fields[-2], count=fields[-1]))

    def _segments(self, start: int, *, stride: int, count: int) -> Iterator[_Segment]:
        """Yield the program headers (gABI chapter 5)."""
        layout = _PROGRAM[self.bits]
        if count > MAX_SEGMENTS or (count and stride < struct.calcsize("=" + layout)):
            raise malformed(f"it has {count} program headers of {stride} bytes")
        for index in range(count):
            fields = self._unpack(layout, start + index * stride)
            first = 1 if self.bits == 32 else 2  # noqa: PLR2004  # the flags stand second where addresses are wide
            offset, address, _physical, size = fields[first : first + 4]
            yield _Segment(fields[0], offset, address, size)

    def read(self, *, symbols: bool) -> Elf:
        """Return the file's value."""
        tags = list(self._tags())
        first = dict(reversed(tags))
        strings = self._strings(first)
        names = [(tag, text_at(strings, value)) for tag, value in tags if tag in _NAMED_TAGS]
        named = dict(reversed(names))
        exports, undefined = self._symbols(first, strings) if symbols else _NO_SYMBOLS
        return Elf(
            bits=self.bits,
            little_endian=self.order == "<",
            arch=self.arch,
            kind=self.kind,
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

    def _of_type(self, kind: int) -> Iterator[_Segment]:
        """Yield the program headers of one type."""
        return (segment for segment in self.segments if segment.type == kind)

    def _tags(self) -> Iterator[tuple[str, int]]:
        """Yield tag and value of each dynamic entry up to ``DT_NULL``; none in a static file."""
        layout = struct.Struct(self.order + _DYNAMIC[self.bits])
        for segment in self._of_type(_PT_DYNAMIC):
            count = segment.size // layout.size
            table = self.stream.read_at(segment.offset, min(count, MAX_TAGS + 1) * layout.size)
            for index, (tag, value) in enumerate(layout.iter_unpack(table)):
                if not tag:
                    return
                if index == MAX_TAGS:
                    raise malformed(f"it has more than {MAX_TAGS} dynamic entries")
                if tag in _TAGS:
                    yield _TAGS[tag], value

    def _offset(self, address: int) -> int:
        """Return the file offset of a virtual address."""
        for segment in self._of_type(_PT_LOAD):
            if segment.address <= address < segment.address + segment.size:
                return address - segment.address + segment.offset
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
        for segment in self._of_type(_PT_INTERP):
            return text_at(self.stream.read_at(segment.offset, min(segment.size, 4096)), 0)
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
        """Return the first GNU build id among the notes (LSB, .note.gnu.build-id)."""
        for segment in self._of_type(_PT_NOTE):
            offset, end = segment.offset, segment.offset + segment.size
            for _ in range(MAX_NOTES):
                if offset + 12 > end:
                    break
                named, described, kind = self._unpack("III", offset)
                name = offset + 12
                start = name + _aligned(named)
                own = kind == _NT_GNU_BUILD_ID and named == len(_GNU) and start + described <= end
                if own and self.stream.read_at(name, named) == _GNU:
                    return self.stream.read_at(start, described).hex()
                offset = start + _aligned(described)
        return ""


_GNU = b"GNU\0"


def _aligned(size: int) -> int:
    """Return a note's part with its padding: its words are of four bytes."""
    return -(-size // 4) * 4


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
