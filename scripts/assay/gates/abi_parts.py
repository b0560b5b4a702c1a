"""Observes selected binaries: what they need of this machine, and what its loader takes for it.

The facts are described in ``assay.judge.abi``.
"""

from __future__ import annotations

from collections.abc import Iterator

from assay.gates.childview import child_view
from assay.gates.context import Context
from assay.gates.files import binary_facts, machine_facts
from assay.judge.abi import BUN, EXTENSION, HOST, INTERPRETER, LIBPYTHON, PROVIDER
from assay.machine import Machine, driverfiles
from assay.machine.binary import Binary
from assay.machine.loader import Dependency, Resolution, find_library, resolve_needed
from assay.machine.symbolversions import Unmet, unmet_versions
from assay.model import Facts, Json, Platform
from assay.selection import Selection

PACKAGE = "pycuda"
"""Its extension modules are C++ and are built on the machine, or for one like it."""

MAX_EXTENSIONS = 20
MAX_LIBRARIES = 200
"""Libraries of one file that are recorded; what is wrong comes first."""

_LIBCUDA = "libcuda"


def observe_selected(context: Context) -> Facts:
    """Return the facts of every selected binary that is there."""
    machine, child = context.machine, child_view(context).machine
    program = _program(machine, context.selection)
    named = dict.fromkeys(_named(machine, context.selection))
    return {
        "arch": machine.binary(program, symbols=False).arch if program else "",
        "driver": _driver(machine, child),
        "files": [_file(child, what, path, program) for what, path in named if machine.is_file(path)],
        "machine": machine_facts(machine),
    }


def _program(machine: Machine, selection: Selection) -> str:
    """Return the interpreter that loads the others, ``""`` where there is none to read."""
    executable = selection.executable or ""
    return executable if executable and machine.is_file(executable) else ""


def _named(machine: Machine, selection: Selection) -> Iterator[tuple[str, str]]:
    """Yield what a selected binary is and its path."""
    for what, path in (
        (INTERPRETER, selection.executable),
        (LIBPYTHON, selection.libpython),
        (HOST, selection.host_library),
        (BUN, selection.bun),
        (PROVIDER, selection.provider),
    ):
        if path:
            yield what, machine.view.absolute(path)
    pattern = "*.pyd" if machine.view.windows else "*.so"
    found = (
        path
        for folder in selection.site_packages
        for path in machine.glob(machine.paths.join(folder, PACKAGE, pattern))
    )
    yield from ((EXTENSION, path) for path, _ in zip(found, range(MAX_EXTENSIONS), strict=False))


def _file(child: Machine, what: str, path: str, program: str) -> Json:
    """Return a binary with its libraries as the children's loader takes them."""
    binary = child.binary(path, symbols=False)
    above = "" if what in {INTERPRETER, BUN} else program
    resolution = resolve_needed(child, path, program=above, python=what not in {INTERPRETER, BUN})
    libraries = sorted((_library(one) for one in resolution.dependencies), key=_usable)
    unmet = unmet_versions(child, resolution) if child.libc.kind == "glibc" else ()
    return {
        "binary": binary_facts(binary),
        "libraries": [dict(each) for each in libraries[:MAX_LIBRARIES]],
        "loader": _loader(child, binary),
        "needs": _highest(resolution, binary),
        "path": path,
        "unmet": [_unmet(one) for one in unmet],
        "what": what,
    }


def _loader(child: Machine, binary: Binary) -> bool | None:
    """Say whether the program interpreter that a binary names is there; None where it names none."""
    named = binary.interpreter if binary.format == "elf" else ""
    return child.exists(named) if named else None


def _library(one: Dependency) -> dict[str, Json]:
    """Return one needed library; ``path`` is null where nothing usable is found."""
    usable = one.hit is not None and not one.hit.problem
    return {
        "name": one.name,
        "needed_by": one.needed_by,
        "path": one.hit.path if one.hit and usable else None,
        "problem": one.hit.problem if one.hit else "",
    }


def _usable(library: dict[str, Json]) -> bool:
    """Order libraries: those that lack first."""
    return library["path"] is not None


def _highest(resolution: Resolution, binary: Binary) -> list[Json]:
    """Return the versions of symbols that a binary itself needs, sorted; none where it cannot be read."""
    if resolution.problem:
        return []
    needs = {version for versions in binary.needs.values() for version in versions}
    return list(sorted(needs)[:MAX_LIBRARIES])


def _unmet(one: Unmet) -> Json:
    """Return one version that a library lacks."""
    return {
        "highest": one.highest,
        "library": one.library,
        "needed_by": one.needed_by,
        "path": one.path,
        "version": one.version,
    }


def _driver(machine: Machine, child: Machine) -> Facts | None:
    """Return the driver's libcuda on a machine with musl, None on others: it is made for glibc alone."""
    if machine.platform is Platform.WINDOWS or machine.libc.kind != "musl":
        return None
    hit = find_library(child, driverfiles.LIBRARIES[_LIBCUDA]).chosen
    copies = driverfiles.copies(machine, _LIBCUDA)
    path = hit.path if hit else copies[0].path if copies else ""
    if not path:
        return None
    return {"binary": binary_facts(machine.binary(path, symbols=False)), "found": bool(hit), "path": path}
