"""``assay gate NAME``."""

from __future__ import annotations

import argparse

from assay.commands.running import run_and_print
from assay.engine.qualify import run_gate_alone


def run(options: argparse.Namespace) -> int:
    """Run one gate and those it needs; return 0 passed, 1 failed, else 3."""
    return run_and_print(options, "", lambda request, say: run_gate_alone(request, options.gate, say))
