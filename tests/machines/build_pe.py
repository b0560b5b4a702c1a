"""Builds small, valid PE32+ images, so that fake Windows machines need no committed binaries.

Everything lies in one section.  Numbers are those of Microsoft's "PE Format" and of ``VS_VERSIONINFO``.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

MACHINES = {"x86_64": 0x8664, "aarch64": 0xAA64}

_BASE = 0x1000
_RAW = 0x400
_ALIGN = 0x200


def pe_bytes(  # noqa: PLR0913  # one keyword a property of the image
    *,
    name: str = "",
    machine: str = "x86_64",
    exports: Sequence[str] = (),
    imports: Sequence[str] = (),
    version: str = "",
    debug: bool = False,
    dll: bool = True,
) -> bytes:
    """Return a PE32+ image.

    Args:
        name: its own name, in its export table.
        machine: a key of ``MACHINES``.
        exports: names that it exports.
        imports: libraries that it imports (one function by number of each).
        version: its file version, four numbers with dots; empty for no version resource.
        debug: whether the version says VS_FF_DEBUG.
        dll: whether it is a library.
    """
    section = _Section()
    directories = [(0, 0)] * 16
    if name or exports:
        directories[0] = _exports(section, name, sorted(exports))
    if imports:
        directories[1] = _imports(section, imports)
    if version:
        directories[2] = _resources(section, version, debug=debug)
    return _headers(machine, directories, len(section.data), dll=dll) + section.padded()


class _Section:
    """The bytes of the one section."""

    def __init__(self) -> None:
        """Begin with a few bytes of code to which every export points."""
        self.data = bytearray(b"\xc3" * 16)

    def add(self, part: bytes) -> int:
        """Append a part at a multiple of eight and return its address."""
        self.data += bytes(-len(self.data) % 8)
        address = _BASE + len(self.data)
        self.data += part
        return address

    def padded(self) -> bytes:
        """Return the bytes up to the file alignment."""
        return bytes(self.data) + bytes(-len(self.data) % _ALIGN)


def _text(section: _Section, text: str) -> int:
    """Add a NUL-terminated string."""
    return section.add(text.encode() + b"\0")


def _exports(section: _Section, name: str, exports: Sequence[str]) -> tuple[int, int]:
    """Add the export directory with all that it points to; return its address and size."""
    count = len(exports)
    start = section.add(bytes(40))
    own = _text(section, name)
    names = [_text(section, each) for each in exports]
    functions = section.add(struct.pack(f"<{count}I", *([_BASE] * count)))
    pointers = section.add(struct.pack(f"<{count}I", *names))
    ordinals = section.add(struct.pack(f"<{count}H", *range(count)) + bytes(8))
    table = struct.pack("<IIHHIIIIIII", 0, 0, 0, 0, own, 1, count, count, functions, pointers, ordinals)
    section.data[start - _BASE : start - _BASE + 40] = table
    return start, _BASE + len(section.data) - start


def _imports(section: _Section, libraries: Sequence[str]) -> tuple[int, int]:
    """Add the import directory; return its address and size."""
    table = b""
    for library in libraries:
        own = _text(section, library)
        thunks = [section.add(struct.pack("<QQ", 1 << 63 | 1, 0)) for _ in range(2)]
        table += struct.pack("<IIIII", thunks[0], 0, 0, own, thunks[1])
    table += bytes(20)
    return section.add(table), len(table)


def _resources(section: _Section, version: str, *, debug: bool) -> tuple[int, int]:
    """Add a resource tree with one version; return its address and size."""
    major, minor, build, revision = (int(part) for part in version.split("."))
    high, low = major << 16 | minor, build << 16 | revision
    fixed = struct.pack(
        "<13I", 0xFEEF04BD, 1 << 16, high, low, high, low, 0x3F, int(debug), 0x40004, 2, 0, 0, 0
    )
    key = "VS_VERSION_INFO\0".encode("utf-16-le")
    padding = bytes(-(6 + len(key)) % 4)
    body = key + padding + fixed
    info = struct.pack("<HHH", 6 + len(body), len(fixed), 0) + body
    data = section.add(info)
    base = section.add(bytes(3 * 24 + 16)) - _BASE
    tree = _directory(16, 1 << 31 | 24) + _directory(1, 1 << 31 | 48) + _directory(0x409, 72)
    tree += struct.pack("<IIII", data, len(info), 0, 0)
    section.data[base : base + len(tree)] = tree
    return _BASE + base, len(tree)


def _directory(identifier: int, offset: int) -> bytes:
    """Return a resource directory with one entry."""
    return struct.pack("<IIHHHHII", 0, 0, 0, 0, 0, 1, identifier, offset)


def _headers(machine: str, directories: Sequence[tuple[int, int]], size: int, *, dll: bool) -> bytes:
    """Return everything before the section: the DOS, COFF and optional headers, the section table."""
    raw = size + -size % _ALIGN
    flags = 0x0022 | (0x2000 if dll else 0)
    coff = struct.pack("<HHIIIHH", MACHINES[machine], 1, 0, 0, 0, 240, flags)
    standard = struct.pack("<HBBIIIII", 0x20B, 14, 0, raw, 0, 0, 0, _BASE)
    windows = struct.pack(
        "<QIIHHHHHHIIIIHHQQQQII",
        *(0x180000000, 0x1000, _ALIGN, 6, 0, 0, 0, 6, 0, 0, _BASE + size + -size % 0x1000, _RAW, 0, 3, 0x160),
        *(0x100000, 0x1000, 0x100000, 0x1000, 0, 16),
    )
    table = b"".join(struct.pack("<II", address, length) for address, length in directories)
    section = struct.pack("<8sIIIIIIHHI", b".rdata", size, _BASE, raw, _RAW, 0, 0, 0, 0, 0x60000060)
    dos = b"MZ" + bytes(58) + struct.pack("<I", 64)
    head = dos + b"PE\0\0" + coff + standard + windows + table + section
    return head + bytes(_RAW - len(head))
