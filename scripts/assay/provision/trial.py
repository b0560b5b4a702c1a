"""A trial of a new selection, in its own interpreter: everything imports, and both compilers make PTX.

No driver is needed for it, so that a selection can be made on a machine without a GPU.
"""

from __future__ import annotations

import json
from pathlib import Path

from assay.errors import ProvisionError
from assay.provision.children import Children
from assay.provision.toolkit import NVRTC, Toolkit

_DEADLINE_S = 300

_KERNEL = 'extern "C" __global__ void twice(float *x) { x[threadIdx.x] *= 2; }'

_TRIAL = f"""
import json, sys
import numpy, pynvml, wgpu
import pycuda.compiler
from cuda.bindings import nvrtc

kernel = {_KERNEL!r}
ptx = pycuda.compiler.compile_plain(
    kernel, options=[], keep=False, nvcc="nvcc", cache_dir=False, target="ptx")
said = {{"nvcc": len(ptx)}}
if sys.argv[1] == "nvrtc":
    def call(function, *arguments):
        code, *values = function(*arguments)
        if code != nvrtc.nvrtcResult.NVRTC_SUCCESS:
            raise SystemExit(f"{{function.__name__}}: {{code!r}}")
        return values
    (program,) = call(nvrtc.nvrtcCreateProgram, kernel.encode(), b"/trial.cu", 0, [], [])
    call(nvrtc.nvrtcCompileProgram, program, 0, [])
    (size,) = call(nvrtc.nvrtcGetPTXSize, program)
    said["nvrtc"] = size
    said["nvrtc_version"] = "%d.%d" % tuple(call(nvrtc.nvrtcVersion))
print(json.dumps(said))
"""


def try_selection(
    children: Children, python: Path, toolkit: Toolkit, path: list[str]
) -> dict[str, int | str]:
    """Try a selection and return what its compilers made.

    Args:
        children: how children are run.
        python: the selected interpreter.
        toolkit: the selected toolkit; NVRTC is not tried where it has none.
        path: the selection's folders of programs.

    Returns:
        ``nvcc`` and ``nvrtc``: sizes of PTX in bytes; ``nvrtc_version``: such as ``13.0``.

    Raises:
        ProvisionError: an import or a compiler failed, or NVRTC is of another release than the toolkit.
    """
    extra = {"PATH": ":".join([*path, children.environment.get("PATH", "")]), "CUDA_PATH": str(toolkit.root)}
    with_nvrtc = "no-nvrtc" if NVRTC in toolkit.missing else "nvrtc"
    argv = [str(python), "-I", "-B", "-c", _TRIAL, with_nvrtc]
    ended = children.run("the trial", argv, deadline_s=_DEADLINE_S, extra=extra)
    try:
        said: dict[str, int | str] = json.loads(ended.stdout)
    except ValueError:
        said = {}
    if ended.exit != 0 or not said.get("nvcc"):
        raise _failed(f"the new selection does not work: {children.last_words(ended)}")
    if said.get("nvrtc_version", toolkit.release) != toolkit.release:
        raise _failed(
            f"the NVRTC that loads is {said['nvrtc_version']}, the toolkit {toolkit.root} {toolkit.release}"
        )
    return said


def _failed(what: str) -> ProvisionError:
    """Return the error of a trial."""
    return ProvisionError(
        what,
        "imports of NumPy, wgpu, PyCUDA and cuda-python, and PTX from the toolkit's nvcc and NVRTC",
        "see what it said: a host compiler outside nvcc's range, or another toolkit on the loader's path",
    )
