"""``assay diagnose``."""

from __future__ import annotations

import argparse
import sys

from assay.commands.interrupts import termination_interrupts
from assay.commands.output import print_json
from assay.engine.diagnose import Diagnosis, Wanted, diagnose
from assay.engine.diagnosed import exit_code, lines, to_json


def run(options: argparse.Namespace) -> int:
    """Diagnose a machine; return 0 nothing wrong, 1 a failure, 3 only errors or missing capabilities."""
    wanted = Wanted(options.project, options.selection, options.root, options.env_file)
    with termination_interrupts():
        diagnosis = diagnose(wanted)
    _tell_logs(diagnosis)
    if options.json:
        print_json(to_json(diagnosis), wanted=True)
    else:
        for line in lines(diagnosis):
            print(line)
    return exit_code(diagnosis)


def _tell_logs(diagnosis: Diagnosis) -> None:
    """Print on stderr the log's end of each gate that broke: no run folder keeps it."""
    for looked in diagnosis.looked:
        if looked.log:
            print(f"log of gate {looked.row.name}:\n{looked.log}", file=sys.stderr)
