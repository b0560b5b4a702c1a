r"""How a CUDA toolkit is laid out, and where each of its parts lies.

Understood: NVIDIA's installer (``/usr/local/cuda-13.0`` with ``lib64`` and ``targets/<triple>``), conda
(``targets/<triple>`` beside ``bin``), PyPI's ``nvidia/cu13``, distribution packages under ``/usr``, Windows
(``bin\x64``), each behind links.  A part's *origin* is the toolkit that its real path lies in; it is told
from the path alone, by one rule for every part, so that two parts of one toolkit have one origin.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from assay.errors import StorageError
from assay.files import CHUNK
from assay.judge.toolkit import PARTS
from assay.machine import Machine
from assay.model import Facts, Json
from assay.plan.versions import release

TARGETS = ("x86_64-linux", "sbsa-linux", "aarch64-linux")
"""Folders below ``targets`` (CUDA Installation Guide for Linux, "Cross-platform")."""

HEADER_LIMIT = 8 << 20
"""Bytes of ``cuda.h``; CUDA 13's has 1.2 MB."""

NVRTC_LIMIT = 1 << 30
"""Bytes of NVRTC that are searched for the name of its builtins; CUDA 13's has 110 MB."""

_MEMBERS = re.compile(
    r"(.*)[/\\](?:bin|lib|lib64|include|nvvm|libdevice)(?:[/\\].*)?", re.IGNORECASE | re.DOTALL
)
_TARGET = re.compile(r"(.*)[/\\]targets[/\\][^/\\]+", re.IGNORECASE | re.DOTALL)
_DEBIAN = ("/lib/nvidia-cuda-toolkit", "/lib/cuda")
_COMPONENT = re.compile(
    r"(.*[/\\]site-packages[/\\]nvidia)[/\\](?!cu\d+$)[a-z0-9_]+", re.IGNORECASE | re.DOTALL
)
_VERSION_MACRO = re.compile(r"^\s*#\s*define\s+CUDA_VERSION\s+(\d{4,6})\b", re.MULTILINE)
_BUILTINS = re.compile(rb"libnvrtc-builtins\.so\.\d{1,3}\.\d{1,3}|nvrtc-builtins64_\d{2,4}\.dll")
_WORDS = b"nvrtc-builtins"
_WINDOWS_DIGITS = re.compile(r"_(\d{2})(\d)(?:_\d)?\.dll", re.IGNORECASE)
_WINDOWS_MAJOR = re.compile(r"_(\d{2})\d?\.dll", re.IGNORECASE)
_UNIX_DIGITS = re.compile(r"\.so\.(\d[\d.]*)$")

_LIBRARIES = ("lib64", "lib", *(f"targets/{name}/lib" for name in TARGETS), "lib/*-linux-gnu*")
_INCLUDES = ("include", *(f"targets/{name}/include" for name in TARGETS), "include/cuda")
_POSIX: Mapping[str, tuple[str, ...]] = {
    "nvcc": ("bin/nvcc", "lib/nvidia-cuda-toolkit/bin/nvcc"),
    "nvrtc": tuple(f"{folder}/libnvrtc.so.[0-9]*" for folder in _LIBRARIES),
    "builtins": tuple(f"{folder}/libnvrtc-builtins.so.[0-9]*" for folder in _LIBRARIES),
    "cuda_h": tuple(f"{folder}/cuda.h" for folder in _INCLUDES),
    "cudart": tuple(f"{folder}/libcudart.so.[0-9]*" for folder in _LIBRARIES),
    "nvvm": ("nvvm/bin/cicc", "lib/nvidia-cuda-toolkit/bin/cicc", "bin/cicc"),
}
_WINDOWS: Mapping[str, tuple[str, ...]] = {
    "nvcc": ("bin/nvcc.exe",),
    "nvrtc": ("bin/x64/nvrtc64_*_0.dll", "bin/x86_64/nvrtc64_*_0.dll", "bin/nvrtc64_*_0.dll"),
    "builtins": (
        "bin/x64/nvrtc-builtins64_*.dll",
        "bin/x86_64/nvrtc-builtins64_*.dll",
        "bin/nvrtc-builtins64_*.dll",
    ),
    "cuda_h": ("include/cuda.h",),
    "cudart": ("bin/x64/cudart64_*.dll", "bin/x86_64/cudart64_*.dll", "bin/cudart64_*.dll"),
    "nvvm": ("nvvm/bin/cicc.exe", "nvvm/bin/x64/cicc.exe"),
}
_SINGLE = frozenset({"nvcc", "cuda_h", "nvvm"})
"""Parts of which a toolkit has one file; of the libraries it may have several versions side by side."""


