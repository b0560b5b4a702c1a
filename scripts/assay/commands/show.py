"""``assay show BUNDLE``."""

from __future__ import annotations

import argparse

from assay.commands.given import existing
from assay.commands.output import print_lines
from assay.evidence.show import show_bundle


def run(options: argparse.Namespace) -> int:
    """Print what a bundle says, after verifying it; return 0 where it is intact, 4 where it is not."""
    lines, verified = show_bundle(existing(options.bundle), subject=options.subject)
    print_lines(lines)
    return 0 if verified.intact else 4
