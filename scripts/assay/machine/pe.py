"""Reads what a PE image (a Windows library or program) says of itself, without running it.

Done: the headers, exported names, the libraries it imports (at once and delayed) and the fixed version of
its version resource.  Rules and numbers are those of Microsoft's "PE Format" and of ``VS_VERSIONINFO``.
Every read goes through a budget; nothing is mapped or loaded whole.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from assay.machine.bounded import READ_LIMIT, BoundedStream, exceeded, malformed, text_at

MAGIC = b"MZ"

MAX_SECTIONS = 96
"""Sections that the Windows loader accepts (PE Format, COFF File Header)."""

MAX_EXPORTS = 65_536
"""Exported names: their ordinals have 16 bits."""

MAX_IMPORTS = 4096
MAX_RESOURCES = 4096
NAME_LIMIT = 4096
"""Bytes of one exported or imported name, MSVC's limit for a decorated name."""

_MACHINES = {0x14C: "x86", 0x8664: "x86_64", 0xAA64: "aarch64", 0x1C4: "arm"}
_DLL = 0x2000
"""IMAGE_FILE_DLL."""
_PE32, _PE32_PLUS = 0x10B, 0x20B
_DIRECTORIES = {_PE32: 92, _PE32_PLUS: 108}
"""Offset of NumberOfRvaAndSizes in the optional header, by its magic."""
_EXPORT, _IMPORT, _RESOURCE, _DELAYED = 0, 1, 2, 13
_RT_VERSION = 16
_FIXED_VERSION = struct.pack("<I", 0xFEEF04BD)
"""Signature of VS_FIXEDFILEINFO."""
_DEBUG_FLAG = 1
"""VS_FF_DEBUG."""
_DEBUG_RUNTIME = re.compile(
    r"(?:vcruntime|msvcp|ucrtbase|concrt|vccorlib)[0-9]*(?:_[0-9a-z]+)?d\.dll", re.IGNORECASE
)
"""The libraries of Microsoft's debug C runtime, which only a debug build imports."""


@dataclass(frozen=True)
class Pe:
    """What a PE image says of itself.

    Attributes:
        bits: 32 or 64.
        arch: processor, such as ``x86_64``.
        kind: ``shared`` or ``executable``.
        name: the name in its export table, or ``""``.
        needed: the libraries that it imports, in order, then those that it imports when first used.
        exports: names that it exports.
        file_version: four numbers such as ``32.0.16.1692``, or ``""``.
        product_version: likewise.
        debug: whether its version says "debug" or it imports a debug C runtime.
    """

    bits: int
    arch: str
    kind: str
    name: str = ""
    needed: tuple[str, ...] = ()
    exports: frozenset[str] = frozenset()
    file_version: str = ""
    product_version: str = ""
    debug: bool = False


@dataclass(frozen=True)
class _Section:
    """Where a part of the image lies: ``address`` when loaded, ``offset`` in the file, ``size`` in bytes."""

    address: int
    offset: int
    size: int


@dataclass(frozen=True)
class _Version:
    """The numbers of VS_FIXEDFILEINFO."""

    file: str = ""
    product: str = ""
    debug: bool = False


def read_pe(stream: BinaryIO, *, symbols: bool = True) -> Pe:
    """Read a PE image.

    Args:
        stream: the file, positioned anywhere.
        symbols: whether to read the exported names.

    Raises:
        BinaryFormatError: it is not a PE image, contradicts itself, or goes past the reader's bounds.
    """
    return _Reader(BoundedStream(stream)).read(symbols=symbols)


