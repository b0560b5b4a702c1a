"""The NVIDIA driver's userspace as it lies on disk: which library a loader takes, of which version.

The driver installs its libraries under their whole version and links their SONAME to them (NVIDIA README,
"Installed Components"), so a file's name tells its version.  A copy without a version in its name tells it by
its contents, where it names the version that it is asked about.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from assay.errors import StorageError
from assay.files import CHUNK, storage_errors
from assay.machine.loader import find_library

if TYPE_CHECKING:
    from pathlib import Path

    from assay.machine.machine import Machine

LIBRARIES: Mapping[str, str] = MappingProxyType(
    {
        "egl": "libEGL_nvidia.so.0",
        "glx": "libGLX_nvidia.so.0",
        "libcuda": "libcuda.so.1",
        "nvml": "libnvidia-ml.so.1",
        "ptx": "libnvidia-ptxjitcompiler.so.1",
    }
)
"""By part, the name that programs load (NVIDIA README, "Installed Components")."""

PRIVATE = (
    *("libnvidia-eglcore", "libnvidia-glcore", "libnvidia-glsi", "libnvidia-glvkspirv", "libnvidia-gpucomp"),
    *("libnvidia-nvvm", "libnvidia-rtcore", "libnvidia-tls"),
)
"""Libraries that the driver's others load by their whole version, from the folders that those lie in."""

FOLDERS = (
    *("/usr/lib/*-linux-gnu", "/usr/lib64", "/usr/lib", "/lib/*-linux-gnu", "/lib64", "/lib"),
    *(
        "/usr/lib/*-linux-gnu/nvidia",
        "/usr/lib/*-linux-gnu/nvidia/*",
        "/usr/lib64/nvidia",
        "/usr/lib/nvidia*",
    ),
    *("/usr/local/lib", "/usr/local/lib64", "/usr/local/nvidia/lib64", "/usr/local/nvidia/lib"),
    *("/usr/lib/nvidia", "/opt/nvidia/lib64", "/run/opengl-driver/lib", "/usr/local/cuda*/compat"),
)
"""Where distributions, NVIDIA's installer and container hosts put the driver's libraries."""

MAX_COPIES = 100

_IN_NAME = re.compile(r"\.so\.(\d{3,5}\.\d{1,5}(?:\.\d{1,5})?)", re.ASCII)
"""Three digits at least: the projected ``libcuda.so.1.1`` of WSL is no version."""

_FOREIGN = ("i386-linux-gnu", "lib32")
"""Folders of libraries for other processors than the machine's own."""


@dataclass(frozen=True)
class Library:
    """A library of the driver.

    Attributes:
        path: where it was found.
        real: the file behind its links.
        version: its whole version, ``""`` where nothing tells it.
        told_by: ``file name``, ``contents`` or ``""``.
        found_via: what made the loader look there.
    """

    path: str
    real: str
    version: str
    told_by: str
    found_via: str = ""


def loaded(machine: Machine, part: str, module: str) -> Library | None:
    """Return the library that a loader with this machine's environment takes, None where it finds none.

    Args:
        machine: the machine.
        part: a key of ``LIBRARIES``.
        module: the kernel module's whole version, which a library without one in its name may hold.
    """
    hit = find_library(machine, LIBRARIES[part]).chosen
    if hit is None:
        return None
    version, told_by = version_of(machine, hit.resolved or hit.path, module)
    return Library(hit.path, hit.resolved, version, told_by, hit.found_via)


def version_of(machine: Machine, real: str, module: str) -> tuple[str, str]:
    """Return a library's version on a machine and what told it; see ``told_version``."""
    if version := version_in_name(machine.paths.basename(real)):
        return version, "file name"
    try:
        return told_version(machine.view.regular(real), module)
    except StorageError:
        return "", ""


def told_version(path: Path, module: str) -> tuple[str, str]:
    """Return a library's version and what told it: its name, or its contents where they hold ``module``.

    Args:
        path: the file behind all links.
        module: the kernel module's whole version, ``""`` where it is not known.
    """
    if version := version_in_name(path.name):
        return version, "file name"
    try:
        held = bool(module) and holds(path, module)
    except StorageError:
        return "", ""
    return (module, "contents") if held else ("", "")


def version_in_name(name: str) -> str:
    """Return the version that a library's file name ends with, ``""`` where it has none."""
    match = _IN_NAME.search(name)
    return match[1] if match and name.endswith(match[0]) else ""


def holds(path: Path, version: str) -> bool:
    """Say whether a library holds a whole version as text: it tells its own to the kernel module.

    Raises:
        StorageError: it cannot be read.
    """
    wanted = version.encode()
    whole = re.compile(rb"(?<![\d.])" + re.escape(wanted) + rb"(?![\d.])")
    with storage_errors("read", path), path.open("rb") as stream:
        data, start = b"", 0
        while chunk := stream.read(CHUNK):
            kept = data[-len(wanted) - 2 :]
            data, start = kept + chunk, 1 if kept else 0  # what stood before the first kept byte is gone
            if any(match.end() < len(data) for match in whole.finditer(data, start)):
                return True  # one that ends with the data is looked at again, with what follows it
    return whole.search(data, start) is not None


def private_versions(machine: Machine, folders: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
    """Return the versions of each of ``PRIVATE`` that lie in some folders, sorted as text."""
    found: dict[str, set[str]] = {}
    for folder in dict.fromkeys(folders):
        for path in machine.glob(f"{folder}/libnvidia-*.so.*"):
            name = machine.paths.basename(path)
            family, version = name.partition(".so.")[0], version_in_name(name)
            if family in PRIVATE and version:
                found.setdefault(family, set()).add(version)
    return MappingProxyType({family: tuple(sorted(versions)) for family, versions in sorted(found.items())})


def copies(machine: Machine, part: str) -> tuple[Library, ...]:
    """Return every file of a part that lies in a usual folder and tells its version by its name."""
    stem = LIBRARIES[part].partition(".so")[0]
    found: dict[str, Library] = {}
    for path in (path for folder in FOLDERS for path in machine.glob(f"{folder}/{stem}.so.[0-9]*")):
        version = version_in_name(machine.paths.basename(path))
        if version and not any(name in _FOREIGN for name in path.split("/")):
            found.setdefault(
                machine.resolve(path), Library(path, machine.resolve(path), version, "file name")
            )
    return tuple(found.values())[:MAX_COPIES]
