"""``assay diagnose`` beside ``cuda-doctor diagnose``, from process start to end, on this machine.

Both look at the same machine in the same run.  In a folder without a project nothing is selected: both look
for GPUs, driver, libraries and variables.  In this project ``assay`` also asks the embedded selection:
interpreter, packages, NVRTC, nvcc and the host compiler answer in processes of their own.  Bytecode is kept
between turns, as it is for everybody who installed the two.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from assay.selection import EMBEDDED_FILE
from tests.bench.measure import Line, alternate, bounded, compared

TURNS = 11
RATIO = 0.5
SELECTED_S = 1.5
"""Seconds with a selection: a dozen programs are started then that ``cuda-doctor`` has no counterpart of."""

_ENDINGS = (0, 1, 3)
"""Exit codes of a diagnosis that came to an end (README, "Exit codes")."""


def diagnose_lines(project: Path, empty: Path) -> Iterator[Line]:
    """Yield the lines of this module.

    Args:
        project: this project.
        empty: a folder with nothing in it.

    Raises:
        FileNotFoundError: ``cuda-doctor`` is not there to be compared with.
        RuntimeError: a program did not do what it is measured for.
    """
    doctor = _ending((str(_beside("cuda-doctor")), "diagnose"), empty)
    mine, theirs = alternate(TURNS, _ending((str(_beside("assay")), "diagnose"), empty), doctor)
    yield compared("assay diagnose", mine, "cuda-doctor diagnose", theirs, RATIO)
    if (project / EMBEDDED_FILE).is_file():
        (whole,) = alternate(TURNS, _ending((str(_beside("assay")), "diagnose"), project))
        yield bounded("assay diagnose, all selected", whole, SELECTED_S)


def _beside(program: str) -> Path:
    """Return a program that is installed beside this interpreter.

    Raises:
        FileNotFoundError: it is not.
    """
    path = Path(sys.executable).with_name(program)
    if not path.exists():
        raise FileNotFoundError(f"{path} is not there, so there is nothing to compare with")
    return path


def _ending(argv: tuple[str, ...], folder: Path) -> Callable[[], None]:
    """Return what runs a diagnosis to its end."""
    env = _environment()

    def run() -> None:
        ended = subprocess.run(argv, cwd=folder, env=env, capture_output=True, check=False)  # noqa: S603  # argv is ours
        if ended.returncode not in _ENDINGS or not ended.stdout:
            raise RuntimeError(f"{argv[0]} ended with {ended.returncode}: {ended.stderr.decode()[-500:]}")

    return run


def _environment() -> Mapping[str, str]:
    """Return this process's environment, in which bytecode may be kept."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
