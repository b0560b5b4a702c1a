"""Observes Vulkan under a driver: the loader, the drivers it would take, what they load, and what it lists.

The facts are described in ``assay.judge.vulkan``.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assay.gates.childview import child_view
from assay.gates.context import Context
from assay.gates.driver_live import said_facts
from assay.gates.driver_signs import container_facts, module_facts
from assay.gates.files import machine_facts
from assay.gates.probes import Probes, Said, probes_of
from assay.gates.provider_parts import VULKAN
from assay.judge.vulkan_drivers import NVIDIA
from assay.machine import Machine, driverfiles, vulkan
from assay.machine.loader import Hit, find_library, resolve_needed
from assay.model import Facts, Json

DEADLINE_S = 30.0
"""Seconds for the loader to list its devices: it starts every driver of the machine."""

NODES_DEADLINE_S = 10.0
"""Seconds for opening a few device nodes."""

PART, NODES = "vulkan", "nodes"

_NVIDIA = re.compile(r"lib(?P<flavour>GLX|EGL)_nvidia\.so")
_ELSEWHERE = (
    "/usr/local/nvidia/share",
    "/usr/local/share",
    "/usr/share",
    "/etc",
    vulkan.NIXOS,
    "/opt/nvidia/share",
)
"""Where drivers and container hosts put manifests; the loader need not look there."""

_RENDER = ("/dev/dri/*",)
_VERSION = re.compile(r"\d{3,5}(?:\.\d{1,5}){1,2}")

_NO_LOADER = Said(asked=False, problem="there is no loader to ask")

MAX_LAYERS = 50
MAX_MISSING = 50


@dataclass(frozen=True)
class _Icd:
    """A manifest with the file that its library is, both as the children take them."""

    manifest: vulkan.Manifest
    hit: Hit | None

    @property
    def kind(self) -> str:
        """Return whose driver it is."""
        return vulkan.kind_of(self.manifest)


def with_driver(context: Context) -> Facts:
    """Return the facts of a machine whose NVIDIA driver is there."""
    machine, child = context.machine, child_view(context).machine
    module = module_facts(machine)
    loader = find_library(child, VULKAN).chosen
    asking = _Asking(probes_of(context), loader)
    icds = [_icd(child, manifest, loader) for manifest in vulkan.driver_manifests(child)]
    version = str(module["version"])
    listed = asking.listed()
    return {
        "child": _discovery(child, icds),
        "container": container_facts(machine),
        "drivers": [
            _driver(child, icd, version) for icd in icds if icd.kind == NVIDIA and not _passed_over(icd)
        ],
        "elsewhere": list(_elsewhere(machine)) if not any(icd.kind == NVIDIA for icd in icds) else [],
        "layers": _layers(machine),
        "listed": said_facts(listed),
        "loader": {"child": _library(loader), "shell": _library(find_library(machine, VULKAN).chosen)},
        "machine": machine_facts(machine),
        "module": {"loaded": True, "version": version},
        "nodes": list(_nodes(machine)),
        "opened": said_facts(asking.opened(listed)),
        "shell": _discovery(
            machine, [_icd(machine, each, loader) for each in vulkan.driver_manifests(machine)]
        ),
    }


@dataclass(frozen=True)
class _Asking:
    """Whom to ask for what the loader lists; nobody where there is no loader to ask."""

    probes: Probes
    loader: Hit | None

    def listed(self) -> Said:
        """Return what the loader lists."""
        if self.loader is None or self.loader.problem:
            return _NO_LOADER
        return self.probes.chain((PART,), DEADLINE_S)[PART]

    def opened(self, listed: Said) -> Said:
        """Return which device nodes may be opened, asked where no NVIDIA GPU is listed."""
        if not listed.asked or listed.silent or _lists_nvidia(listed.facts):
            return Said(asked=False, problem="there was no need to ask")
        return self.probes.chain((NODES,), NODES_DEADLINE_S)[NODES]


NVIDIA_VENDOR = 0x10DE
"""NVIDIA's PCI vendor number, which is its ``vendorID`` in Vulkan."""


def _lists_nvidia(facts: Facts) -> bool:
    """Say whether a GPU of NVIDIA's is listed."""
    devices = facts.get("devices")
    several = devices if isinstance(devices, list | tuple) else ()
    return any(isinstance(each, dict) and each.get("vendor") == NVIDIA_VENDOR for each in several)


def _passed_over(icd: _Icd) -> bool:
    """Say whether the loader leaves a driver out before it opens its library."""
    return bool(icd.manifest.problem or icd.manifest.ignored)


def _icd(machine: Machine, manifest: vulkan.Manifest, loader: Hit | None) -> _Icd:
    """Return a manifest with its library; a name without a slash is looked for as the loader would."""
    if not manifest.library:
        return _Icd(manifest, None)
    return _Icd(manifest, _found(machine, manifest.path, manifest.library, loader))


