"""Which drivers and implicit layers the Vulkan loader would take on a native Linux, told from files alone.

Done: the folders of manifests in the loader's order, the variables that override, add to and filter them, and
what a manifest must have.  Where the loader reads a folder in no order, names are sorted here.
Not done: the loader's settings file, programs with elevated privileges, override layers.

Sources: Vulkan-Loader, ``LoaderDriverInterface.md`` ("Driver Discovery on Linux", "Driver Filtering", "Driver
Manifest File Format"), ``LoaderLayerInterface.md`` ("Layer Manifest File Format"),
``LoaderInterfaceArchitecture.md`` ("Filter Environment Variable Behaviors").
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from assay.errors import StorageError
from assay.judge.vulkan_drivers import NVIDIA, OTHER, SOFTWARE
from assay.model import Json

if TYPE_CHECKING:
    from assay.machine.machine import Machine

OVERRIDES = ("VK_DRIVER_FILES", "VK_ICD_FILENAMES")
"""The first that is set takes the place of every folder; the second is its old name."""
ADDITIONS = "VK_ADD_DRIVER_FILES"
SELECT, DISABLE = "VK_LOADER_DRIVERS_SELECT", "VK_LOADER_DRIVERS_DISABLE"
LAYERS_DISABLE, LAYERS_ALLOW = "VK_LOADER_LAYERS_DISABLE", "VK_LOADER_LAYERS_ALLOW"
VARIABLES = (*OVERRIDES, ADDITIONS, SELECT, DISABLE)

DRIVERS, LAYERS = "vulkan/icd.d", "vulkan/implicit_layer.d"

NIXOS = "/run/opengl-driver/share"
"""What NixOS builds its loader with in the place of ``/etc``."""

MISSING = "it is not there"

_NVIDIA = re.compile(r"lib(?:GLX|EGL)_nvidia\.so")
_SOFTWARE = ("libvulkan_lvp", "libvk_swiftshader")
"""Beginnings of the libraries of Mesa's lavapipe and of SwiftShader, which compute on the processor."""

MAX_MANIFESTS = 100
MANIFEST_LIMIT = 1 << 20
"""Bytes of a manifest that are read; one of a driver has some hundred."""

_EVERY = ("~all~", "*", "**")
_IMPLICIT = "~implicit~"


@dataclass(frozen=True)
class Manifest:
    """A driver's manifest that the loader looks at.

    Attributes:
        path: the file.
        via: the variable or the folder that led to it.
        library: its ``library_path`` as it stands, ``""`` where it has none.
        api: its ``api_version``.
        problem: why the loader passes over it, or ``""``.
        ignored: the variable that leaves it out, or ``""``.
    """

    path: str
    via: str
    library: str = ""
    api: str = ""
    problem: str = ""
    ignored: str = ""


@dataclass(frozen=True)
class Layer:
    """An implicit layer: its manifest, name and library, and whether it would be loaded unasked."""

    path: str
    name: str
    library: str
    active: bool


def driver_manifests(machine: Machine) -> tuple[Manifest, ...]:
    """Return the manifests that the loader looks at with this machine's environment, in its order."""
    override = next((name for name in OVERRIDES if name in machine.env), "")
    if override:
        found = _listed(machine, override)
    else:
        added = _listed(machine, ADDITIONS)
        found = (*added, *_in_folders(machine, (f"{folder}/{DRIVERS}" for folder in data_folders(machine))))
    read = (_read(machine, path, via) for path, via in found)
    return tuple(one for one, _ in zip(read, range(MAX_MANIFESTS), strict=False))


def data_folders(machine: Machine) -> tuple[str, ...]:
    """Return the folders below which the loader looks, none twice, in its order."""
    home = machine.getenv("HOME")
    places = (
        machine.getenv("XDG_CONFIG_HOME") or (f"{home}/.config" if home else ""),
        *(machine.getenv("XDG_CONFIG_DIRS") or "/etc/xdg").split(":"),
        NIXOS if machine.is_dir(NIXOS) else "",
        "/etc",
        machine.getenv("XDG_DATA_HOME") or (f"{home}/.local/share" if home else ""),
        *(machine.getenv("XDG_DATA_DIRS") or "/usr/local/share:/usr/share").split(":"),
    )
    return tuple(dict.fromkeys(place.rstrip("/") or "/" for place in places if place))


def kind_of(manifest: Manifest) -> str:
    """Return whose driver a manifest names: its library tells, or its file name where it names none."""
    name = manifest.library.rpartition("/")[2]
    if _NVIDIA.match(name) or (not name and "nvidia" in manifest.path.rpartition("/")[2].lower()):
        return NVIDIA
    return SOFTWARE if name.startswith(_SOFTWARE) else OTHER


def _listed(machine: Machine, variable: str) -> tuple[tuple[str, str], ...]:
    """Return the manifests that a list of files and folders names."""
    found: list[tuple[str, str]] = []
    for entry in machine.getenv(variable).split(":"):
        if entry.endswith(".json"):
            found.append((machine.view.absolute(entry), variable))
        elif entry:
            found += [(path, variable) for path, _ in _in_folders(machine, (entry,))]
    return tuple(dict.fromkeys(found))


