"""``assay gate NAME``."""

from __future__ import annotations

import argparse

from assay.commands.output import print_json, speaker
from assay.engine.prepare import Request
from assay.engine.qualify import run_gate_alone


def run(options: argparse.Namespace) -> int:
    """Run one gate and those it needs; return 0 passed, 1 failed, else 3."""
    request = Request(options.project, options.selection, options.artifact)
    code, document = run_gate_alone(request, options.gate, speaker(as_json=options.json))
    print_json(document, wanted=options.json)
    return code
