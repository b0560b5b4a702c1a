"""``assay revoke BUNDLE --reason …``."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime

from assay.archive.holding import check_bundle
from assay.archive.places import open_store
from assay.archive.replacing import keep, revoking
from assay.commands.given import existing
from assay.evidence.life import Said
from assay.signing import load_key


def run(options: argparse.Namespace) -> int:
    """Sign that a bundle must not be relied on any more; return 0 when the statement is written.

    Raises:
        UsageError: the reason is none, or the key.
        BundleError: the bundle is not intact: nothing is signed.
    """
    now = datetime.now(UTC)
    old = check_bundle(existing(options.bundle), "", now).verified
    return sign_and_keep(revoking(old, options.reason, now), options)


def sign_and_keep(said: Said, options: argparse.Namespace) -> int:
    """Sign a statement, write it beside its bundle, and put it into the archive that was named; return 0.

    Raises:
        AssayError: it cannot be signed or written, or the archive refused.
    """
    key = load_key(options.key)
    store = open_store(options.to) if options.to else None
    path, name = keep(said.signed(key.sign, key.public), said, options.bundle, store)
    what = f"superseded in {', '.join(said.claims)} by {said.new.run}" if said.new else "revoked"
    print(f"signed: {said.old.run} is {what}")
    print(f"statement: {path}")
    print(f"key id: {key.public.id}")
    if store is None:
        print("in no archive yet: assay archive BUNDLE --to PLACE takes it along")
    else:
        print(f"archived: {name}")
    return 0
