"""Where a platform's loader looks for a library, in its order; each place says how it came to be there.

Sources: ld.so(8), ldconfig(8) and glibc's elf/dl-load.c and elf/ldconfig.c; musl's ldso/dynlink.c;
Microsoft's "Dynamic-link library search order".  ``/etc/ld.so.cache`` is not read: it is derived from the
configuration and may be older.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.machine.binary import Binary

if TYPE_CHECKING:
    from assay.machine.machine import Machine

CONFIGURATION = "/etc/ld.so.conf"
MUSL_DEFAULT = ("/lib", "/usr/local/lib", "/usr/lib")
"""What musl searches without a path file (ldso/dynlink.c)."""

MAX_INCLUDES = 10
"""How deep configuration files may include each other."""

MAX_FILES = 1000
MAX_FOLDERS = 1000

_CACHED_NAMES = "lib*.so*", "ld-*.so*"
"""The names that ldconfig puts into its cache (elf/ldconfig.c, search_dir)."""

_TRIPLETS = {"x86_64": "x86_64-linux-gnu", "aarch64": "aarch64-linux-gnu", "x86": "i386-linux-gnu"}

_LEVELS = (
    ("x86-64-v4", "avx512f avx512bw avx512cd avx512dq avx512vl"),
    ("x86-64-v3", "avx avx2 bmi1 bmi2 f16c fma abm movbe xsave"),
    ("x86-64-v2", "cx16 lahf_lm popcnt sse4_1 sse4_2 ssse3"),
)
"""Processor levels, best first, with what each adds (x86-64 psABI, in the words of ``/proc/cpuinfo``)."""


@dataclass(frozen=True)
class Place:
    """A folder that the loader looks into.

    Attributes:
        folder: the folder.
        found_via: what put it into the search: a variable, a tag and its library, a file, ``default``.
        names: patterns of the only names it is looked up for; empty for all.
    """

    folder: str
    found_via: str
    names: tuple[str, ...] = ()


def glibc_places(machine: Machine, chain: Sequence[Binary]) -> Iterator[Place]:
    """Yield glibc's places.

    Args:
        machine: the machine.
        chain: the library that asks, the one that asked for it, … up to the program; may be empty.
    """
    if not (chain and chain[0].runpath):
        for binary in chain:
            if binary.rpath and not binary.runpath:
                yield from _tag_places(machine, binary, binary.rpath, "RPATH")
    yield from _variable_places(machine, chain)
    if chain and chain[0].runpath:
        yield from _tag_places(machine, chain[0], chain[0].runpath, "RUNPATH")
    yield from configured_places(machine)
    yield from (Place(folder, "default") for folder in default_folders(machine))


def _tag_places(machine: Machine, binary: Binary, value: str, tag: str) -> Iterator[Place]:
    """Yield the folders of an RPATH or RUNPATH."""
    for entry in value.split(":"):
        folder = expand(machine, entry, _origin(machine, binary))
        yield Place(folder or machine.says.cwd or ".", f"{tag} of {binary.path}")


def _origin(machine: Machine, binary: Binary) -> str:
    """Return what ``$ORIGIN`` stands for: the folder of the file, links of a program's own path followed."""
    path = machine.resolve(binary.path) if binary.interpreter else binary.path
    return str(machine.paths.dirname(path))


def expand(machine: Machine, entry: str, origin: str) -> str:
    """Replace the loader's tokens ``$ORIGIN``, ``$LIB`` and ``$PLATFORM`` (ld.so(8))."""
    tokens = {"ORIGIN": origin, "LIB": library_folder(machine), "PLATFORM": machine.arch}
    pattern = r"\$(?:\{(ORIGIN|LIB|PLATFORM)\}|(ORIGIN|LIB|PLATFORM)(?![A-Za-z0-9_]))"
    return re.sub(pattern, lambda match: tokens[match[1] or match[2]], entry)


def library_folder(machine: Machine) -> str:
    """Return what ``$LIB`` stands for on this distribution, without a leading slash."""
    multiarch = f"lib/{_TRIPLETS.get(machine.arch, machine.arch)}"
    if machine.is_dir(f"/{multiarch}"):
        return multiarch
    return "lib64" if machine.is_dir("/lib64") else "lib"


def _variable_places(machine: Machine, chain: Sequence[Binary]) -> Iterator[Place]:
    """Yield the folders of ``LD_LIBRARY_PATH``; an empty entry is the working folder."""
    value = machine.getenv("LD_LIBRARY_PATH")
    origin = _origin(machine, chain[-1]) if chain else ""
    for entry in re.split("[:;]", value) if value else ():
        if entry:
            yield Place(expand(machine, entry, origin), "LD_LIBRARY_PATH")
        else:
            yield Place(machine.says.cwd or ".", "LD_LIBRARY_PATH (an empty entry: the working folder)")


