"""An archive as a reader finds it: one flat folder of files that are named by what is in them.

    assay-archive.json                            says that this is an archive, and of which form
    <bundle digest>.tar                           a bundle
    <bundle digest>.<SHA-256>.intoto.jsonl        attestations of that bundle
    <bundle digest>.<SHA-256>.sigstore.json       its qualification as a Sigstore bundle
    <bundle digest>.<SHA-256>.supersede.intoto.jsonl, <bundle digest>.<SHA-256>.revoke.intoto.jsonl
                                                  statements about that bundle

A bundle's bytes follow from its digest (FORMATS, "Container"), and the SHA-256 is of the file itself: so each
name stands for one content, files are written once, and two writers never want different things.
"""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from assay import canonical
from assay.errors import AssayError, BundleError, UsageError
from assay.evidence.life import LIFE_BYTES, Kind, Statement, read_statement
from assay.files import read_bounded, storage_errors
from assay.model import Json

MARK = "assay-archive.json"
SCHEMA = "archive"
_MARK_BYTES = 1 << 10

MAX_STATEMENTS = 1000
"""Statements about one bundle that are read: checking a signature takes some milliseconds."""


class Part(StrEnum):
    """What a file of an archive is, by the ending of its name."""

    BUNDLE = "tar"
    ATTESTATIONS = "intoto.jsonl"
    SIGSTORE = "sigstore.json"
    SUPERSEDE = "supersede.intoto.jsonl"
    REVOKE = "revoke.intoto.jsonl"

    @property
    def kind(self) -> Kind | None:
        """Return which kind of statement it is, None where it is none."""
        stem = self.value.partition(".")[0]
        return Kind(stem) if stem in set(Kind) else None


_DIGEST = "[0-9a-f]{64}"
_PARTS = "|".join(map(re.escape, Part))
_NAME = re.compile(rf"(?P<bundle>{_DIGEST})(?:\.(?P<sha256>{_DIGEST}))?\.(?P<part>{_PARTS})")


@dataclass(frozen=True)
class Name:
    """The name of a file.

    Attributes:
        bundle: the digest (hex) of the bundle that it is or is about.
        part: what it is.
        sha256: its SHA-256 (hex); ``""`` of a bundle.
    """

    bundle: str
    part: Part = Part.BUNDLE
    sha256: str = ""

    def __str__(self) -> str:
        """Return the name as it is written."""
        return ".".join(part for part in (self.bundle, self.sha256, self.part.value) if part)


def parse_name(text: str) -> Name | None:
    """Return what a file's name says, None where no archive has such a file."""
    found = _NAME.fullmatch(text)
    if found is None:
        return None
    part, sha256 = Part(found["part"]), found["sha256"] or ""
    return Name(found["bundle"], part, sha256) if bool(sha256) is (part is not Part.BUNDLE) else None


def mark() -> bytes:
    """Return the file that marks an archive."""
    return canonical.dumps({"schema": f"assay/{SCHEMA}/1"}) + b"\n"


def check_mark(data: bytes, where: str) -> None:
    """Check the file that marks an archive.

    Raises:
        NewerSchemaError: a newer assay made the archive.
        BundleError: it is another file.
    """
    document: Json = canonical.loads(data.removesuffix(b"\n"), member=where, limit=_MARK_BYTES)
    schema = document.get("schema") if isinstance(document, dict) else None
    canonical.check_schema(schema, SCHEMA, member=where)


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
        if not (folder / MARK).is_file():
            remedy = (
                "name the folder that `assay archive … --to` made; from elsewhere `assay archive get` first"
            )
            raise UsageError(f"{folder} is no archive: it holds no {MARK}", "an archive's folder", remedy)
        check_mark(read_bounded(folder / MARK, _MARK_BYTES), MARK)
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
