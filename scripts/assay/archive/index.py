"""What an archive's bundles come to, kept so that a query need not verify them all.

An index is made of the bundles and can be thrown away at any time: whatever it lacks, or holds of a file
that has changed or of another version of assay, is found by verifying that bundle.  It is the word of whoever
keeps the archive; ``assay archive check`` asks the bundles.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from assay import __version__, canonical
from assay.archive.folder import INDEX, FolderStore
from assay.archive.store import Listing, Store
from assay.errors import AssayError
from assay.evidence.filed import Name, Part
from assay.files import read_bounded, write_atomic
from assay.model import Json

if TYPE_CHECKING:
    from assay.archive.holding import Held

SCHEMA = "assay/archive-index/1"
_BYTES = 1 << 26
_DIGEST = 64


@dataclass(frozen=True)
class Entry:
    """What a bundle comes to.

    Attributes:
        stamp: of the file that was looked at: it tells when that has changed.
        run, started, project, platform: of its plan; ``""`` where it is not intact.
        tier: the tier that its facts show, ``""`` where they show none.
        verdict: as judged by this version.
        claims: ids of the claims that it establishes.
        problem: why it is not intact, ``""`` where it is.
    """

    stamp: str
    run: str
    started: str
    project: str
    platform: str
    tier: str
    verdict: str
    claims: tuple[str, ...]
    problem: str


def entry_of(held: Held, stamp: str) -> Entry:
    """Return the entry of a bundle that was verified."""
    verified = held.verified
    return Entry(
        stamp=stamp,
        run=verified.run,
        started=verified.started,
        project=held.project,
        platform=verified.platform,
        tier=verified.tier.value if verified.tier else "",
        verdict=verified.verdict.value,
        claims=tuple(claim.id for claim in verified.claims.established),
        problem=held.problem,
    )


def index_file(store: Store) -> Path:
    """Return where the index of an archive lies: in its folder, or of another place in the user's cache."""
    if isinstance(store, FolderStore):
        return store.folder / INDEX
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "assay" / "archives" / f"{hashlib.sha256(store.place.encode()).hexdigest()}.json"


def query(store: Store, listing: Listing, now: datetime) -> dict[str, Entry]:
    """Return the entry of each bundle by its digest, and keep what had to be found anew.

    Raises:
        AssayError: a bundle that the index lacks cannot be had.
    """
    file = index_file(store)
    known = _load(file)
    found: dict[str, Entry] = {}
    for name in listing.names:
        if name.part is Part.BUNDLE:
            stamp = listing.stamps.get(name.bundle, "")
            entry = known.get(name.bundle)
            found[name.bundle] = entry if entry and entry.stamp == stamp else _look(store, name, stamp, now)
    if found != known:
        save(file, found)
    return found


def save(file: Path, entries: Mapping[str, Entry]) -> None:
    """Keep an index; that it cannot be kept loses nothing."""
    document: Json = {
        "bundles": {
            digest: asdict(entry) | {"claims": list(entry.claims)} for digest, entry in entries.items()
        },
        "schema": SCHEMA,
        "tool": __version__,
    }
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(file, canonical.dumps(document) + b"\n")
    except (AssayError, OSError):
        return


def _look(store: Store, name: Name, stamp: str, now: datetime) -> Entry:
    """Find what a bundle comes to."""
    from assay.archive import holding  # noqa: PLC0415  # what verifies is what a query seldom needs

    with store.opened(name) as path:
        held = holding.look(path, now)
    found = held.verified.bundle_digest
    if held.verified.intact and found != name.bundle:
        return Entry(stamp, "", "", "", "", "", "undecided", (), f"its bundle digest is {found}")
    return entry_of(held, stamp)


def _load(file: Path) -> dict[str, Entry]:
    """Return an index as it lies there, nothing where it is of no use."""
    try:
        document = json.loads(read_bounded(file, _BYTES))
        if document["schema"] != SCHEMA or document["tool"] != __version__:
            return {}
        return dict(_entries(document["bundles"]))
    except (AssayError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def _entries(bundles: Mapping[str, Mapping[str, object]]) -> Iterator[tuple[str, Entry]]:
    """Yield the entries of an index.

    Raises:
        TypeError, KeyError, AttributeError: it is of another form.
    """
    for digest, given in bundles.items():
        fields = {**given, "claims": tuple(given["claims"])}  # type: ignore[arg-type]  # a TypeError is the answer
        entry = Entry(**fields)  # type: ignore[arg-type]  # checked below
        texts = (*entry.claims, *(value for key, value in fields.items() if key != "claims"))
        if len(digest) != _DIGEST or not all(isinstance(text, str) for text in texts):
            raise TypeError(digest)
        yield digest, entry
