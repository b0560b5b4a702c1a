"""CUDA sources through NVRTC, as cuda-python calls it: ``cuda.bindings.nvrtc``, which needs no driver.

(``cuda.core.Program`` asks for the driver even to make PTX.)
"""

from __future__ import annotations

from typing import Any

from .architecture import virtual_architecture
from .failures import CompileError, CudaError, bounded
from .packages import load, naming_missing_library


def compile_source(name: str, source: str, kind: str, architecture: str, _nvcc: str) -> tuple[bytes, str]:
    """Return a kernel as PTX or CUBIN, and ``nvrtc`` with its version.

    Args:
        name: the program's name, absolute.
        source: CUDA, ASCII.
        kind: ``ptx`` or ``cubin``.
        architecture: such as ``sm_90``.

    Raises:
        UnavailableError: cuda-python or NVRTC are missing.
        CompileError: NVRTC refused the kernel.
    """
    nvrtc = load("cuda.bindings.nvrtc")
    target = virtual_architecture(architecture) if kind == "ptx" else architecture
    options = [b"--generate-line-info", f"--gpu-architecture={target}".encode("ascii")]
    program = check(nvrtc, "nvrtcCreateProgram", source.encode("ascii"), name.encode("ascii"), 0, [], [])
    try:
        (status,) = nvrtc.nvrtcCompileProgram(program, len(options), options)
        if int(status):
            log = _read(nvrtc, "nvrtcGetProgramLog", program).decode("utf-8", "replace")
            raise CompileError(bounded(log), reason=_name(nvrtc, status), code=int(status))
        data = _read(nvrtc, "nvrtcGetPTX" if kind == "ptx" else "nvrtcGetCUBIN", program)
    finally:
        check(nvrtc, "nvrtcDestroyProgram", program)
    # NVRTC counts the NUL that ends PTX; a file of PTX has none.
    return (data.rstrip(b"\0") if kind == "ptx" else data), f"nvrtc {facts()['version']}"


def facts() -> dict[str, object]:
    """Return NVRTC's version, the library's path, and how cuda.pathfinder found it.

    Raises:
        UnavailableError: cuda-python or NVRTC are missing.
    """
    nvrtc = load("cuda.bindings.nvrtc")
    major, minor = check(nvrtc, "nvrtcVersion")
    found = load("cuda.pathfinder").load_nvidia_dynamic_lib("nvrtc")
    return {
        "found_via": found.found_via,
        "path": found.abs_path,
        "version": f"{major}.{minor}",
    }


def check(nvrtc: Any, call: str, *arguments: object) -> Any:  # noqa: ANN401  # cuda.bindings is untyped
    """Call a function of NVRTC and return what it gives: nothing, a value, or a tuple.

    Raises:
        CudaError: it failed.
    """
    with naming_missing_library("NVRTC"):  # found and opened at the first call, not at the import
        status, *given = getattr(nvrtc, call)(*arguments)
    if int(status):
        message = f"{call} returned {int(status)} ({_name(nvrtc, status)})"
        raise CudaError(message, reason=_name(nvrtc, status), code=int(status))
    return given[0] if len(given) == 1 else tuple(given)


def _name(nvrtc: Any, status: Any) -> str:  # noqa: ANN401  # cuda.bindings is untyped
    """Return NVRTC's name of a status."""
    return str(getattr(status, "name", "")) or str(nvrtc.nvrtcResult(int(status)).name)


def _read(nvrtc: Any, call: str, program: object) -> bytes:  # noqa: ANN401  # cuda.bindings is untyped
    """Return what a pair of size and content functions gives."""
    data = bytearray(check(nvrtc, f"{call}Size", program))
    check(nvrtc, call, program, data)
    return bytes(data)
