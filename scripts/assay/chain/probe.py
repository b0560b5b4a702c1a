"""Tells facts about the selected interpreter and the machine, part by part."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from . import cuda_probe, distributions, document, interpreter, nodes, nvml, runtime_wgpu, toolkit
from .failures import describe

SCHEMA = "assay/chain-probe/1"

Part = Callable[[], Mapping[str, object]]

NAMES = ("interpreter", "packages", "shadow", "pathfinder", "nvml", "cuda", "nodes", "adapters")


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
        "interpreter": interpreter.facts,
        "packages": distributions.facts,
        "shadow": distributions.shadow,
        "pathfinder": toolkit.facts,
        "nvml": partial(nvml.facts, serial=serial),
        "cuda": cuda_probe.facts,
        "nodes": nodes.facts,
        "adapters": runtime_wgpu.every_adapter,
    }


def _tell(part: Part) -> Mapping[str, object]:
    """Return a part's facts, or the error that it ended with."""
    try:
        return {"facts": part()}
    except Exception as error:  # noqa: BLE001  # one part that cannot tell must not silence the others
        return {"error": describe(error)}
