"""Run by the build environment's interpreter: builds the wheel of the source tree in the working folder.

    python parallel_build.py OUT JOBS

setuptools compiles an extension's files one after the other.  PyCUDA's extension has some forty, so here the
compiler's ``compile`` hands each to a thread; everything else is setuptools' own PEP 517 hook.  This file imports
nothing of the package: the build environment has only what the lock ``build`` names.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any


def compile_in_parallel(jobs: int) -> Callable[..., list[str]]:
    """Return a ``compile`` method (of distutils' ``CCompiler``) that runs ``jobs`` compilers at once.

    Its parameters are those of the method that it replaces; it returns the object files' paths.
    """

    def compile_all(
        self: Any,  # noqa: ANN401  # distutils' CCompiler, whose module moves between setuptools' versions
        sources: list[str],
        output_dir: str | None = None,
        macros: list[Any] | None = None,
        include_dirs: list[str] | None = None,
        debug: bool = False,  # noqa: FBT001, FBT002  # the signature of the method that is replaced
        extra_preargs: list[str] | None = None,
        extra_postargs: list[str] | None = None,
        depends: list[str] | None = None,
    ) -> list[str]:
        """Compile every source; the first failure is raised."""
        prepared = self._setup_compile(output_dir, macros, include_dirs, sources, depends, extra_postargs)
        _, objects, postargs, preprocessor, build = prepared
        arguments = self._get_cc_args(preprocessor, debug, extra_preargs)

        def compile_one(made: str) -> None:
            source, extension = build[made]
            self._compile(made, source, extension, arguments, postargs, preprocessor)

        with ThreadPoolExecutor(jobs) as pool:
            for _ in pool.map(compile_one, build):
                pass
        return list(objects)

    return compile_all


def main(out: str, jobs: int) -> None:
    """Build the working folder's wheel into ``out``."""
    from setuptools import build_meta  # noqa: PLC0415  # of the build environment, which others lack

    from distutils.ccompiler import CCompiler  # noqa: PLC0415  # setuptools' copy, installed by the line above

    CCompiler.compile = compile_in_parallel(jobs)
    sys.path.insert(0, os.getcwd())
    build_meta.__legacy__.build_wheel(out)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
