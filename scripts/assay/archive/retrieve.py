"""Takes bundles and all that is about them out of an archive, into a folder that is an archive too."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from assay.archive.deposit import Deposited, Item
from assay.archive.folder import FolderStore
from assay.archive.holding import check_about, check_bundle
from assay.archive.store import Listing, Store
from assay.errors import UsageError
from assay.evidence.filed import Part

_LEAST = 8
"""Hex digits that name a bundle, where no other begins with them."""


def digest_named(given: str, listing: Listing) -> str:
    """Return the digest of the one bundle that a digest or its beginning names.

    Raises:
        UsageError: it names none, or several.
    """
    found = [
        each.bundle for each in listing.names if each.part is Part.BUNDLE and each.bundle.startswith(given)
    ]
    if len(given) < _LEAST or len(found) != 1:
        raise UsageError(
            f"{given} names {len(found)} bundles of the archive"
            if found
            else f"{given} is not in the archive",
            f"a bundle digest, or {_LEAST} or more digits of its beginning",
            "see `assay archive list`",
        )
    return found[0]


def retrieve(digest: str, listing: Listing, store: Store, target: Path, now: datetime) -> Iterator[Deposited]:
    """Take a bundle and all that is about it, each checked before it is kept.

    Args:
        digest: its bundle digest (hex).
        listing: what the archive holds.
        store: the archive.
        target: the folder to keep it in.
        now: the user's time.

    Raises:
        BundleError: something is not what its name says: nothing of it is kept.
        AssayError: it cannot be had, or not be written.
    """
    kept = FolderStore(target)
    wanted = [name for name in listing.names if name.bundle == digest]
    for name in sorted(wanted, key=lambda name: name.part is not Part.BUNDLE):
        with store.opened(name) as path:
            if name.part is Part.BUNDLE:
                check_bundle(path, digest, now)
            else:
                check_about(path, name)
            new = kept.put(name, path)
        yield Deposited(Item(name, target / str(name)), new)
