"""``assay bundle RUN``."""

from __future__ import annotations

import argparse

from assay.commands.given import existing
from assay.evidence.bundle import write_bundle


def run(options: argparse.Namespace) -> int:
    """Finish a run folder, also one that was cut short, into a bundle; return 0 when it is written."""
    bundle = write_bundle(existing(options.folder))
    print(f"bundle: {bundle.path}")
    print(f"bundle digest: {bundle.digest}")
    return 0
