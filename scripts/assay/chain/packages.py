"""Imports what the selection has, by name and on demand, and names what it lacks.

A package that is missing, and a library that a package needs but the machine lacks, are *unavailable*: a
fact about machine and selection.  Everything else that an import raises passes through as a failure.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator
from typing import Any

from .failures import UnavailableError

_PATHFINDER_ERROR = "DynamicLibNotFoundError"
"""The class by which cuda.pathfinder says so (a ``RuntimeError``)."""

_LOADER_WORDS = (
    "cannot open shared object file",
    "DLL load failed",
    "Failed to dlopen",
    "Could not find WGPU",
    "Cannot find Vulkan SDK",
)
"""How glibc, Windows' loader, cuda.bindings, wgpu and vulkan say that a library is not there."""


def load(name: str) -> Any:  # noqa: ANN401  # typed by none of these packages; narrowed where it is used
    """Return the imported module ``name``.

    Raises:
        UnavailableError: ``package-missing`` or ``library-missing``.
    """
    try:
        with naming_missing_library(name):
            return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != name.partition(".")[0]:
            raise  # a dependency of the package, whose absence is a broken selection
        raise UnavailableError(f"the selection has no {name}: {error}", reason="package-missing") from error


@contextlib.contextmanager
def naming_missing_library(what: str) -> Iterator[None]:
    """Turn an error inside the block that says that a shared library is not there into ``library-missing``.

    Args:
        what: who needs the library.

    Raises:
        UnavailableError: a library is missing.
    """
    try:
        yield
    except (ImportError, OSError, RuntimeError) as error:
        missing = type(error).__name__ == _PATHFINDER_ERROR or any(
            word in str(error) for word in _LOADER_WORDS
        )
        if not missing:
            raise
        raise UnavailableError(f"{what} cannot be loaded: {error}", reason="library-missing") from error