@dataclass(frozen=True)
class Toolkit:
    """A toolkit's folder: ``given`` as selected, ``top`` the folder that has ``bin``, origin and layout."""

    given: str
    top: str
    origin: str
    layout: str


def toolkit_at(machine: Machine, given: str) -> Toolkit:
    """Return the toolkit that a selected folder belongs to; ``targets/<triple>`` stands for the whole."""
    top = given
    match = _TARGET.fullmatch(given)
    if match and not machine.exists(machine.paths.join(given, "bin")):
        top = match[1]
    real = machine.followed(top)
    return Toolkit(given, top, _normal(real), _layout(machine, top, real))


def _layout(machine: Machine, top: str, real: str) -> str:
    """Return a layout's name."""
    if machine.view.windows:
        return "windows"
    if "/site-packages/nvidia" in real:
        return "pypi"
    if machine.is_dir(machine.paths.join(top, "conda-meta")):
        return "conda"
    if real in {"/usr", "/usr/local"}:
        return "distribution"
    return "targets" if machine.is_dir(machine.paths.join(top, "targets")) else "plain"


def origin_of(machine: Machine, path: str) -> str:
    """Return the toolkit that a part belongs to, links followed: the folder above ``bin`` or ``lib``."""
    real = machine.followed(path)
    match = _MEMBERS.fullmatch(real)
    return _normal(match[1] if match else machine.paths.dirname(real))


def _normal(folder: str) -> str:
    """Return a toolkit's folder without what only subdivides it."""
    if len(folder) > 1 and folder.lower().endswith(("/nvvm", "\\nvvm")):
        folder = folder[: -len("/nvvm")]
    if match := _TARGET.fullmatch(folder):
        folder = match[1]
    if match := _COMPONENT.fullmatch(folder):
        folder = match[1]
    for below in _DEBIAN:
        folder = folder.removesuffix(below) or "/"
    return folder


def patterns(machine: Machine, toolkit: Toolkit, part: str) -> tuple[str, ...]:
    """Return where a part is looked for, in order, as patterns of absolute paths."""
    table = _WINDOWS if machine.view.windows else _POSIX
    join, top = machine.paths.join, literal(toolkit.top)
    return tuple(join(top, *pattern.split("/")) for pattern in table[part])


def literal(path: str) -> str:
    """Return a pattern that matches exactly ``path``."""
    return re.sub(r"[*?\[]", lambda match: f"[{match[0]}]", path)


def find_part(machine: Machine, toolkit: Toolkit, part: str, major: int | None) -> str | None:
    """Return a part's file, None where the toolkit has none.

    Args:
        machine: the machine.
        toolkit: where to look.
        part: one of ``PARTS``.
        major: the toolkit's major version, preferred where a library lies there in several.
    """
    for pattern in patterns(machine, toolkit, part):
        found = [path for path in machine.glob(pattern) if machine.is_file(path) and ".alt." not in path]
        if found:
            return found[0] if part in _SINGLE else _preferred(machine, found, major)
    return None


def _preferred(machine: Machine, paths: list[str], major: int | None) -> str:
    """Return the library to take: of the wanted major version, the name that a loader asks for."""
    base = machine.paths.basename
    fitting = [path for path in paths if release(named_version(base(path)))[:1] == (major,)] or paths
    return min(fitting, key=lambda path: (len(base(path)), path))


def named_version(name: str) -> str:
    """Return the version in a library's file name: ``libnvrtc.so.13.0.88``, ``nvrtc64_130_0.dll``."""
    if match := _UNIX_DIGITS.search(name):
        return match[1].rstrip(".")
    if name.lower().startswith(
        "cudart64_"
    ):  # cudart64_110.dll serves all of 11.x: only the major version counts
        match = _WINDOWS_MAJOR.search(name)
        return match[1] if match else ""
    match = _WINDOWS_DIGITS.search(name)
    return f"{match[1]}.{match[2]}" if match else ""


