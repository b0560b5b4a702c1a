"""Wheels that were built here, each beside a record of what it was built from.

A lock cannot vouch for a wheel that is built locally.  Its record does: the SHA-256 of the wheel and of the
source distribution (which the lock pins), and what else shaped it.  ``NAME.whl`` has it in ``NAME.whl.json``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from assay import canonical
from assay.errors import BundleError, StorageError
from assay.files import read_bounded, sha256_file, write_atomic
from assay.model import Json
from assay.provision.interpreter import Interpreter

KIND = "built-wheel"
"""Kind of the record's schema."""

RECIPE = 1
"""Number of the way PyCUDA is built (options, link flags); another recipe makes another wheel."""

_LIMIT = 1 << 16


@dataclass(frozen=True)
class Provenance:
    """What a wheel was built from and for.

    Attributes:
        sdist: SHA-256 (hex) of the source distribution.
        abi: Python's ABI tag, such as ``cp312``.
        machine: processor, such as ``x86_64``.
        libc: C library of the building machine, such as ``glibc 2.36``: the wheel needs at most that.
        toolkit: ``CUDA_VERSION`` of the headers, such as 13000.
        compiler: what the C++ compiler said of itself.
        recipe: ``RECIPE`` when it was built.
    """

    sdist: str
    abi: str
    machine: str
    libc: str
    toolkit: int
    compiler: str
    recipe: int = RECIPE

    def serves(self, sdist_hashes: frozenset[str], interpreter: Interpreter, toolkit: int) -> bool:
        """Tell whether a wheel of this provenance can be taken for an interpreter and a toolkit.

        The compiler may be another: C++'s ABI is the platform's.  The C library may be newer.
        """
        return (
            self.recipe == RECIPE
            and self.sdist in sdist_hashes
            and (self.abi, self.machine) == (interpreter.abi, interpreter.machine)
            and self.toolkit // 10 == toolkit // 10
            and not_older(interpreter.libc, self.libc)
        )


@dataclass(frozen=True)
class BuiltWheel:
    """A built wheel and its provenance."""

    path: Path
    sha256: str
    provenance: Provenance


def not_older(libc: str, than: str) -> bool:
    """Tell whether a C library ``glibc 2.39`` is the same as ``than`` and at least as new."""
    name, _, version = libc.partition(" ")
    other, _, least = than.partition(" ")
    return name == other and _numbers(version) >= _numbers(least)


def _numbers(version: str) -> tuple[int, ...]:
    """Return the numbers of a dotted version."""
    return tuple(int(part) for part in re.findall(r"\d+", version))


def record(wheel: Path, provenance: Provenance) -> BuiltWheel:
    """Write a wheel's record beside it.

    Raises:
        StorageError: it cannot be written.
    """
    digest, size = sha256_file(wheel)
    document: dict[str, Json] = {
        "schema": f"assay/{KIND}/1",
        "wheel": wheel.name,
        "sha256": digest,
        "size": size,
    }
    write_atomic(record_path(wheel), canonical.dumps(document | asdict(provenance)))
    return BuiltWheel(wheel, digest, provenance)


def record_path(wheel: Path) -> Path:
    """Return where a wheel's record lies."""
    return wheel.with_name(wheel.name + ".json")


def built_wheels(folder: Path, project: str) -> Iterator[BuiltWheel]:
    """Yield the wheels of a project in a folder that have a record, in order of their names.

    Raises:
        StorageError: a record is malformed, or its wheel is not the recorded one.
    """
    for wheel in sorted(folder.glob(f"{project}-*.whl")):
        if record_path(wheel).is_file():
            yield read_record(wheel)


def read_record(wheel: Path) -> BuiltWheel:
    """Read a wheel's record and check the wheel against it.

    Raises:
        StorageError: the record is malformed, or the wheel is not the recorded one.
    """
    path = record_path(wheel)
    try:
        document = dict(canonical.read_object(read_bounded(path, _LIMIT), KIND, member=path.name))
    except BundleError as error:
        raise _broken(path, f"is not a record of a built wheel: {error.observed}") from error
    said = {name: document.pop(name, None) for name in ("wheel", "sha256", "size")}
    digest, size = sha256_file(wheel)
    if said != {"wheel": wheel.name, "sha256": digest, "size": size}:
        raise _broken(path, f"does not describe {wheel.name} as it is")
    return BuiltWheel(wheel, digest, _provenance(path, document))


def _provenance(path: Path, document: Mapping[str, Json]) -> Provenance:
    """Return the provenance that a record states."""
    texts = {name: document.get(name) for name in ("sdist", "abi", "machine", "libc", "compiler")}
    numbers = {name: document.get(name) for name in ("toolkit", "recipe")}
    whole = all(isinstance(text, str) for text in texts.values()) and all(
        type(number) is int for number in numbers.values()
    )
    if not whole or set(document) != {*texts, *numbers}:
        raise _broken(path, "does not state a wheel's provenance")
    return Provenance(**texts, **numbers)  # type: ignore[arg-type]  # types and keys were checked just above


def _broken(path: Path, what: str) -> StorageError:
    """Return the error of a record that does not hold."""
    return StorageError(
        f"{path} {what}",
        f"a record assay/{KIND}/1 beside the very wheel that it names",
        "remove the wheel and its record; it is then built from source",
    )
