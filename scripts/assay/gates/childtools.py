"""Finds on a machine what a child's search paths need: toolkit and driver folders, layer switches.

The driver's ``libcuda`` must be the system's own.  It is left to the dynamic loader's defaults; only where
those do not have it (containers that mount the driver under ``/usr/local/nvidia`` and say so in the caller's
``LD_LIBRARY_PATH``) is that one folder given to the child.  A toolkit's stub folder never is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from assay.errors import StorageError
from assay.machine import Machine
from assay.machine.loader import find_library
from assay.model import Json, Platform
from assay.selection import Selection

if TYPE_CHECKING:
    from assay.gates.rehearsal import Rehearsal

DRIVER = "libcuda.so.1"
"""SONAME of the CUDA driver library (CUDA Driver API; nvidia-installer)."""

STUBS = "stubs"
"""Folder of link-time stubs inside a toolkit: a ``libcuda`` there does nothing (CUDA installation guide)."""

LAYER_FOLDERS = (
    "/etc/vulkan/implicit_layer.d",
    "/usr/share/vulkan/implicit_layer.d",
    "/usr/local/share/vulkan/implicit_layer.d",
    "/usr/local/etc/vulkan/implicit_layer.d",
)
"""Where the Vulkan loader looks for implicit layers ("Layer Manifest File Locations", Linux); the user's
own folders are below HOME, which is private to the child."""

_PROGRAMS = {Platform.WINDOWS: (r"bin\x64", "bin", r"nvvm\bin")}
_LIBRARIES = (
    "lib64",
    "lib",
    "targets/x86_64-linux/lib",
    "targets/sbsa-linux/lib",
    "targets/aarch64-linux/lib",
)
_VARIABLES = ("LD_LIBRARY_PATH", "LD_PRELOAD", "/etc/ld.so.preload")
"""What a library can be found through besides the loader's defaults; only the first names folders."""

_MANIFEST = 1 << 16


@dataclass(frozen=True)
class LoaderFolders:
    """Where a child finds things.

    Attributes:
        programs: the toolkit's folders of programs (and DLLs on Windows).
        libraries: folders for ``LD_LIBRARY_PATH``, the toolkit's first, a driver's folder last.
        driver: the driver's folder where the loader's defaults lack it, else ``""``.
        layer_switches: variables that switch single implicit Vulkan layers off, with their values.
    """

    programs: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    driver: str = ""
    layer_switches: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Layer:
    """An implicit Vulkan layer: its manifest, name, library as written, and the variable that disables it."""

    manifest: str
    name: str
    library: str
    switch: tuple[str, str] | None


def loader_folders(
    machine: Machine, selection: Selection, platform: Platform, rehearsal: Rehearsal | None = None
) -> LoaderFolders:
    """Return what the children of this selection need on this machine; in a rehearsal the CPU's driver."""
    toolkit, join = selection.toolkit, machine.paths.join
    programs = tuple(
        folder
        for name in _PROGRAMS.get(platform, ("bin",))
        if toolkit and machine.is_dir(folder := join(toolkit, name))
    )
    if platform not in {Platform.LINUX, Platform.WSL}:
        return LoaderFolders(programs)
    libraries = toolkit_libraries(machine, toolkit) if toolkit else ()
    switches = dict(layer.switch for layer in implicit_layers(machine) if layer.switch)
    if rehearsal is not None:
        folders = (*rehearsal.libraries, *libraries)
        return LoaderFolders((str(rehearsal.wrappers), *programs), folders, "", switches)
    driver = driver_folder(machine, selection)
    return LoaderFolders(programs, (*libraries, *((driver,) if driver else ())), driver, switches)


def toolkit_libraries(machine: Machine, toolkit: str) -> tuple[str, ...]:
    """Return the first of the toolkit's library folders that has an NVRTC, as a tuple of none or one.

    Layouts: ``lib64`` of NVIDIA's installer, ``lib`` of PyPI's ``nvidia/cu13``, ``targets/<arch>-linux/lib``
    of conda and the distribution packages.
    """
    for name in _LIBRARIES:
        folder = machine.paths.join(toolkit, name)
        if machine.glob(f"{_literal(folder)}/libnvrtc.so*"):
            return (folder,)
    return ()


def driver_folder(machine: Machine, selection: Selection) -> str:
    """Return the folder of ``LD_LIBRARY_PATH`` that has the driver, ``""`` where the defaults have it."""
    hits = [hit for hit in find_library(machine, DRIVER).hits if not hit.skipped]
    if any(not hit.found_via.startswith(_VARIABLES) for hit in hits):
        return ""
    own = tuple(path.rstrip("/") for path in (selection.toolkit, *selection.site_packages) if path)
    for hit in hits:
        folder = hit.path.rpartition("/")[0]
        inside = any(f"{folder}/".startswith(f"{path}/") for path in own)
        if hit.found_via == _VARIABLES[0] and folder.startswith("/") and not inside and not _is_stub(folder):
            return folder.rstrip("/")
    return ""


def _is_stub(folder: str) -> bool:
    """Say whether a folder holds link-time stubs."""
    return STUBS in folder.split("/")


def implicit_layers(machine: Machine) -> tuple[Layer, ...]:
    """Return the implicit Vulkan layers installed for everybody; a broken manifest is none."""
    paths = [path for folder in LAYER_FOLDERS for path in machine.glob(f"{folder}/*.json")]
    return tuple(layer for path in paths for layer in _layers(machine, path))


def _layers(machine: Machine, path: str) -> Iterator[Layer]:
    """Yield the layers of one manifest (Vulkan loader, "Layer Manifest File Format")."""
    try:
        document: Json = json.loads(machine.read_bytes(path, _MANIFEST))
    except (StorageError, ValueError, RecursionError):
        return
    if not isinstance(document, Mapping):
        return
    several = document.get("layers")
    for value in several if isinstance(several, list) else [document.get("layer")]:
        if isinstance(value, Mapping) and isinstance(value.get("name"), str):
            library = value.get("library_path")
            yield Layer(path, str(value["name"]), library if isinstance(library, str) else "", _switch(value))


def _switch(layer: Mapping[str, Json]) -> tuple[str, str] | None:
    """Return the variable that disables a layer, with the value that does it."""
    switches = layer.get("disable_environment")
    if not isinstance(switches, Mapping):
        return None
    for name, value in switches.items():
        if isinstance(value, str) and name.isidentifier():
            return name, value or "1"
    return None


def _literal(path: str) -> str:
    """Return a pattern that matches exactly ``path``."""
    return "".join(f"[{character}]" if character in "*?[" else character for character in path)
