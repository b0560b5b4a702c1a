"""Kernels to images: the one function by which ``compile`` builds and ``run`` makes what it loads.

The bytes depend on source, names, architecture and compiler alone: a kernel is always known to its compiler
as ``/kernels/<chain>/<file>``, whatever folder, time or machine it is compiled in, although ``-lineinfo``
puts that name into PTX and CUBIN.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from . import nvcc, nvrtc
from .spec import Chain, Stage
from .values import Image

PTX = "ptx"
CUBIN = "cubin"
WGSL = "wgsl"

Compiler = Callable[[str, str, str, str, str], "tuple[bytes, str]"]
"""(program name, source, kind, architecture, nvcc) -> (image, what compiled it)."""

_COMPILERS: Mapping[str, Compiler] = {"pycuda": nvcc.compile_source, "nvrtc": nvrtc.compile_source}
"""By runtime; a runtime without a row takes its source as it is (WGSL, which wgpu compiles)."""


def is_compiled(stage: Stage) -> bool:
    """Say whether a stage's source is CUDA, which is compiled here."""
    return stage.runtime in _COMPILERS


def program_name(chain: Chain, stage: Stage) -> str:
    """Return the fixed name by which a compiler knows a kernel."""
    return f"/kernels/{chain.name}/{stage.source}"


def compile_stage(chain: Chain, stage: Stage, kind: str, architecture: str, nvcc_path: str) -> Image:
    """Return a stage's image.

    Args:
        chain: the chain, whose name is part of the program's name.
        stage: a stage for which ``is_compiled`` holds.
        kind: ``PTX`` or ``CUBIN``.
        architecture: such as ``sm_90``; PTX is made for its virtual counterpart, ``compute_90``.
        nvcc_path: nvcc's path or its name on ``PATH``.

    Raises:
        UnavailableError: compiler or package are missing.
        CompileError: the compiler refused the kernel.
    """
    compiler = _COMPILERS[stage.runtime]
    data, made_by = compiler(program_name(chain, stage), stage.text, kind, architecture, nvcc_path)
    return Image(f"{chain.name}.{stage.name}.{architecture}.{kind}", kind, data, made_by, stage.each)


def image_to_run(chain: Chain, stage: Stage, architecture: str, nvcc_path: str) -> Image:
    """Return what a stage's runtime loads: PTX for the plan's lowest architecture, or the WGSL itself.

    Raises:
        UnavailableError: compiler or package are missing.
        CompileError: the compiler refused the kernel.
    """
    if is_compiled(stage):
        return compile_stage(chain, stage, PTX, architecture, nvcc_path)
    return Image(f"{chain.name}.{stage.name}.{WGSL}", WGSL, stage.text.encode("ascii"), each=stage.each)
