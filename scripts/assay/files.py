"""Reading and writing files so that nothing is ever half-written: write beside, sync, rename."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from assay.errors import StorageError

CHUNK = 1 << 20
"""Bytes read or written at once: large enough that hashlib releases the lock, small enough to stream."""


_READING = ("a file that can be read", "check its name, its permissions and the disk that it lies on")
_WRITING = (
    "a readable and writable place with free space",
    "free space on that file system or choose another folder",
)
"""What is expected of a place, and what to do about it."""


@contextlib.contextmanager
def storage_errors(action: str, path: Path) -> Iterator[None]:
    """Turn an ``OSError`` inside the block into a ``StorageError`` that names action and path."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        expected, remedy = _READING if action == "read" else _WRITING
        raise StorageError(f"cannot {action} {path}: {reason}", expected, remedy) from error


@contextlib.contextmanager
def regular_file(path: Path) -> Iterator[BinaryIO]:
    """Yield a regular file, open to be read.

    It is opened without waiting and judged by what was opened: a FIFO without a writer blocks ``open`` for
    ever (fifo(7)), and a device gives bytes without end.

    Raises:
        StorageError: it is not a regular file.
        OSError: it cannot be opened.
    """
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0))
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise StorageError(f"{path} is not a regular file", "a regular file", "name the file itself")
        with os.fdopen(handle, "rb", closefd=False) as stream:
            yield stream
    finally:
        os.close(handle)


@contextlib.contextmanager
def atomic_writer(path: Path) -> Iterator[BinaryIO]:
    """Yield a binary file that takes ``path``'s place only when the block ends without an error.

    Raises:
        StorageError: the file system refused; nothing is left behind.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    with storage_errors("write", path):
        try:
            with beside.open("xb") as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            beside.replace(path)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise
        sync_folder(path.parent)


@contextlib.contextmanager
def private_folder(prefix: str) -> Iterator[Path]:
    """Yield a new folder among the system's temporary ones, closed to others; it is removed after the block.

    The standard library's ``tempfile`` makes one only where this cannot: importing it, and what removes whole
    trees, takes longer than a short command should.

    Raises:
        OSError: there is no place for it.
    """
    folder = Path(os.environ.get("TMPDIR") or "/tmp", f"{prefix}{os.urandom(8).hex()}")  # noqa: S108  # with a name that nobody can guess, and made anew
    try:
        folder.mkdir(mode=0o700)
    except OSError:
        import tempfile  # noqa: PLC0415  # as said above

        folder = Path(tempfile.mkdtemp(prefix=prefix))
    try:
        yield folder
    finally:
        _remove(folder)


def _remove(folder: Path) -> None:
    """Remove a folder with empty ones in it, or with whatever else there is; what cannot be removed stays."""
    try:
        for inner in folder.iterdir():
            inner.rmdir()
        folder.rmdir()
    except OSError:
        import shutil  # noqa: PLC0415  # imports every compression that there is

        shutil.rmtree(folder, ignore_errors=True)


def sync_folder(folder: Path) -> None:
    """Make a rename in ``folder`` durable (POSIX; Windows has no handle for it)."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_atomic(path: Path, data: bytes) -> None:
    """Write ``data`` to ``path``, whole or not at all.

    Raises:
        StorageError: the file system refused.
    """
    with atomic_writer(path) as stream:
        stream.write(data)


def copy_atomic(source: Path, target: Path) -> tuple[str, int]:
    """Copy a file, whole or not at all, and return the copied bytes' SHA-256 (hex) and size.

    Raises:
        StorageError: ``source`` is not a regular file, or a read or a write was refused.
    """
    digest, size = hashlib.sha256(), 0
    with storage_errors("read", source), regular_file(source) as reading, atomic_writer(target) as stream:
        while chunk := reading.read(CHUNK):
            digest.update(chunk)
            size += len(chunk)
            stream.write(chunk)
    return digest.hexdigest(), size


def sha256_file(path: Path) -> tuple[str, int]:
    """Return a regular file's SHA-256 (hex) and size in bytes, streamed.

    Raises:
        StorageError: it is not a regular file or cannot be read.
    """
    with storage_errors("read", path):
        digest, size = hashlib.sha256(), 0
        with regular_file(path) as stream:
            while chunk := stream.read(CHUNK):
                digest.update(chunk)
                size += len(chunk)
    return digest.hexdigest(), size


def read_bounded(path: Path, limit: int) -> bytes:
    """Return a regular file's bytes, at most ``limit`` of them.

    Raises:
        StorageError: it is not a regular file, is larger, or cannot be read.
    """
    with storage_errors("read", path), regular_file(path) as stream:
        data = stream.read(limit + 1)
    if len(data) > limit:
        raise StorageError(
            f"{path} is larger than {limit} bytes", f"at most {limit} bytes", "name a smaller file"
        )
    return data