def header_version(machine: Machine, path: str) -> str:
    """Return the version that ``cuda.h`` defines: ``CUDA_VERSION`` 13020 is 13.2."""
    match = _VERSION_MACRO.search(machine.peek(path, HEADER_LIMIT).text)
    if not match:
        return ""
    number = int(match[1])
    return f"{number // 1000}.{number % 1000 // 10}"


def version_file(machine: Machine, toolkit: Toolkit) -> Mapping[str, str]:
    """Return ``version.json``'s versions by component (``cuda``, ``cuda_nvcc``, …); empty without one."""
    text = machine.peek(machine.paths.join(toolkit.top, "version.json")).text
    try:
        document: Json = json.loads(text) if text else {}
    except (ValueError, RecursionError):
        return {}
    return dict(_components(document)) if isinstance(document, Mapping) else {}


def _components(document: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    """Yield name and version of each component that has one."""
    for name, value in document.items():
        version = value.get("version") if isinstance(value, Mapping) else None
        if isinstance(version, str):
            yield name, version[:50]


def wanted_builtins(machine: Machine, nvrtc: str) -> str:
    """Return the name of the builtins library that an NVRTC opens, as its bytes have it, or ``""``."""
    try:
        host = machine.view.regular(nvrtc)  # a pipe would never end
        with host.open("rb") as stream:
            tail, left = b"", NVRTC_LIMIT
            while left > 0 and (chunk := stream.read(min(CHUNK, left))):
                if found := _builtins_in(tail + chunk):
                    return found
                tail, left = chunk[-64:], left - len(chunk)
    except (OSError, StorageError):
        return ""
    return ""


def _builtins_in(data: bytes) -> str:
    """Return the first name of a builtins library in some bytes, ``""`` for none.

    The words that all of them have are looked for first: a library of 100 MB is searched in 20 ms so, where
    the pattern alone takes half a second.
    """
    at = data.find(_WORDS)
    while at >= 0:
        if match := _BUILTINS.match(data, max(0, at - len(b"lib"))) or _BUILTINS.match(data, at):
            return match[0].decode()
        at = data.find(_WORDS, at + 1)
    return ""


def beside(machine: Machine, nvrtc: str) -> tuple[str, ...]:
    """Return the names of the builtins libraries in NVRTC's folder, links followed and not."""
    folders = {machine.paths.dirname(nvrtc), machine.paths.dirname(machine.followed(nvrtc))}
    names: set[str] = set()
    for folder in folders:
        try:
            names.update(machine.listdir(folder))
        except StorageError:
            continue
    return tuple(sorted(name for name in names if _BUILTINS.match(name.encode("utf-8", "replace"))))


def part_facts(machine: Machine, part: str, path: str, found_via: str) -> dict[str, Json]:
    """Return a part's path, real path, origin, processor and the version that its own file shows."""
    real = machine.followed(path)
    arch = "" if part == "cuda_h" else machine.binary(path, symbols=False).arch
    return {
        "arch": arch,
        "found_via": found_via,
        "origin": origin_of(machine, path),
        "path": path,
        "real": real,
        "version": _own_version(machine, part, path, real),
    }


def _own_version(machine: Machine, part: str, path: str, real: str) -> str:
    """Return the most exact version that a part's file shows."""
    if part == "cuda_h":
        return header_version(machine, path)
    if part not in {"nvrtc", "builtins", "cudart"}:
        return ""
    named = max(
        (named_version(machine.paths.basename(each)) for each in (path, real)), key=lambda v: len(release(v))
    )
    if part == "nvrtc" and len(release(named)) < len(("major", "minor")):
        return named_version(wanted_builtins(machine, path)) or named
    return named


def all_parts(machine: Machine, toolkit: Toolkit) -> dict[str, Facts | None]:
    """Return each of ``PARTS`` that the toolkit has; the libraries of the version that ``cuda.h`` names."""
    header = find_part(machine, toolkit, "cuda_h", None)
    numbers = release(header_version(machine, header)) if header else ()
    major = numbers[0] if numbers else None
    found = {part: find_part(machine, toolkit, part, major) for part in PARTS}
    return {
        part: None if path is None else part_facts(machine, part, path, "CUDA_PATH")
        for part, path in found.items()
    }
