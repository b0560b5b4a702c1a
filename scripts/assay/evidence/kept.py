"""What differs between the artifacts that two runs kept: which there are, and which files inside wheels."""

from __future__ import annotations

from collections.abc import Iterator

from assay.archives import Member, archive_members, content_digest
from assay.errors import ArchiveError
from assay.evidence.changes import Change, Kind
from assay.evidence.names import artifact_name
from assay.evidence.steps import Run
from assay.evidence.subject import ARCHIVES

_LISTED = 100
"""Files inside one archive that are listed."""


def artifact_changes(old: Run, new: Run) -> list[Change]:
    """Return the differences between artifacts, by gate and real name."""
    one, other = _artifacts(old), _artifacts(new)
    found: list[Change] = []
    for path in sorted({*one, *other}):
        before, after = one.get(path), other.get(path)
        if before == after:
            continue
        kind = Kind.ADDED if before is None else Kind.REMOVED if after is None else Kind.CHANGED
        found.append(Change(path, kind, before or "", after or ""))
        if before is not None and after is not None and path.endswith(ARCHIVES):
            found += _inside(path, old, before, new, after)
    return found


def _artifacts(run: Run) -> dict[str, str]:
    """Return the SHA-256 (hex) of every artifact by gate and real name."""
    return {
        f"{gate}/{artifact.name}": artifact.sha256
        for gate in run.records.gates
        for artifact in run.records.receipt(gate).artifacts
    }


def _inside(path: str, old: Run, before: str, new: Run, after: str) -> Iterator[Change]:
    """Yield which files differ inside an archive of the same name."""
    try:
        one, other = _members(old, before), _members(new, after)
    except ArchiveError as error:
        yield Change(path, Kind.NOT_COMPARABLE, "", error.observed)
        return
    if content_digest(one.values()) == content_digest(other.values()):
        yield Change(path, Kind.CHANGED, "the same files", "the same files, packed otherwise")
        return
    differing = [name for name in sorted({*one, *other}) if _digest(one, name) != _digest(other, name)]
    for name in differing[:_LISTED]:
        kind = Kind.ADDED if name not in one else Kind.REMOVED if name not in other else Kind.CHANGED
        yield Change(f"{path}!{name}", kind, _digest(one, name), _digest(other, name))
    if len(differing) > _LISTED:
        yield Change(path, Kind.CHANGED, "", f"and {len(differing) - _LISTED} more files")


def _members(run: Run, sha256: str) -> dict[str, Member]:
    """Return an archive's members by name."""
    with run.container.open(artifact_name(sha256)) as stream:
        return {member.name: member for member in archive_members(stream)}


def _digest(members: dict[str, Member], name: str) -> str:
    """Return a member's SHA-256 (hex), ``""`` where there is none."""
    return members[name].sha256 if name in members else ""