class _Reader:
    """One image's structures; each method reads one of them."""

    def __init__(self, stream: BoundedStream) -> None:
        """Read the headers."""
        self.stream = stream
        if stream.read_at(0, 2) != MAGIC:
            raise malformed("it does not begin with MZ")
        header = self._numbers("<I", 0x3C)[0]
        if stream.read_at(header, 4) != b"PE\0\0":
            raise malformed("it has no PE signature")
        self.machine, sections, optional, self.flags = self._numbers("<HH12xHH", header + 4)
        self.magic = self._numbers("<H", header + 24)[0]
        if self.magic not in _DIRECTORIES or sections > MAX_SECTIONS:
            raise malformed(f"its optional header is of kind {self.magic:#x} and it has {sections} sections")
        self.directories = self._read_directories(header + 24 + _DIRECTORIES[self.magic])
        self.sections = [self._section(header + 24 + optional + 40 * index) for index in range(sections)]

    def read(self, *, symbols: bool) -> Pe:
        """Return the image's value."""
        name, exports = self._exports(symbols=symbols)
        version = self._version()
        needed = (*self._imports(_IMPORT, "<12xI4x"), *self._imports(_DELAYED, "<4xI24x"))
        return Pe(
            bits=64 if self.magic == _PE32_PLUS else 32,
            arch=_MACHINES.get(self.machine, f"{self.machine:#x}"),
            kind="shared" if self.flags & _DLL else "executable",
            name=name,
            needed=tuple(dict.fromkeys(needed)),
            exports=exports,
            file_version=version.file,
            product_version=version.product,
            debug=version.debug or any(_DEBUG_RUNTIME.fullmatch(library) for library in needed),
        )

    def _numbers(self, layout: str, offset: int) -> tuple[int, ...]:
        """Return the integers of one packed structure."""
        return struct.unpack(layout, self.stream.read_at(offset, struct.calcsize(layout)))

    def _read_directories(self, offset: int) -> list[tuple[int, int]]:
        """Return address and size of each data directory; there are at most 16."""
        count = min(self._numbers("<I", offset)[0], 16)
        numbers = self._numbers(f"<{2 * count}I", offset + 4)
        return list(zip(numbers[::2], numbers[1::2], strict=True))

    def _directory(self, index: int) -> int:
        """Return a data directory's address, 0 where the image has none."""
        return self.directories[index][0] if index < len(self.directories) else 0

    def _section(self, offset: int) -> _Section:
        """Return one section header; what lies in the file may be less than what is mapped."""
        address, size, position = self._numbers("<12xIII", offset)
        return _Section(address, position, size)

    def _offset(self, address: int) -> int:
        """Return the file offset of an address relative to the image's base."""
        for section in self.sections:
            if section.address <= address < section.address + section.size:
                return address - section.address + section.offset
        raise malformed(f"address {address:#x} lies in none of its sections")

    def _text(self, address: int) -> str:
        """Return the NUL-terminated string at an address."""
        self.stream.seek(self._offset(address))
        return text_at(self.stream.read(NAME_LIMIT + 1), 0, NAME_LIMIT)

    def _exports(self, *, symbols: bool) -> tuple[str, frozenset[str]]:
        """Return the image's own name and the names it exports (PE Format, .edata)."""
        address = self._directory(_EXPORT)
        if not address:
            return "", frozenset()
        own_name, count, names = self._numbers("<12xI8xI4xI4x", self._offset(address))
        if count > MAX_EXPORTS:
            raise malformed(f"it exports {count} names")
        name = self._text(own_name) if own_name else ""
        if not symbols or not count:
            return name, frozenset()
        return name, self._texts(self._numbers(f"<{count}I", self._offset(names)))

    def _texts(self, addresses: tuple[int, ...]) -> frozenset[str]:
        """Return the strings at many addresses; linkers put them side by side, so one read has them all."""
        first, last = min(addresses), max(addresses)
        if last - first > READ_LIMIT - NAME_LIMIT - 1:
            raise exceeded("its exported names lie too far apart")
        self.stream.seek(self._offset(first))
        table = self.stream.read(last - first + NAME_LIMIT + 1)
        return frozenset(text_at(table, address - first, NAME_LIMIT) for address in addresses)

    def _imports(self, directory: int, layout: str) -> Iterator[str]:
        """Yield the library of each import descriptor up to the first that names none (PE Format, .idata)."""
        address = self._directory(directory)
        if not address:
            return
        offset = self._offset(address)
        for index in range(MAX_IMPORTS):
            (name,) = self._numbers(layout, offset + index * struct.calcsize(layout))
            if not name:
                return
            yield self._text(name)
        raise malformed(f"it imports more than {MAX_IMPORTS} libraries")

    def _version(self) -> _Version:
        """Return the fixed version of the first version resource (PE Format, .rsrc)."""
        root = self._directory(_RESOURCE)
        if not root:
            return _Version()
        base = self._offset(root)
        kinds = dict(self._entries(base, 0))
        if not kinds.get(_RT_VERSION, 0) & 0x8000_0000:
            return _Version()
        entry = self._first_leaf(base, kinds[_RT_VERSION])
        address, size = self._numbers("<II", base + entry)
        data = self.stream.read_at(self._offset(address), min(size, 1 << 16))
        return _fixed_version(data)

    def _first_leaf(self, base: int, entry: int) -> int:
        """Follow first entries down the resource tree (type, name, language) to a data entry's offset."""
        for _ in range(3):
            if not entry & 0x8000_0000:
                return entry
            entry = next((value for _, value in self._entries(base, entry & 0x7FFF_FFFF)), 0)
        raise malformed("its resource tree is too deep")

    def _entries(self, base: int, offset: int) -> Iterator[tuple[int, int]]:
        """Yield identifier and offset of each entry of a resource directory."""
        named, numbered = self._numbers("<12xHH", base + offset)
        for index in range(min(named + numbered, MAX_RESOURCES)):
            identifier, value = self._numbers("<II", base + offset + 16 + 8 * index)
            yield identifier, value


def _fixed_version(data: bytes) -> _Version:
    """Return the numbers of the VS_FIXEDFILEINFO in a version resource."""
    at = data.find(_FIXED_VERSION)
    if at < 0 or len(data) < at + 32:
        return _Version()
    file_high, file_low, product_high, product_low, mask, flags = struct.unpack_from("<6I", data, at + 8)
    debug = bool(flags & mask & _DEBUG_FLAG)
    return _Version(_dotted(file_high, file_low), _dotted(product_high, product_low), debug)


def _dotted(high: int, low: int) -> str:
    """Return four 16-bit numbers with dots."""
    return f"{high >> 16}.{high & 0xFFFF}.{low >> 16}.{low & 0xFFFF}"
