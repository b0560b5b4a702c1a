"""What a copy of this package can do: one file reads and verifies; what is installed runs too."""

from __future__ import annotations

import argparse
import gc
import importlib
from collections.abc import Callable

from assay.errors import UsageError

_RUNS = frozenset({"qualify", "rehearse", "gate", "diagnose", "provision"})
"""Commands that start processes of what is installed; whatever else this Python has, one file has no such."""

_SHORT = frozenset({"diagnose", "explain"})
"""Commands that are over before collecting garbage would have paid."""


def run_in_this_copy(command: str, module: str, options: argparse.Namespace) -> int:
    """Run a command in this copy of the package and return its exit code.

    Args:
        command: its name.
        module: the module that has it.
        options: its options.

    Raises:
        UsageError: the command runs something and this is the reader's one-file copy, or it needs a package
            that this Python does not have.
    """
    if command in _RUNS and _is_one_file():
        raise _only_reads(command)
    try:
        run: Callable[[argparse.Namespace], int] = importlib.import_module(module).run
        if command not in _SHORT:
            gc.enable()
        return run(options)
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package in {"", "assay"}:
            raise
        if _is_one_file():
            raise _only_reads(command) from error
        raise UsageError(
            f"`{command}` needs the package {package}, which this Python does not have",
            "an installed gpu-assay with what it needs",
            "install it: pip install gpu-assay",
        ) from error


def _is_one_file() -> bool:
    """Say whether this package was imported from a zip."""
    from assay.evidence.toolchain import own_archive  # noqa: PLC0415  # commands that read need not wait for it

    return own_archive() is not None


def _only_reads(command: str) -> UsageError:
    """Return the error of a command that the one-file copy does not have."""
    return UsageError(
        f"this copy of assay is one file and only reads: it cannot `{command}`",
        "verify, show, compare, release or bundle",
        "install gpu-assay to run: pip install gpu-assay",
    )
