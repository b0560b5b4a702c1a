"""``assay supersede OLD NEW --claims … --reason …``."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime

from assay.archive.holding import check_bundle
from assay.archive.replacing import superseding
from assay.commands.given import existing
from assay.commands.revoke import sign_and_keep


def run(options: argparse.Namespace) -> int:
    """Sign that a bundle replaces another one in some claims; return 0 when the statement is written.

    Raises:
        UsageError: the new bundle is no fresh evidence for a claim, or the key is none.
        BundleError: one of the bundles is not intact: nothing is signed.
    """
    now = datetime.now(UTC)
    old = check_bundle(existing(options.bundle), "", now).verified
    new = check_bundle(existing(options.new), "", now).verified
    claims = [claim for given in options.claims for claim in given.split(",") if claim]
    said = superseding(old, new, claims, options.reason, now)
    return sign_and_keep(said, options)
