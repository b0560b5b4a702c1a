"""What every archive can do, wherever it lies; what the names stand for is said in ``evidence.filed``."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from assay.errors import DepositError
from assay.evidence.filed import Name
from assay.files import CHUNK, regular_file, storage_errors

LARGEST = 1 << 40
"""Bytes of a file that are read from elsewhere: a bundle may have many members of 8 GiB."""


@dataclass(frozen=True)
class Listing:
    """What an archive holds.

    Attributes:
        names: of all files, in order.
        strangers: files that no archive has.
        stamps: by bundle digest what tells when the file has changed, where that is known.
    """

    names: tuple[Name, ...]
    strangers: tuple[str, ...] = ()
    stamps: Mapping[str, str] = field(default_factory=dict)


class Store(Protocol):
    """An archive: files are put once, and never changed or removed."""

    @property
    def place(self) -> str:
        """Return where it lies, as a user names it."""

    def listing(self) -> Listing:
        """Return what it holds.

        Raises:
            AssayError: it cannot be asked.
        """

    def put(self, name: Name, file: Path) -> bool:
        """Put a file under a name, whole or not at all; return whether it was not there yet.

        Raises:
            DepositError: it was refused, did not arrive whole, or something else lies there.
            StorageError: the file cannot be read.
        """

    def opened(self, name: Name) -> AbstractContextManager[Path]:
        """Return what yields the path of a file's bytes, valid inside the block; nobody has checked them.

        Raises:
            AssayError: it cannot be had.
        """


@dataclass(frozen=True)
class Bytes:
    """What tells whether two files are the same."""

    sha256: str
    size: int


def bytes_of(file: Path) -> Bytes:
    """Return a file's digest and size.

    Raises:
        StorageError: it cannot be read.
    """
    with storage_errors("read", file), regular_file(file) as stream:
        return digest_of(iter(lambda: stream.read(CHUNK), b""))


def digest_of(chunks: Iterable[bytes]) -> Bytes:
    """Return the digest and size of bytes that come in pieces."""
    digest, size = hashlib.sha256(), 0
    for chunk in chunks:
        digest.update(chunk)
        size += len(chunk)
    return Bytes(digest.hexdigest(), size)


def other_there(place: str, name: Name) -> DepositError:
    """Return the error of a name under which something else lies."""
    return DepositError(
        f"{place} holds something else under {name}",
        "the same bytes, or nothing: files are written once",
        "look at it with `assay archive check`; move what is damaged away, then archive it anew",
    )


def not_whole(place: str, name: Name, found: Bytes, sent: Bytes) -> DepositError:
    """Return the error of a file that did not arrive as it was sent."""
    return DepositError(
        f"{place} stored {name} with {found.size} bytes and SHA-256 {found.sha256}",
        f"{sent.size} bytes with SHA-256 {sent.sha256}",
        "nothing was lost here: look at the server and its disk, then archive it again",
    )
