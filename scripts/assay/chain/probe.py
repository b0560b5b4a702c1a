"""Tells facts about the selected interpreter and the machine, part by part.

Each part's module is imported when it is asked for: from a zip every module is compiled anew.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from . import document
from .failures import describe

SCHEMA = "assay/chain-probe/1"

Part = Callable[..., Mapping[str, object]]

NAMES = ("interpreter", "packages", "shadow", "pathfinder", "nvml", "cuda", "nodes", "adapters", "vulkan")


def probe(names: tuple[str, ...], result: Path, *, serial: bool) -> int:
    """Write what the named parts tell to ``result`` and return how many could not tell.

    Args:
        names: parts of ``NAMES``.
        result: the file to write, whole or not at all.
        serial: tell serial numbers of GPUs.

    Raises:
        OSError: the result cannot be written.
    """
    parts = _parts(serial=serial)
    told = {name: _tell(parts[name]) for name in names}
    document.write(result, {"parts": told, "schema": SCHEMA})
    return sum("error" in part for part in told.values())


def _parts(*, serial: bool) -> Mapping[str, Part]:
    """Return each part's function."""
    return {
        "interpreter": partial(_told_by, "interpreter"),
        "packages": partial(_told_by, "distributions"),
        "shadow": partial(_told_by, "distributions", "shadow"),
        "pathfinder": partial(_told_by, "toolkit"),
        "nvml": partial(_told_by, "nvml", serial=serial),
        "cuda": partial(_told_by, "cuda_probe"),
        "nodes": partial(_told_by, "nodes"),
        "adapters": partial(_told_by, "runtime_wgpu", "every_adapter"),
        "vulkan": partial(_told_by, "vulkan_probe"),
    }


def _told_by(module: str, name: str = "facts", **options: bool) -> Mapping[str, object]:
    """Return what a function of a module of this package tells."""
    tell: Part = getattr(importlib.import_module(f".{module}", __package__), name)
    return tell(**options)


def _tell(part: Part) -> Mapping[str, object]:
    """Return a part's facts, or the error that it ended with."""
    try:
        return {"facts": part()}
    except Exception as error:  # noqa: BLE001  # one part that cannot tell must not silence the others
        return {"error": describe(error)}
