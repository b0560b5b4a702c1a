"""The container ``<run>.tar``: written as a stream, read by rebuilding every header (FORMATS)."""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import stat
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from assay.errors import BundleError, StorageError
from assay.evidence.names import MANIFEST, MAX_MEMBERS
from assay.evidence.ustar import BLOCK, END, LARGEST, check_name, check_order, header, padded, read_header
from assay.files import CHUNK, storage_errors

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

PIECE = 1 << 18
"""Bytes of the buffer of each thread that hashes: ``hashlib`` releases the lock, and they stay in a cache.

The file is not mapped: one that shrinks while it is mapped ends its reader by SIGBUS.
"""

THREADS = 4
_WORTH_THREADS = 4 << 20
"""Bytes below which starting threads costs more than it saves."""


@dataclass(frozen=True)
class Member:
    """A member to be written.

    Attributes:
        name: its name in the container.
        size: its bytes.
        sha256: what they hash to (hex); bytes that do not are refused while they are written.
        open: opens them.
    """

    name: str
    size: int
    sha256: str
    open: Callable[[], BinaryIO]


@dataclass(frozen=True)
class Entry:
    """A member that was found: its name, the offset of its first byte, and its size in bytes."""

    name: str
    offset: int
    size: int


def write_container(stream: BinaryIO, members: Sequence[Member]) -> None:
    """Write a whole container: the manifest, then the other members in byte order of their names.

    Raises:
        BundleError: a name or the order is not allowed.
        StorageError: there are too many members, one is larger than 8 GiB - 1, or one is not what it was.
    """
    check_order((check_name(member.name) for member in members), MANIFEST)
    if len(members) > MAX_MEMBERS:
        raise StorageError(
            f"there are {len(members)} members", f"at most {MAX_MEMBERS}", "keep fewer artifacts"
        )
    for member in members:
        if member.size > LARGEST:
            raise StorageError(
                f"{member.name} has {member.size} bytes", f"at most {LARGEST}", "keep a smaller file"
            )
        stream.write(header(member.name, member.size))
        _copy(member, stream)
        stream.write(bytes(padded(member.size) - member.size))
    stream.write(END)


def _copy(member: Member, stream: BinaryIO) -> None:
    """Write a member's bytes, exactly those that were announced."""
    digest, left = hashlib.sha256(), member.size
    with member.open() as reading:
        while chunk := reading.read(min(CHUNK, left + 1)):
            left -= len(chunk)
            if left < 0:
                break
            digest.update(chunk)
            stream.write(chunk)
    if left or digest.hexdigest() != member.sha256:
        raise StorageError(
            f"{member.name} is not the file that the journal names", "an unaltered file", "run again"
        )


class Container:
    """An open container; ``entries`` is what it holds, in order.  Nothing is extracted.

    Every header, every padding byte and the end were checked when it was opened.
    """

    def __init__(self, source: ReadAt, entries: tuple[Entry, ...]) -> None:
        self._source = source
        self.entries = entries
        self._by_name = {entry.name: entry for entry in entries}

    def __contains__(self, name: str) -> bool:
        """Say whether there is a member of that name."""
        return name in self._by_name

    def size(self, name: str) -> int:
        """Return a member's size in bytes.

        Raises:
            BundleError: there is no such member.
        """
        return self._entry(name).size

    def read(self, name: str, limit: int) -> bytes:
        """Return a member's bytes.

        Raises:
            BundleError: there is no such member, or it has more than ``limit`` bytes.
        """
        entry = self._entry(name)
        if entry.size > limit:
            raise BundleError(f"has {entry.size} bytes", f"at most {limit} bytes", "", member=name)
        return self._source.read(entry.offset, entry.size)

    def open(self, name: str) -> BinaryIO:
        """Return a member's bytes as a seekable stream; they stay in the container.

        Raises:
            BundleError: there is no such member.
        """
        return io.BufferedReader(_Window(self._source, self._entry(name)), PIECE)

    def digests(self) -> dict[str, str]:
        """Return the SHA-256 (hex) of every member, hashed by several threads where that saves time.

        Raises:
            BundleError: the file became shorter.
            OSError: it cannot be read.
        """
        if sum(entry.size for entry in self.entries) < _WORTH_THREADS:
            return self._digests(self.entries)
        hashers = [_Hasher(self._digests, share) for share in _shares(self.entries, os.cpu_count() or 1)]
        for hasher in hashers:
            hasher.start()
        return {name: sha256 for hasher in hashers for name, sha256 in hasher.result().items()}

    def _digests(self, entries: Sequence[Entry]) -> dict[str, str]:
        """Return the SHA-256 (hex) of some members, all read into one buffer."""
        buffer = memoryview(bytearray(min(PIECE, max((entry.size for entry in entries), default=0))))
        return {entry.name: self._digest(entry, buffer) for entry in entries}

    def _digest(self, entry: Entry, buffer: memoryview) -> str:
        """Return a member's SHA-256 (hex)."""
        digest = hashlib.sha256()
        for start in range(0, entry.size, PIECE):
            piece = buffer[: min(PIECE, entry.size - start)]
            self._source.fill(piece, entry.offset + start)
            digest.update(piece)
        return digest.hexdigest()

    def _entry(self, name: str) -> Entry:
        """Return the entry of that name."""
        if name not in self._by_name:
            raise BundleError("is missing from the bundle", "a member of that name", "", member=name)
        return self._by_name[name]


