"""Reads wheels and sdists as lists of members, without extracting anything.

Compressed bytes differ between zlib builds, so an archive has a *content digest* besides its own: SHA-256
over the canonical JSON list of ``[member name, SHA-256 of the uncompressed bytes]``, in byte order of the
names.  FORMATS ("Subject digest") counts only that one.

An archive may be a stranger's: members, names and uncompressed bytes are bounded, whatever its headers say;
nothing is written to disk; links and devices are refused, since they have no bytes of their own.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, BinaryIO

from assay import canonical
from assay.errors import ArchiveError
from assay.files import regular_file, storage_errors

MAX_MEMBERS = 50_000
MAX_NAME = 4096
MAX_BYTES = 2 << 30
"""Uncompressed bytes of all members together."""

_CHUNK = 1 << 16
"""Bytes read at once.  ``tarfile`` reads a PAX header in one piece, so this also bounds those."""

ZIP_MAGIC = (b"PK\x03\x04", b"PK\x05\x06")
"""How a zip begins: a member, or the end of an empty one (PKWARE APPNOTE, 4.3.7 and 4.3.16)."""
_GZIP = b"\x1f\x8b"
_REMEDY = "make or fetch the archive again"
_LINK_TYPE = 0o12
"""The file type of a symbolic link in POSIX modes, which zips hold in the upper half of their attributes."""

_METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
_BROKEN = (
    *(zipfile.BadZipFile, tarfile.TarError, zlib.error, struct.error, OSError, EOFError),
    *(ValueError, OverflowError, NotImplementedError, RuntimeError, KeyError, IndexError),
)
"""What the archive libraries raise on broken input (``OSError``: an offset before the beginning, a bad gzip
header; ``RuntimeError``: an encrypted member)."""


@dataclass(frozen=True)
class Member:
    """One member: its name as stored (a folder's ends in ``/``), SHA-256 (hex) and size of its bytes."""

    name: str
    sha256: str
    size: int


def content_digest(members: Iterable[Member]) -> str:
    """Return the content digest (hex) of an archive's members."""
    ordered = sorted(members, key=lambda member: member.name.encode())
    return hashlib.sha256(canonical.dumps([[member.name, member.sha256] for member in ordered])).hexdigest()


def file_members(path: Path) -> tuple[Member, ...]:
    """Return the members of the archive at ``path``; see ``archive_members``.

    Raises:
        StorageError: it cannot be read.
        ArchiveError: it is broken.
    """
    with storage_errors("read", path), regular_file(path) as stream:
        return archive_members(stream)


def archive_members(stream: BinaryIO) -> tuple[Member, ...]:
    """Return the members of a zip or of a gzipped tar, in their stored order.

    Args:
        stream: a seekable binary stream at its beginning.

    Raises:
        ArchiveError: it is neither, is broken, passes a bound, or holds a link, a device or a doubled name.
    """
    magic = stream.read(4)
    stream.seek(0)
    with _archive_errors():
        if magic.startswith(ZIP_MAGIC):
            return _unique(_zip_members(stream))
        if magic.startswith(_GZIP):
            return _unique(_tar_members(stream))
    raise ArchiveError(
        f"the archive begins with {magic.hex() or 'nothing'}", "a zip or a gzipped tar", _REMEDY
    )


def read_zip_member(stream: BinaryIO, name: str, limit: int) -> bytes:
    """Return one zip member's bytes.

    Args:
        stream: the zip, seekable.
        name: the member's name.
        limit: the most bytes that it may have.

    Raises:
        ArchiveError: the zip is broken, or has no such member or a larger one.
    """
    return b"".join(zip_member_chunks(stream, name, limit))


def zip_member_chunks(stream: BinaryIO, name: str, limit: int) -> Iterator[bytes]:
    """Yield one zip member's bytes in pieces, at most ``limit`` of them.

    Raises:
        ArchiveError: the zip is broken, or has no such member or a larger one.
    """
    with _archive_errors(), zipfile.ZipFile(stream) as archive:
        if name not in archive.namelist():
            raise ArchiveError(f"the archive has no member {name!r}", "that member", _REMEDY)
        info = _checked(archive.getinfo(name))
        with archive.open(info) as reading:
            yield from _chunks(reading, limit, name)


@contextlib.contextmanager
def _archive_errors() -> Iterator[None]:
    """Turn what the archive libraries raise on broken input into an ``ArchiveError``."""
    try:
        yield
    except _BROKEN as error:
        detail = str(error) or type(error).__name__
        raise ArchiveError(f"the archive is broken: {detail}", "a sound archive", _REMEDY) from error


def _unique(members: Iterable[Member]) -> tuple[Member, ...]:
    """Collect members within the bounds, each name once and a text that UTF-8 can hold."""
    found: dict[str, Member] = {}
    total = 0
    for member in members:
        total += member.size
        if member.name in found:
            raise ArchiveError(f"the archive holds {member.name!r} twice", "each name once", _REMEDY)
        if any("\ud800" <= letter <= "\udfff" for letter in member.name):
            raise ArchiveError(f"the archive's name {member.name!r} is not UTF-8", "names in UTF-8", _REMEDY)
        if len(found) >= MAX_MEMBERS or total > MAX_BYTES or len(member.name) > MAX_NAME:
            bounds = f"{MAX_MEMBERS} members, {MAX_BYTES} bytes and names of {MAX_NAME} characters"
            raise ArchiveError(
                f"the archive is too large at {member.name[:80]!r}", f"at most {bounds}", _REMEDY
            )
        found[member.name] = member
    return tuple(found.values())


def _zip_members(stream: BinaryIO) -> Iterator[Member]:
    """Yield a zip's members."""
    with zipfile.ZipFile(stream) as archive:
        for info in archive.infolist():
            with archive.open(_checked(info)) as reading:
                yield _digested(info.filename, reading)


def _checked(info: zipfile.ZipInfo) -> zipfile.ZipInfo:
    """Refuse a member that is packed in an unusual way or is a link."""
    if info.compress_type not in _METHODS:
        raise ArchiveError(
            f"{info.filename!r} is packed by method {info.compress_type}", "stored or deflated", _REMEDY
        )
    if (info.external_attr >> 28) == _LINK_TYPE:
        raise ArchiveError(f"{info.filename!r} is a link", "files and folders", _REMEDY)
    return info


def _tar_members(stream: BinaryIO) -> Iterator[Member]:
    """Yield a gzipped tar's members."""
    with gzip.GzipFile(fileobj=stream) as unpacked:
        forward = _Forward(unpacked)
        with tarfile.TarFile(fileobj=forward, mode="r") as archive:  # type: ignore[arg-type]  # read, seek and tell are all that is used
            while (info := archive.next()) is not None:
                yield _tar_member(archive, info)
        forward.drain()


def _tar_member(archive: tarfile.TarFile, info: tarfile.TarInfo) -> Member:
    """Return one tar member; folders have no bytes."""
    if info.isdir():
        return _digested(info.name.rstrip("/") + "/", io.BytesIO())
    reading = archive.extractfile(info) if info.isreg() and not info.issparse() else None
    if reading is None:
        raise ArchiveError(f"{info.name!r} is neither a file nor a folder", "files and folders", _REMEDY)
    member = _digested(info.name, reading)
    if member.size != info.size:
        raise ArchiveError(f"{info.name!r} ends after {member.size} bytes", f"{info.size} bytes", _REMEDY)
    return member


def _digested(name: str, reading: IO[bytes]) -> Member:
    """Return the member whose bytes ``reading`` yields."""
    digest, size = hashlib.sha256(), 0
    for chunk in _chunks(reading, MAX_BYTES, name):
        digest.update(chunk)
        size += len(chunk)
    return Member(name, digest.hexdigest(), size)


def _chunks(reading: IO[bytes], limit: int, name: str) -> Iterator[bytes]:
    """Yield a stream's bytes, at most ``limit`` of them."""
    left = limit
    while chunk := reading.read(_CHUNK):
        left -= len(chunk)
        if left < 0:
            raise ArchiveError(
                f"{name!r} unpacks to more than {limit} bytes", f"at most {limit} bytes", _REMEDY
            )
        yield chunk


class _Forward:
    """A stream that ``tarfile`` can only walk forward, in bounded pieces and to a bounded length."""

    def __init__(self, stream: gzip.GzipFile) -> None:
        self._stream = stream
        self._position = 0

    def tell(self) -> int:
        """Return the bytes read so far."""
        return self._position

    def read(self, size: int) -> bytes:
        """Return the next ``size`` bytes; a single large read would be a header that lies."""
        if size > 2 * _CHUNK:
            raise ArchiveError(
                f"a header of the archive claims {size} bytes", f"at most {2 * _CHUNK}", _REMEDY
            )
        data = self._stream.read(size)
        self._position += len(data)
        if self._position > MAX_BYTES:
            raise ArchiveError(
                f"the archive unpacks to more than {MAX_BYTES} bytes", "a smaller one", _REMEDY
            )
        return data

    def seek(self, position: int) -> None:
        """Read forward to ``position``."""
        if position < self._position:
            raise ArchiveError("the archive's headers point backwards", "members in order", _REMEDY)
        while self._position < position and self.read(min(_CHUNK, position - self._position)):
            pass

    def drain(self) -> None:
        """Read to the end, where gzip's checksum is."""
        while self.read(_CHUNK):
            pass
