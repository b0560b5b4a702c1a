"""Starts the child: ``python chain.zip`` and ``python -m assay.chain`` run this."""

from __future__ import annotations

import faulthandler
import sys

from .main import main

if __name__ == "__main__":
    faulthandler.enable()  # a crash inside a driver leaves a trace in the log
    sys.exit(main(sys.argv[1:]))
