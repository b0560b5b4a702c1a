"""Whose a file is, told from its rooted path: the toolkit's, the selection's, the system's, or nobody's.

Rooted paths begin with a named root (``$TOOLKIT/lib64/…``); what lies under none is absolute.  Either
separator is understood, so that a bundle from Windows is judged alike everywhere.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from assay.judge.reading import text, texts
from assay.model import Facts


class Owner(StrEnum):
    """Who a file belongs to."""

    TOOLKIT = "toolkit"
    SELECTION = "selection"
    SYSTEM = "system"
    REHEARSAL = "rehearsal"
    NOBODY = "nobody"


TOOLKIT = "$TOOLKIT"
SELECTED = (
    "$SELECTION",
    "$PYTHONPATH",
    "$BUN_PYTHON_LIBPYTHON",
    "$BUN_PYTHON_HOST_LIBRARY",
    "$BUN_EXECUTABLE",
    "$BUV_RUNTIME_LIB",
)

SYSTEM = (
    *(
        "/lib",
        "/lib32",
        "/lib64",
        "/usr/lib",
        "/usr/lib32",
        "/usr/lib64",
        "/usr/local/lib",
        "/usr/local/lib64",
    ),
    *("/usr/local/nvidia", "/run/opengl-driver", "/nix/store", "/gnu/store", "C:/Windows"),
)
"""Where distributions, driver installers and container runtimes put libraries (FHS 3.0, 3.9 and 4.7;
``/usr/local/nvidia`` is where container hosts mount the driver; NixOS and Guix have stores)."""

_DRIVER_NAMES = re.compile(r"lib(?:cuda|nv|nvidia|EGL_nvidia|GLX_nvidia|GLESv\d_nvidia)[\w.+-]*")
"""Names of the NVIDIA driver's libraries: all that may come from a folder of the caller's library path."""

_WHOLE_SYSTEM = frozenset({"", "/", "/usr", "/usr/local", "C:", "C:/Windows"})
"""Prefixes that hold more than an interpreter: only its own folders below them are the selection's."""


@dataclass(frozen=True)
class Owners:
    """What is known of the child's interpreter and driver.

    Attributes:
        prefix: ``sys.prefix``, rooted.
        base_prefix: ``sys.base_prefix``, rooted: a virtual environment's standard library lies there.
        minor: ``3.12``.
        driver_folder: the folder that was given to the child because the loader's defaults lack the driver.
        rehearsal: folders of what took a GPU's place; ``judge.rehearsal`` refuses any in another run.
    """

    prefix: str
    base_prefix: str
    minor: str
    driver_folder: str
    rehearsal: tuple[str, ...] = ()

    def of(self, path: str) -> Owner:
        """Return whose a file is."""
        plain = slashed(path)
        if below(plain, TOOLKIT):
            return Owner.TOOLKIT
        if any(below(plain, root) for root in SELECTED) or self._is_interpreters(plain):
            return Owner.SELECTION
        if any(folder and below(plain, slashed(folder)) for folder in self.rehearsal):
            return Owner.REHEARSAL
        if any(below(plain, root) for root in SYSTEM) or self._is_drivers(plain):
            return Owner.SYSTEM
        return Owner.NOBODY

    def has_module(self, path: str) -> bool:
        """Say whether a Python module's file is the selection's; the system's libraries are no modules."""
        return self.of(path) in {Owner.SELECTION, Owner.TOOLKIT, Owner.REHEARSAL}

    def _is_interpreters(self, path: str) -> bool:
        """Say whether a file lies in the interpreter's own installation."""
        return any(self._is_installed(path, slashed(prefix)) for prefix in (self.prefix, self.base_prefix))

    def _is_installed(self, path: str, prefix: str) -> bool:
        """Say whether a file belongs to an interpreter installed at ``prefix``."""
        if prefix not in _WHOLE_SYSTEM:
            return below(path, prefix)
        if not self.minor or not prefix.startswith("/"):
            return False
        own = (f"lib/python{self.minor}", f"lib64/python{self.minor}", "lib/python3")
        programs = (f"bin/python{self.minor}", "bin/python3", "bin/python")
        rest = path.removeprefix(prefix.rstrip("/") + "/")
        if rest == path:
            return False
        library = rest.startswith(("lib/", "lib64/")) and is_libpython(path)
        return any(below(rest, folder) for folder in own) or rest in programs or library

    def _is_drivers(self, path: str) -> bool:
        """Say whether a file is the driver's, from the folder that was given to the child for it."""
        folder, _, name = path.rpartition("/")
        return bool(self.driver_folder) and folder == slashed(self.driver_folder) and is_drivers_name(name)


def owners_of(facts: Facts) -> Owners:
    """Return what the chain's facts say of interpreter and driver folder.

    Raises:
        MalformedFacts: one of them is no string.
    """
    version = text(facts, "child.hello.version").split(".")
    return Owners(
        prefix=text(facts, "child.hello.prefix"),
        base_prefix=text(facts, "child.hello.base_prefix"),
        minor=".".join(version[:2]) if all(part.isdecimal() for part in version[:2]) else "",
        driver_folder=text(facts, "child.driver_folder"),
        rehearsal=(text(facts, "rehearsal.driver.folder"), *texts(facts, "rehearsal.adapter.folders")),
    )


def slashed(path: str) -> str:
    """Return a path with forward slashes and without a trailing one."""
    plain = path.replace("\\", "/")
    return plain.rstrip("/") if len(plain) > 1 else plain


def below(path: str, folder: str) -> bool:
    """Say whether a slashed path is ``folder`` or lies below it, with no way back up."""
    return (path == folder or path.startswith(f"{folder}/")) and ".." not in path.split("/")


def name_of(path: str) -> str:
    """Return a path's last part."""
    return slashed(path).rpartition("/")[2]


def is_drivers_name(name: str) -> bool:
    """Say whether a file is named as a library of the NVIDIA driver."""
    return _DRIVER_NAMES.fullmatch(name) is not None


def is_libpython(path: str) -> bool:
    """Say whether a file is named as CPython's shared library."""
    return (
        re.fullmatch(r"libpython3[\w.]*\.(?:so[\w.]*|dylib)|python3\d*t?(?:_d)?\.dll", name_of(path))
        is not None
    )
