"""What the commands that run gates share."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from assay.commands.interrupts import termination_interrupts
from assay.commands.output import print_json, viewing
from assay.engine.console import Say
from assay.engine.prepare import Request
from assay.model import Json


def run_and_print(
    options: argparse.Namespace, challenge: str, work: Callable[[Request, Say], tuple[int, Json]]
) -> int:
    """Do a command's work, print its document where ``--json`` wants it, and return its exit code."""
    request = Request(options.project, options.selection, options.artifact, challenge)
    with termination_interrupts(), viewing(as_json=options.json) as say:
        code, document = work(request, say)
    print_json(document, wanted=options.json)
    return code
