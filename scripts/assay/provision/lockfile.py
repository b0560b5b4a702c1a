r"""The locks: exact versions with the SHA-256 of every file that may be installed, and without any address.

The form is pip's requirements file in hash-checking mode (pip user guide, "Secure installs"):

    name==version ; marker \
        --hash=sha256:HEX \
        --hash=sha256:HEX

Anything else in a lock, above all an option that names an index, is an error.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from assay.errors import StorageError
from assay.files import read_bounded

LOCKS_FOLDER = Path(__file__).parent / "locks"

SELECTION, TOOLKIT, PYCUDA, BUILD, HOSTED = "selection", "toolkit", "pycuda", "build", "hosted"
LOCKS = (SELECTION, TOOLKIT, PYCUDA, BUILD, HOSTED)
"""Lock files, in the order in which they are resolved: each keeps the versions of those before it."""

OLDEST_PYTHON = "3.11"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
"""Versions of CPython for which every locked package has files."""

_LIMIT = 1 << 20
_REQUIREMENT = re.compile(
    r"(?P<name>[a-z0-9]+(?:-[a-z0-9]+)*)==(?P<version>[0-9][A-Za-z0-9.+!]*)(?: ; (?P<marker>[^\\#]+?))?"
)
_HASH = re.compile(r"--hash=sha256:(?P<hex>[0-9a-f]{64})")


@dataclass(frozen=True)
class Requirement:
    """One locked package.

    Attributes:
        name: normalised name (PEP 503).
        version: the exact version.
        marker: environment marker (PEP 508) or ``""``.
        hashes: SHA-256 (hex) of each file that may be installed.
    """

    name: str
    version: str
    marker: str
    hashes: frozenset[str]

    def line(self) -> str:
        """Return the requirement in the form of a requirements file."""
        head = f"{self.name}=={self.version}" + (f" ; {self.marker}" if self.marker else "")
        return " \\\n".join([head, *(f"    --hash=sha256:{value}" for value in sorted(self.hashes))]) + "\n"


def parse_lock(name: str, text: str) -> tuple[Requirement, ...]:
    """Parse a lock.

    Args:
        name: the file's name, for errors.
        text: its content.

    Raises:
        StorageError: a line is neither a requirement, a hash nor a comment; a requirement has no hash;
            a package is named twice.
    """
    joined = text.replace("\\\n", " ")
    lines = [line.partition("#")[0].strip() for line in joined.splitlines()]
    requirements = tuple(_parse_line(name, line) for line in lines if line)
    names = [requirement.name for requirement in requirements]
    if twice := sorted({each for each in names if names.count(each) > 1}):
        raise _broken(name, f"names {', '.join(twice)} twice")
    return requirements


def _parse_line(name: str, line: str) -> Requirement:
    """Parse one logical line."""
    head, *hashes = re.split(r"\s+(?=--)", line)
    match = _REQUIREMENT.fullmatch(head)
    found = [_HASH.fullmatch(value) for value in hashes]
    if match is None or not hashes or not all(found):
        raise _broken(name, f"has the line {line[:80]!r}")
    digests = frozenset(each["hex"] for each in found if each)
    return Requirement(match["name"], match["version"], match["marker"] or "", digests)


def _broken(name: str, what: str) -> StorageError:
    """Return the error of a lock that is not one."""
    return StorageError(
        f"the lock {name} {what}",
        "lines `name==version --hash=sha256:…`, each package once, and no option",
        "write the locks anew with `nox -s lock`",
    )


def lock_text(name: str) -> str:
    """Return the text of one of ``LOCKS``.

    Raises:
        StorageError: it cannot be read.
    """
    return read_bounded(LOCKS_FOLDER / f"{name}.txt", _LIMIT).decode()


@cache
def load_lock(name: str) -> tuple[Requirement, ...]:
    """Return the requirements of one of ``LOCKS``.

    Raises:
        StorageError: it cannot be read, or is no lock.
    """
    return parse_lock(f"{name}.txt", lock_text(name))


def locked(name: str, package: str) -> Requirement:
    """Return one package of a lock.

    Raises:
        StorageError: the lock does not have it.
    """
    for requirement in load_lock(name):
        if requirement.name == package:
            return requirement
    raise _broken(f"{name}.txt", f"does not have {package}")


def merged(names: Iterable[str], leave_out: Iterable[str] = ()) -> tuple[Requirement, ...]:
    """Return the packages of several locks, each once, in order of their names.

    Raises:
        StorageError: two locks have different versions of a package.
    """
    omitted, found = frozenset(leave_out), dict[str, Requirement]()
    for name in names:
        for requirement in load_lock(name):
            if found.setdefault(requirement.name, requirement).version != requirement.version:
                raise _broken(f"{name}.txt", f"has another version of {requirement.name} than the others")
    return tuple(found[name] for name in sorted(found) if name not in omitted)


def lock_sha256(requirement: Requirement) -> str:
    """Return the SHA-256 (hex) over a package's locked hashes: the same on every machine of the lock."""
    return hashlib.sha256("\n".join(sorted(requirement.hashes)).encode()).hexdigest()


def locks_digest(names: Iterable[str]) -> str:
    """Return the SHA-256 (hex) over names and texts of locks: another digest means another selection."""
    digest = hashlib.sha256()
    for name in names:
        digest.update(f"{name}\0{lock_text(name)}\0".encode())
    return digest.hexdigest()
