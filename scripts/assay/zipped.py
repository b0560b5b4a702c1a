"""A stored zip whose bytes depend on nothing but its members (FORMATS, "Run folder": toolchain).

Stored, sorted by name, 1980-01-01, system 3, one mode: anybody can make it again from the same files, under
any version of Python.  PKWARE's APPNOTE 6.3, sections 4.3.7 (local header), 4.3.12 (central directory) and
4.3.16 (its end).
"""

from __future__ import annotations

import binascii
import struct
from collections.abc import Iterable

_VERSION = 20
"""APPNOTE 4.4.3: 2.0, what files in folders need."""

_SYSTEM = 3
"""APPNOTE 4.4.2: UNIX."""

_MODE = 0o100644
_DATE = 1 << 5 | 1
"""MS-DOS date of 1980-01-01: years since 1980, month, day."""

_LOCAL = struct.Struct("<4s5H3L2H")
_CENTRAL = struct.Struct("<4s6H3L5H2L")
_END = struct.Struct("<4s4H2LH")


def zip_bytes(members: Iterable[tuple[str, bytes]]) -> bytes:
    """Return a zip of (ASCII name, content) pairs.

    Raises:
        ValueError: a name is not ASCII, or two are the same.
        struct.error: there are over 65,535 members, or over 4 GiB.
    """
    ordered = sorted(members)
    if len({name for name, _ in ordered}) != len(ordered):
        msg = "two members have the same name"
        raise ValueError(msg)
    body, directory = bytearray(), bytearray()
    for name, content in ordered:
        common = (0, 0, 0, _DATE, binascii.crc32(content), len(content), len(content), len(name))
        raw = name.encode("ascii")
        directory += _CENTRAL.pack(
            b"PK\x01\x02", _SYSTEM << 8 | _VERSION, _VERSION, *common, 0, 0, 0, 0, _MODE << 16, len(body)
        )
        directory += raw
        body += _LOCAL.pack(b"PK\x03\x04", _VERSION, *common, 0) + raw + content
    count = len(ordered)
    end = _END.pack(b"PK\x05\x06", 0, 0, count, count, len(directory), len(body), 0)
    return bytes(body + directory + end)
