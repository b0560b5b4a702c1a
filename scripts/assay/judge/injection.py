"""Variables and start-up files that bring code into a Python process or change what it loads.

Sources: ld.so(8), dyld(1), glibc's "Tunables" and iconv's ``GCONV_PATH``; Python's "Command line and
environment"; CUDA's and NVTX's injection variables (CUPTI and NVTX documentation); "CUDA environment
variables" (caches); nvcc's ``NVCC_*_FLAGS``; the Vulkan loader's "Loader environment variables".
"""

from __future__ import annotations

import re

BRINGS_CODE = (
    *("LD_", "DYLD_", "PYTHON", "GLIBC_TUNABLES", "GCONV_PATH", "WGPU_LIB_PATH", "PYCUDA_"),
    *("CUDA_INJECTION", "NVTX_INJECTION", "CUDA_CACHE", "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"),
    *("VK_INSTANCE_LAYERS", "VK_LAYER", "VK_ADD_LAYER", "VK_IMPLICIT_LAYER", "VK_ADD_IMPLICIT_LAYER"),
    *("VK_LOADER_LAYERS", "ENABLE_VK_LAYER"),
)
"""Beginnings of variables that no allow-list can let in."""

CHANGES_LOADING = (
    *BRINGS_CODE,
    *("CUDA_", "NVCC_", "NVRTC_", "NVIDIA_TF32_OVERRIDE", "VK_", "WGPU", "__NV_", "__GL_", "__VK_"),
    *("MESA_", "LIBGL_", "GALLIUM_", "LP_", "LVP_"),
)
"""Beginnings of variables worth a word when they were set outside and kept out."""

START_MODULES = ("sitecustomize", "usercustomize")
"""Modules that ``site`` imports by itself (Python library reference, "site")."""

_KNOWN_PTH = (
    re.compile(
        r"import os; var = 'SETUPTOOLS_USE_DISTUTILS'; "
        r"enabled = os\.environ\.get\(var, '(?:local|stdlib)'\) == 'local'; "
        r"enabled and __import__\('_distutils_hack'\)(?:\.add_shim\(\))?; ?"
    ),
    re.compile(r"import _virtualenv"),
)
"""Importing lines of setuptools' ``distutils-precedence.pth`` and virtualenv's ``_virtualenv.pth``."""


def brings_code(name: str) -> bool:
    """Say whether a variable of that name brings code."""
    return name.upper().startswith(BRINGS_CODE)


def changes_loading(name: str) -> bool:
    """Say whether a variable of that name changes what is loaded or how it behaves."""
    return name.upper().startswith(CHANGES_LOADING)


def is_importing(line: str) -> bool:
    """Say whether ``site`` executes a line of a ``.pth`` file."""
    return line.startswith(("import ", "import\t"))


def is_known_start(line: str) -> bool:
    """Say whether an importing line is one that setuptools or virtualenv write."""
    return any(known.fullmatch(line.strip()) for known in _KNOWN_PTH)
