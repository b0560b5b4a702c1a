"""Observes the driver that a toolkit has to fit: its version, its devices, and the libcuda that would load.

The facts are described in ``assay.judge.toolkit_driver``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from assay.errors import StorageError
from assay.gates.childtools import DRIVER, STUBS
from assay.gates.context import Context
from assay.gates.driver_signs import WINDOWS_DRIVER, has_driver
from assay.gates.layout import Toolkit, literal, origin_of
from assay.gates.probes import Probes, Said
from assay.machine import Machine, nvidia
from assay.machine.loader import find_library
from assay.model import Facts, Json, Platform
from assay.plan.versions import release

NVML_DEADLINE_S = 20.0
"""Seconds for NVML: a healthy one takes one, and a hung one takes for ever."""


def driver_facts(context: Context, probes: Probes) -> dict[str, Json]:
    """Return ``driver``, ``devices`` and ``nvml``; on a machine without a driver null, none and not asked."""
    machine = context.machine
    if not has_driver(machine):
        return {"devices": [], "driver": None, "nvml": {"asked": False, "problem": "", "silent": False}}
    said = probes.chain(("nvml",), NVML_DEADLINE_S)["nvml"]
    return {
        "devices": _devices(said),
        "driver": _driver(machine, said),
        "nvml": {"asked": said.asked, "problem": said.problem[:500], "silent": said.silent},
    }


def _driver(machine: Machine, said: Said) -> Facts:
    """Return the driver's version and the CUDA version that it speaks, with where each was read."""
    told, number = said.facts.get("driver_version"), said.facts.get("cuda_version")
    speaks = f"{number // 1000}.{number % 1000 // 10}" if isinstance(number, int) and number > 0 else ""
    version, source = (told, "NVML") if isinstance(told, str) and told else _version_of_files(machine)
    return {"cuda": speaks, "cuda_source": "NVML" if speaks else "", "source": source, "version": version}


def _version_of_files(machine: Machine) -> tuple[str, str]:
    """Return the driver's version as files show it, and which file."""
    if machine.platform is Platform.WINDOWS:
        return windows_version(machine.binary(WINDOWS_DRIVER, symbols=False).version), WINDOWS_DRIVER
    module = nvidia.kernel_module(machine)
    if module.version:
        return module.version, nvidia.VERSION_FILE
    return nvidia.module_versions(machine).get("nvidia", ""), "/sys/module/nvidia/version"


def windows_version(file_version: str) -> str:
    """Return NVIDIA's version of a Windows driver file: ``32.0.16.1692`` is ``616.92``.

    Of ``a.b.z.w``, n = (z - 10) * 10000 + w, and the version is n // 100 and n % 100 in two digits.
    """
    numbers = release(file_version)
    if len(numbers) != len(("a", "b", "z", "w")):
        return ""
    number = (numbers[2] - 10) * 10_000 + numbers[3]
    return f"{number // 100}.{number % 100:02d}" if number > 0 else ""


def _devices(said: Said) -> list[Json]:
    """Return name and compute capability of each GPU that NVML told of."""
    gpus = said.facts.get("gpus")
    found: list[Json] = []
    for gpu in gpus if isinstance(gpus, list | tuple) else ():
        if isinstance(gpu, Mapping):
            capability, name = gpu.get("compute_capability"), gpu.get("name")
            found.append(
                {
                    "capability": capability if isinstance(capability, str) else "",
                    "name": name if isinstance(name, str) else "",
                }
            )
    return found


def libcuda_facts(context: Context, child: Machine, toolkit: Toolkit) -> Facts:
    """Return the libcuda that children and shell would load; null where there is none, or not Linux."""
    if context.platform not in {Platform.LINUX, Platform.WSL}:
        return {"child": None, "shell": None}
    stubs = _stubs(context.machine, toolkit)
    return {
        "child": _libcuda(child, toolkit, stubs),
        "shell": _libcuda(context.machine, toolkit, stubs),
    }


def _stubs(machine: Machine, toolkit: Toolkit) -> frozenset[str]:
    """Return the SHA-256 of each stub that the toolkit has, to recognise a copy."""
    join, top = machine.paths.join, literal(toolkit.top)
    places = [
        join(top, *folder, STUBS, "libcuda.so*") for folder in (("lib64",), ("lib",), ("targets", "*", "lib"))
    ]
    return frozenset(_digest(machine, path) for place in places for path in machine.glob(place)) - {""}


def _digest(machine: Machine, path: str) -> str:
    """Return a file's SHA-256 (hex), ``""`` where it cannot be read."""
    try:
        return machine.sha256(path)[0]
    except StorageError:
        return ""


def _libcuda(machine: Machine, toolkit: Toolkit, stubs: frozenset[str]) -> Json:
    """Return the library that a loader with this environment takes, and what shows that it is a stub."""
    hit = find_library(machine, DRIVER).chosen
    if hit is None:
        return None
    return {
        "found_via": hit.found_via,
        "in_toolkit": origin_of(machine, hit.path) == toolkit.origin and toolkit.layout != "distribution",
        "path": hit.path,
        "real": hit.resolved,
        "same_as_stub": bool(stubs) and _digest(machine, hit.path) in stubs,
        "stubs": any(STUBS in re.split(r"[/\\]", path) for path in (hit.path, hit.resolved)),
    }