class _Window(io.RawIOBase):
    """The part of a container that is one member, as a stream."""

    def __init__(self, source: ReadAt, entry: Entry) -> None:
        super().__init__()
        self._source = source
        self._entry = entry
        self._at = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Fill ``buffer`` with what comes next, and return how many bytes that were."""
        view = memoryview(buffer).cast("B")
        size = min(len(view), max(0, self._entry.size - self._at))
        self._source.fill(view[:size], self._entry.offset + self._at)
        self._at += size
        return size

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to an offset from the beginning, from here, or from the end."""
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._entry.size}[whence]
        if base + offset < 0:
            msg = f"cannot seek to {base + offset}"
            raise ValueError(msg)
        self._at = base + offset
        return self._at


class _Hasher(threading.Thread):
    """Hashes its share of the members; ``hashlib`` releases the lock, so several run at once."""

    def __init__(self, work: Callable[[Sequence[Entry]], dict[str, str]], share: Sequence[Entry]) -> None:
        super().__init__(daemon=True)
        self._work = work
        self._share = share
        self._found: dict[str, str] = {}
        self._error: BundleError | OSError | None = None

    def run(self) -> None:
        """Hash until the share is done or cannot be read."""
        try:
            self._found = self._work(self._share)
        except (BundleError, OSError) as error:
            self._error = error

    def result(self) -> dict[str, str]:
        """Wait, and return SHA-256 (hex) by member name; what went wrong is raised here."""
        self.join()
        if self._error is not None:
            raise self._error
        return self._found


def _shares(entries: Sequence[Entry], processors: int) -> list[list[Entry]]:
    """Deal the members out to threads, each to the one with the least bytes, the largest first."""
    shares: list[list[Entry]] = [[] for _ in range(min(THREADS, processors))]
    loads = [0] * len(shares)
    for entry in sorted(entries, key=lambda entry: -entry.size):
        least = loads.index(min(loads))
        shares[least].append(entry)
        loads[least] += entry.size
    return shares


class ReadAt:
    """Reads a file at any offset, from any thread, with or without the platform's ``preadv``."""

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self._file = io.FileIO(handle, closefd=False)
        self._lock = threading.Lock()

    def read(self, offset: int, size: int) -> bytes:
        """Return exactly ``size`` bytes.

        Raises:
            BundleError: the file ends before.
        """
        found = bytearray(size)
        self.fill(memoryview(found), offset)
        return bytes(found)

    def fill(self, buffer: memoryview, offset: int) -> None:
        """Fill the whole of ``buffer`` with the bytes from ``offset`` on.

        Raises:
            BundleError: the file ends before.
        """
        done = 0
        while done < len(buffer):
            count = self._some(buffer[done:], offset + done)
            if not count:
                at, left = offset + done, len(buffer) - done
                raise BundleError(f"ends at byte {at}", f"{left} more bytes", "fetch it again")
            done += count

    def _some(self, buffer: memoryview, offset: int) -> int:
        """Read some of the bytes at ``offset`` and return how many."""
        if hasattr(os, "preadv"):
            return os.preadv(self._handle, [buffer], offset)
        with self._lock:
            self._file.seek(offset)
            return self._file.readinto(buffer) or 0


@contextlib.contextmanager
def open_container(path: Path) -> Iterator[Container]:
    """Yield the container at ``path``.

    Raises:
        BundleError: it is not a regular file, or not exactly a container.
        StorageError: it cannot be read.
    """
    with storage_errors("read", path):
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0))
        try:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                remedy = "name the bundle's file; of a run folder, `assay bundle RUN` makes one"
                raise BundleError(f"{path} is not a regular file", "a bundle", remedy)
            source = ReadAt(handle)
            yield Container(source, _entries(source, status.st_size))
        finally:
            os.close(handle)


def _entries(source: ReadAt, size: int) -> tuple[Entry, ...]:
    """Walk the headers of a file of ``size`` bytes to its end."""
    found: list[Entry] = []
    at = 0
    while size - at != len(END) or any(source.read(at, len(END))):
        if size - at < BLOCK + len(END):
            observed = f"has {size} bytes, of which the last {size - at} are neither a member nor the end"
            raise BundleError(observed, "a whole bundle and nothing behind it", "fetch it again")
        if len(found) == MAX_MEMBERS:
            raise BundleError(f"has more than {MAX_MEMBERS} members", f"at most {MAX_MEMBERS} members")
        name, length = read_header(source.read(at, BLOCK), at)
        entry = Entry(name, at + BLOCK, length)
        at = entry.offset + padded(length)
        if at + len(END) > size:
            raise BundleError("goes past the end of the file", "a whole file", "fetch it again", member=name)
        if any(source.read(entry.offset + length, padded(length) - length)):
            raise BundleError("is padded with other bytes than zeros", "zeros", "", member=name)
        found.append(entry)
    check_order((entry.name for entry in found), MANIFEST)
    return tuple(found)
