"""``assay qualify``."""

from __future__ import annotations

import argparse

from assay.commands.output import print_json, speaker
from assay.engine.prepare import Request
from assay.engine.qualify import qualify


def run(options: argparse.Namespace) -> int:
    """Run every planned gate; return 0 qualified, 1 rejected, 3 undecided."""
    request = Request(options.project, options.selection, options.artifact, options.challenge)
    code, document = qualify(request, speaker(as_json=options.json))
    print_json(document, wanted=options.json)
    return code
