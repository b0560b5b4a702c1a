"""Bundles with what lies beside them, and stores that go wrong."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from assay.archive.deposit import Item, deposit, items_of
from assay.archive.store import Store
from assay.evidence.bundle import Bundle, write_bundle
from assay.signing import sign_bundle, sign_sigstore
from tests.evidence.keyring import ALICE
from tests.evidence.support import make_run

NOW = datetime(2026, 12, 3, tzinfo=UTC)
DAY = "2026-12-01T12:00:00Z"


def signed_bundle(folder: Path, started: str = DAY) -> Bundle:
    """Return a bundle with attestations in both forms beside it."""
    bundle = write_bundle(make_run(folder, started=started))
    sign_bundle(bundle.path, ALICE)
    sign_sigstore(bundle.path, ALICE)
    return bundle


def put(bundle: Bundle, store: Store) -> list[bool]:
    """Archive a bundle with what lies beside it, and return which of it was new."""
    return [each.new for each in deposit(items_of(bundle.path, NOW), store)]


def contents(items: tuple[Item, ...]) -> dict[str, bytes]:
    """Return the bytes by name."""
    return {str(item.name): item.file.read_bytes() for item in items}


def held(store: Store) -> dict[str, bytes]:
    """Return the bytes by name that an archive holds."""
    found = {}
    for name in store.listing().names:
        with store.opened(name) as path:
            found[str(name)] = path.read_bytes()
    return found
