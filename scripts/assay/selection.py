"""The selection: which interpreter, libraries, provider and toolkit are under qualification.

It is *explicit* when a file is given or any ``BUN_PYTHON_*`` variable or ``BUV_RUNTIME_LIB`` is set;
``CUDA_PATH``, ``PATH`` and ``PYTHONPATH`` alone are set on many machines and never make one.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from assay.errors import SelectionError, StorageError
from assay.files import read_bounded
from assay.model import Platform

EXECUTABLE = "BUN_PYTHON_EXECUTABLE"
LIBPYTHON = "BUN_PYTHON_LIBPYTHON"
HOST_LIBRARY = "BUN_PYTHON_HOST_LIBRARY"
BUN = "BUN_EXECUTABLE"
SITE_PACKAGES = "PYTHONPATH"
PROVIDER = "BUV_RUNTIME_LIB"
TOOLKIT = "CUDA_PATH"
PATH = "PATH"

VARIABLES = (EXECUTABLE, LIBPYTHON, HOST_LIBRARY, BUN, SITE_PACKAGES, PROVIDER, TOOLKIT, PATH)
DECIDING = (EXECUTABLE, LIBPYTHON, HOST_LIBRARY, PROVIDER)
"""Any of these makes a selection explicit."""

EMBEDDED_FILE = Path(".assay/selection.toml")
"""Where ``provision`` leaves the embedded selection, relative to the project."""

_LIMIT = 1 << 20


@dataclass(frozen=True)
class Selection:
    """A resolved selection.

    Attributes:
        explicit: whether the user chose it; otherwise it is the embedded one.
        source: where it came from: ``environment``, ``embedded``, ``none`` or the file's path.
        values: value by variable, only those that are set.
        ignored: variables of the environment that were set and not used.
        separator: what separates entries of a list (``os.pathsep`` of the platform).
    """

    explicit: bool
    source: str
    values: Mapping[str, str]
    ignored: tuple[str, ...] = ()
    separator: str = ":"

    def get(self, variable: str) -> str | None:
        """Return a variable's value, None where it is not set or empty."""
        return self.values.get(variable) or None

    def entries(self, variable: str) -> tuple[str, ...]:
        """Return the non-empty entries of a list variable."""
        return tuple(entry for entry in self.values.get(variable, "").split(self.separator) if entry)

    @property
    def executable(self) -> str | None:
        """Return the interpreter that runs the chain."""
        return self.get(EXECUTABLE)

    @property
    def libpython(self) -> str | None:
        """Return the interpreter's shared library."""
        return self.get(LIBPYTHON)

    @property
    def host_library(self) -> str | None:
        """Return the library that hosts CPython inside Bun."""
        return self.get(HOST_LIBRARY)

    @property
    def bun(self) -> str | None:
        """Return the Bun that CPython lives in."""
        return self.get(BUN)

    @property
    def site_packages(self) -> tuple[str, ...]:
        """Return the selected site-packages folders."""
        return self.entries(SITE_PACKAGES)

    @property
    def provider(self) -> str | None:
        """Return the provider library."""
        return self.get(PROVIDER)

    @property
    def toolkit(self) -> str | None:
        """Return the toolkit folder, without a trailing separator."""
        value = self.get(TOOLKIT)
        return value.rstrip("/\\") or value if value else None

    @property
    def path(self) -> tuple[str, ...]:
        """Return the selected search path of programs."""
        return self.entries(PATH)


def resolve_selection(
    environ: Mapping[str, str], project: Path | None, file: Path | None, platform: Platform
) -> Selection:
    """Return the selection of a run: a file's, the environment's, or the one embedded in the project, if any.

    Raises:
        SelectionError: a selection file cannot be read or has another form.
    """
    separator = ";" if platform is Platform.WINDOWS else ":"
    if file is not None:
        values = read_selection(file)
        return Selection(
            explicit=True,
            source=str(file),
            values=values,
            ignored=_others(environ, values),
            separator=separator,
        )
    if any(environ.get(variable) for variable in DECIDING):
        chosen = {name: environ[name] for name in VARIABLES if environ.get(name)}
        return Selection(
            explicit=True, source="environment", values=MappingProxyType(chosen), separator=separator
        )
    ignored = tuple(name for name in (SITE_PACKAGES, TOOLKIT) if environ.get(name))
    embedded = project / EMBEDDED_FILE if project is not None else None
    if embedded is not None and embedded.is_file():
        return Selection(
            explicit=False,
            source="embedded",
            values=read_selection(embedded),
            ignored=ignored,
            separator=separator,
        )
    return Selection(
        explicit=False, source="none", values=MappingProxyType({}), ignored=ignored, separator=separator
    )


def _others(environ: Mapping[str, str], values: Mapping[str, str]) -> tuple[str, ...]:
    """Return the variables that the environment sets otherwise than the file."""
    return tuple(
        name for name in VARIABLES if name != PATH and environ.get(name) and environ[name] != values.get(name)
    )


def read_selection(file: Path) -> Mapping[str, str]:
    """Read a selection file: TOML with one table ``[selection]`` whose keys are the variables.

    A list of strings is joined with the platform's separator.

    Raises:
        SelectionError: it cannot be read, is not TOML, or has another key or type.
    """
    import tomllib  # noqa: PLC0415  # many a selection is in the environment

    try:
        document = tomllib.loads(read_bounded(file, _LIMIT).decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise SelectionError(f"{file} is not TOML: {error}", "a TOML file with [selection]", "") from error
    except StorageError as error:
        raise SelectionError(error.observed, error.expected, "name a readable selection file") from error
    table = document.get("selection")
    if not isinstance(table, dict) or set(document) != {"selection"}:
        raise SelectionError(f"{file} has no single table [selection]", "one table [selection]", "")
    return MappingProxyType({name: _value(file, name, value) for name, value in table.items()})


def _value(file: Path, name: str, value: object) -> str:
    """Return one variable's value."""
    if name not in VARIABLES:
        known = ", ".join(VARIABLES)
        raise SelectionError(f"{file}: selection.{name} is not a known variable", f"one of {known}", "")
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return os.pathsep.join(value)
    if not isinstance(value, str):
        raise SelectionError(f"{file}: selection.{name} is not a string", "a string or a list of strings", "")
    return value
