"""Observes for gate ``driver`` on native Linux: module, firmware, nodes, userspace, and the kernel's log.

The facts are described in ``assay.judge.driver_linux``.
"""

from __future__ import annotations

from assay.gates.childview import child_view
from assay.gates.context import Context
from assay.gates.driver_live import live_facts
from assay.gates.driver_signs import NO_DISK, container_facts, has_driver, module_facts
from assay.gates.probes import probes_of
from assay.machine import Machine, driverfiles, kernellog, kernelmodules, nvidia, pci
from assay.model import Facts, Json


def observe_linux(context: Context) -> Facts:
    """Return the facts of a native Linux that shows a driver, a GPU or a device node."""
    machine = context.machine
    loaded, gpus, module = has_driver(machine), pci.gpus(machine), module_facts(machine)
    live = live_facts(context, probes_of(context), driver=loaded)
    version = str(module["version"])
    return {
        "container": container_facts(machine),
        "devices": [{"bus": gpu.bus, "device": f"{gpu.device:04x}", "driver": gpu.driver} for gpu in gpus],
        "firmware": _firmware(machine),
        "gpus": _gpus(machine),
        "kernel": _kernel(machine),
        "libraries": library_facts(context, version),
        "log": _log(machine),
        "module": {**module, "disk": _disk(machine) if not loaded else NO_DISK},
        "nodes": [
            _node(node) for node in nvidia.device_nodes(machine)
        ],  # a driver makes some when it is asked
        **live,
    }


def _disk(machine: Machine) -> Facts:
    """Return what lies on disk of a module that is not loaded."""
    disk = kernelmodules.on_disk(machine)
    return {
        "blacklists": list(disk.blacklists),
        "built": list(disk.built),
        "others": list(disk.others),
        "sources": list(disk.sources),
    }


def _kernel(machine: Machine) -> Facts:
    """Return the kernel's release and what it asks of a module before it loads it."""
    guards = kernelmodules.guards(machine)
    release = kernelmodules.kernel_release(machine)
    return {"lockdown": guards.lockdown, "release": release, "secure_boot": guards.secure_boot}


def _firmware(machine: Machine) -> Facts:
    """Return the folders that the kernel looks for firmware in, and the GSP firmware there by version."""
    found = nvidia.firmware_versions(machine)
    return {
        "roots": list(nvidia.firmware_roots(machine)),
        "versions": {version: list(names) for version, names in found.items()},
    }


def _gpus(machine: Machine) -> list[Json]:
    """Return what the driver says of each GPU in ``/proc``."""
    return [
        {
            "bus": gpu["bus"],
            "excluded": gpu.get("GPU Excluded", "")[:20],
            "firmware": gpu.get("GPU Firmware", "")[:100],
            "minor": gpu.get("Device Minor", "")[:20],
            "model": gpu.get("Model", "")[:200],
            "uuid": gpu.get("GPU UUID", "")[:100],
            "vbios": gpu.get("Video BIOS", "")[:100],
        }
        for gpu in nvidia.gpus(machine)
    ]


def _node(node: nvidia.DeviceNode) -> Json:
    """Return a device node; its mode as three octal digits."""
    return {"mode": f"{node.mode:03o}", "path": node.path}


def library_facts(context: Context, version: str) -> Facts:
    """Return the driver's libraries: those that the children load, those of this shell, and the others."""
    child = child_view(context).machine
    loaded = {part: driverfiles.loaded(child, part, version) for part in driverfiles.LIBRARIES}
    shell = {part: driverfiles.loaded(context.machine, part, version) for part in ("libcuda", "nvml")}
    found = [library for library in loaded.values() if library]
    folders = [child.paths.dirname(path) for each in found for path in (each.real, each.path) if path]
    private = driverfiles.private_versions(child, folders)
    others = [each for part in ("libcuda", "nvml") for each in driverfiles.copies(context.machine, part)]
    return {
        "copies": [{"path": each.real, "version": each.version} for each in others],
        "loaded": {part: _library(library) for part, library in loaded.items()},
        "private": {name: list(versions) for name, versions in private.items()},
        "shell": {part: _library(library) for part, library in shell.items()},
    }


def _library(library: driverfiles.Library | None) -> Json:
    """Return a library, null where the loader finds none."""
    if library is None:
        return None
    return {
        "found_via": library.found_via,
        "path": library.path,
        "real": library.real,
        "told_by": library.told_by,
        "version": library.version,
    }


def _log(machine: Machine) -> Facts:
    """Return the kernel's events, and whether the process that each names still runs."""
    log = kernellog.read_log(machine)
    events: list[Json] = []
    for event in log.events:
        said: dict[str, Json] = dict(event.says)
        alive = _alive(machine, str(said.get("pid", ""))) if said.get("pid") else None
        events.append({**said, "alive": alive, "count": event.count, "kind": event.kind})
    return {"events": events, "problems": list(log.problems), "sources": list(log.sources)}


def _alive(machine: Machine, pid: str) -> bool | None:
    """Say whether a process runs; None where ``/proc`` does not show every process, as in a container."""
    if machine.virtualisation.container or not machine.is_dir("/proc/1"):
        return None
    return machine.is_dir(f"/proc/{pid}")
