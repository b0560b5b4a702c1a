"""A Vulkan adapter on the CPU: Mesa's lavapipe, the system's or unpacked into a private folder without root.

Where the system has none and ``apt-get`` is there, the packages are downloaded and unpacked, not installed:
the manifest of the driver then names its library by an absolute path, and the folder of the libraries goes on
the child's library path.  The index of packages is the system's; where that has none (many containers drop
it) a private one is fetched.  apt checks signatures and digests of both.
"""

from __future__ import annotations

import json
import platform
import re
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from assay import canonical
from assay.errors import BundleError, ProvisionError, StorageError
from assay.files import read_bounded, storage_errors, write_atomic
from assay.gates.rehearsal import Adapter
from assay.judge.reading import MalformedFacts, objects, text, texts
from assay.machine import Machine
from assay.machine.loader import find_library
from assay.model import Json
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
_DEADLINE_S = 300
_INSTALLED = re.compile(r"Inst (?P<name>\S+) (?:\[[^\]]*\] )?\((?P<version>\S+) ")
"""A line of ``apt-get --simulate install`` (apt-get(8)): name, the version that is there, the one to come."""


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
    with storage_errors("make", cache):
        cache.mkdir(parents=True, exist_ok=True)
        part = Path(tempfile.mkdtemp(prefix=".part-", dir=cache))
    try:
        _unpack(_Apt(children, part), folder)
        shutil.rmtree(folder, ignore_errors=True)
        with storage_errors("make", folder):
            (part / "kept").rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)
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


@dataclass(frozen=True)
class _Apt:
    """apt-get, as an ordinary user, with everything that it writes below ``folder``."""

    children: Children
    folder: Path

    def private(self) -> list[str]:
        """Return the options that keep a package index of its own."""
        lists, archives = self.folder / "lists", self.folder / "archives"
        for each in (lists, archives):
            (each / "partial").mkdir(parents=True, exist_ok=True)
        return [
            "-o",
            f"Dir::State::lists={lists}",
            "-o",
            f"Dir::Cache={archives}",
            "-o",
            "APT::Sandbox::User=",
        ]

    def run(self, what: str, *argv: str, cwd: Path | None = None) -> str:
        """Return what a command wrote.

        Raises:
            ProvisionError: it failed.
        """
        extra = {"DEBIAN_FRONTEND": "noninteractive"}
        ended = self.children.run(what, argv, deadline_s=_DEADLINE_S, cwd=cwd or self.folder, extra=extra)
        if ended.exit != 0:
            raise _missing(f"{what} failed: {self.children.last_words(ended)}")
        return ended.stdout.decode(errors="replace")

    def wanted(self, options: Sequence[str]) -> tuple[tuple[str, str], ...]:
        """Return name and version of what the system lacks, which has to be unpacked."""
        argv = ("apt-get", *options, "--simulate", "--no-install-recommends", "install", *PACKAGES)
        said = self.run("the software adapter's packages", *argv)
        return tuple((found["name"], found["version"]) for found in _INSTALLED.finditer(said))


def _unpack(apt: _Apt, target: Path) -> None:
    """Fill ``kept`` in apt's folder with what is to lie at ``target``."""
    options: list[str] = []
    try:
        wanted = apt.wanted(options)
    except ProvisionError:
        options = apt.private()
        apt.run("the index of packages", "apt-get", *options, "update")
        wanted = apt.wanted(options)
    kept, files = apt.folder / "kept", apt.folder / "files"
    for each in (kept / "root", files):
        each.mkdir(parents=True)
    pinned = [f"{name}={version}" for name, version in wanted]
    apt.run("the software adapter's download", "apt-get", *options, "download", *pinned, cwd=files)
    for package in sorted(files.glob("*.deb")):
        apt.run(f"unpacking {package.name}", "dpkg", "-x", str(package), str(kept / "root"))
    _describe(kept, target, wanted)


def _describe(kept: Path, target: Path, packages: Sequence[tuple[str, str]]) -> None:
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
