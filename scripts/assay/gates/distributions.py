"""Reads installed distributions and modules from a path's folders, as Python would find them; runs nothing.

Sources: Python packaging specifications "Recording installed projects" and "Binary distribution format";
CPython's ``importlib`` (within one folder a package comes before a module, a namespace last).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from assay.errors import StorageError
from assay.judge.packages import normal
from assay.machine import Machine
from assay.model import Facts, Json

MAX_DISTRIBUTIONS = 1000
"""Distributions of one folder that are read; a folder of a selection has some tens."""

OWNERS: Mapping[str, tuple[str, ...]] = {
    "numpy": ("numpy",),
    "pycuda": ("pycuda",),
    "wgpu": ("wgpu",),
    "cuda": ("cuda-bindings", "cuda-core", "cuda-pathfinder", "cuda-python"),
    "pynvml": ("nvidia-ml-py", "pynvml"),
}
"""What the chain imports, with the distributions that bring it."""

_INFO = re.compile(r"(?P<name>[A-Za-z0-9._]+?)-(?P<version>[0-9][^-]*)(?:-py[0-9.]+)?\.(?:dist|egg)-info")
_TAG = re.compile(r"^Tag:\s*(\S+)\s*$", re.MULTILINE)
_PYTHON_FOLDER = re.compile(r"[/\\][Pp]ython(\d\.\d+)[/\\]")
_EXTENSIONS = (".py", ".so", ".pyd")


@dataclass(frozen=True)
class Distribution:
    """An installed distribution: its name, version, folder of metadata, and the folder it lies in."""

    name: str
    version: str
    info: str
    folder: str


def distributions_in(machine: Machine, folder: str) -> tuple[Distribution, ...]:
    """Return the distributions of a folder, in order of their metadata's names; none where it has no such."""
    try:
        names = machine.listdir(folder)
    except StorageError:
        return ()
    matches = [match for match in map(_INFO.fullmatch, names) if match][:MAX_DISTRIBUTIONS]
    join = machine.paths.join
    return tuple(
        Distribution(normal(one["name"]), one["version"], join(folder, one[0]), folder) for one in matches
    )


def distribution_facts(machine: Machine, one: Distribution) -> Facts:
    """Return a distribution with the tags of its wheel and the SHA-256 of its RECORD (null without one)."""
    wheel = machine.peek(machine.paths.join(one.info, "WHEEL"), 1 << 16).text
    tags: list[Json] = [tag[:200] for tag in _TAG.findall(wheel)[:20]]
    return {
        "location": one.folder,
        "name": one.name,
        "path": one.info,
        "record_sha256": _digest(machine, machine.paths.join(one.info, "RECORD")),
        "tags": tags,
        "version": one.version,
    }


def _digest(machine: Machine, path: str) -> str | None:
    """Return a file's SHA-256 (hex), None where it cannot be read."""
    try:
        return machine.sha256(path)[0]
    except StorageError:
        return None


def python_of(path: str) -> str:
    """Return the CPython version in a path like ``…/lib/python3.12/site-packages``, ``""`` without one."""
    match = _PYTHON_FOLDER.search(path)
    return match[1] if match else ""


def owned(machine: Machine, module: str, folder: str) -> bool:
    """Say whether a folder that holds ``module`` also holds the metadata of a distribution that brings it."""
    return any(one.name in OWNERS[module] for one in distributions_in(machine, folder))


def module_files(machine: Machine, module: str, folders: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield (folder, file) of each package or module named ``module`` on a path, in Python's order."""
    for folder in folders:
        package = machine.paths.join(folder, module, "__init__.py")
        if machine.is_file(package):
            yield folder, package
            continue
        single = [machine.paths.join(folder, module + ending) for ending in _EXTENSIONS]
        single += machine.glob(f"{_literal(machine.paths.join(folder, module))}.*.so")
        yield from ((folder, path) for path in single if machine.is_file(path))


def _literal(path: str) -> str:
    """Return a pattern that matches exactly ``path``."""
    return re.sub(r"[*?\[]", lambda match: f"[{match[0]}]", path)
