"""What shows a driver of NVIDIA's before anything is asked, and the facts of a machine without such a sign.

A machine without a GPU is looked at in no time: what reads a driver is not even imported.  The facts are
described in ``assay.judge.driver_linux``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assay.machine import Machine, nvidia, pci
from assay.model import Facts, Json, Platform

WINDOWS_DRIVER = r"C:\Windows\System32\nvcuda.dll"

_WSL_DRIVER = "/usr/lib/wsl/lib/libcuda.so.1"

_MEMORY = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
"""A container's limit: of cgroup v2 and of v1 (the kernel's cgroup-v2 and cgroup-v1 documentation)."""

_UNLIMITED = 1 << 60
"""Bytes; cgroup v1 writes "no limit" as the largest multiple of a page."""

NO_DRIVER = "there is no driver to ask"
UNASKED: Mapping[str, Json] = {
    "asked": False,
    "code": None,
    "facts": {},
    "problem": NO_DRIVER,
    "reason": "",
    "silent": False,
}
"""The facts of a question that was put to nobody, for want of a driver."""

NO_LIBRARIES: Facts = {"copies": [], "loaded": {}, "private": {}, "shell": {}}
NO_LOG: Facts = {"events": [], "problems": [], "sources": []}
NO_FIRMWARE: Facts = {"roots": [], "versions": {}}
NO_KERNEL: Facts = {"lockdown": "", "release": "", "secure_boot": None}
NO_DISK: Facts = {"blacklists": [], "built": [], "others": [], "sources": []}


def has_driver(machine: Machine) -> bool:
    """Say whether an NVIDIA driver is there: a loaded kernel module, or the library of Windows or WSL."""
    if machine.platform is Platform.WINDOWS:
        return machine.is_file(WINDOWS_DRIVER)
    if machine.platform is Platform.WSL:
        return machine.exists(_WSL_DRIVER)
    module = nvidia.kernel_module(machine)
    return not module.problem or bool(nvidia.module_versions(machine).get("nvidia"))


def has_signs(machine: Machine) -> bool:
    """Say whether a native Linux shows an NVIDIA driver, GPU or device node."""
    return has_driver(machine) or bool(pci.gpus(machine)) or bool(nvidia.device_nodes(machine))


def bare_facts(machine: Machine) -> Facts:
    """Return the facts of a native Linux without any sign of an NVIDIA GPU; nobody is asked."""
    smi: Mapping[str, Json] = {
        "asked": False,
        "driver": "",
        "problem": NO_DRIVER,
        "silent": False,
        "version": "",
    }
    return {
        "container": container_facts(machine),
        "cuda_api": UNASKED,
        "devices": [],
        "firmware": NO_FIRMWARE,
        "gpus": [],
        "kernel": NO_KERNEL,
        "libraries": NO_LIBRARIES,
        "log": NO_LOG,
        "module": {**module_facts(machine), "disk": NO_DISK},
        "nodes": [],
        "nvml": UNASKED,
        "opened": UNASKED,
        "smi": smi,
    }


def module_facts(machine: Machine) -> dict[str, Json]:
    """Return the loaded kernel module: version, flavour, and the version of each module that is there."""
    module, versions = nvidia.kernel_module(machine), nvidia.module_versions(machine)
    stated = versions.get("nvidia", "")
    return {
        "flavour": module.flavour,
        "loaded": sorted({*versions, *({*nvidia.loaded_modules(machine)} & {*nvidia.MODULES})}),
        "problem": module.problem[:300],
        "version": module.version or (stated if nvidia.VERSION.fullmatch(stated) else ""),
        "versions": dict(versions),
    }


def container_facts(machine: Machine) -> Facts:
    """Return the kind of container, what it was asked to be given of the GPU, and its memory in bytes."""
    visible, capabilities = (
        machine.env.get(name) for name in ("NVIDIA_VISIBLE_DEVICES", "NVIDIA_DRIVER_CAPABILITIES")
    )
    return {
        "capabilities": capabilities,
        "kind": machine.virtualisation.container,
        "memory_limit": _memory_limit(machine, _MEMORY),
        "visible": visible,
    }


def _memory_limit(machine: Machine, files: Sequence[str]) -> int | None:
    """Return the limit in bytes, None where there is none."""
    for path in files:
        said = machine.peek(path, 4096).text.strip()
        if said.isascii() and said.isdigit() and int(said[:19]) < _UNLIMITED:
            return int(said[:19])
    return None
