"""Asks the folder of an archive whether a bundle that was verified still stands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from assay.errors import AssayError
from assay.evidence.archived import About, ArchiveFolder
from assay.evidence.asking import Wanted
from assay.evidence.life import Named
from assay.evidence.standing import Seen, Standing, standing
from assay.evidence.verification import Answer, Asked, Verification

Verify = Callable[[Path], Verification]


def with_standing(verified: Verification, archive: Path, wanted: Wanted, verify: Verify) -> Verification:
    """Return the verification of an intact bundle with its standing; policy fails where it is refused.

    Args:
        verified: its verification.
        archive: the archive's folder.
        wanted: what the reader wants: whose word counts, and which claims matter.
        verify: verifies another bundle of the archive.

    Raises:
        UsageError: the folder holds no archive.
        NewerSchemaError: a newer assay made it.
        StorageError: it cannot be read.
    """
    folder = ArchiveFolder(archive)
    found = standing(_seen(verified), _Folder(folder, verify), wanted.keys, wanted.claims)
    notes = found.notes
    if folder.bundle(verified.bundle_digest) is None:
        notes = (*notes, "the archive does not hold this bundle")
    return replace(verified, standing=found.summary, standing_notes=notes, policy=_policy(verified, found))


def _policy(verified: Verification, found: Standing) -> Asked:
    """Return the answer for policy, failed where standing gives reasons."""
    if not found.refusals:
        return verified.policy
    return Asked(Answer.FAILED, (*verified.policy.reasons, *found.refusals))


def _seen(verified: Verification) -> Seen:
    """Return what counts of a verification."""
    name = Named(verified.run, verified.bundle_digest)
    if not verified.intact:
        problem = next(iter(verified.problems), None)
        return Seen(name, problem=problem.observed if problem else verified.integrity.value)
    return Seen(
        name,
        verified.started,
        frozenset(claim.id for claim in verified.claims.established),
        frozenset(claim for claim, _ in verified.claims.open),
    )


@dataclass(frozen=True)
class _Folder:
    """What standing asks of an archive, answered by its folder."""

    folder: ArchiveFolder
    verify: Verify

    def about(self, digest: str) -> About:
        """Return the statements about a bundle."""
        return self.folder.about(digest)

    def look(self, digest: str) -> Seen | None:
        """Return a bundle, verified; one that is not the bundle of its name is not intact."""
        path = self.folder.bundle(digest)
        if path is None:
            return None
        try:
            verified = self.verify(path)
        except AssayError as error:
            return Seen(Named("", digest), problem=error.observed)
        if verified.bundle_digest != digest:
            return Seen(Named("", digest), problem=f"its bundle digest is {verified.bundle_digest}")
        return _seen(verified)
