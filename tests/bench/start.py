"""From process start to end: ``assay --version`` beside an empty program, and ``assay verify``."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from assay.nox import released
from tests.bench.measure import Line, alternate, bounded, compared

TURNS = 30
VERSION_RATIO = 4.0
VERIFY_S = 0.2


def version_start() -> Line:
    """Measure ``assay --version`` beside ``python -c pass`` of the same interpreter."""
    version, empty = alternate(TURNS, running(command("--version")), running([sys.executable, "-c", "pass"]))
    return compared("assay --version", version, "python -c pass", empty, VERSION_RATIO)


def verify_start(project: Path) -> Line:
    """Measure ``assay verify`` of the largest released bundle.

    Raises:
        FileNotFoundError: no bundle is released, so there is nothing to measure.
    """
    largest = largest_released(project)
    (verify,) = alternate(TURNS, running(command("verify", str(largest), "--accept", "unanchored")))
    return bounded(f"assay verify ({largest.stat().st_size / 1e6:.1f} MB)", verify, VERIFY_S)


def largest_released(project: Path) -> Path:
    """Return the largest released bundle of a project.

    Raises:
        FileNotFoundError: no bundle is released, so there is nothing to measure.
    """
    receipts = project / "receipts"
    bundles = sorted((receipts / name for name in released(receipts)), key=lambda path: path.stat().st_size)
    if not bundles:
        raise FileNotFoundError(f"{receipts} holds no released bundle to verify")
    return bundles[-1]


def command(*arguments: str) -> list[str]:
    """Return the installed command ``assay`` with arguments."""
    return [str(Path(sys.executable).with_name("assay")), *arguments]


def running(argv: Sequence[str]) -> Callable[[], object]:
    """Return what runs a command to its end and fails unless it exits 0."""
    return lambda: subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)  # noqa: S603  # argv is ours
