"""``assay rehearse``."""

from __future__ import annotations

import argparse

from assay.commands.interrupts import termination_interrupts
from assay.commands.output import print_json, speaker
from assay.commands.running import run_and_print
from assay.engine.inner import rehearse_chain, watch_chain
from assay.engine.prepare import Request
from assay.engine.rehearse import rehearse, rehearse_gate
from assay.errors import UsageError

CHAIN = "chain"


def run(options: argparse.Namespace) -> int:
    """Rehearse everything, one gate, or one chain in the inner loop.

    Returns:
        Of everything 0 rehearsed, 1 rejected, 3 undecided; else 0 passed, 1 failed, 3 neither.

    Raises:
        UsageError: ``--watch`` or a chain's name without ``chain``.
    """
    if options.name is None and options.watch:
        raise UsageError("--watch has no chain to watch", "a chain", "assay rehearse chain NAME --watch")
    if options.name is not None:
        return _inner(options)
    if options.gate is None:
        return run_and_print(options, "", rehearse)
    return run_and_print(options, "", lambda request, say: rehearse_gate(request, options.gate, say))


def _inner(options: argparse.Namespace) -> int:
    """Run one chain, once or at every change."""
    if options.gate != CHAIN:
        raise UsageError(f"{options.gate} {options.name}: only `chain` takes a name", "chain NAME", "")
    request = Request(options.project, options.selection, options.artifact)
    say = speaker(as_json=options.json)
    with termination_interrupts():
        if options.watch:
            return watch_chain(request, options.name, say)
        code, document = rehearse_chain(request, options.name, say)
    print_json(document, wanted=options.json)
    return code
