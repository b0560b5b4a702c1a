"""Observes a selected toolkit whose folder is there: every part with its origin, driver and compilers.

The facts are described in ``assay.judge.toolkit``.
"""

from __future__ import annotations

from collections.abc import Mapping

from assay.gates.childview import child_view
from assay.gates.compilers import (
    accepted_range,
    ask_nvcc,
    dry_run,
    first_nvcc,
    host_compiler,
    msvc_facts,
    with_origin,
)
from assay.gates.context import Context
from assay.gates.layout import (
    all_parts,
    beside,
    literal,
    origin_of,
    part_facts,
    patterns,
    toolkit_at,
    version_file,
    wanted_builtins,
)
from assay.gates.probes import Said, probes_of
from assay.gates.toolkit_driver import driver_facts, libcuda_facts
from assay.judge.toolkit import PARTS
from assay.machine import Machine
from assay.machine.loader import find_library
from assay.model import Facts, Json
from assay.plan.versions import release
from assay.selection import TOOLKIT

_UNASKED: Facts = {"architectures": [], "asked": False, "problem": "", "version": ""}
"""What an nvcc says that is not there."""


def inside(context: Context, folder: str) -> dict[str, Json]:
    """Return the facts of a toolkit whose folder is there."""
    toolkit = toolkit_at(context.machine, folder)
    machine, probes, child = context.machine, probes_of(context), child_view(context).machine
    asked = probes.begin(("pathfinder",)) if context.selection.executable else None
    parts = all_parts(machine, toolkit)
    first = first_nvcc(child, child.split_path(child.getenv("PATH")))
    started = str(first["path"])
    nvcc = ask_nvcc(probes, started) if started else _UNASKED
    planned = dry_run(probes, started, context.scratch) if started and not nvcc["problem"] else ""
    stated = version_file(machine, toolkit)
    compiler = host_compiler(context, child, probes, planned)
    found = asked.result()["pathfinder"] if asked else Said(asked=False)
    loaded = _loaded(context, child, found, parts)
    whole = _with_versions(_with_loaded(machine, parts, loaded), nvcc, stated)
    return {
        "arch": _arch(context),
        "builtins": _builtins(machine, whole["nvrtc"]),
        "compiler": compiler,
        "layout": toolkit.layout,
        "libcuda": libcuda_facts(context, child, toolkit),
        "loaded": {"nvrtc": loaded},
        "looked": {part: list(patterns(machine, toolkit, part)) for part in PARTS if whole[part] is None},
        "msvc": msvc_facts(context, probes),
        "nvcc": nvcc,
        "origin": toolkit.origin,
        "parts": whole,
        "path_nvcc": with_origin(machine, first, planned),
        "pathfinder": {"asked": found.asked, "facts": found.facts, "problem": found.problem[:500]},
        "range": accepted_range(machine, toolkit),
        "selected_nvcc": first_nvcc(machine, context.selection.path),
        "stated": stated,
        **_versions(whole, stated),
        **driver_facts(context, probes),
    }


def _arch(context: Context) -> str:
    """Return the processor of the selected interpreter, else the machine's."""
    executable = context.selection.executable
    own = context.machine.binary(executable, symbols=False).arch if executable else ""
    return own or context.machine.arch


def _loaded(
    context: Context, child: Machine, found: Said, parts: Mapping[str, Facts | None]
) -> dict[str, Json] | None:
    """Return the NVRTC that would be loaded: pathfinder's answer, else what its search order would find."""
    libraries = found.facts.get("libraries")
    told = libraries.get("nvrtc") if isinstance(libraries, Mapping) else None
    path = told.get("path") if isinstance(told, Mapping) else None
    if isinstance(told, Mapping) and isinstance(path, str) and path:
        return _load(child, path, str(told.get("found_via") or "cuda.pathfinder"))
    for folder in context.selection.site_packages:
        for pattern in ("nvidia/cu[0-9]*/lib/libnvrtc.so.[0-9]*", "nvidia/cuda_nvrtc/lib/libnvrtc.so.[0-9]*"):
            hits = [hit for hit in child.glob(f"{literal(folder)}/{pattern}") if ".alt." not in hit]
            if hits:
                return _load(child, hits[0], "site-packages")
    own = parts["nvrtc"]
    if own is None:
        return None
    hit = find_library(child, child.paths.basename(str(own["path"]))).chosen
    return _load(child, hit.path, hit.found_via) if hit else _load(child, str(own["path"]), TOOLKIT)


def _load(machine: Machine, path: str, via: str) -> dict[str, Json]:
    """Return a library that would be loaded, with its origin."""
    return {
        "found_via": via,
        "origin": origin_of(machine, path),
        "path": path,
        "real": machine.followed(path),
    }


def _with_loaded(
    machine: Machine, parts: Mapping[str, Facts | None], loaded: Facts | None
) -> dict[str, dict[str, Json] | None]:
    """Return the parts; an NVRTC and builtins that the toolkit lacks from where they would be loaded."""
    whole = {name: None if part is None else dict(part) for name, part in parts.items()}
    if loaded is None:
        return whole
    path, via = str(loaded["path"]), str(loaded["found_via"])
    own = whole["nvrtc"]
    if own is None:
        whole["nvrtc"] = part_facts(machine, "nvrtc", path, via)
        name = wanted_builtins(machine, path)
        other = machine.paths.join(machine.paths.dirname(path), name)
        if whole["builtins"] is None and name and machine.is_file(other):
            whole["builtins"] = part_facts(machine, "builtins", other, via)
    elif own["real"] == loaded["real"]:
        whole["nvrtc"] = {**own, "found_via": via}
    return whole


def _with_versions(
    parts: Mapping[str, dict[str, Json] | None], nvcc: Facts, stated: Mapping[str, str]
) -> dict[str, dict[str, Json] | None]:
    """Return the parts with the versions that nvcc says or ``version.json`` states where files show none."""
    known = {"nvcc": str(nvcc["version"]) or stated.get("cuda_nvcc", ""), "nvvm": stated.get("libnvvm", "")}
    return {
        name: part if part is None or part["version"] else {**part, "version": known.get(name, "")}
        for name, part in parts.items()
    }


def _builtins(machine: Machine, nvrtc: Facts | None) -> Facts:
    """Return the builtins that NVRTC opens by name, and those that lie beside it."""
    if nvrtc is None:
        return {"beside": [], "wanted": ""}
    path = str(nvrtc["path"])
    return {"beside": list(beside(machine, path)), "wanted": wanted_builtins(machine, path)}


def _versions(parts: Mapping[str, Facts | None], stated: Mapping[str, str]) -> dict[str, Json]:
    """Return the toolkit's version: of ``cuda.h``, else of nvcc or NVRTC; in full as nvcc has it."""
    own = [str(part["version"]) for name in ("cuda_h", "nvcc", "nvrtc") if (part := parts[name]) is not None]
    version = next((each for each in own if len(release(each)) > 1), stated.get("cuda", ""))
    nvcc = parts["nvcc"]
    return {
        "version": ".".join(map(str, release(version)[:2])),
        "version_full": str(nvcc["version"]) if nvcc and nvcc["version"] else stated.get("cuda", version),
    }
