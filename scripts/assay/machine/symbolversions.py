"""Whether the libraries that a loader takes define the versions of symbols that a binary needs of them.

glibc's loader compares them before anything runs (ld.so(8); gABI and LSB, "Symbol Versioning"); musl's does
not look at versions.  A library that defines no version at all is taken with a warning, so nothing of it is
unmet.  Versions of one family grow: what defines ``GLIBCXX_3.4.30`` has every ``GLIBCXX`` before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.machine.binary import Binary
from assay.plan.versions import release

if TYPE_CHECKING:
    from assay.machine.loader import Resolution
    from assay.machine.machine import Machine

_VERSION = re.compile(r"(?P<family>[A-Za-z][A-Za-z_]{0,40})_(?P<numbers>\d{1,5}(?:\.\d{1,5}){0,3})")
"""``GLIBC_2.28``, ``GLIBCXX_3.4.30``, ``CXXABI_1.3.13``, ``GCC_3.0``: names with numbers to compare."""


@dataclass(frozen=True)
class Unmet:
    """A version that a library lacks.

    Attributes:
        version: what is needed, such as ``GLIBCXX_3.4.32``.
        library: the needed name; ``path`` is the file that the loader takes for it.
        needed_by: the binary that needs it.
        highest: the highest version of that family that the file defines, ``""`` for none.
    """

    version: str
    library: str
    path: str
    needed_by: str
    highest: str


def unmet_versions(machine: Machine, resolution: Resolution) -> tuple[Unmet, ...]:
    """Return what a binary and the libraries that it brings need and do not get, the highest of each family.

    Args:
        machine: the machine.
        resolution: what the loader would take for everything that the binary needs.
    """
    taken = {
        one.name: machine.binary(one.hit.path, symbols=False)
        for one in resolution.dependencies
        if one.hit and one.hit.resolved and not one.hit.problem
    }
    asking = (machine.binary(resolution.path, symbols=False), *taken.values())
    found = (one for binary in asking for one in _unmet(binary, taken))
    highest: dict[tuple[str, str, str], Unmet] = {}
    for one in found:
        key = (one.needed_by, one.library, family(one.version))
        before = highest.get(key)
        if before is None or numbers(one.version) > numbers(before.version):
            highest[key] = one
    return tuple(highest.values())


def _unmet(binary: Binary, taken: dict[str, Binary]) -> Iterator[Unmet]:
    """Yield each version that one binary needs of a library that was found and does not define it."""
    for library, versions in binary.needs.items():
        given = taken.get(library)
        if given is None or not given.provides:
            continue
        for version in versions:
            if not _defined(version, given.provides):
                best = max(_same_family(version, given.provides), key=numbers, default="")
                yield Unmet(version, library, given.path, binary.path, best)


def _defined(version: str, provides: Iterable[str]) -> bool:
    """Say whether a version is among those that a library defines, by its name or by a later one."""
    defined = tuple(provides)
    later = (numbers(other) > numbers(version) for other in _same_family(version, defined))
    return version in defined or any(later)


def _same_family(version: str, provides: Iterable[str]) -> Iterator[str]:
    """Yield the versions of the same family; a name without numbers has none."""
    own = family(version)
    return (other for other in provides if own and family(other) == own)


def family(version: str) -> str:
    """Return what stands before a version's numbers, ``""`` where it has none."""
    match = _VERSION.fullmatch(version)
    return match["family"] if match else ""


def numbers(version: str) -> tuple[int, ...]:
    """Return a version's numbers, none where it has none."""
    match = _VERSION.fullmatch(version)
    return release(match["numbers"]) if match else ()
