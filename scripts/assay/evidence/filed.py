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

import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from assay import canonical
from assay.errors import UsageError
from assay.files import read_bounded
from assay.model import Json

MARK = "assay-archive.json"
SCHEMA = "archive"
_MARK_BYTES = 1 << 10


class Kind(StrEnum):
    """What a statement says."""

    SUPERSEDE = "supersede"
    REVOKE = "revoke"

    @property
    def predicate(self) -> str:
        """Return its predicate type; the JSON Schemas are ``schemas/<kind>.schema.json``."""
        return f"urn:gpu-assay:{self.value}:v1"


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


def check_archive(folder: Path) -> None:
    """Check that a folder holds an archive.

    Raises:
        UsageError: it holds none.
        NewerSchemaError: a newer assay made it.
        StorageError: it cannot be read.
    """
    if not (folder / MARK).is_file():
        remedy = "name the folder that `assay archive … --to` made; from elsewhere `assay archive get` first"
        raise UsageError(f"{folder} is no archive: it holds no {MARK}", "an archive's folder", remedy)
    check_mark(read_bounded(folder / MARK, _MARK_BYTES), MARK)
