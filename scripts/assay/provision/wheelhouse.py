"""A wheelhouse: a folder of package files for a machine without network, checked against the locks.

It holds wheels, PyCUDA's source distribution and, where one was built before, PyCUDA's wheel with its record.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from assay.errors import StorageError, UsageError
from assay.files import sha256_file
from assay.provision.built import BuiltWheel, built_wheels, record_path
from assay.provision.interpreter import Interpreter
from assay.provision.lockfile import PYCUDA, Requirement, locked
from assay.provision.pycuda_wheel import PROJECT

_FILE = re.compile(r"(?P<name>[\w.]+(?:-[A-Za-z_][\w.]*)*?)-(?P<version>[0-9][^-]*?)(?:-.*\.whl|\.tar\.gz)")
"""``NAME-VERSION-TAGS.whl`` (binary distribution format) or ``NAME-VERSION.tar.gz`` (PEP 625)."""


def normalised(name: str) -> str:
    """Return a package's normalised name (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def files_of(folder: Path, requirement: Requirement) -> Iterator[Path]:
    """Yield the files in a folder that are named as files of a requirement, in order of their names."""
    for path in sorted(folder.iterdir()):
        match = _FILE.fullmatch(path.name)
        if match and (normalised(match["name"]), match["version"]) == (requirement.name, requirement.version):
            yield path


def check_wheelhouse(folder: Path, requirements: Iterable[Requirement]) -> None:
    """Check, before anything is made, that a wheelhouse can serve.

    Whether a file fits the interpreter is pip's to say later; a package under a marker may rightly be absent.

    Raises:
        UsageError: it is no folder.
        StorageError: a file is not the locked one, or packages have no file at all.
    """
    if not folder.is_dir():
        raise UsageError(
            f"the wheelhouse {folder} is not a folder", "a folder of wheels", "name it with --wheelhouse"
        )
    missing = [
        f"{requirement.name} {requirement.version}"
        for requirement in requirements
        if not _checked_files(folder, requirement) and not requirement.marker
    ]
    if missing:
        raise StorageError(
            f"the wheelhouse {folder} has no file of {', '.join(missing)}",
            "a file for each locked package",
            "fill it on a machine with network: assay provision --wheelhouse DIR --download",
        )


def _checked_files(folder: Path, requirement: Requirement) -> list[tuple[Path, str]]:
    """Return a requirement's files and their SHA-256, each of which must be a locked one.

    A wheel that was built here has a record instead, and is checked where it is used.
    """
    paths = [path for path in files_of(folder, requirement) if not record_path(path).is_file()]
    files = [(path, sha256_file(path)[0]) for path in paths]
    for path, digest in files:
        if digest not in requirement.hashes:
            raise StorageError(
                f"{path} has the SHA-256 {digest}",
                f"one of the {len(requirement.hashes)} digests that the lock has for {requirement.name}",
                "fetch the file again; if it is still another, do not use that source",
            )
    return files


def has_sdist(folder: Path) -> bool:
    """Tell whether PyCUDA's source distribution is in a folder.

    Raises:
        StorageError: it is there and not the locked one.
    """
    return bool(_sdists(folder))


def find_sdist(folder: Path) -> tuple[Path, str]:
    """Return PyCUDA's source distribution in a folder, checked against the lock, and its SHA-256 (hex).

    Raises:
        StorageError: it is missing, or not the locked one.
    """
    if found := _sdists(folder):
        return found[0]
    name = f"{PROJECT}-{locked(PYCUDA, PROJECT).version}.tar.gz"
    raise StorageError(
        f"{folder} has no {name}",
        f"{name}, or a wheel of it and the wheel's record for this Python and toolkit",
        "fill it on a machine with network: assay provision --wheelhouse DIR --download",
    )


def _sdists(folder: Path) -> list[tuple[Path, str]]:
    """Return the source distributions of PyCUDA in a folder and their SHA-256."""
    checked = _checked_files(folder, locked(PYCUDA, PROJECT))
    return [(path, digest) for path, digest in checked if path.name.endswith(".tar.gz")]


def find_built(folder: Path, interpreter: Interpreter, toolkit: int) -> BuiltWheel | None:
    """Return a wheel of PyCUDA in a folder whose record says that it serves, or None.

    Raises:
        StorageError: a record does not hold.
    """
    hashes = locked(PYCUDA, PROJECT).hashes
    wheels = built_wheels(folder, PROJECT)
    return next((built for built in wheels if built.provenance.serves(hashes, interpreter, toolkit)), None)
