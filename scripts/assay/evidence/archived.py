"""An archive as a reader finds it: its folder, and the statements about a bundle that lie there."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from assay.errors import AssayError, BundleError
from assay.evidence.filed import Name, check_archive, parse_name
from assay.evidence.life import LIFE_BYTES, Statement, read_statement
from assay.files import read_bounded, storage_errors

MAX_STATEMENTS = 1000
"""Statements about one bundle that are read: checking a signature takes some milliseconds."""


@dataclass(frozen=True)
class About:
    """What an archive holds about a bundle: statements, and in words what could not be read as one."""

    statements: tuple[Statement, ...] = ()
    problems: tuple[str, ...] = ()


class ArchiveFolder:
    """An archive in a folder, read only."""

    def __init__(self, folder: Path) -> None:
        """Open an archive.

        Raises:
            UsageError: the folder holds none.
            NewerSchemaError: a newer assay made it.
            StorageError: it cannot be read.
        """
        check_archive(folder)
        self.folder = folder

    def bundle(self, digest: str) -> Path | None:
        """Return where the bundle of a digest (hex) lies, None where it is not here."""
        path = self.folder / str(Name(digest))
        return path if path.is_file() else None

    def names(self, digest: str) -> tuple[Name, ...]:
        """Return the names of everything about a bundle, in order.

        Raises:
            StorageError: the folder cannot be read.
        """
        with storage_errors("read", self.folder), os.scandir(self.folder) as entries:
            found = sorted(entry.name for entry in entries if entry.name.startswith(digest))
        return tuple(name for name in map(parse_name, found) if name is not None)

    def about(self, digest: str) -> About:
        """Return the statements about a bundle.

        Raises:
            StorageError: the folder cannot be read.
        """
        names = [name for name in self.names(digest) if name.part.kind is not None]
        if len(names) > MAX_STATEMENTS:
            return About(
                problems=(f"{len(names)} statements are about it: at most {MAX_STATEMENTS} are read",)
            )
        found: list[Statement] = []
        problems: list[str] = []
        for name in names:
            try:
                found.append(check_statement(read_bounded(self.folder / str(name), LIFE_BYTES), name))
            except AssayError as error:
                problems.append(f"the statement {name} cannot be read: {error.observed}")
        return About(tuple(found), tuple(problems))


def check_statement(data: bytes, name: Name) -> Statement:
    """Read a statement, and hold it against the name that it lies under.

    Raises:
        NewerSchemaError: a newer assay wrote it.
        BundleError: it is no statement, or not the one that its name says.
    """
    check_content(data, name)
    statement = read_statement(data, str(name))
    said = statement.said
    if (said.kind, said.old.bundle_digest) != (name.part.kind, name.bundle):
        observed = f"is a {said.kind.value} of {said.old.bundle_digest}"
        raise BundleError(observed, "what its name says", "put it in its place anew", member=str(name))
    return statement


def check_content(data: bytes, name: Name) -> None:
    """Check that a file is the one that its name says.

    Raises:
        BundleError: it has another digest.
    """
    found = hashlib.sha256(data).hexdigest()
    if found != name.sha256:
        raise BundleError(f"has SHA-256 {found}", "that of its name", "archive it anew", member=str(name))
