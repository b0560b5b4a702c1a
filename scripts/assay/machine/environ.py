"""Reads an environment that was written down: as JSON, as ``env`` and ``docker --env-file`` have it, or NULs.

Forms, told from the bytes: a JSON object of strings (``env.json`` of a fake machine); entries that end with
NUL (``/proc/<pid>/environ``, proc_pid_environ(5); ``env -0``); lines ``NAME=value`` (``env``; docker run,
``--env-file``: empty lines and lines that begin with ``#`` mean nothing, a name alone has no value here).
Values stand as they are, quotation marks and blanks included.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from assay.errors import StorageError, UsageError
from assay.files import read_bounded

LIMIT = 8 << 20
"""Bytes: Linux gives arguments and environment together at most 6 MiB (execve(2))."""

MAX_VARIABLES = 10_000

_NAMED = re.compile(r"(?P<name>[^=\s][^=\s]*)=(?P<value>.*)", re.DOTALL)
_ALONE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_EXPECTED = "NAME=value lines, entries that end with NUL, or a JSON object of strings"


def read_environment(file: Path) -> Mapping[str, str]:
    """Return the environment that a file holds.

    Raises:
        UsageError: it cannot be read, or is no environment.
    """
    try:
        data = read_bounded(file, LIMIT)
    except StorageError as error:
        raise UsageError(error.observed, "a readable file", "name the file of an environment") from error
    try:
        return parse_environment(data)
    except ValueError as error:
        raise UsageError(f"{file}: {error}", _EXPECTED, "write it with `env`, `env -0` or as JSON") from error


def parse_environment(data: bytes) -> Mapping[str, str]:
    """Return the environment that bytes hold; of a name that stands twice the last value.

    Raises:
        ValueError: they hold something else, or too much.
    """
    text = _decoded(data)
    pairs = _entries(text) if "\0" in text else _object(text) if text.lstrip()[:1] == "{" else _lines(text)
    found: dict[str, str] = {}
    for name, value in pairs:
        found[name] = value
        if len(found) > MAX_VARIABLES:
            raise ValueError(f"it holds more than {MAX_VARIABLES} variables")
    return MappingProxyType(found)


def _decoded(data: bytes) -> str:
    """Return the text: UTF-8, or UTF-16 as Windows' shells write it; other bytes are kept (PEP 383)."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace")
    return data.removeprefix(codecs.BOM_UTF8).decode("utf-8", "surrogateescape")


def _object(text: str) -> Iterator[tuple[str, str]]:
    """Yield the members of a JSON object."""
    try:
        document = json.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    for name, value in document.items():
        if not isinstance(value, str):
            raise ValueError(f"{name!r} is not a string")  # noqa: TRY004  # the reader's file, not the caller's type
        if not name or "\0" in name + value:
            raise ValueError(f"{name!r} is no variable")
        yield name, value


def _entries(text: str) -> Iterator[tuple[str, str]]:
    """Yield the entries that end with NUL; one without a sign is none (a process may overwrite its own)."""
    for entry in text.split("\0"):
        name, sign, value = entry.partition("=")
        if name and sign:
            yield name, value


def _lines(text: str) -> Iterator[tuple[str, str]]:
    """Yield what lines name; a line that names nothing goes on with the value before it."""
    name, parts = "", list[str]()
    for line in text.replace("\r\n", "\n").split("\n"):
        if not line.strip() or line.startswith("#") or _ALONE.fullmatch(line):
            continue
        match = _NAMED.fullmatch(line)
        if match:
            if name:
                yield name, "\n".join(parts)
            name, parts = match["name"], [match["value"]]
        elif name:
            parts.append(line)
        else:
            raise ValueError(f"its line {line[:40]!r} names no variable")
    if name:
        yield name, "\n".join(parts)
