"""``assay qualify``."""

from __future__ import annotations

import argparse

from assay.commands.running import run_and_print
from assay.engine.qualify import qualify


def run(options: argparse.Namespace) -> int:
    """Run every planned gate; return 0 qualified, 1 rejected, 3 undecided."""
    return run_and_print(options, options.challenge, qualify)
