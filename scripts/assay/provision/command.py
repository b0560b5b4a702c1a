"""``assay provision``: what its options ask for."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from assay.errors import UsageError
from assay.provision.download import Wanted, fill_wheelhouse
from assay.provision.flow import provision
from assay.provision.job import Request, require_linux


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
    if options.download:
        _fill(request, options)
    else:
        _refuse_filling_options(options)
        provision(request, _say)
    return 0


def _fill(request: Request, options: argparse.Namespace) -> None:
    """Fill the wheelhouse."""
    if request.wheelhouse is None:
        raise UsageError(
            "--download was given without --wheelhouse", "a folder to fill", "add --wheelhouse DIR"
        )
    here = ".".join(map(str, sys.version_info[:2]))
    wanted = Wanted(tuple(options.python_version) or (here,), options.machine, toolkit=not options.no_toolkit)
    fill_wheelhouse(request, wanted, request.wheelhouse, _say)


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
