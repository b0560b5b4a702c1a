"""The selected interpreter about itself: who it is, how it was built, and what it has imported."""

from __future__ import annotations

import os
import platform
import site
import sys
import sysconfig
from collections.abc import Iterator
from types import ModuleType

from .events import SCHEMA

_FLAGS = (
    "bytes_warning",
    "debug",
    "dev_mode",
    "dont_write_bytecode",
    "ignore_environment",
    "inspect",
    "interactive",
    "isolated",
    "no_site",
    "no_user_site",
    "optimize",
    "safe_path",
    "utf8_mode",
    "verbose",
)


_BUILD = (
    "EXT_SUFFIX",
    "INSTSONAME",
    "LDLIBRARY",
    "LIBDIR",
    "MULTIARCH",
    "Py_DEBUG",
    "Py_ENABLE_SHARED",
    "Py_GIL_DISABLED",
    "SOABI",
)
"""Variables of the build (``sysconfig``); None where a platform or version does not have one."""


def hello() -> dict[str, object]:
    """Return who this process is: interpreter, prefixes, path, flags, and the names of its variables."""
    return {
        "base_prefix": sys.base_prefix,
        "environment": sorted(os.environ),
        "executable": sys.executable,
        "flags": flags(),
        "implementation": platform.python_implementation(),
        "path": list(sys.path),
        "pid": os.getpid(),
        "prefix": sys.prefix,
        "pycache_prefix": sys.pycache_prefix,
        "schema": SCHEMA,
        "version": platform.python_version(),
    }


def facts() -> dict[str, object]:
    """Return what the interpreter is and how it was built.

    ``build`` holds the variables of the build: an ABI is told by ``SOABI`` and ``EXT_SUFFIX``; a shared
    library by ``Py_ENABLE_SHARED``, and its place by ``LIBDIR`` and ``INSTSONAME``.
    """
    return {
        "base_prefix": sys.base_prefix,
        "build": {name: sysconfig.get_config_var(name) for name in _BUILD},
        "cache_tag": sys.implementation.cache_tag,
        "executable": sys.executable,
        "flags": flags(),
        "implementation": platform.python_implementation(),
        "libc": " ".join(platform.libc_ver()).strip(),
        "machine": platform.machine(),
        "path": list(sys.path),
        "platform": sys.platform,
        "pointer_bits": sys.maxsize.bit_length() + 1,
        "prefix": sys.prefix,
        "site_packages": site.getsitepackages(),
        "version": platform.python_version(),
        "version_text": sys.version,
    }


def flags() -> dict[str, int]:
    """Return the interpreter's flags as integers (``safe_path`` exists from Python 3.11 on)."""
    return {name: int(getattr(sys.flags, name)) for name in _FLAGS if hasattr(sys.flags, name)}


def loaded() -> dict[str, object]:
    """Return this process's number and each imported module that came from a file, in byte order."""
    return {"modules": sorted(_modules(), key=lambda module: str(module["name"])), "pid": os.getpid()}


def _modules() -> Iterator[dict[str, object]]:
    """Yield name, file, loader and cached bytecode of each module that came from a file."""
    for name, module in list(sys.modules.items()):
        file = _file(module)
        if file is not None:
            spec = getattr(module, "__spec__", None)
            loader = type(getattr(spec, "loader", None)).__name__
            yield {
                "cached": _text(getattr(spec, "cached", None)),
                "file": file,
                "loader": loader,
                "name": name,
            }


def _file(module: ModuleType) -> str | None:
    """Return the file that a module was made from; modules may lie about it, so only text counts."""
    return _text(getattr(module, "__file__", None))


def _text(value: object) -> str | None:
    """Return text, or None for anything else."""
    return value if isinstance(value, str) and value else None
