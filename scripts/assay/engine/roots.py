"""The named roots of a run: which absolute paths are written as ``$SELECTION``, ``$TOOLKIT``, … (law 9)."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath

from assay.machine import Machine
from assay.model import Platform
from assay.selection import BUN, HOST_LIBRARY, LIBPYTHON, PROVIDER, SITE_PACKAGES, Selection

if sys.platform != "win32":
    import pwd

SELECTION_ROOT = "$SELECTION"
TOOLKIT_ROOT = "$TOOLKIT"
PROJECT_ROOT = "$PROJECT"
HOME_ROOT = "$HOME"


def named_roots(machine: Machine, selection: Selection, project: Path) -> tuple[tuple[str, str], ...]:
    """Return (name, absolute path) pairs; a path behind links stands there twice, as given and resolved.

    A selected file or folder that lies below another root needs no name of its own.
    """
    pairs = [
        (TOOLKIT_ROOT, selection.toolkit),
        (SELECTION_ROOT, prefix_of(selection.executable, machine.platform)),
        (PROJECT_ROOT, str(project)),
        *((HOME_ROOT, home) for home in _homes(machine)),
    ]
    given = [(name, path) for name, path in pairs if path]
    known = [path for name, path in given if name != HOME_ROOT]
    given += [pair for pair in _selected(selection) if not _below(pair[1], known)]
    return tuple(dict.fromkeys(pair for name, path in given for pair in _both(machine, name, path)))


def _homes(machine: Machine) -> tuple[str, ...]:
    """Return the caller's home as the environment has it, and on the real machine the account's own too."""
    told = machine.getenv("HOME") or machine.getenv("USERPROFILE")
    account = _account_home() if machine.is_real else ""
    return tuple(dict.fromkeys(home for home in (told, account) if home))


def _account_home() -> str:
    """Return the home of this process's account, ``""`` where no database has it."""
    if sys.platform == "win32":
        return ""
    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return ""


def prefix_of(executable: str | None, platform: Platform) -> str | None:
    """Return the installation or environment folder of an interpreter, from its path alone.

    ``bin/python`` on POSIX, ``python.exe`` or ``Scripts/python.exe`` on Windows (PEP 405 and ``sysconfig``'s
    schemes ``posix_prefix``, ``nt`` and ``venv``).
    """
    if not executable:
        return None
    path: PurePath = (
        PureWindowsPath(executable) if platform is Platform.WINDOWS else PurePosixPath(executable)
    )
    if platform is not Platform.WINDOWS or path.parent.name.lower() == "scripts":
        return str(path.parent.parent)
    return str(path.parent)


def _selected(selection: Selection) -> Iterable[tuple[str, str]]:
    """Yield the selected files and folders under the names of their variables."""
    for variable in (LIBPYTHON, HOST_LIBRARY, BUN, PROVIDER):
        path = selection.get(variable)
        if path:
            yield f"${variable}", path
    for path in selection.site_packages:
        yield f"${SITE_PACKAGES}", path


def _below(path: str, roots: Iterable[str]) -> bool:
    """Say whether a path lies below one of the roots."""
    return any(
        path == root or path.startswith((root.rstrip("/\\") + "/", root.rstrip("/\\") + "\\"))
        for root in roots
    )


def _both(machine: Machine, name: str, path: str) -> Iterable[tuple[str, str]]:
    """Yield a root as it was given and as its links resolve."""
    yield name, path
    if machine.exists(path):
        yield name, machine.resolve(path)
