"""JSON as the chain writes and reads it: no floats, bounded integers, no doubled keys, valid UTF-8."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

from .failures import RequestError

GREATEST = 2**53 - 1
"""Largest magnitude of an integer (FORMATS, "JSON"; every JSON reader holds it exactly)."""

DEEPEST = 32
"""Deepest nesting (FORMATS, "JSON")."""


def dumps(value: object) -> bytes:
    """Return ``value`` as one line of JSON: keys sorted, no spaces, no floats.

    Text that came from the operating system in another encoding (lone surrogates) is written with
    backslash escapes, because no JSON text may hold it.

    Raises:
        TypeError: it holds something that has no such form.
    """
    text = json.dumps(plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode("utf-8")


def plain(value: object) -> object:
    """Return a value in the form that is written: lists for tuples, valid text.

    Raises:
        TypeError: it holds something that has no form in a document.
    """
    return _plain(value, 0)


def write(path: Path, value: object) -> None:
    """Write a document to ``path``, whole or not at all."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with beside.open("xb") as stream:
            stream.write(dumps(value) + b"\n")
            stream.flush()
            os.fsync(stream.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def loads(data: bytes) -> object:
    """Return a decoded document.

    Raises:
        RequestError: it is not JSON in UTF-8, has a float, a doubled key, or nests too deeply.
    """
    try:
        text = data.decode("utf-8")
        return json.loads(text, object_pairs_hook=_pairs, parse_float=_refuse, parse_constant=_refuse)
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise RequestError("", f"is not JSON: {error}") from error
    except (RecursionError, ValueError) as error:
        raise RequestError("", f"is not a document: {error}") from error


def _pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return an object, refusing a key that stands twice."""
    found: dict[str, object] = {}
    for key, value in pairs:
        if key in found:
            raise RequestError(key, "stands twice")
        found[key] = value
    return found


def _refuse(text: str) -> NoReturn:
    """Refuse a float or a constant such as NaN."""
    raise RequestError("", f"has the number {text}, which is not an integer")


def _plain(value: object, depth: int) -> object:
    """Return ``value`` with tuples as lists and text made valid."""
    if depth > DEEPEST:
        message = f"nests deeper than {DEEPEST}"
        raise TypeError(message)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, int):
        return _integer(value)
    if isinstance(value, Mapping):
        return {str(_plain(str(key), depth)): _plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item, depth + 1) for item in value]
    message = f"{type(value).__name__} has no form in a document"
    raise TypeError(message)


def _integer(value: int) -> int:
    """Return an integer that every reader holds exactly."""
    if abs(value) > GREATEST:
        message = f"{value} is beyond 2**53"
        raise TypeError(message)
    return int(value)
