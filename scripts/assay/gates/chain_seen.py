"""What the parent sees of the chain child while it holds still: mapped files, devices, modules, start-up.

The child is asked for nothing here but the names of its modules, which no other process can see; their files
are hashed by the parent, as all mapped libraries are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.errors import AssayError, GateError, StorageError
from assay.files import sha256_file
from assay.gates.childenv import ChildSetup
from assay.gates.childtools import implicit_layers
from assay.judge.injection import is_importing
from assay.judge.loaded import is_cuda_library, is_device
from assay.judge.modules import ARCHIVE
from assay.judge.owner import is_drivers_name, name_of
from assay.judge.reading import get, text, texts
from assay.machine import Machine, driverfiles, live, nvidia
from assay.model import Facts, Json

_SITES = ("site-packages", "dist-packages")


@dataclass(frozen=True)
class Seen:
    """Mapped files of a child as the kernel shows them, its open device nodes, and why there is nothing."""

    mapped: tuple[live.MappedFile, ...] = ()
    nodes: tuple[str, ...] = ()
    unseen: str = ""


def look(pid: int) -> Seen:
    """Return what a live process holds; ``unseen`` says why it cannot be seen."""
    if not live.available():
        return Seen(unseen="this system does not show what a process has mapped")
    try:
        return Seen(live.mapped_files(pid), live.gpu_nodes(pid))
    except GateError as error:
        return Seen(unseen=error.observed)


def mapped_facts(pid: int, machine: Machine) -> Facts:
    """Return the facts ``mapped``, ``mapped_data``, ``device_nodes``, ``unseen`` and ``libcuda``.

    Args:
        pid: the child, which holds still.
        machine: the machine, whose kernel module's version libcuda is compared with.
    """
    seen = look(pid)
    code = [each for each in seen.mapped if each.executable]
    data = sorted({each.path for each in seen.mapped if not each.executable})
    return {
        "device_nodes": list(seen.nodes),
        "libcuda": _libcuda(machine, code),
        "mapped": [_mapped(pid, each) for each in code],
        "mapped_data": list[Json](data),
        "unseen": seen.unseen,
    }


def _mapped(pid: int, each: live.MappedFile) -> Json:
    """Return one mapped file with its digest as mapped."""
    # to read a device is to drive it, and some never end
    made = live.MappedHash() if is_device(each.path) else live.hash_mapped(pid, each)
    return {
        "deleted": each.deleted,
        "method": made.method,
        "path": each.path,
        "problem": made.problem,
        "sha256": made.sha256,
        "size": made.size,
    }


def _libcuda(machine: Machine, mapped: Sequence[live.MappedFile]) -> Json:
    """Return path and version of the mapped CUDA driver library, and what told the version."""
    found = next((each.path for each in mapped if is_cuda_library(each.path)), None)
    if found is None:
        return None
    version, told_by = driverfiles.told_version(Path(found), nvidia.kernel_module(machine).version)
    return {"path": found, "told_by": told_by, "version": version}


def module_facts(modules: Sequence[Facts], setup: ChildSetup) -> list[Json]:
    """Return the facts ``child.modules``: each imported module with its file's digest.

    Args:
        modules: what the child says it imported: name, file, loader and cached bytecode.
        setup: the child's zip and folders.
    """
    digests: dict[str, tuple[str, int]] = {}
    return [_module(module, setup, digests) for module in modules]


def _module(module: Facts, setup: ChildSetup, digests: dict[str, tuple[str, int]]) -> Json:
    """Return one module."""
    file = text(module, "file")
    known = {"loader": text(module, "loader"), "name": text(module, "name")}
    inside = file.removeprefix(str(setup.zip.path))
    if inside != file:
        return {
            **known,
            "bytecode": "none",
            "file": ARCHIVE + inside.replace("\\", "/"),
            "sha256": setup.zip.sha256,
        }
    if file not in digests:
        digests[file] = _digest(setup.cwd / file)
    sha256, size = digests[file]
    bytecode = _bytecode(text(module, "cached"), setup)
    return {**known, "bytecode": bytecode, "file": file, "sha256": sha256, "size": size}


def _bytecode(cached: str, setup: ChildSetup) -> str:
    """Say where a module's bytecode would be looked for."""
    if not cached:
        return "none"
    return "private" if Path(cached).is_relative_to(setup.folders.bytecode) else "elsewhere"


def _digest(path: Path) -> tuple[str, int]:
    """Return a file's SHA-256 and size, empty where it cannot be read."""
    try:
        return sha256_file(path)
    except (AssayError, ValueError):
        return "", 0


def startup_facts(machine: Machine, hello: Facts) -> Facts:
    """Return the facts ``preload`` and ``layers``, and those of ``child.pth``.

    Args:
        machine: the machine.
        hello: what the child said of itself.
    """
    preload: list[Json] = list(machine.peek("/etc/ld.so.preload").text.split())
    layers: list[Json] = [
        {
            "drivers": is_drivers_name(name_of(layer.library)),
            "library": layer.library,
            "manifest": layer.manifest,
            "name": layer.name,
        }
        for layer in implicit_layers(machine)
    ]
    return {"layers": layers, "preload": preload, "pth": list(_pth(machine, hello))}


def _pth(machine: Machine, hello: Facts) -> Iterator[Json]:
    """Yield the lines that ``site`` executed at the child's start (Python library reference, "site")."""
    prefixes = tuple(text(hello, name) for name in ("prefix", "base_prefix") if get(hello, name))
    for folder in texts(hello, "path"):
        below = any(
            machine.paths.join(folder, "").startswith(machine.paths.join(each, "")) for each in prefixes
        )
        if not below or machine.paths.basename(folder) not in _SITES:
            continue
        for path in _names(machine, folder):
            lines = machine.peek(path).text.splitlines()
            yield from ({"line": line, "path": path} for line in lines if is_importing(line))


def _names(machine: Machine, folder: str) -> tuple[str, ...]:
    """Return the .pth files of a folder that ``site`` reads: hidden ones are left out by it."""
    try:
        names = machine.listdir(folder)
    except StorageError:
        return ()
    return tuple(
        machine.paths.join(folder, name) for name in names if name.endswith(".pth") and name[0] != "."
    )
