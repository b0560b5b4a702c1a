"""An archive in a folder: each file is written beside, synced and renamed, and never written again."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from assay.archive.store import Bytes, Listing, bytes_of, not_whole, other_there
from assay.errors import UsageError
from assay.evidence.filed import MARK, Name, Part, check_archive, mark, parse_name
from assay.files import CHUNK, atomic_writer, regular_file, storage_errors, write_atomic

INDEX = "assay-index.json"
"""Speeds up queries; made anew from the bundles wherever it is missing or does not fit."""

_READABLE = 0o444


class FolderStore:
    """An archive in a folder."""

    def __init__(self, folder: Path) -> None:
        """Name the folder; it is made with the first file."""
        self.folder = folder

    @property
    def place(self) -> str:
        """Return the folder's path."""
        return str(self.folder)

    def listing(self) -> Listing:
        """Return what the folder holds.

        Raises:
            UsageError: it is no archive.
            StorageError: it cannot be read.
        """
        check_archive(self.folder)
        with storage_errors("read", self.folder), os.scandir(self.folder) as entries:
            found = {entry.name: entry.stat(follow_symlinks=False) for entry in entries}
        listing = listing_of(sorted(found))
        stats = {name.bundle: found[str(name)] for name in listing.names if name.part is Part.BUNDLE}
        return replace(
            listing, stamps={key: f"{stat.st_size} {stat.st_mtime_ns}" for key, stat in stats.items()}
        )

    def put(self, name: Name, file: Path) -> bool:
        """Put a file under a name; see ``Store.put``.

        Two writers of one name write the same bytes, so whose rename comes last does not matter.
        """
        self._make()
        target, sent = self.folder / str(name), bytes_of(file)
        if target.exists():
            if bytes_of(target) != sent:
                raise other_there(self.place, name)
            return False
        with storage_errors("read", file), regular_file(file) as reading, atomic_writer(target) as stream:
            while chunk := reading.read(CHUNK):
                stream.write(chunk)
            stream.flush()
            self._compare(Path(stream.name), name, sent)
            Path(stream.name).chmod(_READABLE)
        return True

    @contextlib.contextmanager
    def opened(self, name: Name) -> Iterator[Path]:
        """Yield where a file lies.

        Raises:
            UsageError: the folder is no archive, or does not hold it.
        """
        check_archive(self.folder)
        path = self.folder / str(name)
        if not path.is_file():
            raise UsageError(f"{self.place} does not hold {name}", "a file of the archive", "list it first")
        yield path

    def _compare(self, written: Path, name: Name, sent: Bytes) -> None:
        """Compare what was written, before it takes its name, with what was to be written."""
        if (found := bytes_of(written)) != sent:
            raise not_whole(self.place, name, found, sent)

    def _make(self) -> None:
        """Make the folder an archive where it is none yet.

        Raises:
            UsageError: it holds other things.
            StorageError: it cannot be made.
        """
        if (self.folder / MARK).exists():
            check_archive(self.folder)
            return
        with storage_errors("create", self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            others = [each.name for each in self.folder.iterdir() if not _another_writers(each.name)]
        if others:
            raise UsageError(
                f"{self.folder} holds other things, {min(others)!r} for one",
                "an archive, or a new or empty folder",
                "name another folder",
            )
        write_atomic(self.folder / MARK, mark())


def _another_writers(name: str) -> bool:
    """Say whether a file is what another writer of the same archive may just have made."""
    return name == MARK or name.startswith(".") or parse_name(name) is not None


def listing_of(files: list[str]) -> Listing:
    """Return what files of these names are; what begins with a point is still being written."""
    read = {file: parse_name(file) for file in files if not file.startswith(".")}
    names = tuple(name for name in read.values() if name is not None)
    return Listing(names, tuple(file for file in read if read[file] is None and file not in {MARK, INDEX}))
