"""Says that another bundle replaces some claims of one, or that one is revoked (``evidence.life``)."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from datetime import datetime
from pathlib import Path

from assay.archive.store import Store
from assay.errors import UsageError
from assay.evidence.filed import Kind, Name, Part
from assay.evidence.life import Named, Said
from assay.evidence.times import read_time, write_time
from assay.evidence.verification import Verification
from assay.files import write_atomic

_SHORT = 16
"""Hex digits of a statement's digest in the name of its file beside the bundle."""


def superseding(
    old: Verification, new: Verification, claims: Collection[str], reason: str, now: datetime
) -> Said:
    """Return the statement that a bundle replaces another one in some claims.

    Args:
        old: the replaced bundle, verified and intact.
        new: the bundle that replaces it, verified and intact.
        claims: ids of the claims.
        reason: why, one line.
        now: the signer's time.

    Raises:
        UsageError: the new bundle is no fresh evidence for a claim, or nobody could read the statement.
    """
    had = {claim.id for claim in old.claims.established} | {claim for claim, _ in old.claims.open}
    _each(claims, had, f"{old.bundle} neither establishes nor leaves open")
    _each(claims, {claim.id for claim in new.claims.established}, f"{new.bundle} does not establish")
    if read_time(new.started) <= read_time(old.started):
        raise UsageError(
            f"{new.bundle} ran at {new.started}, {old.bundle} at {old.started}",
            "a bundle that ran later",
            "name the old bundle first, then the new one",
        )
    said = Said(Kind.SUPERSEDE, _named(old), reason, write_time(now), _named(new), tuple(sorted(set(claims))))
    said.check()
    return said


def revoking(old: Verification, reason: str, now: datetime) -> Said:
    """Return the statement that a bundle must not be relied on any more.

    Args:
        old: the bundle, verified and intact.
        reason: why, one line.
        now: the signer's time.

    Raises:
        UsageError: nobody could read the statement.
    """
    said = Said(Kind.REVOKE, _named(old), reason, write_time(now))
    said.check()
    return said


def keep(data: bytes, said: Said, bundle: Path, store: Store | None) -> tuple[Path, Name]:
    """Write a signed statement beside its bundle and put it into an archive; nothing is overwritten.

    Args:
        data: the signed statement.
        said: what it says.
        bundle: the bundle that it is about.
        store: the archive, or None for none.

    Returns:
        Its file and its name in an archive.

    Raises:
        AssayError: it cannot be written, or the archive refused; the file beside the bundle is there then.
    """
    sha256 = hashlib.sha256(data).hexdigest()
    name = Name(said.old.bundle_digest, Part(f"{said.kind.value}.{Part.ATTESTATIONS.value}"), sha256)
    path = bundle.with_name(f"{bundle.name.removesuffix('.tar')}.{sha256[:_SHORT]}.{name.part.value}")
    write_atomic(path, data)
    if store is not None:
        store.put(name, path)
    return path, name


def _each(claims: Collection[str], held: Collection[str], observed: str) -> None:
    """Refuse claims that are not held."""
    if missing := sorted(set(claims) - set(held)):
        raise UsageError(
            f"{observed} {', '.join(missing)}",
            f"some of {', '.join(sorted(held)) or 'no claims at all'}",
            "see both with `assay show`; name claims with --claims ID,ID",
        )


def _named(verified: Verification) -> Named:
    """Return a bundle as statements name it."""
    return Named(verified.run, verified.bundle_digest)
