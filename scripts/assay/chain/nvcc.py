"""CUDA sources through nvcc, as PyCUDA calls it: ``pycuda.compiler.compile_plain``, which needs no driver.

PyCUDA gives nvcc no program name and works in a temporary folder.  A leading ``#line`` names the program
instead, so that the folder leaves no trace in the bytes.  ``cache_dir=False``: PyCUDA's cache does not know
one nvcc from another.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from .architecture import virtual_architecture
from .failures import CompileError, UnavailableError, bounded
from .packages import load

_RELEASE = re.compile(r"\bV(\d+\.\d+\.\d+)")

_COMPLAINT_S = 120
"""Seconds to repeat a failed compilation; a kernel that nvcc refuses takes it under one."""


def compile_source(name: str, source: str, kind: str, architecture: str, nvcc: str) -> tuple[bytes, str]:
    """Return a kernel as PTX or CUBIN, and ``nvcc`` with its version.

    Args:
        name: the program's name, absolute and without quotes.
        source: CUDA, ASCII.
        kind: ``ptx`` or ``cubin``.
        architecture: such as ``sm_90``.
        nvcc: nvcc's path or its name on ``PATH``.

    Raises:
        UnavailableError: PyCUDA or nvcc are missing.
        CompileError: nvcc refused the kernel.
    """
    compiler = load("pycuda.compiler")
    facts = version(nvcc)
    target = virtual_architecture(architecture) if kind == "ptx" else architecture
    options = ["-lineinfo", f"-arch={target}"]
    text = f'#line 1 "{name}"\n{source}'
    return _compile(compiler, text, options, kind, nvcc), f"nvcc {facts['version']}"


def version(nvcc: str) -> dict[str, object]:
    """Return path, version and text of ``nvcc --version``, asked through PyCUDA.

    Raises:
        UnavailableError: it is not there or does not answer.
    """
    compiler = load("pycuda.compiler")
    path = shutil.which(nvcc)
    if path is None:
        raise UnavailableError(f"there is no compiler {nvcc!r} on PATH", reason="compiler-missing")
    try:
        text = str(compiler.get_nvcc_version(nvcc))
    except OSError as error:
        raise UnavailableError(f"{path} cannot be run: {error}", reason="compiler-missing") from error
    release = _RELEASE.search(text)
    return {"path": path, "text": bounded(text), "version": release[1] if release else "unknown"}


def _compile(compiler: Any, text: str, options: list[str], kind: str, nvcc: str) -> bytes:  # noqa: ANN401  # PyCUDA is untyped
    """Call PyCUDA's compiler and turn its refusal into a ``CompileError`` with nvcc's own words."""
    try:
        data: bytes = compiler.compile_plain(text, list(options), False, nvcc, False, kind)  # noqa: FBT003  # keep, cache_dir: PyCUDA's positions
    except ImportError as error:
        # PyCUDA takes its CompileError from pycuda.driver, which cannot be imported without a driver, and
        # so loses what nvcc said: ask nvcc again.
        raise CompileError(_complaint(text, options, kind, nvcc)) from error
    except Exception as error:
        if type(error).__name__ != "CompileError":
            raise
        raise CompileError(bounded(str(getattr(error, "stderr", "") or error))) from error
    return data


def _complaint(text: str, options: list[str], kind: str, nvcc: str) -> str:
    """Return what nvcc says of a kernel that it refuses."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "kernel.cu").write_text(text, encoding="ascii")
        argv = [nvcc, f"--{kind}", *options, "kernel.cu"]
        done = subprocess.run(argv, cwd=folder, capture_output=True, check=False, timeout=_COMPLAINT_S)  # noqa: S603  # nvcc and fixed options
    said = (done.stderr or done.stdout).decode("utf-8", "replace")
    return bounded(said or f"nvcc ended with {done.returncode} and said nothing")
