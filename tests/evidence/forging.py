"""Makes bundles that no honest run leaves: members edited, journal and manifest made to fit again."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Mapping
from pathlib import Path

from assay import canonical
from assay.evidence.container import Member, open_container, write_container
from assay.evidence.journal import Entry, parse_journal
from assay.model import Json

Members = dict[str, bytes]
"""Content by name, without the manifest."""

Document = dict[str, Json]


def members_of(path: Path) -> tuple[Document, Members]:
    """Return a bundle's manifest and its other members."""
    with open_container(path) as container:
        found = {entry.name: container.read(entry.name, entry.size) for entry in container.entries}
    return document(found.pop("manifest.json")), found


def document(data: bytes) -> Document:
    """Return a document as an object that may be changed."""
    value = canonical.parse(data)
    assert isinstance(value, dict)
    return value


def member(name: str, data: bytes) -> Member:
    """Return a member."""
    return Member(name, len(data), hashlib.sha256(data).hexdigest(), lambda: io.BytesIO(data))


def pack(path: Path, manifest: Mapping[str, Json], members: Members) -> Path:
    """Write a container of exactly these members, the manifest listing them as they are."""
    ordered = sorted(members, key=str.encode)
    listed: list[Json] = [
        {"name": name, "sha256": hashlib.sha256(members[name]).hexdigest(), "size": len(members[name])}
        for name in ordered
    ]
    data = canonical.dumps({**manifest, "members": listed})
    with path.open("wb") as stream:
        write_container(
            stream, [member("manifest.json", data), *(member(name, members[name]) for name in ordered)]
        )
    return path


def relink(members: Members) -> None:
    """Make the journal name the receipts, logs and plan as they now are."""
    entries: list[Entry] = []
    prev = "0" * 64
    for old in parse_journal(members["journal.jsonl"]).entries:
        name = "plan.json" if old.seq == 0 else f"{old.gate}.json"
        log = members.get(f"{old.gate}.log") if old.log_sha256 != "0" * 64 else None
        entry = Entry(
            len(entries),
            prev,
            old.gate,
            hashlib.sha256(members[name]).hexdigest(),
            "0" * 64 if log is None else hashlib.sha256(log).hexdigest(),
        )
        entries.append(entry)
        prev = entry.digest()
    members["journal.jsonl"] = b"".join(entry.line() + b"\n" for entry in entries)


def forge(path: Path, to: Path, edit: Callable[[Document, Members], None], *, relinked: bool = True) -> Path:
    """Return a copy of a bundle with an edit, made to fit together again as far as anybody can.

    Args:
        path: the honest bundle.
        to: the forged one.
        edit: changes the manifest and the members in place.
        relinked: whether the journal is made to name what is there now.
    """
    manifest, members = members_of(path)
    edit(manifest, members)
    if relinked:
        relink(members)
    return pack(to, manifest, members)


def edit_json(members: Members, name: str, change: Callable[[Document], None]) -> None:
    """Edit a document among the members."""
    value = document(members[name])
    change(value)
    members[name] = canonical.dumps(value)
