"""Run by the build environment's interpreter: builds the wheel of the source tree in the working folder.

    python parallel_build.py OUT JOBS

setuptools compiles an extension's files one after the other.  PyCUDA's extension has some forty, so here each
file is handed to a thread; everything else is setuptools' own PEP 517 hook.  This file imports nothing of the
package: the build environment has only what the lock ``build`` names.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any


def in_parallel(compile_: Callable[..., list[str]], jobs: int) -> Callable[..., list[str]]:
    """Return a ``compile`` method of distutils' ``CCompiler`` that compiles ``jobs`` files at once.

    Args:
        compile_: the method that it replaces: compiles files in turn and returns the object files' paths.
        jobs: compilers at once.
    """

    def compile_all(compiler: object, sources: list[str], **options: object) -> list[str]:
        """Compile every source; the first failure is raised."""
        with ThreadPoolExecutor(jobs) as pool:
            made = pool.map(lambda source: compile_(compiler, [source], **options), sources)
            return [path for paths in made for path in paths]

    return compile_all


def main(out: str, jobs: int) -> None:
    """Build the working folder's wheel into ``out``."""
    hooks: Any = importlib.import_module("setuptools.build_meta")
    compilers: Any = importlib.import_module(
        "distutils.ccompiler"
    )  # setuptools' copy: it came with the line above
    compilers.CCompiler.compile = in_parallel(compilers.CCompiler.compile, jobs)
    sys.path.insert(0, str(Path.cwd()))
    hooks.__legacy__.build_wheel(out)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
