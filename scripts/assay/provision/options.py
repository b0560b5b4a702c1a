"""The options of ``assay provision``; apart from ``command`` so that reading a command line loads nothing."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

MACHINES = ("x86_64", "aarch64")
"""Processors that a wheelhouse can be filled for."""


def _machine() -> str:
    """Return this computer's processor, as ``uname`` and Windows say it."""
    return os.uname().machine if hasattr(os, "uname") else os.environ.get("PROCESSOR_ARCHITECTURE", "")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``provision``."""
    parser.add_argument(
        "--project", type=Path, default=Path(), metavar="DIR", help="the project (default: here)"
    )
    parser.add_argument("--python", default=sys.executable, metavar="EXE", help="the interpreter to select")
    parser.add_argument(
        "--toolkit", type=Path, metavar="DIR", help="a CUDA toolkit that is on this machine already"
    )
    parser.add_argument("--wheelhouse", type=Path, metavar="DIR", help="take files from here, use no network")
    parser.add_argument(
        "--jobs", type=int, default=0, metavar="N", help="compilers at once (default: one a core)"
    )
    filling = parser.add_argument_group("filling a wheelhouse for a machine without network")
    filling.add_argument("--download", action="store_true", help="fill --wheelhouse instead of provisioning")
    filling.add_argument(
        "--python-version",
        action="append",
        default=[],
        metavar="X.Y",
        help="a Python it is for, repeatable (default: this one)",
    )
    filling.add_argument("--machine", choices=MACHINES, default=_machine(), help="for this processor")
    filling.add_argument(
        "--no-toolkit", action="store_true", help="leave the CUDA toolkit out: that machine has its own"
    )
