"""``assay fetch [NAME]``."""

from __future__ import annotations

import argparse
import sys

from assay.fetch import fetch_provider, pins_to_fetch, shown_progress
from assay.machine import Machine
from assay.plan import load_plan

PROVIDERS = ".assay/providers"


def run(options: argparse.Namespace) -> int:
    """Bring the pinned providers of this platform and print where each lies; return 0."""
    project = options.project.resolve()
    pins = pins_to_fetch(load_plan(project), Machine.real().platform, options.name)
    with shown_progress(sys.stderr) as progress:
        for pin in pins:
            print(fetch_provider(pin, options.to or project / PROVIDERS, progress=progress))
    return 0
