"""What an NVIDIA driver shows in files: kernel module, GPUs, device nodes; all read, nothing asked.

Source of the forms: the driver's README, chapter "Using the /proc File System Interface", and what drivers
470 to 580 print.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from assay.errors import StorageError

if TYPE_CHECKING:
    from assay.machine.machine import Machine

VERSION_FILE = "/proc/driver/nvidia/version"
NODES = ("/dev/nvidia*", "/dev/nvidia-caps/*", "/dev/dxg")
MODULES = ("nvidia", "nvidia_uvm", "nvidia_modeset", "nvidia_drm")

MAX_VERSIONS = 100
"""Versions, and files of each, that are told."""

VERSION = re.compile(r"\d{1,5}(?:\.\d{1,5}){1,3}", re.ASCII)
"""A whole driver version: ``580.159.04``; longer numbers are not versions but attempts to fill memory."""

_NVRM = re.compile(r"^NVRM version:\s*(?P<what>.*?Kernel Module[^\n]*)$", re.MULTILINE)


@dataclass(frozen=True)
class KernelModule:
    """The resource manager's own line in ``/proc/driver/nvidia/version``.

    Attributes:
        version: whole version, ``""`` where it cannot be read.
        flavour: ``open``, ``proprietary`` or ``""``.
        text: the line as it stands.
        problem: empty, ``missing``, or why it is not understood.
    """

    version: str = ""
    flavour: str = ""
    text: str = ""
    problem: str = ""


@dataclass(frozen=True)
class DeviceNode:
    """A file under ``/dev``; ``major`` and ``minor`` are -1 where it is no character device (a fake root)."""

    path: str
    major: int
    minor: int
    mode: int


def kernel_module(machine: Machine) -> KernelModule:
    """Return the loaded kernel module's version and flavour.

    The open module says "Open Kernel Module"; the proprietary one lacks "Open".
    """
    reading = machine.peek(VERSION_FILE)
    if reading.problem:
        return KernelModule(problem=reading.problem)
    return parse_version_file(reading.text)


def parse_version_file(text: str) -> KernelModule:
    """Parse the text of ``/proc/driver/nvidia/version``."""
    line = _NVRM.search(text)
    if line is None:
        return KernelModule(text=text[:200], problem="no line names the NVIDIA kernel module")
    what = line["what"].strip()
    flavour = "open" if "Open Kernel Module" in what else "proprietary"
    words = what.partition("Kernel Module")[2].split()
    version = next((word for word in words if VERSION.fullmatch(word)), "")
    return KernelModule(version, flavour, what[:200], "" if version else "the line holds no version")


def module_versions(machine: Machine) -> Mapping[str, str]:
    """Return ``/sys/module/<name>/version`` of each NVIDIA module that is loaded, cut to 100 characters.

    A module that is loaded and states no version has the value ``""``.
    """
    loaded = (name for name in MODULES if machine.is_dir(f"/sys/module/{name}"))
    versions = {name: machine.peek(f"/sys/module/{name}/version", 4096).text.strip()[:100] for name in loaded}
    return MappingProxyType(versions)


def loaded_modules(machine: Machine) -> tuple[str, ...]:
    """Return the names in ``/proc/modules``, sorted; empty where it cannot be read."""
    lines = machine.peek("/proc/modules").text.splitlines()
    return tuple(sorted({line.split()[0] for line in lines if line.split()}))


def gpus(machine: Machine) -> tuple[Mapping[str, str], ...]:
    """Return each ``/proc/driver/nvidia/gpus/<bus>/information`` as its fields, in order of the bus address.

    Fields keep the driver's names (``Model``, ``GPU UUID``, ``Video BIOS``, ``Bus Location``,
    ``GPU Firmware``, …); ``bus`` is the folder's name.
    """
    found = machine.glob("/proc/driver/nvidia/gpus/*/information")
    return tuple(_information(machine, path) for path in found)


def _information(machine: Machine, path: str) -> Mapping[str, str]:
    """Return one GPU's fields."""
    fields = parse_information(machine.peek(path, 1 << 16).text)
    return MappingProxyType({**fields, "bus": path.split("/")[-2]})


def parse_information(text: str) -> dict[str, str]:
    """Parse lines ``Name:   value`` of an ``information`` file; a line without a colon is left out."""
    pairs = (line.partition(":") for line in text.splitlines())
    return {name.strip(): value.strip() for name, colon, value in pairs if colon and name.strip()}


def device_nodes(machine: Machine) -> tuple[DeviceNode, ...]:
    """Return the GPU device nodes that exist, in the order of ``NODES``."""
    paths = (path for pattern in NODES for path in machine.glob(pattern))
    return tuple(node for node in (_node(machine, path) for path in paths) if node)


def _node(machine: Machine, path: str) -> DeviceNode | None:
    """Return a device node, None for a folder such as ``/dev/nvidia-caps``."""
    status = machine.view.status(path)
    if status is None or stat.S_ISDIR(status.st_mode):
        return None
    if not stat.S_ISCHR(status.st_mode):
        return DeviceNode(path, -1, -1, stat.S_IMODE(status.st_mode))
    return DeviceNode(path, os.major(status.st_rdev), os.minor(status.st_rdev), stat.S_IMODE(status.st_mode))


def firmware_roots(machine: Machine) -> tuple[str, ...]:
    """Return the folders that are there of those that the kernel loads firmware from, in its order.

    The parameter ``path`` of the module ``firmware_class`` comes first (the kernel's documentation, "Firmware
    search paths"); ``/usr/lib/firmware`` is where merged systems keep ``/lib/firmware``.
    """
    given = machine.peek("/sys/module/firmware_class/parameters/path", 4096).text.strip()
    release = machine.peek("/proc/sys/kernel/osrelease", 4096).text.strip() or "none"
    usual = ("updates/" + release, "updates", release, "")
    folders = [given] if given.startswith("/") else []
    for top in ("/lib/firmware", "/usr/lib/firmware"):
        folders += [f"{top}/{below}".rstrip("/") for below in usual]
    return tuple(dict.fromkeys(folder for folder in folders if machine.is_dir(folder)))


def firmware_versions(machine: Machine) -> Mapping[str, tuple[str, ...]]:
    """Return the GSP firmware files by driver version, as far as ``firmware_roots`` have a folder of it.

    A version's folder holds ``gsp_tu10x.bin`` (Turing, GA100) and ``gsp_ga10x.bin`` (GA10x and newer), which
    may be compressed (``.xz``, ``.zst``).
    """
    found: dict[str, tuple[str, ...]] = {}
    for folder in firmware_roots(machine):
        for path in machine.glob(f"{folder}/nvidia/[0-9]*")[:MAX_VERSIONS]:
            name = path.rsplit("/", 1)[1]
            gsp = tuple(each for each in _names(machine, path) if each.startswith("gsp"))[:MAX_VERSIONS]
            found[name] = tuple(sorted({*found.get(name, ()), *gsp}))
    return MappingProxyType(found)


def _names(machine: Machine, folder: str) -> tuple[str, ...]:
    """Return a folder's names, none where it cannot be listed."""
    try:
        return machine.listdir(folder)
    except StorageError:
        return ()
