"""Looks at a selected file or folder and writes down what is there: the records that judges read.

The form of a record is described in ``assay.judge.selected``.  Nothing here raises for what a user's machine
may lack: the record says it.
"""

from __future__ import annotations

from assay.errors import StorageError
from assay.judge.selected import FILE, FOLDER, MISSING, OTHER, UNREADABLE
from assay.machine import Machine
from assay.machine.binary import Binary
from assay.model import Facts, Json

QUOTES = "\"'"


def is_quoted(value: str) -> bool:
    """Say whether a variable's value begins or ends with a quotation mark."""
    return bool(value) and (value[0] in QUOTES or value[-1] in QUOTES)


def record(machine: Machine, given: str, *, hashed: bool = True, parsed: bool = True) -> dict[str, Json]:
    """Return the record of one selected file or folder.

    Args:
        machine: the machine.
        given: the path as it was written.
        hashed: whether a regular file's SHA-256 is wanted.
        parsed: whether a regular file is to be read as a binary.
    """
    path = machine.view.absolute(given)
    facts: dict[str, Json] = {
        "absolute": machine.paths.isabs(given),
        "given": given,
        "path": path,
        "quoted": is_quoted(given),
        "real": _resolved(machine, path),
        **_state(machine, path, hashed=hashed),
    }
    if facts["state"] == FILE and parsed:
        facts["binary"] = binary_facts(machine.binary(path, symbols=False))
        facts["executable"] = is_program(machine, path)
    return facts


def is_program(machine: Machine, path: str) -> bool:
    """Say whether a file may be started."""
    folder, name = machine.paths.split(path)
    return machine.which(name, (folder,)) is not None


def _resolved(machine: Machine, path: str) -> str:
    """Return the path with its links followed, or ``""`` where they lead nowhere."""
    try:
        return machine.resolve(path)
    except StorageError:
        return ""


def _state(machine: Machine, path: str, *, hashed: bool) -> dict[str, Json]:
    """Return state, problem, and a regular file's digest and size."""
    if machine.is_dir(path):
        return {"state": FOLDER, **_listing(machine, path)}
    try:
        if not hashed:
            return {"size": machine.size(path), "state": FILE}
        sha256, size = machine.sha256(path)
    except StorageError as error:
        return _no_file(machine, path, error)
    return {"sha256": sha256, "size": size, "state": FILE}


def _listing(machine: Machine, path: str) -> dict[str, Json]:
    """Return that a folder cannot be listed; nothing where it can."""
    try:
        machine.listdir(path)
    except StorageError as error:
        return {"problem": error.observed, "state": UNREADABLE}
    return {}


def _no_file(machine: Machine, path: str, error: StorageError) -> dict[str, Json]:
    """Return why a path is no readable regular file."""
    if machine.peek(path, 0).problem == "missing":
        return {"problem": f"{path} does not exist{_lead(machine, path)}", "state": MISSING}
    if machine.is_link(path) and not machine.exists(path):
        lead = _lead(machine, path) or ", its links lead nowhere"
        return {"problem": f"{path} does not exist{lead}", "state": MISSING}
    if machine.exists(path) and not machine.is_file(path):
        return {"problem": error.observed, "state": OTHER}
    return {"problem": error.observed, "state": UNREADABLE}


def _lead(machine: Machine, path: str) -> str:
    """Return what explains a missing path: blanks at its ends, a list, or a link to what is gone."""
    if path != path.strip():
        return " (the value begins or ends with a blank)"
    if (";" if machine.view.windows else ":") in path:
        return " (the value is a list of paths, or begins or ends with a list's separator)"
    target = _resolved(machine, path)
    return f": it is a link to {target}, which is gone" if machine.is_link(path) and target else ""


def binary_facts(binary: Binary) -> Facts:
    """Return what a binary says of itself, without its symbols."""
    return {
        "arch": binary.arch,
        "bits": binary.bits,
        "build_id": binary.build_id,
        "build_type": binary.build_type,
        "format": binary.format,
        "glibc_needed": binary.glibc_needed,
        "interpreter": binary.interpreter,
        "kind": binary.kind,
        "needed": list(binary.needed),
        "problem": binary.problem,
        "soname": binary.soname,
        "version": binary.version,
    }


def machine_facts(machine: Machine) -> Facts:
    """Return what decides whether a binary fits this machine: processor, C library, distribution."""
    libc = machine.libc
    release = machine.os_release
    return {
        "arch": machine.arch,
        "libc": {"kind": libc.kind, "provides": libc.provides, "version": libc.version},
        "os": {"id": release.get("ID", ""), "version": release.get("VERSION_ID", "")},
    }