def _found(machine: Machine, manifest: str, library: str, loader: Hit | None) -> Hit | None:
    """Return what the system's loader takes for a library of a manifest."""
    path = vulkan.library_path(machine, manifest, library)
    chain = (machine.binary(loader.path, symbols=False),) if loader and not loader.problem else ()
    return find_library(machine, path or library, chain=chain, arch=machine.arch).chosen


def _discovery(machine: Machine, icds: Sequence[_Icd]) -> Facts:
    """Return what the loader would find in one environment."""
    return {
        "manifests": [_manifest(icd) for icd in icds],
        "override": next((name for name in vulkan.OVERRIDES if name in machine.env), ""),
        "variables": {name: machine.env[name] for name in vulkan.VARIABLES if name in machine.env},
    }


def _manifest(icd: _Icd) -> Json:
    """Return a manifest and whether its library is found."""
    problem = icd.manifest.problem or (icd.hit.problem if icd.hit else f"{icd.manifest.library} is not found")
    return {
        "api": icd.manifest.api[:50],
        "ignored": icd.manifest.ignored,
        "kind": icd.kind,
        "library": icd.manifest.library[:300],
        "manifest_problem": icd.manifest.problem[:300],
        "path": icd.manifest.path,
        "problem": problem[:300],
        "real": icd.hit.resolved if icd.hit else "",
        "via": icd.manifest.via,
    }


def _library(hit: Hit | None) -> Json:
    """Return a library, null where the loader finds none."""
    if hit is None:
        return None
    return {"found_via": hit.found_via, "path": hit.path, "problem": hit.problem[:300], "real": hit.resolved}


def _driver(child: Machine, icd: _Icd, module: str) -> Json:
    """Return NVIDIA's driver as a manifest names it: its version, and what it loads and does not find."""
    hit = icd.hit
    usable = hit is not None and not hit.problem
    version, told_by = driverfiles.version_of(child, hit.resolved, module) if hit and usable else ("", "")
    missing = [*_needed(child, hit), *_opened_later(child, icd, version or module)] if hit and usable else []
    return {
        "library": icd.manifest.library,
        "manifest": icd.manifest.path,
        "missing": [dict(each) for each in missing[:MAX_MISSING]],
        "path": hit.path if hit else None,
        "problem": hit.problem[:300] if hit else "",
        "real": hit.resolved if hit else "",
        "told_by": told_by,
        "version": version,
    }


def _needed(child: Machine, hit: Hit) -> Iterator[dict[str, Json]]:
    """Yield the libraries that a driver's library needs and that are not found or cannot be loaded."""
    for one in resolve_needed(child, hit.path).missing:
        yield {"name": one.name, "needed_by": one.needed_by, "problem": one.hit.problem if one.hit else ""}


def _opened_later(child: Machine, icd: _Icd, version: str) -> Iterator[dict[str, Json]]:
    """Yield what NVIDIA's library opens by name when it starts, and that is not there.

    The compiler of SPIR-V and the core of EGL go by their whole version; ``libGLX_nvidia`` reaches the GPU
    through ``libEGL.so.1`` where no X server runs (names as they stand in the libraries of driver 580).
    """
    flavour = _NVIDIA.match(icd.manifest.library.rpartition("/")[2])
    versioned = ("libnvidia-glvkspirv", "libnvidia-eglcore") if _VERSION.fullmatch(version) else ()
    names = [f"{name}.so.{version}" for name in versioned]
    if flavour and flavour["flavour"] == "GLX":
        names.append("libEGL.so.1")
    path = icd.hit.path if icd.hit else ""
    chain = (child.binary(path, symbols=False),)
    for name in names:
        hit = find_library(child, name, chain=chain).chosen
        if hit is None or hit.problem:
            yield {"name": name, "needed_by": path, "problem": hit.problem if hit else ""}


def _elsewhere(machine: Machine) -> Iterator[str]:
    """Yield NVIDIA's manifests in usual places, whether or not the loader looks there."""
    for folder in _ELSEWHERE:
        yield from machine.glob(f"{folder}/{vulkan.DRIVERS}/*nvidia*.json")


def _layers(machine: Machine) -> list[Json]:
    """Return the implicit layers of the shell that would be loaded, and whether their libraries are found."""
    active = [layer for layer in vulkan.implicit_layers(machine) if layer.active][:MAX_LAYERS]
    return [_layer(machine, layer) for layer in active]


def _layer(machine: Machine, layer: vulkan.Layer) -> Json:
    """Return one layer."""
    hit = _found(machine, layer.path, layer.library, None)
    problem = hit.problem if hit else f"{layer.library} is not found"
    return {"name": layer.name[:200], "path": layer.path, "problem": problem[:300]}


def _nodes(machine: Machine) -> Iterator[Json]:
    """Yield the nodes of the kernel's Direct Rendering Manager, with their modes in octal."""
    for path in (path for pattern in _RENDER for path in machine.glob(pattern)):
        status = machine.view.status(path)
        if status is not None and not stat.S_ISDIR(status.st_mode):
            yield {"mode": f"{stat.S_IMODE(status.st_mode):03o}", "path": path}
