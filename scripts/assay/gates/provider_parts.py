"""Observes a provider that the plan pins: what it says of itself, and what it needs of this machine.

The facts are described in ``assay.judge.provider``.
"""

from __future__ import annotations

import re

from assay.gates.childview import child_view
from assay.gates.context import Context
from assay.gates.distributions import distributions_in
from assay.gates.driver_signs import has_driver
from assay.gates.files import binary_facts, machine_facts
from assay.gates.probes import Probes, probes_of
from assay.machine import Machine
from assay.machine.loader import find_library, resolve_needed
from assay.model import Facts, Json, Platform
from assay.plan.values import WGPU_NATIVE, ProviderPin

VULKAN = "libvulkan.so.1"
"""SONAME of the Vulkan loader, which wgpu-native opens by name ("LoaderInterfaceArchitecture")."""

VULKAN_BACKEND = "Vulkan"

_ASK_VERSION = (
    "import ctypes, sys; f = ctypes.CDLL(sys.argv[1]).wgpuGetVersion; f.restype = ctypes.c_uint32; "
    "v = f(); sys.stdout.write('.'.join(str(v >> n & 255) for n in (24, 16, 8, 0)))"
)
"""``wgpuGetVersion`` packs four numbers into 32 bits, the first highest (wgpu.h); it starts nothing."""

_EXPECTS = re.compile(r"^__version__\s*=\s*[\"'](\d+(?:\.\d+){2,3})[\"']", re.MULTILINE)
_REPORTED = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")


def pinned_facts(context: Context, pin: ProviderPin, file: dict[str, Json]) -> dict[str, Json]:
    """Return what the pinned library says of itself and needs of this machine."""
    machine, path = context.machine, str(file["path"])
    child = child_view(context).machine
    binary = machine.binary(path)
    return {
        "arch": _arch(context),
        "file": {**file, "binary": binary_facts(binary)},
        "libraries": _libraries(context, child, path),
        "machine": machine_facts(machine),
        "symbols": sorted(binary.exports & set(pin.symbols)),
        "vulkan": _vulkan(context, child, pin),
        "wgpu": _wgpu(context, probes_of(context), pin, path),
    }


def _arch(context: Context) -> str:
    """Return the processor of the selected interpreter, ``""`` where there is none to read."""
    executable = context.selection.executable
    return context.machine.binary(executable, symbols=False).arch if executable else ""


def _libraries(context: Context, child: Machine, path: str) -> list[Json]:
    """Return each library that the provider needs, and where the children's loader would find it."""
    program = context.selection.executable or ""
    resolution = resolve_needed(child, path, program=program, python=True)
    found: list[Json] = []
    for one in resolution.dependencies:
        usable = one.hit is not None and not one.hit.problem
        found.append(
            {
                "name": one.name,
                "needed_by": one.needed_by,
                "path": one.hit.path if usable and one.hit else None,
                "problem": one.hit.problem if one.hit else "",
            }
        )
    return found


def _vulkan(context: Context, child: Machine, pin: ProviderPin) -> Facts:
    """Return whether WGSL runs through Vulkan here, whether there is a driver, and the loader found."""
    stages = [stage for chain in context.plan.planned_chains(context.platform) for stage in chain.stages]
    wanted = (
        context.platform in {Platform.LINUX, Platform.WSL}
        and pin.interface == WGPU_NATIVE
        and context.plan.backend.get(context.platform) == VULKAN_BACKEND
        and any(stage.runtime == "wgpu" for stage in stages)
    )
    hit = find_library(child, VULKAN).chosen if wanted else None
    return {"driver": has_driver(context.machine), "path": hit.path if hit else None, "wanted": wanted}


def _wgpu(context: Context, probes: Probes, pin: ProviderPin, path: str) -> Facts:
    """Return wgpu-native's version as the wgpu package expects it and as the pinned provider says it."""
    if pin.interface != WGPU_NATIVE:
        return {"expects": "", "package": "", "reported": ""}
    expects, package = _expected(context)
    executable = context.selection.executable
    reported = ""
    if executable:
        said = probes.program("provider", (executable, "-I", "-S", "-B", "-c", _ASK_VERSION, path))
        match = _REPORTED.fullmatch(said.text.strip()) if not said.problem else None
        reported = match[0] if match else ""
    return {"expects": expects, "package": package, "reported": reported}


def _expected(context: Context) -> tuple[str, str]:
    """Return the wgpu-native version that the installed wgpu package names, and the package's own version."""
    machine = context.machine
    for folder in context.selection.site_packages:
        file = machine.paths.join(folder, "wgpu", "backends", "wgpu_native", "__init__.py")
        match = _EXPECTS.search(machine.peek(file).text)
        if match:
            versions = [one.version for one in distributions_in(machine, folder) if one.name == "wgpu"]
            return match[1], versions[0] if versions else ""
    return "", ""
