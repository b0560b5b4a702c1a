"""A binary stream with a budget, so that a hostile file cannot cost more time or memory than a real one."""

from __future__ import annotations

import io
from typing import BinaryIO

from assay.errors import BinaryFormatError

READ_LIMIT = 64 << 20
"""Bytes of one read: larger than the string table of any library in use (libtorch's has 30 MB)."""

TOTAL_LIMIT = 256 << 20
"""Bytes of all reads of one file together."""

CALLS_LIMIT = 100_000
"""Reads of one file: a real library needs a few hundred."""


class BoundedStream(io.RawIOBase):
    """Reads ``stream`` until the budget is spent; then every read raises ``BinaryFormatError``."""

    def __init__(self, stream: BinaryIO) -> None:
        """Read from ``stream``, which stays the caller's to close."""
        super().__init__()
        self._stream = stream
        self._left = TOTAL_LIMIT
        self._calls = CALLS_LIMIT

    def readable(self) -> bool:
        """Tell that this stream can be read."""
        return True

    def seekable(self) -> bool:
        """Tell that this stream can be positioned."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move to an offset in bytes.

        Raises:
            BinaryFormatError: no file can have such an offset.
        """
        try:
            return self._stream.seek(offset, whence)
        except (OSError, ValueError, OverflowError) as error:
            raise exceeded(f"it refers to offset {offset}") from error

    def tell(self) -> int:
        """Return the offset in bytes."""
        return self._stream.tell()

    def read(self, size: int = -1, /) -> bytes:
        """Return at most ``size`` bytes.

        Raises:
            BinaryFormatError: the read, or all reads together, go past the budget.
        """
        self._calls -= 1
        if size < 0 or size > READ_LIMIT or self._calls < 0:
            raise exceeded(f"it asks for {'all' if size < 0 else size} bytes at once, or for too many reads")
        data = self._stream.read(size)
        self._left -= len(data)
        if self._left < 0:
            raise exceeded(f"it refers to more than {TOTAL_LIMIT} bytes")
        return data

    def read_at(self, offset: int, size: int) -> bytes:
        """Return exactly ``size`` bytes from ``offset``.

        Raises:
            BinaryFormatError: they are not all there, or go past the budget.
        """
        self.seek(offset)
        data = self.read(size)
        if len(data) != size:
            raise malformed(f"it ends {size - len(data)} bytes early at offset {offset + len(data)}")
        return data


def malformed(why: str) -> BinaryFormatError:
    """Return the error of a binary that breaks its own format."""
    return BinaryFormatError(
        f"the binary is malformed: {why}", "a whole library or executable", "install that file again"
    )


def exceeded(why: str) -> BinaryFormatError:
    """Return the error of a binary that goes past the reader's bounds."""
    return BinaryFormatError(
        f"the binary goes past the reader's bounds: {why}",
        "a library of usual size",
        "install that file again",
    )


def text_at(table: bytes, offset: int, limit: int = 1 << 16) -> str:
    r"""Return the NUL-terminated string at ``offset`` of a string table; odd bytes become ``\xNN``.

    Raises:
        BinaryFormatError: it begins outside of the table, does not end, or is longer than ``limit``.
    """
    end = table.find(b"\0", offset, offset + limit + 1) if 0 <= offset < len(table) else -1
    if end < 0:
        raise malformed(f"no string of at most {limit} bytes is at offset {offset} of its string table")
    return table[offset:end].decode("utf-8", "backslashreplace")
