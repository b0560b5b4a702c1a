"""How the platform's loader would find a library, told from files alone; nothing is loaded.

Done: the search order of glibc, musl and Windows (``assay.machine.places``), preloaded libraries, and the
libraries that a binary needs, transitively, breadth first as glibc loads them.  Every match is a ``Hit`` with
``found_via``; those after the first are what it hides.
Not done: the loader's cache, libraries that a process has already loaded for other reasons, ``dlopen`` calls
inside libraries, set-user-ID rules, macOS.
"""

from __future__ import annotations

import fnmatch
import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.machine.binary import Binary
from assay.machine.places import Place, glibc_places, musl_places, windows_places, with_levels
from assay.model import Platform

if TYPE_CHECKING:
    from assay.machine.machine import Machine

MAX_LIBRARIES = 2000
"""Libraries of one program that are followed; large programs have a few hundred."""

_MUSL_OWN = tuple(f"lib{name}." for name in ("c", "pthread", "rt", "m", "dl", "util", "xnet"))
"""Beginnings of names that musl answers with itself, glibc's own names among them (ldso/dynlink.c)."""

_API_SETS = ("api-ms-win-", "ext-ms-win-")
"""Beginnings of names that are no files but contracts of Windows ("Windows API sets")."""


@dataclass(frozen=True)
class Hit:
    """A file of the wanted name.

    Attributes:
        path: where it was found; ``resolved`` is the file behind its links.
        found_via: why it was looked for there.
        problem: why it cannot be loaded, or ``""``.
        skipped: the loader passes over it and looks on.
    """

    path: str
    found_via: str
    resolved: str = ""
    problem: str = ""
    skipped: bool = False


@dataclass(frozen=True)
class Search:
    """The answer to one search.

    Attributes:
        name: the wanted name.
        hits: every match in search order.
        places: every place that was looked into.
    """

    name: str
    hits: tuple[Hit, ...] = ()
    places: tuple[Place, ...] = ()

    @property
    def chosen(self) -> Hit | None:
        """Return what the loader takes; its ``problem`` may still end the load.  None: nothing is found."""
        return next((hit for hit in self.hits if not hit.skipped), None)

    @property
    def hidden(self) -> tuple[Hit, ...]:
        """Return usable matches behind the chosen one that are other files than it."""
        chosen = self.chosen
        if chosen is None:
            return ()
        later = self.hits[self.hits.index(chosen) + 1 :]
        return tuple(hit for hit in later if not hit.problem and hit.resolved != chosen.resolved)


@dataclass(frozen=True)
class Dependency:
    """A library that is needed: its name, the file that needs it, and what the loader takes for it."""

    name: str
    needed_by: str
    hit: Hit | None


@dataclass(frozen=True)
class Resolution:
    """All that a binary needs, in the order in which it would be loaded.

    Attributes:
        path: the binary.
        problem: why it cannot be read, or ``""``.
        dependencies: each needed name once, with the first file that needs it.
        complete: whether all were followed (``MAX_LIBRARIES``).
    """

    path: str
    problem: str = ""
    dependencies: tuple[Dependency, ...] = ()
    complete: bool = True

    @property
    def missing(self) -> tuple[Dependency, ...]:
        """Return what the loader would not find, or would find and fail on."""
        return tuple(one for one in self.dependencies if one.hit is None or one.hit.problem)


def find_library(
    machine: Machine, name: str, *, chain: Sequence[Binary] = (), arch: str = "", python: bool = False
) -> Search:
    """Return where the loader would find a library.

    Args:
        machine: the machine; its environment's ``LD_LIBRARY_PATH`` or ``PATH`` counts.
        name: the library's name (``libcuda.so.1``), or a path, which is taken as it stands.
        chain: who asks: the binary that needs it, the one that needs that, … up to the program.
        arch: the processor it must be for; that of the asking binary or the machine when empty.
        python: on Windows, search as CPython does (see ``windows_places``).
    """
    wanted = arch or (chain[0].arch if chain else "") or machine.arch
    if "/" in name or (machine.view.windows and "\\" in name):
        hits = (_hit(machine, name, "its path", wanted),) if machine.exists(name) else ()
        return Search(name, hits)
    if built_in := _built_in(machine, name):
        return Search(name, (built_in,))
    places = tuple(_places(machine, chain, python=python))
    found = (*_preloaded(machine, name), *_in_places(machine, name, places, wanted))
    return Search(name, found, places)


def _places(machine: Machine, chain: Sequence[Binary], *, python: bool) -> Iterator[Place]:
    """Return the platform's places; macOS has none here."""
    if machine.platform is Platform.WINDOWS:
        return windows_places(machine, chain, python=python)
    if machine.platform is Platform.MACOS:
        return iter(())
    return musl_places(machine, chain) if machine.libc.kind == "musl" else glibc_places(machine, chain)


