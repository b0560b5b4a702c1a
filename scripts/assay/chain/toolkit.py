"""What cuda.pathfinder, which cuda-python asks, finds of a CUDA toolkit, and how it found it.

Each question is asked on its own: one that fails is told with its error, and the others are still asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .failures import bounded
from .packages import load

LIBRARIES = ("nvrtc", "cudart", "nvvm", "nvJitLink")
HEADERS = ("cudart", "nvrtc", "nvcc", "cccl")
BINARIES = ("nvcc", "ptxas")


def facts() -> dict[str, object]:
    """Return pathfinder's version and what it finds: ``libraries``, ``headers`` and ``binaries`` by name.

    Each is ``{"path", "found_via"}`` (``found_via`` None for binaries, of which it is not told),
    ``{"error": {"type", "message"}}``, or None where nothing was found.

    Raises:
        UnavailableError: the selection has no cuda.pathfinder.
    """
    pathfinder = load("cuda.pathfinder")
    return {
        "binaries": _ask_all(BINARIES, lambda name: _binary(pathfinder, name)),
        "headers": _ask_all(HEADERS, lambda name: _found(pathfinder.locate_nvidia_header_directory(name))),
        "libraries": _ask_all(LIBRARIES, lambda name: _found(pathfinder.load_nvidia_dynamic_lib(name))),
        "version": pathfinder.__version__,
    }


def _ask_all(names: tuple[str, ...], ask: Callable[[str], Mapping[str, object] | None]) -> dict[str, object]:
    """Ask about each name, keeping an error as the answer."""
    return {name: _answer(ask, name) for name in names}


def _answer(ask: Callable[[str], Mapping[str, object] | None], name: str) -> Mapping[str, object] | None:
    """Return one answer, or its error."""
    try:
        return ask(name)
    except Exception as error:  # noqa: BLE001  # each release of pathfinder raises others
        return {"error": {"message": bounded(str(error)), "type": type(error).__name__}}


def _found(found: Any) -> Mapping[str, object] | None:  # noqa: ANN401  # cuda.pathfinder's, read by two attributes
    """Return path and origin of what was found."""
    return None if found is None else {"found_via": found.found_via, "path": found.abs_path}


def _binary(pathfinder: Any, name: str) -> Mapping[str, object] | None:  # noqa: ANN401  # an untyped module
    """Return a binary's path."""
    path = pathfinder.find_nvidia_binary_utility(name)
    return None if path is None else {"found_via": None, "path": path}
