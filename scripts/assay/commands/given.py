"""Paths that a command line names: one that is not there is a mistake of the line, not of a bundle."""

from __future__ import annotations

from pathlib import Path

from assay.errors import UsageError


def existing(path: Path) -> Path:
    """Return ``path``.

    Raises:
        UsageError: nothing is there.
    """
    if not path.exists():
        raise UsageError(f"{path} does not exist", "a path that is there", "correct the path")
    return path
