"""Shared libraries made for tests, with the C compiler that the selection was made with."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path


def compile_library(source: str, target: Path, *options: str) -> Path:
    """Compile C text into a shared library and return it."""
    text = target.with_suffix(".c")
    text.write_text(source)
    compiler = shutil.which("gcc") or shutil.which("cc")
    assert compiler is not None, "no C compiler on PATH"
    argv = [compiler, "-shared", "-fPIC", *options, "-o", str(target), str(text)]
    subprocess.run(argv, check=True, capture_output=True)  # noqa: S603  # words are the test's
    return target
