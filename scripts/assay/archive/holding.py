"""Whether a file is what its name in an archive says; what a bundle comes to is found by verifying it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from assay import canonical
from assay.errors import BundleError
from assay.evidence.archived import check_content, check_statement
from assay.evidence.asking import Wanted
from assay.evidence.attestation import SIGSTORE_TYPE
from assay.evidence.attested import read_attestations
from assay.evidence.filed import Name, Part
from assay.evidence.life import LIFE_BYTES
from assay.evidence.signer import FILE_BYTES
from assay.evidence.verification import Integrity, Verification
from assay.evidence.verify import verifying
from assay.files import read_bounded

_REMEDY = "name the bundle that it is about, or move it away"


@dataclass(frozen=True)
class Held:
    """A bundle, verified, with the project that its plan names (``""`` where it is not intact)."""

    verified: Verification
    project: str = ""

    @property
    def problem(self) -> str:
        """Return in words why the bundle is not intact, ``""`` where it is."""
        if self.verified.intact:
            return ""
        first = next(iter(self.verified.problems), None)
        return first.observed if first else self.verified.integrity.value


def look(file: Path, now: datetime) -> Held:
    """Verify a bundle as a stranger.

    Raises:
        StorageError: it cannot be read.
    """
    with verifying(file, Wanted(now)) as (verified, run):
        return Held(verified, run.document.plan.project if run else "")


def check_bundle(file: Path, digest: str, now: datetime) -> Held:
    """Check that a file is the intact bundle of a digest (hex; ``""``: any).

    Raises:
        BundleError: it is not.
        StorageError: it cannot be read.
    """
    held = look(file, now)
    if not held.verified.intact:
        newer = held.verified.integrity is Integrity.NEWER
        remedy = "update assay" if newer else "ask for an unaltered copy; see `assay verify`"
        raise BundleError(
            f"is {held.verified.integrity.value}: {held.problem}",
            "an intact bundle",
            remedy,
            member=file.name,
        )
    if digest not in {"", held.verified.bundle_digest}:
        observed = f"is the bundle {held.verified.bundle_digest}"
        raise BundleError(observed, f"the bundle {digest}", "put it in its place anew", member=file.name)
    return held


def check_about(file: Path, name: Name) -> None:
    """Check that a file about a bundle is the one that its name says.  Nobody has vouched for it yet.

    Raises:
        NewerSchemaError: a newer assay wrote it.
        BundleError: it is another.
        StorageError: it cannot be read.
    """
    if name.part.kind is not None:
        check_statement(read_bounded(file, LIFE_BYTES), name)
        return
    data = read_bounded(file, FILE_BYTES)
    check_content(data, name)
    about = read_attestations(_lines(data, name), str(name)).bundle_digest
    if about != name.bundle:
        observed, expected = f"is about the bundle {about or 'of nothing'}", f"the bundle {name.bundle}"
        raise BundleError(observed, expected, _REMEDY, member=str(name))


def _lines(data: bytes, name: Name) -> bytes:
    """Return the envelopes of a file, one a line."""
    if name.part is not Part.SIGSTORE:
        return data
    document = canonical.loads(data.removesuffix(b"\n"), member=str(name), limit=FILE_BYTES)
    envelope = document.get("dsseEnvelope") if isinstance(document, Mapping) else None
    if not isinstance(document, Mapping) or document.get("mediaType") != SIGSTORE_TYPE or envelope is None:
        raise BundleError("is no Sigstore bundle", SIGSTORE_TYPE, _REMEDY, member=str(name))
    return canonical.dumps(envelope) + b"\n"