def _in_folders(machine: Machine, folders: Iterator[str] | Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return the manifests in folders, readable or not, each with its folder."""
    return tuple(
        (machine.paths.join(folder, name), folder)
        for folder in folders
        for name in _names(machine, folder)
        if name.endswith(".json")
    )


def _names(machine: Machine, folder: str) -> tuple[str, ...]:
    """Return a folder's names, none where it cannot be listed."""
    try:
        return machine.listdir(folder)
    except StorageError:
        return ()


def _read(machine: Machine, path: str, via: str) -> Manifest:
    """Return a manifest as the loader takes it."""
    document, problem = _document(machine, path)
    if problem:
        return Manifest(path, via, problem=problem)
    icd = document.get("ICD")
    if not isinstance(icd, Mapping):
        return Manifest(path, via, problem="it has no object ICD")
    library, api = _string(icd, "library_path"), _string(icd, "api_version")
    missing = _lacking(document, library, api)
    if missing or icd.get("is_portability_driver") is True or _string(icd, "library_arch").startswith("32"):
        why = missing or "it is for programs of another kind (portability, or 32 bits)"
        return Manifest(path, via, library, api, why)
    return Manifest(path, via, library, api, ignored=_left_out(machine, machine.paths.basename(path)))


def _lacking(document: Mapping[str, Json], library: str, api: str) -> str:
    """Return what a manifest lacks that the loader asks for."""
    asked = {
        "file_format_version": _string(document, "file_format_version"),
        "ICD.library_path": library,
        "ICD.api_version": api,
    }
    return next((f"it has no {name}" for name, value in asked.items() if not value), "")


def _document(machine: Machine, path: str) -> tuple[Mapping[str, Json], str]:
    """Return a JSON object, or why there is none."""
    said = machine.peek(path, MANIFEST_LIMIT)
    if said.problem:
        return {}, MISSING if said.problem == "missing" else said.problem
    try:
        document = json.loads(said.text)
    except (ValueError, RecursionError) as error:
        return {}, f"it is not JSON: {error}"[:200]
    return (document, "") if isinstance(document, Mapping) else ({}, "it is no JSON object")


def _string(table: Mapping[str, Json], name: str) -> str:
    """Return a string of a JSON object, ``""`` where it is none."""
    value = table.get(name)
    return value if isinstance(value, str) else ""


def _left_out(machine: Machine, name: str) -> str:
    """Return the filter that leaves a manifest of this file name out; one that is selected stays."""
    select, disable = machine.getenv(SELECT), machine.getenv(DISABLE)
    if select:
        return "" if matches(name, select) else SELECT
    return DISABLE if disable and matches(name, disable) else ""


def matches(name: str, filters: str) -> bool:
    """Say whether a name is among those of a filter variable: globs with ``*`` at their ends, in any case."""
    lower = name.lower()
    return any(_matches(lower, each) for each in filters.lower().split(",") if each)


def _matches(name: str, pattern: str) -> bool:
    """Say whether one glob matches."""
    if pattern in _EVERY:
        return True
    begins, ends = pattern.endswith("*"), pattern.startswith("*")
    bare = pattern[1 if ends else 0 : -1 if begins else None]
    if begins and ends:
        return bare in name
    return name.startswith(bare) if begins else name.endswith(bare) if ends else name == bare


def library_path(machine: Machine, manifest: str, library: str) -> str:
    """Return the file that a manifest's ``library_path`` names, ``""`` where the system looks for it.

    A name without a slash is looked for; one with a slash is relative to the manifest.
    """
    if "/" not in library:
        return ""
    return str(machine.paths.normpath(machine.paths.join(machine.paths.dirname(manifest), library)))


def implicit_layers(machine: Machine) -> tuple[Layer, ...]:
    """Return the implicit layers with a library, in the loader's order."""
    folders = (f"{folder}/{LAYERS}" for folder in data_folders(machine))
    found = (
        layer for path, _ in _in_folders(machine, folders)[:MAX_MANIFESTS] for layer in _layers(machine, path)
    )
    return tuple(layer for layer, _ in zip(found, range(MAX_MANIFESTS), strict=False))


def _layers(machine: Machine, path: str) -> Iterator[Layer]:
    """Yield the layers of one manifest; a layer that only gathers others has no library."""
    document, _ = _document(machine, path)
    several = document.get("layers")
    for each in several if isinstance(several, list) else [document.get("layer")]:
        if isinstance(each, Mapping) and _string(each, "library_path"):
            yield Layer(path, _string(each, "name"), _string(each, "library_path"), _active(machine, each))


def _active(machine: Machine, layer: Mapping[str, Json]) -> bool:
    """Say whether a layer is loaded though no program asks for it."""
    name, disabled = _string(layer, "name"), machine.getenv(LAYERS_DISABLE).lower()
    every = matches(name, disabled) or _IMPLICIT in disabled.split(",")
    if every and not matches(name, machine.getenv(LAYERS_ALLOW)):
        return False
    enable, disable = _table(layer, "enable_environment"), _table(layer, "disable_environment")
    if any(variable in machine.env for variable in disable):
        return False
    return not enable or any(machine.getenv(variable) == value for variable, value in enable.items())


def _table(layer: Mapping[str, Json], name: str) -> Mapping[str, Json]:
    """Return a table of a layer's manifest, empty where it is none."""
    value = layer.get(name)
    return value if isinstance(value, Mapping) else MappingProxyType({})
