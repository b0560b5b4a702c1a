"""``assay provision``: its options, and what they ask for."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from pathlib import Path

from assay.errors import UsageError
from assay.provision.download import MACHINES, Wanted, fill_wheelhouse
from assay.provision.flow import Request, provision, require_linux


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
        "--python-version", action="append", default=[], metavar="X.Y", help="for this Python (repeatable)"
    )
    filling.add_argument("--machine", choices=MACHINES, default=platform.machine(), help="for this processor")
    filling.add_argument(
        "--no-toolkit", action="store_true", help="leave the CUDA toolkit out: that machine has its own"
    )


def run(options: argparse.Namespace) -> int:
    """Provision, or fill a wheelhouse, and return the exit code.

    Raises:
        AssayError: as ``flow.provision`` and ``download.fill_wheelhouse`` raise it.
    """
    require_linux(sys.platform)
    request = Request(
        project=options.project,
        python=options.python,
        environ=os.environ,
        jobs=_jobs(options.jobs),
        toolkit=options.toolkit,
        wheelhouse=_absolute(options.wheelhouse),
    )
    if not options.download:
        _refuse_filling_options(options)
        provision(request, _say)
        return 0
    if request.wheelhouse is None:
        raise UsageError(
            "--download was given without --wheelhouse", "a folder to fill", "add --wheelhouse DIR"
        )
    here = ".".join(map(str, sys.version_info[:2]))
    wanted = Wanted(tuple(options.python_version) or (here,), options.machine, toolkit=not options.no_toolkit)
    fill_wheelhouse(request, wanted, request.wheelhouse, _say)
    return 0


def _refuse_filling_options(options: argparse.Namespace) -> None:
    """Refuse options that mean something only with ``--download``."""
    if options.python_version or options.no_toolkit:
        raise UsageError(
            "--python-version and --no-toolkit were given without --download",
            "both with --download",
            "add --download",
        )


def _jobs(wanted: int) -> int:
    """Return how many compilers run at once."""
    if wanted < 0:
        raise UsageError(f"--jobs {wanted} is negative", "a positive number", "leave it out for one a core")
    return wanted or len(os.sched_getaffinity(0))


def _absolute(path: Path | None) -> Path | None:
    """Return an absolute path: children run in other folders."""
    return path.absolute() if path else None


def _say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
