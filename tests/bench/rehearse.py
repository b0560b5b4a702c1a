"""The rehearsal: a whole second run, and the inner loop from save to answer, both warm."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from tests.bench.measure import Line, alternate, bounded

WHOLE_LIMIT_S = 30.0
INNER_LIMIT_S = 3.0
WHOLE_TURNS = 1
INNER_TURNS = 5


def second_rehearsal(project: Path) -> Line:
    """Measure a whole rehearsal after one that made everything; it ends with a bundle and a verdict."""
    (times,) = alternate(WHOLE_TURNS, lambda: _assay(project, "rehearse"))
    return bounded("a second whole rehearsal", times, WHOLE_LIMIT_S)


def inner_loop(project: Path, folder: Path) -> Line:
    """Measure the inner loop over a kernel that is saved anew each time."""
    made = folder / "project"
    shutil.copytree(project / "kernels", made / "kernels")
    shutil.copy(project / "pyproject.toml", made)
    (made / ".assay").symlink_to(project / ".assay")
    kernel = made / "kernels" / "pipeline" / "double.cu"

    def turn() -> None:
        kernel.write_text(kernel.read_text() + "// saved\n")
        _assay(made, "rehearse", "chain", "pipeline")

    (times,) = alternate(INNER_TURNS, turn)
    return bounded("the inner loop, start of assay included", times, INNER_LIMIT_S)


def _assay(project: Path, *arguments: str) -> None:
    """Run a command that has to succeed.

    Raises:
        CalledProcessError: it did not do what it is measured for.
    """
    argv = [sys.executable, "-m", "assay.cli", *arguments, "--project", str(project)]
    subprocess.run(argv, check=True, capture_output=True)  # noqa: S603  # this project's own command
