"""Starts the child: ``python chain.zip`` and ``python -m assay.chain`` run this."""

from __future__ import annotations

import sys

from .main import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
