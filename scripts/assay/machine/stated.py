"""What a fake machine states of itself, because a folder of files cannot show it.

A fake machine is a folder::

    <name>/root/…          its files, as they would lie under ``/`` (drive ``C:`` of Windows is ``root/C``)
    <name>/env.json        its environment: {"LD_LIBRARY_PATH": "/usr/lib/wsl/lib"}
    <name>/machine.json    optional; also looked for inside the root
    <name>/probes.json     optional; recorded answers of live probes, by probe name

``machine.json`` is an object with any of these keys:

``os``      ``linux``, ``windows`` or ``macos`` (WSL is recognised from its files)
``arch``    ``x86_64``, ``aarch64``, …
``cwd``     the working folder
``denied``  absolute paths that answer "permission denied", with all that lies below

Device nodes are ordinary empty files in a fake root, as only root can make others.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from assay.errors import UsageError
from assay.files import read_bounded
from assay.model import Json

FILE = "machine.json"
SYSTEMS = ("linux", "windows", "macos")
_LIMIT = 1 << 20


@dataclass(frozen=True)
class Stated:
    """The content of ``machine.json``; empty where it says nothing."""

    os: str = ""
    arch: str = ""
    cwd: str = ""
    denied: tuple[str, ...] = ()


def read_stated(file: Path) -> Stated:
    """Return what ``file`` states; nothing where there is no such file.

    Raises:
        UsageError: it is not the JSON object described above.
    """
    if not file.is_file():
        return Stated()
    values = read_object(file)
    if unknown := sorted(values.keys() - {"os", "arch", "cwd", "denied"}):
        raise _broken(file, f"unknown key {unknown[0]!r}")
    denied = values.get("denied", [])
    if not isinstance(denied, list):
        raise _broken(file, "denied is not a list")
    system = _text(file, values, "os")
    if system and system not in SYSTEMS:
        raise _broken(file, f"os is {system!r}")
    paths = tuple(_text(file, {"denied": path}, "denied") for path in denied)
    return Stated(system, _text(file, values, "arch"), _text(file, values, "cwd"), paths)


def stated_of(root: Path) -> Stated:
    """Return what the ``machine.json`` inside ``root``, or beside a folder named ``root``, states.

    Raises:
        UsageError: as ``read_stated``.
    """
    inside = root / FILE
    return read_stated(root.parent / FILE if root.name == "root" and not inside.exists() else inside)


def read_object(file: Path) -> dict[str, Json]:
    """Return the JSON object that a file holds.

    Raises:
        UsageError: it cannot be read as one.
    """
    try:
        value = json.loads(read_bounded(file, _LIMIT))
    except (ValueError, RecursionError) as error:
        raise _broken(file, f"not JSON ({error})") from error
    if not isinstance(value, dict):
        raise _broken(file, "not an object")
    return cast("dict[str, Json]", value)


def read_strings(file: Path) -> dict[str, str]:
    """Return the JSON object of strings that a file holds, such as ``env.json``.

    Raises:
        UsageError: it cannot be read as one.
    """
    values = read_object(file)
    return {name: _text(file, values, name) for name in values}


def _text(file: Path, values: Mapping[str, Json], key: str) -> str:
    """Return a string value, empty when it is not there."""
    value = values.get(key, "")
    if not isinstance(value, str):
        raise _broken(file, f"{key} is not a string")
    return value


def _broken(file: Path, why: str) -> UsageError:
    """Return the error of a file that describes a fake machine wrongly."""
    return UsageError(f"{file}: {why}", "the form that assay.machine.stated describes", "correct that file")
