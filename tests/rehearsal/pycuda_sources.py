"""Prints, as JSON, the CUDA source of PyCUDA's own elementwise, reduction and scan kernels.

Run by the selected interpreter.  PyCUDA's generators are its own; only what they would hand to a driver is
kept back: the driver module is an empty one, and the compiler notes its source.
"""

from __future__ import annotations

import json
import sys
import types
from typing import Any

import numpy as np


class _Nothing(types.ModuleType):
    """A module that has every name."""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  # whatever is asked for
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (Exception,) if name.endswith("Error") else (), {})


class _Source:
    """Stands for a compiled module; notes the sources."""

    noted: list[str]

    def __init__(self, source: str, **_options: object) -> None:
        self.noted.append(source)

    def get_function(self, _name: str) -> Any:  # noqa: ANN401  # a kernel that is never launched
        return types.SimpleNamespace(prepare=lambda *_given: None)


def sources() -> dict[str, str]:
    """Return name -> source."""
    for name in ("pycuda._driver", "pycuda.driver", "pycuda.gpuarray", "pycuda.compiler"):
        sys.modules[name] = _Nothing(name)
    _Source.noted = []
    sys.modules["pycuda.compiler"].SourceModule = _Source  # type: ignore[attr-defined]  # this is what modules are for
    from pycuda.elementwise import get_elwise_module, get_elwise_range_module  # noqa: PLC0415  # after the modules
    from pycuda.reduction import get_reduction_module  # noqa: PLC0415  # as above
    from pycuda.scan import ExclusiveScanKernel, InclusiveScanKernel  # noqa: PLC0415  # as above
    from pycuda.tools import ScalarArg, VectorArg  # noqa: PLC0415  # as above

    x, y, z = (VectorArg(np.float32, name) for name in "xyz")
    n = ScalarArg(np.uint64, "n")
    get_elwise_module([ScalarArg(np.float32, "a"), x, y, z, n], "z[i] = a*x[i] + sinf(y[i])", "axpy")
    bounds = [ScalarArg(np.int64, name) for name in ("start", "stop", "step")]
    get_elwise_range_module([x, *bounds], "x[i] = 2*x[i]", "double_range")
    get_reduction_module("float", 512, "0", "a+b", "x[i]*y[i]", "const float *x, const float *y", "dot")
    get_reduction_module("int", 256, "-1000000", "a > b ? a : b", "x[i]", "const int *x", "largest")
    InclusiveScanKernel(np.int32, "a+b")
    ExclusiveScanKernel(np.int32, "a > b ? a : b", "-1000000")
    names = (
        "axpy",
        "double_range",
        "dot",
        "largest",
        "inclusive_1",
        "inclusive_2",
        "exclusive_1",
        "exclusive_2",
    )
    return dict(zip(names, _Source.noted, strict=True))


if __name__ == "__main__":
    print(json.dumps(sources()))  # noqa: T201  # what the script is for
