"""A Vulkan adapter on the CPU: Mesa's lavapipe, the system's or unpacked into a private folder without root.

Where the system has none and ``apt-get`` is there, the packages are unpacked (``assay.provision.apt``): the
manifest of the driver then names its library by an absolute path, and the folder of the libraries goes on the
child's library path.
"""

from __future__ import annotations

import json
import platform
import shutil
from pathlib import Path

from assay import canonical
from assay.errors import BundleError, ProvisionError, StorageError
from assay.files import read_bounded, write_atomic
from assay.gates.rehearsal import Adapter
from assay.judge.reading import MalformedFacts, objects, text, texts
from assay.machine import Machine
from assay.machine.loader import find_library
from assay.model import Json
from assay.provision.apt import Packages, Unpacking, unpack
from assay.provision.children import Children
from assay.provision.job import Say

NAME = "llvmpipe"
"""How lavapipe's adapter begins its name (``lvp_device.c``: "llvmpipe (LLVM …)")."""

LOADER = "libvulkan.so.1"
"""The SONAME of the Vulkan loader."""

MANIFEST_FOLDERS = ("/etc/vulkan/icd.d", "/usr/local/share/vulkan/icd.d", "/usr/share/vulkan/icd.d")
"""Where the Vulkan loader looks for drivers ("Driver Manifest File Locations", Linux)."""

PACKAGES = ("mesa-vulkan-drivers", "libvulkan1")
"""Debian's and Ubuntu's packages of lavapipe and the loader."""

HINTS = (
    "Debian and Ubuntu: mesa-vulkan-drivers and libvulkan1; Fedora: mesa-vulkan-drivers and vulkan-loader; "
    "Arch: vulkan-swrast and vulkan-icd-loader; Alpine: mesa-vulkan-swrast and vulkan-loader"
)

_MARK = "adapter.json"
_SCHEMA = "assay/software-adapter/1"
_ICD = "lavapipe.json"
_LIMIT = 1 << 20


def find_software_adapter(children: Children, machine: Machine, cache: Path, say: Say) -> Adapter:
    """Return lavapipe: the system's, the unpacked one, or a newly unpacked one.

    Args:
        children: how children are run.
        machine: the machine.
        cache: the folder that it is unpacked into.
        say: tells the user.

    Raises:
        ProvisionError: there is none, and none can be had; the remedy names the packages.
        StorageError: a file cannot be written.
    """
    if found := system_adapter(machine):
        return found
    folder = cache / platform.machine()
    if found := unpacked_adapter(folder):
        return found
    if not shutil.which("apt-get", path=children.environment.get("PATH")):
        raise _missing(f"no lavapipe in {', '.join(MANIFEST_FOLDERS)}, and no apt-get to bring it")
    say("unpacking a software Vulkan adapter (Mesa's lavapipe) into the project's cache")
    unpack(children, Unpacking("the software adapter", PACKAGES, _missing, _describe), folder)
    made = unpacked_adapter(folder)
    if made is None:
        raise _missing("the unpacked packages hold no lavapipe")
    return made


def system_adapter(machine: Machine) -> Adapter | None:
    """Return the system's lavapipe, None where it or the Vulkan loader is missing."""
    manifests = [path for folder in MANIFEST_FOLDERS for path in machine.glob(f"{folder}/lvp_icd*.json")]
    loader = [hit for hit in find_library(machine, LOADER).hits if not hit.skipped]
    return Adapter(Path(manifests[0])) if manifests and loader else None


def unpacked_adapter(folder: Path) -> Adapter | None:
    """Return what was unpacked into a folder, None where it is not whole."""
    mark = folder / _MARK
    if not mark.is_file():
        return None
    try:
        document = canonical.parse(read_bounded(mark, _LIMIT), member=_MARK)
        packages = tuple(
            (text(each, "name"), text(each, "version")) for each in objects(document, "packages")
        )
        libraries = tuple(folder / name for name in texts(document, "libraries"))
        whole = text(document, "schema") == _SCHEMA and text(document, "icd") == str(folder / _ICD)
    except (BundleError, MalformedFacts, StorageError):
        return None
    return Adapter(folder / _ICD, libraries, "unpacked", packages) if whole else None


def _describe(kept: Path, target: Path, packages: Packages) -> None:
    """Write the driver's manifest and, last, the mark of a whole folder."""
    root = kept / "root"
    manifests = sorted(root.glob("usr/share/vulkan/icd.d/lvp_icd*.json"))
    drivers = sorted(root.glob("usr/lib/**/libvulkan_lvp.so"))
    if not manifests or not drivers:
        raise _missing("the unpacked packages hold no lavapipe")
    manifest = json.loads(read_bounded(manifests[0], _LIMIT))
    manifest["ICD"]["library_path"] = str(target / drivers[0].relative_to(kept))
    write_atomic(kept / _ICD, json.dumps(manifest, indent=2).encode() + b"\n")
    shared = sorted(root.glob("**/lib*.so.*"))
    folders = dict.fromkeys(path.parent.relative_to(kept).as_posix() for path in shared)
    mark: Json = {
        "icd": str(target / _ICD),
        "libraries": list(folders),
        "packages": [{"name": name, "version": version} for name, version in packages],
        "schema": _SCHEMA,
    }
    write_atomic(kept / _MARK, canonical.dumps(mark))


def _missing(what: str) -> ProvisionError:
    return ProvisionError(
        what, "a software Vulkan adapter (Mesa's lavapipe) for the WGSL stage", f"install it: {HINTS}"
    )