def configured_places(machine: Machine) -> tuple[Place, ...]:
    """Return the folders of ``/etc/ld.so.conf`` and what it includes, in ldconfig's order, none twice."""
    found: dict[str, Place] = {}
    for folder, file in _configured(machine, CONFIGURATION, MAX_INCLUDES, set()):
        found.setdefault(folder, Place(folder, file, _CACHED_NAMES))
        if len(found) == MAX_FOLDERS:
            break
    return tuple(found.values())


def _configured(machine: Machine, file: str, depth: int, seen: set[str]) -> Iterator[tuple[str, str]]:
    """Yield each folder that a configuration file names, with the file that names it."""
    if depth == 0 or file in seen or len(seen) == MAX_FILES:
        return
    seen.add(file)
    for line in machine.peek(file).text.splitlines():
        words = line.partition("#")[0].strip()
        first, _, rest = words.partition(" ")
        if first == "include":
            for pattern in rest.split():
                for each in machine.glob(machine.paths.join(machine.paths.dirname(file), pattern)):
                    yield from _configured(machine, each, depth - 1, seen)
        elif words.startswith("/"):
            yield words.partition("=")[0].rstrip().rstrip("/") or "/", file


def default_folders(machine: Machine) -> tuple[str, ...]:
    """Return the folders that glibc's loader is built with, of every distribution's kind."""
    triplet = _TRIPLETS.get(machine.arch, f"{machine.arch}-linux-gnu")
    multiarch = (f"/lib/{triplet}", f"/usr/lib/{triplet}")
    wide = ("/lib64", "/usr/lib64") if not machine.arch or machine.arch.endswith("64") else ()
    return (*multiarch, *wide, "/lib", "/usr/lib")


def with_levels(machine: Machine, folder: str) -> Iterator[str]:
    """Yield a folder's ``glibc-hwcaps`` folders that this processor may use, best first, then the folder."""
    special = machine.paths.join(folder, "glibc-hwcaps")
    if machine.is_dir(special):
        yield from (machine.paths.join(special, level) for level in processor_levels(machine))
    yield folder


def processor_levels(machine: Machine) -> tuple[str, ...]:
    """Return the psABI levels that the processor reaches, best first."""
    match = re.search(r"^flags\s*:(.*)$", machine.peek("/proc/cpuinfo", 16 << 20).text, re.MULTILINE)
    flags = set(match[1].split()) if match else set[str]()
    reached: list[str] = []
    for name, needs in reversed(_LEVELS):
        if not flags.issuperset(needs.split()):
            break
        reached.insert(0, name)
    return tuple(reached)


def musl_places(machine: Machine, chain: Sequence[Binary]) -> Iterator[Place]:
    """Yield musl's places; it treats RPATH and RUNPATH alike, and those of every library in the chain."""
    for entry in re.split("[:\n]", machine.getenv("LD_LIBRARY_PATH")):
        if entry:
            yield Place(entry, "LD_LIBRARY_PATH")
    for binary in chain:
        for entry in re.split("[:\n]", binary.runpath or binary.rpath):
            if entry:
                yield Place(expand(machine, entry, _origin(machine, binary)), f"RPATH of {binary.path}")
    file = f"/etc/ld-musl-{machine.arch}.path"
    if machine.exists(file):
        entries = re.split("[:\n]", machine.peek(file).text)
        yield from (Place(entry.strip(), file) for entry in entries if entry.strip())
    else:
        yield from (Place(folder, "default") for folder in MUSL_DEFAULT)


def windows_places(machine: Machine, chain: Sequence[Binary], *, python: bool) -> Iterator[Place]:
    """Yield Windows' places.

    Args:
        machine: the machine.
        chain: the library that asks up to the program; may be empty.
        python: search as CPython loads libraries and extension modules since 3.8 (``LOAD_LIBRARY_SEARCH_*``:
            the library's own folder, the program's folder, System32; neither ``PATH`` nor working folder);
            otherwise the standard order of a program that loads by name.

    Known DLLs, a list in the registry, and redirection by manifests are not read.
    """
    windows = machine.getenv("SystemRoot") or "C:\\Windows"
    system = Place(machine.paths.join(windows, "System32"), "system folder")
    if python and chain:
        yield Place(machine.paths.dirname(chain[0].path), f"folder of {chain[0].path}")
    if chain:
        yield Place(machine.paths.dirname(chain[-1].path), "folder of the program")
    yield system
    if python:
        return
    yield Place(machine.paths.join(windows, "System"), "16-bit system folder")
    yield Place(windows, "Windows folder")
    if machine.says.cwd:
        yield Place(machine.says.cwd, "working folder")
    yield from (Place(entry, "PATH") for entry in machine.split_path(machine.getenv("PATH")))
