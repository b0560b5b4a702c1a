"""One USTAR header: a pure function of name and size, so that a reader rebuilds it and compares bytes.

POSIX.1-2017, "pax", section "ustar Interchange Format"; which value each field has is fixed by FORMATS,
"Container".  No archive library is trusted: those skip what they do not know, and a later reader sees other
members than an earlier one.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from typing import NoReturn

from assay.errors import BundleError

BLOCK = 512
NAME_BYTES = 100
LARGEST = 0o77777777777
"""Eleven octal digits: 8 GiB - 1."""

END = bytes(2 * BLOCK)
"""The end of an archive: exactly two zero blocks, and nothing after."""

_NAME = re.compile(rb"[A-Za-z0-9._+!-]+(?:/[A-Za-z0-9._+!-]+)*")
_SIZE = re.compile(rb"[0-7]{11}\0")
_CHECKSUM = slice(148, 156)
_KINDS = {
    b"\0": "an old-style file",
    b"1": "a hard link",
    b"2": "a symbolic link",
    b"3": "a character device",
    b"4": "a block device",
    b"5": "a folder",
    b"6": "a FIFO",
    b"7": "a contiguous file",
    b"g": "a PAX global header",
    b"x": "a PAX header",
    b"D": "a GNU folder dump",
    b"K": "a GNU long link name",
    b"L": "a GNU long name",
    b"M": "a GNU continuation",
    b"S": "a GNU sparse file",
    b"V": "a GNU volume label",
}
_FIELDS = (
    *((0, "name"), (100, "mode"), (108, "uid"), (116, "gid"), (124, "size"), (136, "mtime"), (148, "chksum")),
    *((156, "typeflag"), (157, "linkname"), (257, "magic"), (263, "version"), (265, "uname"), (297, "gname")),
    *((329, "devmajor"), (337, "devminor"), (345, "prefix"), (500, "padding")),
)
"""Offset of each field of a header (POSIX.1-2017, table "ustar Header Block")."""


def header(name: str, size: int) -> bytes:
    """Return the 512 bytes that stand before a member.

    Args:
        name: a member name that ``check_name`` accepts.
        size: bytes of the member, 0 to ``LARGEST``.
    """
    ids = b"%07o\0" % 0o644 + b"%07o\0" % 0 * 2
    front = name.encode().ljust(NAME_BYTES, b"\0") + ids + b"%011o\0" % size + b"%011o\0" % 0
    block = (front + b" " * 8 + b"0" + bytes(100) + b"ustar\0" + b"00").ljust(BLOCK, b"\0")
    return block[: _CHECKSUM.start] + b"%06o\0 " % sum(block) + block[_CHECKSUM.stop :]


def padded(size: int) -> int:
    """Return a size rounded up to whole blocks."""
    return -(-size // BLOCK) * BLOCK


def read_header(block: bytes, at: int) -> tuple[str, int]:
    """Return the name and the size in bytes that a header gives.

    Args:
        block: 512 bytes.
        at: their offset in the archive, for errors.

    Raises:
        BundleError: it differs in any byte from the header of a regular file of that name and size.
    """
    if block[156:157] != b"0":
        kind = _KINDS.get(block[156:157], f"of type {block[156:157]!r}")
        _refuse(at, "zeros" if not any(block) else f"{kind}", "typeflag")
    raw = block[:NAME_BYTES].split(b"\0", 1)[0]
    name = check_name(raw.decode("latin-1"), at)
    if not _SIZE.fullmatch(block[124:136]):
        _refuse(at, f"the size {block[124:136]!r}", "size")
    size = int(block[124:135], 8)
    rebuilt = header(name, size)
    if rebuilt != block:
        differing = [number for number in range(BLOCK) if rebuilt[number] != block[number]]
        outside = (number for number in differing if not _CHECKSUM.start <= number < _CHECKSUM.stop)
        first = next(outside, differing[0])
        field = next(label for start, label in reversed(_FIELDS) if start <= first)
        _refuse(at, f"byte {first} of the header is {block[first]:#04x}, not {rebuilt[first]:#04x}", field)
    return name, size


def check_name(name: str, at: int = 0) -> str:
    """Return a member's name if it is one.

    Raises:
        BundleError: it is not relative, longer than 100 bytes, has other characters than
            ``[A-Za-z0-9._+!/-]``, or an empty, ``.`` or ``..`` part.
    """
    raw = name.encode("latin-1", "replace")
    if (
        not _NAME.fullmatch(raw)
        or len(raw) > NAME_BYTES
        or any(part in {".", ".."} for part in name.split("/"))
    ):
        _refuse(at, f"the member name {name[:NAME_BYTES]!a}", "name")
    return name


def check_order(names: Iterable[str], first: str) -> tuple[str, ...]:
    """Return the names if the first is ``first`` and the others stand in byte order, none doubled.

    Names are doubled when they are equal after case is folded: they would be one file on some systems.

    Raises:
        BundleError: they are not.
    """
    ordered = tuple(names)
    if not ordered or ordered[0] != first:
        raise BundleError("is not the first member", "it before all others", "", member=first)
    for before, after in itertools.pairwise(ordered[1:]):
        if before.encode() >= after.encode():
            raise BundleError(f"follows {before}", "members in byte order of their names", "", member=after)
    folded: dict[str, int] = {}
    for number, name in enumerate(ordered):
        if (other := folded.setdefault(name.casefold(), number)) != number:
            observed = f"collides with {ordered[other]}"
            raise BundleError(observed, "names that differ in more than case", "", member=name)
    return ordered


def _refuse(at: int, observed: str, field: str) -> NoReturn:
    """Raise the error of a broken header."""
    where = f"header at byte {at}"
    raise BundleError(observed, "the header of a regular file", "", member=where, field=field)
