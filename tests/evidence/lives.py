"""Statements about made-up bundles, and archives that hold them."""

from __future__ import annotations

import hashlib
from pathlib import Path

from assay.evidence.bundle import Bundle, write_bundle
from assay.evidence.filed import MARK, Kind, Name, Part, mark
from assay.evidence.life import Named, Said
from assay.signing import SigningKey
from tests.evidence.keyring import ALICE
from tests.evidence.support import make_run

OLD, NEW = Named("20261130T120000Z-01234567", "aa" * 32), Named("20261201T120000Z-01234567", "bb" * 32)
ISSUED = "2026-12-01T13:00:00Z"


def said_of(kind: Kind, old: Named = OLD, new: Named = NEW, claims: tuple[str, ...] = ("lint",)) -> Said:
    """Return what a statement of a kind says."""
    if kind is Kind.REVOKE:
        return Said(kind, old, "the driver was not the released one", ISSUED)
    return Said(kind, old, "fresh evidence", ISSUED, new, claims)


def bundle_at(folder: Path, started: str) -> Bundle:
    """Return a bundle of a run that started at a time."""
    return write_bundle(make_run(folder, started=started))


def named(bundle: Bundle) -> Named:
    """Return a bundle as statements name it."""
    return Named(bundle.path.stem, bundle.digest)


def archive_of(folder: Path, *bundles: Bundle) -> Path:
    """Return an archive that holds bundles, written by hand."""
    folder.mkdir()
    (folder / MARK).write_bytes(mark())
    for bundle in bundles:
        (folder / str(Name(bundle.digest))).write_bytes(bundle.path.read_bytes())
    return folder


def state(archive: Path, said: Said, key: SigningKey = ALICE) -> Path:
    """Put a signed statement into an archive, and return its file."""
    data = said.signed(key.sign, key.public)
    sha256 = hashlib.sha256(data).hexdigest()
    part = Part(f"{said.kind.value}.{Part.ATTESTATIONS.value}")
    path = archive / str(Name(said.old.bundle_digest, part, sha256))
    path.write_bytes(data)
    return path