def _built_in(machine: Machine, name: str) -> Hit | None:
    """Return the answer to a name that no file decides: musl's own libraries and Windows' API sets."""
    if machine.platform is Platform.WINDOWS:
        return Hit(name, "API set") if name.lower().startswith(_API_SETS) else None
    if machine.libc.kind == "musl" and name.startswith(_MUSL_OWN):
        return Hit(machine.libc.loader, "musl itself", machine.libc.loader)
    return None


def _preloaded(machine: Machine, name: str) -> Iterator[Hit]:
    """Yield preloaded libraries that call themselves ``name``: glibc takes them for it (ld.so(8))."""
    if machine.platform not in {Platform.LINUX, Platform.WSL}:
        return
    listed = [(path, "LD_PRELOAD") for path in re.split("[: ]", machine.getenv("LD_PRELOAD"))]
    listed += [(path, "/etc/ld.so.preload") for path in machine.peek("/etc/ld.so.preload").text.split()]
    for path, via in listed:
        if path and machine.is_file(path):
            binary = machine.binary(path, symbols=False)
            if name in {binary.soname, machine.paths.basename(path)}:
                yield Hit(path, via, machine.resolve(path), binary.problem)


def _in_places(machine: Machine, name: str, places: Sequence[Place], arch: str) -> Iterator[Hit]:
    """Yield the files of that name, none twice."""
    levels = machine.libc.kind == "glibc"
    seen: set[str] = set()
    for place in places:
        if place.names and not any(fnmatch.fnmatchcase(name, pattern) for pattern in place.names):
            continue
        for folder in with_levels(machine, place.folder) if levels else (place.folder,):
            path = machine.paths.join(folder, name)
            if path not in seen and machine.exists(path):
                seen.add(path)
                yield _hit(machine, path, place.found_via, arch)


def _hit(machine: Machine, path: str, via: str, arch: str) -> Hit:
    """Return a match, judged as the loader would.

    glibc and Windows pass over a library for another processor, and glibc over one that it may not open;
    any other fault ends the load.  musl takes the first file it can open.
    """
    binary = machine.binary(path, symbols=False)
    resolved = machine.resolve(path)
    if binary.problem:
        denied = "permission" in binary.problem.lower()
        return Hit(path, via, resolved, binary.problem, skipped=denied and not machine.view.windows)
    wanted = "pe" if machine.view.windows else "elf"
    if binary.format != wanted:
        return Hit(path, via, resolved, f"it is no {wanted.upper()} library but {binary.format}")
    if arch and binary.arch != arch:
        problem = f"it is for {binary.arch}, not for {arch}"
        return Hit(path, via, resolved, problem, skipped=machine.libc.kind == "glibc")
    return Hit(path, via, resolved)


def resolve_needed(machine: Machine, path: str, *, program: str = "", python: bool = False) -> Resolution:
    """Return every library that a binary needs and what the loader would take for it.

    Args:
        machine: the machine.
        path: a library or program.
        program: the program that would load it; its RPATH and folder count.
        python: on Windows, search as CPython does.
    """
    first = machine.binary(path, symbols=False)
    if first.problem:
        return Resolution(path, first.problem)
    above = (machine.binary(program, symbols=False),) if program else ()
    return _Walk(machine, python=python).run(first, above)


class _Walk:
    """One walk over what a binary needs."""

    def __init__(self, machine: Machine, *, python: bool) -> None:
        """Start with nothing loaded."""
        self.machine = machine
        self.python = python
        self.loaded: set[str] = set()
        self.found: list[Dependency] = []

    def run(self, first: Binary, above: tuple[Binary, ...]) -> Resolution:
        """Follow needed names breadth first; a name that a loaded library goes by is not searched again."""
        self._load(first)
        waiting = deque([(first, (first, *above))])
        while waiting and len(self.found) < MAX_LIBRARIES:
            binary, chain = waiting.popleft()
            for name in binary.needed:
                if self._key(name) not in self.loaded:
                    waiting.extend(self._follow(name, binary, chain))
        return Resolution(first.path, "", tuple(self.found), complete=not waiting)

    def _follow(
        self, name: str, binary: Binary, chain: tuple[Binary, ...]
    ) -> Iterator[tuple[Binary, tuple[Binary, ...]]]:
        """Search one name, note what is found, and yield it when its own needs are to be followed."""
        self.loaded.add(self._key(name))
        hit = find_library(self.machine, name, chain=chain, python=self.python).chosen
        self.found.append(Dependency(name, binary.path, hit))
        if hit and hit.resolved and not hit.problem:
            taken = self.machine.binary(hit.path, symbols=False)
            self._load(taken)
            yield taken, (taken, *chain)

    def _load(self, binary: Binary) -> None:
        """Remember the names that a binary answers to: its own, and its program interpreter's."""
        names = (binary.soname, self.machine.paths.basename(binary.path))
        interpreter = self.machine.paths.basename(binary.interpreter) if binary.format == "elf" else ""
        self.loaded.update(self._key(name) for name in (*names, interpreter) if name)

    def _key(self, name: str) -> str:
        """Return the name as the loader compares it."""
        return name.lower() if self.machine.view.windows else name
