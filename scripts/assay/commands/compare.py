"""``assay compare A B``."""

from __future__ import annotations

import argparse

from assay.commands.output import print_json
from assay.evidence.compare import compare_bundles
from assay.evidence.compared import comparison_lines


def run(options: argparse.Namespace) -> int:
    """Compare two bundles; return 0 same subject, 1 different, 3 one is too new, 4 either is invalid."""
    found = compare_bundles(options.old, options.new)
    if not options.json:
        print("\n".join(comparison_lines(found)))
    print_json(found.to_json(), wanted=options.json)
    return found.exit_code
